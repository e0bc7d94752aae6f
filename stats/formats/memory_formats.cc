// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/memory_formats.h"

#include <limits>
#include <span>
#include <string>

#include "stats/formats/fields.h"

namespace vmnuma::stats {
namespace {

/// Returns the only line of a file, without its newline.
Result<std::string_view> only_line(std::string_view text, std::string_view format) {
  VMNUMA_RETURN_IF_ERROR(check_complete(text, format));
  const auto line = single_line(text);
  return line ? Result<std::string_view>(*line) : bad_line(format, text);
}

/// Converts "avg10=12.34" (per cent) to thousandths, rounded down.
std::optional<Permille> average_of(std::string_view word) {
  const auto average = after(word, "avg10=");
  const std::size_t point = average ? average->find('.') : std::string_view::npos;
  if (point == std::string_view::npos || average->size() != point + 3) {
    return std::nullopt;
  }
  const auto whole = to_number<std::int32_t>(average->substr(0, point));
  const auto hundredths = to_number<std::int32_t>(average->substr(point + 1));
  if (!whole || !hundredths || *whole > 100) {
    return std::nullopt;
  }
  return Permille{*whole * 10 + *hundredths / 10};
}

struct Pressure {
  Permille some;
  std::optional<Permille> full;
};

/// "some avg10=1.53 avg60=0.87 avg300=0.29 total=11", and perhaps the same for `full`.
Result<Pressure> parse_pressure(std::string_view text, std::string_view format) {
  VMNUMA_RETURN_IF_ERROR(check_complete(text, format));
  std::optional<Permille> some;
  std::optional<Permille> full;
  std::string_view rest = text;
  while (const auto line = take_line(rest)) {
    std::string_view fields = *line;
    const auto kind = take_word(fields);
    const auto average = average_of(take_word(fields).value_or(""));
    if (!average || (kind != "some" && kind != "full")) {
      return bad_line(format, *line);
    }
    (kind == "some" ? some : full) = *average;
  }
  if (!some) {
    return bad_line(format, text);
  }
  return Pressure{*some, full};
}

/// "NAME  999420 kB" in /proc/meminfo; nothing if there is no such line.
Result<std::optional<Bytes>> parse_meminfo_line(std::string_view meminfo, std::string_view name) {
  constexpr std::string_view kFormat = "/proc/meminfo";
  VMNUMA_RETURN_IF_ERROR(check_complete(meminfo, kFormat));
  while (const auto line = take_line(meminfo)) {
    std::string_view fields = *line;
    if (take_word(fields) != name) {
      continue;
    }
    const auto kilobytes = take_number<std::int64_t>(fields);
    if (!kilobytes || take_word(fields) != "kB" || !fields.empty() ||
        *kilobytes > std::numeric_limits<std::int64_t>::max() / kKiB.value) {
      return bad_line(kFormat, *line);
    }
    return kKiB * *kilobytes;
  }
  return std::nullopt;
}

Result<Permille> parse_some(std::string_view text, std::string_view format) {
  return parse_pressure(text, format).map([](const Pressure& pressure) { return pressure.some; });
}

}  // namespace

Result<std::optional<Bytes>> parse_memory_limit(std::string_view text) {
  constexpr std::string_view kFormat = "a memory limit";
  VMNUMA_ASSIGN_OR_RETURN(const auto line, only_line(text, kFormat));
  if (line == "max") {
    return std::optional<Bytes>();
  }
  const auto bytes = to_number<std::int64_t>(line);
  if (!bytes) {
    return bad_line(kFormat, line);
  }
  return std::optional<Bytes>(Bytes{*bytes});
}

Result<Bytes> parse_memory_amount(std::string_view text) {
  constexpr std::string_view kFormat = "an amount of memory";
  VMNUMA_ASSIGN_OR_RETURN(const auto line, only_line(text, kFormat));
  const auto bytes = to_number<std::int64_t>(line);
  if (!bytes) {
    return bad_line(kFormat, line);
  }
  return Bytes{*bytes};
}

Result<MemoryStat> parse_memory_stat(std::string_view text) {
  constexpr std::string_view kFormat = "memory.stat";
  VMNUMA_RETURN_IF_ERROR(check_complete(text, kFormat));
  struct Wanted {
    std::string_view name;
    std::optional<Bytes> bytes;
  };
  Wanted wanted[] = {{"anon", {}},        {"file", {}},     {"shmem", {}},
                     {"unevictable", {}}, {"anon_thp", {}}, {"shmem_thp", {}}};
  while (const auto line = take_line(text)) {
    std::string_view fields = *line;
    const auto name = take_word(fields);
    for (Wanted& one : wanted) {
      if (name != one.name) {
        continue;
      }
      const auto bytes = take_number<std::int64_t>(fields);
      if (!bytes || !fields.empty()) {
        return bad_line(kFormat, *line);
      }
      one.bytes = Bytes{*bytes};
    }
  }
  for (const Wanted& one : std::span(wanted).first(4)) {
    if (!one.bytes) {
      return failure(ErrorCode::kCorrupt,
                     "memory.stat has no line '" + std::string(one.name) + "'");
    }
  }
  MemoryStat stat{*wanted[0].bytes, *wanted[1].bytes, *wanted[2].bytes, *wanted[3].bytes};
  if (wanted[4].bytes && wanted[5].bytes) {
    stat.huge = *wanted[4].bytes + *wanted[5].bytes;
  }
  return stat;
}

Result<MemoryWaits> parse_memory_waits(std::string_view text) {
  VMNUMA_ASSIGN_OR_RETURN(const auto pressure, parse_pressure(text, "memory.pressure"));
  if (!pressure.full) {
    return bad_line("memory.pressure", text);
  }
  return MemoryWaits{pressure.some, *pressure.full};
}

Result<Permille> parse_memory_pressure(std::string_view text) {
  return parse_some(text, "/proc/pressure/memory");
}

Result<Permille> parse_cpu_waits(std::string_view text) {
  return parse_some(text, "cpu.pressure");
}

Result<std::int32_t> parse_oom_score_adj(std::string_view text) {
  constexpr std::string_view kFormat = "oom_score_adj";
  VMNUMA_ASSIGN_OR_RETURN(const auto line, only_line(text, kFormat));
  const bool negative = line.starts_with('-');
  const auto value = to_number<std::int32_t>(negative ? line.substr(1) : line);
  if (!value || *value > 1000) {
    return bad_line(kFormat, line);
  }
  return negative ? -*value : *value;
}

Result<Bytes> parse_swap_total(std::string_view meminfo) {
  VMNUMA_ASSIGN_OR_RETURN(const auto total, parse_meminfo_line(meminfo, "SwapTotal:"));
  return total ? Result<Bytes>(*total)
               : failure(ErrorCode::kCorrupt, "/proc/meminfo has no line 'SwapTotal:'");
}

Result<Bytes> parse_default_huge_page_size(std::string_view meminfo) {
  VMNUMA_ASSIGN_OR_RETURN(const auto size, parse_meminfo_line(meminfo, "Hugepagesize:"));
  return size.value_or(Bytes{});
}

std::optional<bool> has_recursive_protection(std::string_view mountinfo) {
  // "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,memory_recursiveprot"
  while (const auto line = take_line(mountinfo)) {
    std::string_view fields = *line;
    std::string_view mounted_at;
    for (int field = 0; field < 5; ++field) {
      mounted_at = take_word(fields).value_or("");
    }
    const std::size_t end_of_optional = fields.find(" - ");
    if (mounted_at != "/sys/fs/cgroup" || end_of_optional == std::string_view::npos) {
      continue;
    }
    fields.remove_prefix(end_of_optional + 3);
    if (take_word(fields) != "cgroup2") {
      continue;
    }
    (void)take_word(fields);  // the source, which is any word
    const std::string options = "," + std::string(take_word(fields).value_or("")) + ",";
    return options.find(",memory_recursiveprot,") != std::string::npos;
  }
  return std::nullopt;
}

}  // namespace vmnuma::stats
