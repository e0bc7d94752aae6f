// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/process_table.h"

#include <algorithm>
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
  VMNUMA_ASSIGN_OR_RETURN(const auto names, proc.and_then([](const files::Directory& directory) {
    return directory.names();
  }));
  VMNUMA_ASSIGN_OR_RETURN(const auto uptime, files::read_parsed(*proc, "uptime", parse_uptime));
  const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
  std::vector<FoundProcess> found;
  decltype(passed_over_) passed_over;
  for (const std::string& name : names) {
    const auto pid = stats::to_number<std::int64_t>(name);
    if (!pid || known.contains(*pid)) {
      continue;
    }
    const auto inode = proc->inode_of(name);
    if (!inode) {
      continue;
    }
    const auto entry = passed_over_.find(*pid);
    if (entry != passed_over_.end() && entry->second.inode == *inode &&
        (entry->second.is_qemu || how == HowThorough::kQuick)) {
      passed_over.insert(*entry);
      continue;
    }
    // Everything is read through one descriptor, so that it is from the same process.
    const auto directory = proc->directory(name);
    if (!directory) {
      continue;
    }
    auto cmdline = directory->read("cmdline");
    const auto stat = files::read_parsed(*directory, "stat", stats::parse_process_stat);
    if (!cmdline || !stat || stat->has_ended()) {
      continue;
    }
    const std::int64_t age_s = uptime - static_cast<std::int64_t>(stat->start_time_ticks) / ticks;
    if (is_qemu(*cmdline)) {
      found.push_back({{*pid, stat->start_time_ticks}, std::move(*cmdline), age_s});
    } else if (age_s > kYoung_s) {
      passed_over[*pid] = {*inode, /*is_qemu=*/false};
    }
  }
  passed_over_ = std::move(passed_over);
  std::ranges::sort(found, {}, [](const FoundProcess& one) { return one.process.pid; });
  return found;
}

void ProcessTable::ignore(std::int64_t pid) {
  if (const auto inode = root_.inode_of("proc/" + std::to_string(pid))) {
    passed_over_[pid] = {*inode, /*is_qemu=*/true};
  }
}

}  // namespace vmnuma::balancer::qemu
