// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/threads.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "stats/formats/fields.h"
#include "stats/formats/proc_formats.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::size_t kLongestName = 15;  // TASK_COMM_LEN, without the final zero

}  // namespace

Result<Threads> read_threads(const files::Directory& process,
                             const std::vector<std::string>& io_thread_names) {
  VMNUMA_ASSIGN_OR_RETURN(const auto names,
                          process.directory("task").and_then(
                              [](const files::Directory& tasks) { return tasks.names(); }));
  std::set<std::int64_t> tids;
  for (const std::string& name : names) {
    if (const auto tid = stats::to_number<std::int64_t>(name)) {
      tids.insert(*tid);
    }
  }
  Threads threads;
  std::map<std::string, std::vector<std::int64_t>> named_io;
  for (const std::int64_t tid : tids) {
    const auto comm = process.read("task/" + std::to_string(tid) + "/comm");
    if (!comm) {
      continue;  // it has ended
    }
    const std::string name = comm->substr(0, comm->find('\n'));
    if (const auto vcpu = stats::vcpu_of_thread_name(*comm)) {
      threads.vcpus.push_back({*vcpu, tid});
    } else if (name.starts_with("IO ")) {
      named_io[name].push_back(tid);
    } else {
      threads.emulator.push_back(tid);
    }
  }
  std::ranges::sort(threads.vcpus);
  std::map<std::string, std::size_t> taken;
  for (std::size_t index = 0; index < io_thread_names.size(); ++index) {
    const std::string name = ("IO " + io_thread_names[index]).substr(0, kLongestName);
    const auto found = named_io.find(name);
    const std::size_t next = taken[name]++;
    if (found != named_io.end() && next < found->second.size()) {
      threads.io_threads.push_back({static_cast<std::int32_t>(index + 1), found->second[next]});
    }
  }
  return threads;
}

}  // namespace vmnuma::balancer::qemu
