// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/own_process.h"

#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "stats/files/file.h"

namespace vmnuma::tools {

namespace {

constexpr double kMicrosecond = 1e-6;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicrosecond;
}

}  // namespace

std::map<std::string_view, double> read_own_process(double start_unix_s) {
  std::map<std::string_view, double> process{{"process_start_time_seconds", start_unix_s}};
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0) {
    process["process_cpu_seconds_total"] = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  }
  // proc(5): size and resident set in pages.
  constexpr std::size_t kMostText = 4096;
  std::istringstream statm(files::read_file("/proc/self/statm", kMostText).value_or(""));
  double size = 0;
  double resident = 0;
  if (statm >> size >> resident) {
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    process["process_virtual_memory_bytes"] = size * page;
    process["process_resident_memory_bytes"] = resident * page;
  }
  std::error_code problem;
  const std::filesystem::directory_iterator fds("/proc/self/fd", problem);
  if (!problem) {  // minus the descriptor used to list them
    process["process_open_fds"] =
        static_cast<double>(std::distance(fds, std::filesystem::directory_iterator())) - 1;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    process["process_max_fds"] = static_cast<double>(limit.rlim_cur);
  }
  return process;
}

}  // namespace vmnuma::tools
