// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/proc_formats.h"

#include <algorithm>
#include <array>
#include <limits>

#include "placement/model/text.h"
#include "stats/formats/fields.h"

namespace vmnuma::stats {
namespace {

constexpr std::int64_t kMicrosecondsPerTick = 1'000'000 / 100;  // USER_HZ

/// Returns the idle time from the fields after "cpuN"; nothing if they are not as in proc(5).
std::optional<std::int64_t> idle_ticks(std::string_view fields) {
  constexpr std::array kIsIdle = {false, false, false, true,  true,
                                  false, false, false, false, false};
  // Ten numbers below this bound can be added and converted without overflow. It is 29,000 years of
  // one CPU's time.
  constexpr std::int64_t kMost =
      std::numeric_limits<std::int64_t>::max() / kMicrosecondsPerTick / 10;
  std::int64_t idle = 0;
  for (const bool is_idle : kIsIdle) {
    const auto ticks = take_number<std::int64_t>(fields);
    if (!ticks || *ticks > kMost) {
      return std::nullopt;
    }
    idle += is_idle ? *ticks : 0;
  }
  while (const auto further = take_word(fields)) {
    if (!to_number<std::uint64_t>(*further)) {
      return std::nullopt;
    }
  }
  return idle;
}

}  // namespace

Result<std::vector<CpuIdleTime>> parse_proc_stat(std::string_view text) {
  constexpr std::string_view kFormat = "/proc/stat";
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  std::vector<CpuIdleTime> cpus;
  while (const auto line = take_line(text)) {
    auto fields = after(*line, "cpu");
    if (!fields || fields->starts_with(' ')) {
      continue;  // the sum over all CPUs, interrupts, context switches and others
    }
    const auto number = take_number<std::int32_t>(*fields);
    const auto ticks = number ? idle_ticks(*fields) : std::nullopt;
    if (!ticks) {
      return bad_line("a CPU's line of /proc/stat", *line);
    }
    cpus.push_back({CpuId{*number}, *ticks * kMicrosecondsPerTick});
  }
  if (cpus.empty()) {
    return failure(ErrorCode::kCorrupt, "this is not /proc/stat: it has no line of a CPU");
  }
  std::ranges::sort(cpus, {}, &CpuIdleTime::id);
  return cpus;
}

namespace {

constexpr std::string_view kProcessStat = "a process's stat";

/// The parts of a stat file. Field 2 is the name in parentheses. The name may contain any
/// character, including parentheses, so it ends at the last closing one.
struct StatParts {
  std::string_view pid;
  std::string_view rest;  ///< from field 3, the state, on
};

std::optional<StatParts> parts_of_stat(std::string_view text) {
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (!text.ends_with('\n') || open == std::string_view::npos || close == std::string_view::npos ||
      close < open + 2) {
    return std::nullopt;
  }
  return StatParts{text.substr(0, open), text.substr(close + 2, text.size() - close - 3)};
}

/// Returns false if there are fewer words.
bool skip_words(std::string_view& rest, int count) {
  bool good = true;
  for (int i = 0; good && i < count; ++i) {
    good = take_word(rest).has_value();
  }
  return good;
}

}  // namespace

Result<ProcessStat> parse_process_stat(std::string_view text) {
  constexpr int kFieldsBetweenStateAndStartTime = 18;
  std::optional<StatParts> parts = parts_of_stat(text);
  if (!parts) {
    return bad_line(kProcessStat, text);
  }
  const auto state = take_word(parts->rest);
  const bool good = to_number<std::int64_t>(parts->pid) && state && state->size() == 1 &&
                    skip_words(parts->rest, kFieldsBetweenStateAndStartTime);
  const auto start_time = take_number<std::uint64_t>(parts->rest);
  if (!good || !start_time) {
    return bad_line(kProcessStat, text);
  }
  return ProcessStat{.state = state->front(), .start_time_ticks = *start_time};
}

Result<CpuId> parse_last_cpu(std::string_view text) {
  constexpr int kFieldsFromStateToLastCpu = 36;
  std::optional<StatParts> parts = parts_of_stat(text);
  const bool good = parts && skip_words(parts->rest, kFieldsFromStateToLastCpu);
  const auto cpu = good ? take_number<std::int32_t>(parts->rest) : std::nullopt;
  if (!cpu) {
    return bad_line(kProcessStat, text);
  }
  return CpuId{*cpu};
}

Result<ScheduleTimes> parse_schedstat(std::string_view text) {
  auto line = single_line(text).value_or("");
  const auto run = take_number<std::int64_t>(line);
  const auto wait = take_number<std::int64_t>(line);
  const auto slices = take_number<std::uint64_t>(line);
  if (!run || !wait || !slices || take_word(line)) {
    return bad_line("a thread's schedstat", text);
  }
  return ScheduleTimes{*run, *wait};
}

Result<std::int64_t> parse_direct_reclaims(std::string_view text) {
  constexpr std::string_view kFormat = "/proc/vmstat";
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  std::optional<std::int64_t> sum;
  while (const auto line = take_line(text)) {
    std::string_view fields = *line;
    if (!after(take_word(fields).value_or(""), "allocstall_")) {
      continue;
    }
    const auto count = take_number<std::int64_t>(fields);
    if (!count || !fields.empty()) {
      return bad_line(kFormat, *line);
    }
    sum = sum.value_or(0) + *count;
  }
  if (!sum) {
    return failure(ErrorCode::kCorrupt, "/proc/vmstat has no line 'allocstall_...'");
  }
  return *sum;
}

Result<std::int32_t> parse_numa_balancing(std::string_view text) {
  constexpr std::string_view kFormat = "/proc/sys/kernel/numa_balancing";
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  const auto value = to_number<std::int32_t>(single_line(text).value_or(""));
  if (!value) {
    return bad_line(kFormat, text);
  }
  return *value;
}

Result<std::int64_t> parse_pid_file(std::string_view text) {
  std::string_view rest = text;
  const auto pid = to_number<std::int64_t>(take_line(rest).value_or(""));
  if (!pid || *pid == 0 || !rest.empty()) {
    return bad_line("a pid file", text);
  }
  return *pid;
}

bool is_command_line_of(const VmId& id, std::string_view cmdline) {
  std::string_view previous;
  while (!cmdline.empty()) {
    const std::string_view argument = cmdline.substr(0, cmdline.find('\0'));
    cmdline.remove_prefix(std::min(argument.size() + 1, cmdline.size()));
    if (previous == "-uuid") {
      const auto named = parse_vm_id(argument);
      return named && *named == id;
    }
    previous = argument;
  }
  return false;
}

std::optional<std::string> parse_process_cgroup(std::string_view text) {
  while (const auto line = take_line(text)) {
    if (const auto path = after(*line, "0::/")) {
      return "/" + std::string(*path);
    }
  }
  return std::nullopt;
}

std::optional<std::int32_t> vcpu_of_thread_name(std::string_view comm) {
  const auto name = after(comm.substr(0, comm.find('\n')), "CPU ");
  if (!name || !(name->ends_with("/KVM") || name->ends_with("/TCG"))) {
    return std::nullopt;
  }
  return to_number<std::int32_t>(name->substr(0, name->size() - std::string_view("/KVM").size()));
}

}  // namespace vmnuma::stats
