// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/process_table.h"

#include <optional>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "balancer/qemu/command_line.h"
#include "stats/files/read_parsed.h"
#include "stats/formats/fields.h"
#include "stats/formats/proc_formats.h"

namespace vmnuma::balancer::qemu {
namespace {

/// Whole seconds from /proc/uptime, "5412.17 9876.54" (proc(5)).
Result<std::int64_t> parse_uptime(std::string_view text) {
  const auto seconds = stats::to_number<std::int64_t>(text.substr(0, text.find('.')));
  if (!seconds) {
    return stats::bad_line("uptime", text);
  }
  return *seconds;
}

}  // namespace

Result<std::vector<FoundProcess>> ProcessTable::look(HowThorough how,
                                                     const std::set<std::int64_t>& known) {
  const auto proc = root_.directory("proc");
  const auto names =
      proc.and_then([](const files::Directory& directory) { return directory.names(); });
  if (!names) {
    return tl::unexpected(names.error());
  }
  const auto uptime = files::read_parsed(*proc, "uptime", parse_uptime);
  if (!uptime) {
    return tl::unexpected(uptime.error());
  }
  const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
  if (how == HowThorough::kThorough) {
    no_qemu_.clear();
  }
  std::map<std::int64_t, FoundProcess> found;
  decltype(no_qemu_) no_qemu;
  decltype(ignored_) ignored;
  for (const std::string& name : *names) {
    const auto pid = stats::to_number<std::int64_t>(name);
    if (!pid || known.contains(*pid)) {
      continue;
    }
    const auto inode = proc->inode_of(name);
    if (!inode) {
      continue;
    }
    const auto is_in = [&](const std::map<std::int64_t, std::uint64_t>& entries) {
      const auto entry = entries.find(*pid);
      return entry != entries.end() && entry->second == *inode;
    };
    if (is_in(no_qemu_)) {
      no_qemu[*pid] = *inode;
      continue;
    }
    if (is_in(ignored_)) {
      ignored[*pid] = *inode;
      continue;
    }
    // Everything is read through one descriptor, so that it is from the same process.
    const auto directory = proc->directory(name);
    if (!directory) {
      continue;
    }
    auto cmdline = directory->read("cmdline");
    const auto stat = files::read_parsed(*directory, "stat", stats::parse_process_stat);
    if (!cmdline || !stat || stat->state == 'Z' || stat->state == 'X') {
      continue;
    }
    const std::int64_t age_s = *uptime - static_cast<std::int64_t>(stat->start_time_ticks) / ticks;
    if (is_qemu(*cmdline)) {
      found[*pid] = {{*pid, stat->start_time_ticks}, std::move(*cmdline), age_s};
    } else if (age_s > kYoung_s) {
      no_qemu[*pid] = *inode;
    }
  }
  no_qemu_ = std::move(no_qemu);
  ignored_ = std::move(ignored);
  std::vector<FoundProcess> ascending;
  ascending.reserve(found.size());
  for (auto& [pid, process] : found) {
    ascending.push_back(std::move(process));
  }
  return ascending;
}

void ProcessTable::ignore(std::int64_t pid) {
  if (const auto inode = root_.inode_of("proc/" + std::to_string(pid))) {
    ignored_[pid] = *inode;
  }
}

}  // namespace vmnuma::balancer::qemu
