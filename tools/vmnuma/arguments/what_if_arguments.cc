// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/what_if_arguments.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "placement/base/number.h"
#include "placement/model/suggest.h"

namespace vmnuma::tools {

namespace {

/// Converts "128GiB" to bytes, or returns nothing.
std::optional<std::int64_t> size_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 3> kUnits{
      {{"MiB", 20U}, {"GiB", 30U}, {"TiB", 40U}}};
  for (const auto& [unit, bits] : kUnits) {
    if (!text.ends_with(unit)) {
      continue;
    }
    const auto number = whole_number<std::int64_t>(text.substr(0, text.size() - unit.size()));
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> bits;
    return number && *number >= 1 && *number <= most ? std::optional(*number << bits)
                                                     : std::nullopt;
  }
  return std::nullopt;
}

/// Returns the two sides of the last '='; the left one is empty if there is no '='.
std::pair<std::string_view, std::string_view> sides_of(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  return equals == std::string_view::npos
             ? std::pair(std::string_view(), text)
             : std::pair(text.substr(0, equals), text.substr(equals + 1));
}

tl::unexpected<Error> bad_argument(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

}  // namespace

Result<std::int64_t> parse_memory(std::string_view text) {
  if (const auto bytes = size_of(text)) {
    return *bytes;
  }
  return bad_argument(
      fmt::format("'{}' is not a size; write a number and MiB, GiB or TiB, such as 8GiB", text));
}

Result<std::int64_t> parse_memory_of(std::string_view option, std::string_view text) {
  return parse_memory(text).map_error([&](Error error) { return std::move(error).within(option); });
}

Result<balancer::WhatIfRequest::NewVm> parse_new_vm(std::string_view text) {
  const std::vector<std::string_view> known{"vcpus", "memory", "load", "weight"};
  balancer::WhatIfRequest::NewVm vm;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const auto [key, value] = sides_of(part);
    bool understood = true;
    if (key == "vcpus") {
      const auto number = whole_number<std::int32_t>(value);
      understood = number && *number >= 1;
      vm.vcpus = number.value_or(0);
    } else if (key == "memory") {
      const auto bytes = size_of(value);
      understood = bytes.has_value();
      vm.memory_bytes = bytes.value_or(0);
    } else if (key == "load") {
      vm.load_pct = whole_number<std::int64_t>(value);
      understood = vm.load_pct && *vm.load_pct >= 0 && *vm.load_pct <= 100;
    } else if (key == "weight") {
      const auto number = whole_number<std::int64_t>(value);
      understood = number && *number >= 1 && *number <= 10'000;
      vm.weight = number.value_or(0);
    } else if (key.empty()) {
      return bad_argument(fmt::format("'{}' is not KEY=VALUE; write vcpus=32,memory=128GiB", part));
    } else {
      return bad_argument(fmt::format("'{}' has no '{}'{}", text, key, did_you_mean(key, known)));
    }
    if (!understood) {
      return bad_argument(fmt::format(
          "'{}' is not understood; write vcpus=32, memory=128GiB, load=0 to 100 or weight=1 to "
          "10000",
          part));
    }
  }
  if (vm.vcpus == 0 || vm.memory_bytes == 0) {
    return bad_argument(
        fmt::format("'{}' must have vcpus and memory, such as 'vcpus=32,memory=128GiB'", text));
  }
  return vm;
}

Result<balancer::MoveRequest> parse_move(std::string_view text) {
  const auto [who, node] = sides_of(text);
  const std::size_t slash = who.rfind('/');  // libvirt does not allow '/' in a name
  balancer::MoveRequest move;
  move.vm = who.substr(0, slash);
  const auto number = whole_number<std::int32_t>(node);
  bool understood = !move.vm.empty() && number && *number >= 0;
  move.node = NodeId{number.value_or(-1)};
  if (slash != std::string_view::npos) {
    move.client = whole_number<std::int32_t>(who.substr(slash + 1));
    understood = understood && move.client && *move.client >= 0;
  }
  if (!understood) {
    return bad_argument(fmt::format("'{}' is not a move; write VM=NODE, or VM/CLIENT=NODE", text));
  }
  return move;
}

Result<balancer::WhatIfRequest::OptionValue> parse_option_value(std::string_view text) {
  const auto [name, value] = sides_of(text);
  const auto number = whole_number<std::int64_t>(value);
  if (name.empty() || !number) {
    return bad_argument(fmt::format(
        "'{}' is not an option; write NAME=INTEGER, such as 'Numa.MigThreshold=5'", text));
  }
  return balancer::WhatIfRequest::OptionValue{std::string(name), *number};
}

}  // namespace vmnuma::tools
