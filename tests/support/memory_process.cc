// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory_process.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <linux/io_uring.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement/base/result.h"

namespace vmnuma::tests {

namespace {

constexpr std::size_t kPageSize = 4096;

/// Stays on the current CPU, so that all pages come from one node.
void stay_on_this_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &cpus);
  (void)::sched_setaffinity(0, sizeof(cpus),
                            &cpus);  // if this fails, the tests find pages on two nodes
}

/// Maps twice the populated size, at a multiple of the alignment; null if that fails.
char* map_twice(const ChildMemory& memory) {
  const auto alignment = static_cast<std::uint64_t>(memory.alignment.value);
  const auto populated = static_cast<std::size_t>(memory.populated.value);
  int flags = MAP_ANONYMOUS | MAP_NORESERVE;
  flags |= memory.kind == MemoryKind::kShared ? MAP_SHARED : MAP_PRIVATE;
  flags |= memory.kind == MemoryKind::kHugetlb ? MAP_HUGETLB : 0;
  void* mapped = ::mmap(nullptr, populated * 2 + alignment, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  const auto start = reinterpret_cast<std::uint64_t>(mapped);
  const std::uint64_t aligned = (start + alignment - 1) / alignment * alignment;
  if (aligned > start) {
    (void)::munmap(mapped, aligned - start);  // the part before it that remains mapped does no harm
  }
  return reinterpret_cast<char*>(aligned);
}

/// Writes to every page, with sixteen different contents in turn, so that no more pages are equal
/// than the kernel lets share one page (max_page_sharing is 256).
void touch(char* bytes, std::size_t size) {
  constexpr std::size_t kDifferent = 16;
  for (std::size_t i = 0; i < size; i += kPageSize) {
    bytes[i] = static_cast<char>(1 + i / kPageSize % kDifferent);
  }
}

/// Starts a second process that maps the pages, too, until its parent ends.
void share_with_second(char* bytes, std::size_t size) {
  int touched[2];
  if (::pipe(touched) == 0 && ::fork() == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // as for the first process
    touch(bytes, size);
    (void)!::write(touched[1], "x", 1);  // otherwise its parent waits until the test's time limit
    for (;;) {
      ::pause();
    }
  }
  char byte = 0;
  (void)!::read(touched[0], &byte, 1);  // the pages are checked afterwards in any case
}

/// Registers the bytes with io_uring, which pins them as long as this process runs. Uses raw system
/// calls, because the C library has no wrappers (io_uring_register(2)).
bool pin(char* bytes, std::size_t size) {
  io_uring_params params{};
  const auto ring = static_cast<int>(::syscall(__NR_io_uring_setup, 1, &params));
  const iovec buffer{bytes, size};
  return ring >= 0 &&
         ::syscall(__NR_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1) == 0;
}

/// Waits until all pages are merged; returns false if the kernel does not merge them within half a
/// minute.
bool merge(char* bytes, std::size_t size) {
  constexpr int kTries = 300;
  constexpr useconds_t kBetween = 100'000;
  if (::madvise(bytes, size, MADV_MERGEABLE) != 0) {
    return false;
  }
  const auto number_in = [](const char* path) {
    std::ifstream file(path);
    std::size_t number = 0;
    file >> number;
    return number;
  };
  for (int i = 0; i < kTries && number_in("/sys/kernel/mm/ksm/run") == 1; ++i) {
    if (number_in("/proc/self/ksm_merging_pages") == size / kPageSize) {
      return true;
    }
    ::usleep(kBetween);
  }
  return false;
}

/// Creates the pages with their kind; returns false if that is not possible.
bool populate(const ChildMemory& memory, char* bytes) {
  const auto size = static_cast<std::size_t>(memory.populated.value);
  const bool huge = memory.kind == MemoryKind::kHuge || memory.node;
  (void)::madvise(bytes, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // not for hugetlb
  if (memory.node) {
    const std::uint64_t nodes = 1ULL << static_cast<unsigned>(memory.node->value);
    if (::mbind(bytes, size, MPOL_PREFERRED, &nodes, sizeof(nodes) * 8, 0) != 0) {
      return false;
    }
  }
  if (memory.kind == MemoryKind::kHugetlb && ::madvise(bytes, size, MADV_POPULATE_WRITE) != 0) {
    return false;  // the pool is too small; touching the pages would kill this process
  }
  touch(bytes, size);
  switch (memory.kind) {
    case MemoryKind::kLocked:
      return ::mlock(bytes, size) == 0;
    case MemoryKind::kPinned:
      return pin(bytes, size / 2);
    case MemoryKind::kMerged:
      return merge(bytes, size);
    case MemoryKind::kShared:
      share_with_second(bytes, size);
      return true;
    default:
      return true;
  }
}

/// Runs the child, which reports where its memory is, 0 if it has none, and waits to be killed.
[[noreturn]] void run_child(const ChildMemory& memory, int said) {
  (void)::prctl(PR_SET_PDEATHSIG,
                SIGKILL);  // if this fails, the child may outlive a crashed test, nothing worse
  stay_on_this_cpu();
  char* bytes = map_twice(memory);
  const bool done = bytes != nullptr && populate(memory, bytes);
  const std::uint64_t start = done ? reinterpret_cast<std::uint64_t>(bytes) : 0;
  (void)!::write(said, &start, sizeof(start));  // the parent sees a short read
  for (;;) {
    ::pause();
  }
}

/// Returns field 22 of /proc/PID/stat; the name of these children has no blanks after a ')'.
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
    (void)::waitpid(pid_, nullptr, 0);  // it was killed before
    reaped_ = true;
  }
}

MemoryChild::~MemoryChild() {
  kill();
  reap();
}

}  // namespace vmnuma::tests
