// SPDX-License-Identifier: Apache-2.0
/// The controller's answers to the control socket, one function per command. Internal to this
/// folder.
///
/// The service itself answers `history`, `state` and the commands for recordings, because only it
/// has the data, and completes `set`.
#pragma once

#include <string>
#include <utility>

#include "balancer/controller/controller_state.h"

namespace vmnuma::balancer {

/// Refuses a command because of its arguments.
[[nodiscard]] inline tl::unexpected<Error> refused(std::string because) {
  return failure(ErrorCode::kInvalidArgument, std::move(because));
}

/// Answers a command that changes nothing. Error: unsupported if the controller does not answer
/// this command.
[[nodiscard]] Result<Answer> answer_question(const ControllerState& state, const Command& question);
[[nodiscard]] Result<Answer> carry_out_command(ControllerState& state, const Command& command,
                                               Effects& effects);

[[nodiscard]] Result<StatusView> reply_to(const ControllerState&, const StatusRequest&);
[[nodiscard]] Result<HostView> reply_to(const ControllerState&, const HostRequest&);
[[nodiscard]] Result<MemoryView> reply_to(const ControllerState&, const MemoryRequest&);
[[nodiscard]] Result<stats::Report> reply_to(const ControllerState&, const StatsRequest&);
[[nodiscard]] Result<ExplainView> reply_to(const ControllerState&, const ExplainRequest&);
[[nodiscard]] Result<PlanView> reply_to(const ControllerState&, const PlanRequest&);
[[nodiscard]] Result<OptionsView> reply_to(const ControllerState&, const OptionsListRequest&);
[[nodiscard]] Result<OptionView> reply_to(const ControllerState&, const OptionsGetRequest&);
[[nodiscard]] Result<WhatIfView> reply_to(const ControllerState&, const WhatIfRequest&);
[[nodiscard]] Result<ReservationsView> reply_to(const ControllerState&, const ReservationsRequest&);
[[nodiscard]] Result<PolicyView> reply_to(const ControllerState&, const PolicyRequest&);

[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const PauseRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const ResumeRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const OptionsSetRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const MoveRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const MoveTogetherRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const ReleaseRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const ManageRequest&, Effects&);
[[nodiscard]] Result<AnnouncedView> carry_out(ControllerState&, const AnnounceRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const WithdrawRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const ReserveRequest&, Effects&);
[[nodiscard]] Result<DoneView> carry_out(ControllerState&, const UnreserveRequest&, Effects&);
[[nodiscard]] Result<SuggestView> carry_out(ControllerState&, const SuggestRequest&, Effects&);

}  // namespace vmnuma::balancer
