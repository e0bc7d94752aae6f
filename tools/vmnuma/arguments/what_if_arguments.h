// SPDX-License-Identifier: Apache-2.0
/// Parses the arguments of `vmnuma what-if`, some of which other commands have, too. Error of all
/// functions: invalid-argument, quoting the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// Converts "128GiB" to bytes; the units are MiB, GiB and TiB.
[[nodiscard]] Result<std::int64_t> parse_memory(std::string_view text);

/// Likewise, for the value of an option, which the error names.
[[nodiscard]] Result<std::int64_t> parse_memory_of(std::string_view option, std::string_view text);

/// Parses "vcpus=32,memory=128GiB", optionally with "load=PCT" and "weight=N", in any order.
[[nodiscard]] Result<balancer::WhatIfRequest::NewVm> parse_new_vm(std::string_view text);

/// Parses "web1=2", or "web1/1=2" for its client 1: a VM and the node to which it is moved.
[[nodiscard]] Result<balancer::MoveRequest> parse_move(std::string_view text);

/// Parses "Numa.MigThreshold=5".
[[nodiscard]] Result<balancer::WhatIfRequest::OptionValue> parse_option_value(
    std::string_view text);

}  // namespace vmnuma::tools
