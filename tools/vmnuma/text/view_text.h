// SPDX-License-Identifier: Apache-2.0
/// The daemon's answers as text for people. Each ends with '\n' and fits 80 columns where the names
/// in it let it; a table (table.h) is as wide as it is.
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
/// The value with its unit and origin, then the lines of ESXi's `vsish -e get
/// /config/Numa/intOpts/NAME`.
[[nodiscard]] std::string text_of(const balancer::OptionView& view);
[[nodiscard]] std::string text_of(const balancer::PolicyView& view);
[[nodiscard]] std::string text_of(const balancer::MemoryView& view);
[[nodiscard]] std::string text_of(const balancer::ReservationsView& view);
[[nodiscard]] std::string text_of(const balancer::WhatIfView& view);
/// What the recording is at; its lines are for a file.
[[nodiscard]] std::string text_of(const balancer::RecordingView& view);
[[nodiscard]] std::string text_of(const balancer::DoneView& view);

}  // namespace vmnuma::tools
