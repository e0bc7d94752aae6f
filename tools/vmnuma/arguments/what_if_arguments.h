// SPDX-License-Identifier: Apache-2.0
/// The arguments of `vmnuma what-if`, partly shared with other commands. Errors of all:
/// invalid-argument, quoting the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"

namespace vmnuma::tools {

/// "128GiB", in bytes; the units are MiB, GiB and TiB.
[[nodiscard]] Result<std::int64_t> parse_memory(std::string_view text);

/// "vcpus=32,memory=128GiB", with "load=PCT" and "weight=N" if given; the order does not matter.
[[nodiscard]] Result<balancer::WhatIfRequest::NewVm> parse_new_vm(std::string_view text);

/// "web1=2", or "web1/1=2" for its client 1: a VM and the node on which it is to live.
[[nodiscard]] Result<balancer::MoveRequest> parse_move(std::string_view text);

/// "Numa.MigThreshold=5".
[[nodiscard]] Result<balancer::WhatIfRequest::OptionValue> parse_option_value(
    std::string_view text);

}  // namespace vmnuma::tools
