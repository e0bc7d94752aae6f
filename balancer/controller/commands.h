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

[[nodiscard]] Result<StatusView> reply_to(const ControllerState& state, const StatusRequest&);
[[nodiscard]] Result<HostView> reply_to(const ControllerState& state, const HostRequest&);
[[nodiscard]] Result<MemoryView> reply_to(const ControllerState& state, const MemoryRequest&);
[[nodiscard]] Result<stats::Report> reply_to(const ControllerState& state,
                                             const StatsRequest& request);
[[nodiscard]] Result<ExplainView> reply_to(const ControllerState& state,
                                           const ExplainRequest& request);
[[nodiscard]] Result<PlanView> reply_to(const ControllerState& state, const PlanRequest&);
[[nodiscard]] Result<OptionsView> reply_to(const ControllerState& state, const OptionsListRequest&);
[[nodiscard]] Result<OptionView> reply_to(const ControllerState& state,
                                          const OptionsGetRequest& request);
[[nodiscard]] Result<WhatIfView> reply_to(const ControllerState& state,
                                          const WhatIfRequest& request);
[[nodiscard]] Result<ReservationsView> reply_to(const ControllerState& state,
                                                const ReservationsRequest&);
[[nodiscard]] Result<PolicyView> reply_to(const ControllerState& state,
                                          const PolicyRequest& request);

[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const PauseRequest&,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const ResumeRequest&,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const OptionsSetRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const MoveRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const MoveTogetherRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const ReleaseRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const ManageRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<AnnouncedView> carry_out(ControllerState& state,
                                              const AnnounceRequest& request, Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const WithdrawRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const ReserveRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<DoneView> carry_out(ControllerState& state, const UnreserveRequest& request,
                                         Effects& effects);
[[nodiscard]] Result<SuggestView> carry_out(ControllerState& state, const SuggestRequest& request,
                                            Effects& effects);

}  // namespace vmnuma::balancer
