// SPDX-License-Identifier: Apache-2.0
/// Formats the daemon's answers as text for humans. Each text ends with '\n' and fits into 80
/// columns if its names allow that; a table (table.h) is as wide as its contents.
#pragma once

#include <string>

#include "balancer/model/view.h"

namespace vmnuma::tools {

[[nodiscard]] std::string text_of(const balancer::StatusView& view);
[[nodiscard]] std::string text_of(const balancer::ExplainView& view);
[[nodiscard]] std::string text_of(const balancer::HistoryView& view);
[[nodiscard]] std::string text_of(const balancer::EventsView& view);
[[nodiscard]] std::string text_of(const balancer::ReservationHistoryView& view);
[[nodiscard]] std::string text_of(const balancer::PlanView& view);
[[nodiscard]] std::string text_of(const balancer::OptionsView& view);
/// Returns the value with its unit and origin, then the lines of ESXi's `vsish -e get
/// /config/Numa/intOpts/NAME`.
[[nodiscard]] std::string text_of(const balancer::OptionView& view);
[[nodiscard]] std::string text_of(const balancer::PolicyView& view);
[[nodiscard]] std::string text_of(const balancer::MemoryView& view);
[[nodiscard]] std::string text_of(const balancer::ReservationsView& view);
[[nodiscard]] std::string text_of(const balancer::WhatIfView& view);
/// Returns the state of the recording; its lines are for a file.
[[nodiscard]] std::string text_of(const balancer::RecordingView& view);
[[nodiscard]] std::string text_of(const balancer::DoneView& view);

/// Returns "load-move of CLIENT, node 1 to 0: saves 12 ms per epoch, stopped by no-room" and the
/// sentence below it, for `explain` and `plan`.
[[nodiscard]] std::string candidate_text(const std::string& client,
                                         const balancer::CandidateView& candidate);

}  // namespace vmnuma::tools
