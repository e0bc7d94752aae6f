// SPDX-License-Identifier: Apache-2.0
/// The program behind fake_qemu.h and plain_qemu.h: `fake_qemu -uuid UUID VCPUS [OPTION...]`, whose
/// options have no effect. Reads "plug N", "unplug N" and "burn N" line by line, answers each with
/// one byte when it is done, and ends with its input.
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace {

std::int64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// A thread that waits for work: burn CPU time or end.
class Vcpu {
 public:
  explicit Vcpu(int number) {
    thread_ = std::thread([this, number] { run("CPU " + std::to_string(number) + "/KVM"); });
    await([this] { return named_; });
  }
  ~Vcpu() {
    ask([this] { ended_ = true; });
    thread_.join();
    // A thread can be joined a moment before it disappears from /proc.
    while (::access(task_.c_str(), F_OK) == 0) {
      ::sched_yield();
    }
  }

  void burn() {
    ask([this] { burning_ = true; });
    await([this] { return !burning_; });
  }

 private:
  template <class Change>
  void ask(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <class Condition>
  void await(Condition condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
  }

  void run(const std::string& name) {
    ::pthread_setname_np(::pthread_self(), name.c_str());
    ask([this] {
      task_ = "/proc/self/task/" + std::to_string(::gettid());
      named_ = true;
    });
    for (;;) {
      await([this] { return ended_ || burning_; });
      if (ended_) {
        return;
      }
      constexpr std::int64_t kBurnNs = 20'000'000;
      const std::int64_t until = thread_cpu_ns() + kBurnNs;
      while (thread_cpu_ns() < until) {
      }
      ask([this] { burning_ = false; });
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string task_;
  bool named_ = false;
  bool burning_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: fake_qemu -uuid UUID VCPUS [OPTION...]\n";
    return EXIT_FAILURE;
  }
  std::map<int, std::unique_ptr<Vcpu>> vcpus;
  for (int number = 0; number < std::atoi(argv[3]); ++number) {
    vcpus.emplace(number, std::make_unique<Vcpu>(number));
  }
  std::cout << '.' << std::flush;
  std::string verb;
  int number = 0;
  while (std::cin >> verb >> number) {
    if (verb == "plug") {
      vcpus.emplace(number, std::make_unique<Vcpu>(number));
    } else if (verb == "unplug") {
      vcpus.erase(number);
    } else if (verb == "burn") {
      vcpus.at(number)->burn();
    }
    std::cout << '.' << std::flush;
  }
  return EXIT_SUCCESS;
}
