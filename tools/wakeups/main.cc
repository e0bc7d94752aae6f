// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include <systemd/sd-daemon.h>

#include "stats/files/file.h"
#include "stats/linux/wakeup_counts.h"
#include "stats/text/printable.h"
#include "tools/wakeups/arguments.h"
#include "tools/wakeups/vm_pids.h"
#include "tools/wakeups/wakeup_counter.h"

namespace vmnuma::tools {

namespace {

void say(const std::string& sentence) {
  std::cerr << "vmnuma-wakeups: " << text::printable(sentence) << std::endl;
}

Microseconds monotonic_now() {
  timespec now{};
  VMNUMA_CHECK(::clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return Microseconds{now.tv_sec * 1'000'000 + now.tv_nsec / 1000};
}

/// Blocks the stop signals, so that they are delivered only to sigtimedwait(2).
sigset_t block_stop_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  VMNUMA_CHECK(::sigprocmask(SIG_BLOCK, &signals, nullptr) == 0);
  return signals;
}

/// Returns whether one of the signals arrived within the time.
bool is_stopped(const sigset_t& signals, std::chrono::milliseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec wait{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(limit - seconds).count()};
  return ::sigtimedwait(&signals, nullptr, &wait) >= 0;
}

/// Does the work of one period.
Result<void> tell(const WakeupsArguments& arguments, WakeupCounter& counter) {
  VMNUMA_ASSIGN_OR_RETURN(const auto pids, read_vm_pids(arguments.pid_dir));
  Result<void> set = counter.set_vms(pids);
  if (!set && set.error().code != ErrorCode::kNoSpace) {
    return set;
  }
  VMNUMA_ASSIGN_OR_RETURN(auto pairs, counter.read());
  const stats::WakeupCounts counts{monotonic_now(), Microseconds{arguments.period.count() * 1000},
                                   std::move(pairs)};
  Result<void> written = files::replace_file(arguments.output, text_of(counts));
  return written ? set : written;
}

int run(const WakeupsArguments& arguments) {
  const sigset_t stop = block_stop_signals();
  auto counter = WakeupCounter::load();
  if (!counter) {
    say(counter.error().message + "; without it only declared affinity groups have an effect");
    return kWakeupsFailed;
  }
  if (!counter->reports_interrupts()) {
    say("the kernel does not let BPF programs recognize interrupts: a wake-up by an interrupt "
        "counts for the VM that was interrupted");
  }
  std::string problem;
  bool is_ready = false;
  do {
    const Result<void> told = tell(arguments, *counter);
    if (!told && !is_ready) {
      say(told.error().message);
      return kWakeupsFailed;
    }
    // Reported once, and again only if the problem changes or recurs.
    const std::string now = told ? "" : told.error().message;
    if (!now.empty() && now != problem) {
      say(now + "; continuing");
    }
    problem = now;
    if (!is_ready) {
      is_ready = true;
      std::cout << "vmnuma-wakeups " VMNUMA_VERSION " writes '" << arguments.output << "'"
                << std::endl;
      (void)sd_notify(0, "READY=1");  // no effect unless started by systemd
    }
  } while (!is_stopped(stop, arguments.period));
  (void)sd_notify(0, "STOPPING=1");
  std::error_code error;
  if (std::filesystem::remove(arguments.output, error); error) {
    say("cannot remove '" + arguments.output + "': " + error.message());
  }
  return kWakeupsOk;
}

}  // namespace

}  // namespace vmnuma::tools

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto arguments = vmnuma::tools::parse_wakeups_arguments(words);
  if (!arguments) {
    const vmnuma::tools::WakeupsExit& exit = arguments.error();
    (exit.code == vmnuma::tools::kWakeupsOk ? std::cout : std::cerr) << exit.text << std::flush;
    return exit.code;
  }
  return vmnuma::tools::run(*arguments);
}
