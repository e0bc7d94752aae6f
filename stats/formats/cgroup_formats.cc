// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/cgroup_formats.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "stats/formats/fields.h"
#include "stats/formats/node_formats.h"

namespace vmnuma::stats {
namespace {

/// Adds the "N0=123 N1=456" of one line to `memory`; false if the format is different.
bool add_nodes(std::string_view fields, std::map<NodeId, Bytes>& memory) {
  // Two such values can be added without overflow.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  while (const auto word = take_word(fields)) {
    const std::size_t equals = word->find('=');
    if (!word->starts_with('N') || equals == std::string_view::npos) {
      return false;
    }
    const auto node = to_number<std::int32_t>(word->substr(1, equals - 1));
    const auto bytes = to_number<std::int64_t>(word->substr(equals + 1));
    if (!node || !bytes || *bytes > kMost) {
      return false;
    }
    memory[NodeId{*node}] += Bytes{*bytes};
  }
  return true;
}

}  // namespace

std::optional<VmCgroup> vm_cgroup_of(std::string_view emulator_path) {
  constexpr std::string_view kEmulator = "/emulator";
  constexpr std::string_view kNested = "/libvirt";
  if (!emulator_path.starts_with('/') || !emulator_path.ends_with(kEmulator)) {
    return std::nullopt;
  }
  emulator_path.remove_prefix(1);
  if (emulator_path.size() <= kEmulator.size()) {
    return std::nullopt;
  }
  emulator_path.remove_suffix(kEmulator.size());
  std::string_view scope = emulator_path;
  if (scope.ends_with(kNested)) {
    scope.remove_suffix(kNested.size());
  }
  return VmCgroup{std::string(scope), std::string(emulator_path)};
}

std::optional<std::string> scope_of_process(std::string_view path) {
  if (!path.starts_with('/') || path.size() == 1) {
    return std::nullopt;
  }
  return std::string(path.substr(1));
}

std::optional<std::int32_t> vcpu_of_cgroup_name(std::string_view name) {
  const auto number = after(name, "vcpu");
  return number ? to_number<std::int32_t>(*number) : std::nullopt;
}

Result<std::vector<std::int64_t>> parse_cgroup_threads(std::string_view text) {
  constexpr std::string_view kFormat = "cgroup.threads";
  std::vector<std::int64_t> threads;
  if (text.empty()) {
    return threads;
  }
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  while (const auto line = take_line(text)) {
    const auto thread = to_number<std::int64_t>(*line);
    if (!thread || *thread == 0) {  // 0 is a thread in another PID namespace
      return bad_line(kFormat, *line);
    }
    threads.push_back(*thread);
  }
  return threads;
}

namespace {

/// Returns the number in the line that begins with `key`, which ends with a space.
Result<std::int64_t> number_in_cpu_stat(std::string_view cpu_stat, std::string_view key) {
  constexpr std::string_view kFormat = "cpu.stat";
  VMNUMA_RETURN_IF_ERROR(check_complete(cpu_stat, kFormat));
  while (const auto line = take_line(cpu_stat)) {
    const auto number = after(*line, key);
    if (!number) {
      continue;
    }
    const auto value = to_number<std::int64_t>(*number);
    if (!value) {
      return bad_line(kFormat, *line);
    }
    return *value;
  }
  return failure(ErrorCode::kCorrupt,
                 fmt::format("there is no line '{}' in cpu.stat", key.substr(0, key.size() - 1)));
}

}  // namespace

Result<std::int64_t> parse_throttled_us(std::string_view cpu_stat) {
  return number_in_cpu_stat(cpu_stat, "throttled_usec ");
}

Result<std::int64_t> parse_used_us(std::string_view cpu_stat) {
  return number_in_cpu_stat(cpu_stat, "usage_usec ");
}

Result<std::int64_t> parse_thread_count(std::string_view text) {
  return parse_single_number("pids.current", text);
}

Result<std::int32_t> parse_cpu_weight(std::string_view text) {
  constexpr std::string_view kFormat = "cpu.weight";
  constexpr std::int32_t kLeastWeight = 1;
  constexpr std::int32_t kMostWeight = 10'000;
  const auto weight = to_number<std::int32_t>(single_line(text).value_or(""));
  if (!weight || *weight > kMostWeight) {
    return bad_line(kFormat, text);
  }
  return std::max(*weight, kLeastWeight);
}

Result<std::optional<std::int64_t>> parse_cpu_max(std::string_view text) {
  constexpr std::string_view kFormat = "cpu.max";
  constexpr std::int64_t kMostQuota = std::numeric_limits<std::int64_t>::max() / 1000;
  auto line = single_line(text).value_or("");
  const auto quota = take_word(line);
  const auto period = take_number<std::int64_t>(line);
  if (!quota || !period || *period == 0 || take_word(line)) {
    return bad_line(kFormat, text);
  }
  if (*quota == "max") {
    return std::nullopt;
  }
  const auto quota_us = to_number<std::int64_t>(*quota);
  if (!quota_us || *quota_us > kMostQuota) {
    return bad_line(kFormat, text);
  }
  return *quota_us * 1000 / *period;
}

Result<std::vector<NodeBytes>> parse_memory_numa_stat(std::string_view text) {
  constexpr std::string_view kFormat = "memory.numa_stat";
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  std::map<NodeId, Bytes> memory;
  int lines = 0;
  while (const auto line = take_line(text)) {
    auto fields = *line;
    const auto name = take_word(fields);
    if (name != "anon" && name != "shmem") {
      continue;
    }
    if (!add_nodes(fields, memory)) {
      return bad_line(kFormat, *line);
    }
    ++lines;
  }
  if (lines != 2 || memory.empty()) {
    return failure(ErrorCode::kCorrupt,
                   "memory.numa_stat does not have exactly one line 'anon' and one line 'shmem'");
  }
  return by_node(memory);
}

}  // namespace vmnuma::stats
