// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory_process.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement/result.h"

namespace vmnuma::tests {

namespace {

/// What the child does; it says where its memory is, 0 if it has none, and waits for its end.
[[noreturn]] void run_child(const ChildMemory& memory, int said) {
  (void)::prctl(PR_SET_PDEATHSIG,
                SIGKILL);  // if it fails the child outlives a crashed test, no more
  const auto alignment = static_cast<std::uint64_t>(memory.alignment.value);
  const auto populated = static_cast<std::size_t>(memory.populated.value);
  const int kind = memory.shared_with_second ? MAP_SHARED : MAP_PRIVATE;
  void* mapped = ::mmap(nullptr, populated * 2 + alignment, PROT_READ | PROT_WRITE,
                        kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::uint64_t start = 0;
  if (mapped != MAP_FAILED) {
    start = reinterpret_cast<std::uint64_t>(mapped);
    const std::uint64_t aligned = (start + alignment - 1) / alignment * alignment;
    if (aligned > start) {
      (void)::munmap(mapped, aligned - start);  // what stays before it does no harm
    }
    start = aligned;
    char* bytes = reinterpret_cast<char*>(start);
    (void)::madvise(bytes, populated, memory.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < populated; i += 4096) {
      bytes[i] = 1;
    }
    if (memory.shared_with_second) {
      int touched[2];
      if (::pipe(touched) == 0 && ::fork() == 0) {
        (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // as above
        for (std::size_t i = 0; i < populated; i += 4096) {
          bytes[i] = 2;
        }
        (void)!::write(touched[1], "x",
                       1);  // its parent would wait for ever, which the test's limit ends
        for (;;) {
          ::pause();
        }
      }
      char byte = 0;
      (void)!::read(touched[0], &byte, 1);  // either way the pages are looked at afterwards
    }
  }
  (void)!::write(said, &start, sizeof(start));  // the parent sees a short read
  for (;;) {
    ::pause();
  }
}

/// Field 22 of /proc/PID/stat; the command of these children holds no blanks after its ')'.
std::uint64_t start_time_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  constexpr int kFieldsFromState = 20;
  for (int i = 0; i < kFieldsFromState; ++i) {
    fields >> field;
  }
  return std::stoull(field);
}

}  // namespace

std::unique_ptr<MemoryChild> MemoryChild::start(const ChildMemory& memory) {
  int said[2];
  VMNUMA_CHECK(::pipe(said) == 0);
  std::unique_ptr<MemoryChild> child(new MemoryChild());
  child->pid_ = ::fork();
  VMNUMA_CHECK(child->pid_ >= 0);
  if (child->pid_ == 0) {
    run_child(memory, said[1]);
  }
  ::close(said[1]);
  const ssize_t bytes = ::read(said[0], &child->address_, sizeof(child->address_));
  ::close(said[0]);
  if (bytes != static_cast<ssize_t>(sizeof(child->address_)) || child->address_ == 0) {
    return nullptr;
  }
  child->process_ = {child->pid_, start_time_of(child->pid_)};
  return child;
}

void MemoryChild::kill() {
  if (!reaped_ && pid_ > 0) {
    (void)::kill(pid_, SIGKILL);  // it may have ended by itself
    siginfo_t info{};
    (void)::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
}

void MemoryChild::reap() {
  if (!reaped_ && pid_ > 0) {
    (void)::waitpid(pid_, nullptr, 0);  // killed before
    reaped_ = true;
  }
}

MemoryChild::~MemoryChild() {
  kill();
  reap();
}

}  // namespace vmnuma::tests
