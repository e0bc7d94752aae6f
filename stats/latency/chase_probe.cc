// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/chase_probe.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <numaif.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "stats/files/file_descriptor.h"

namespace vmnuma::stats {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20U;
constexpr std::size_t kHugePage = std::size_t{2} << 20U;
constexpr std::size_t kLine = 64;
constexpr std::size_t kLines = kBytes / kLine;
constexpr int kLowestPriority = 19;

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  (void)::clock_gettime(clock, &now);  // cannot fail with these clocks
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Result<void> run_on(const Node& node) {
  const auto last = static_cast<std::size_t>(node.cpus.back().id.value);
  const std::size_t size = CPU_ALLOC_SIZE(last + 1);
  std::vector<cpu_set_t> set((size + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t));
  CPU_ZERO_S(size, set.data());
  for (const Cpu& cpu : node.cpus) {
    CPU_SET_S(static_cast<std::size_t>(cpu.id.value), size, set.data());
  }
  if (::sched_setaffinity(0, size, set.data()) != 0) {
    return tl::unexpected(files::system_error(
        errno, fmt::format("cannot run on the CPUs of node {}", node.id.value)));
  }
  // For this thread only (setpriority(2), "C library/kernel differences"). Lowering the priority
  // needs no privilege.
  (void)::setpriority(PRIO_PROCESS, 0, kLowestPriority);
  return {};
}

/// Returns an order that no prefetcher can guess and that is always the same (xorshift64, Marsaglia
/// 2003).
std::vector<std::uint32_t> shuffled() {
  std::vector<std::uint32_t> order(kLines);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    std::swap(order[i], order[state % (i + 1)]);
  }
  return order;
}

}  // namespace

/// Memory on one node, linked into a cycle.
class ChaseProbe::Lines {
 public:
  static Result<std::unique_ptr<Lines>> on(NodeId node) {
    // One huge page more, so that aligned huge pages fit wherever the mapping begins.
    void* mapping = ::mmap(nullptr, kBytes + kHugePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
      return tl::unexpected(files::system_error(errno, "cannot get memory to read"));
    }
    std::unique_ptr<Lines> lines(new Lines(static_cast<std::byte*>(mapping)));
    VMNUMA_RETURN_IF_ERROR(lines->settle(node));
    lines->thread();
    return lines;
  }
  ~Lines() { (void)::munmap(mapping_, kBytes + kHugePage); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  void evict_from_caches() const {
#if defined(__x86_64__)
    for (std::size_t line = 0; line < kLines; ++line) {
      _mm_clflush(begin_ + line * kLine);
    }
    _mm_mfence();
#elif defined(__aarch64__)
    // Linux allows processes to do that (SCTLR_EL1_UCI in arch/arm64/include/asm/sysreg.h, 6.1).
    for (std::size_t line = 0; line < kLines; ++line) {
      asm volatile("dc civac, %0" : : "r"(begin_ + line * kLine) : "memory");
    }
    asm volatile("dsb ish" : : : "memory");
#endif
  }

  /// Follows the pointers once around; returns the last one so that no compiler drops the loop.
  [[nodiscard]] const void* follow() const {
    const void* at = begin_;
    for (std::size_t line = 0; line < kLines; ++line) {
      at = *static_cast<const void* const*>(at);
    }
    return at;
  }
  [[nodiscard]] const void* begin() const {
    return begin_;
  }

 private:
  explicit Lines(std::byte* mapping) : mapping_(mapping), begin_(mapping) {
    const auto address = reinterpret_cast<std::uintptr_t>(mapping);
    begin_ += (kHugePage - address % kHugePage) % kHugePage;
  }

  [[nodiscard]] Result<void> settle(NodeId node) const {
    constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
    const auto number = static_cast<std::size_t>(node.value);
    std::vector<unsigned long> mask(number / kBits + 1);
    mask[number / kBits] |= 1UL << (number % kBits);
    // The kernel uses one bit less than `maxnode` says (mbind, Linux 6.1, get_nodes()).
    if (::mbind(begin_, kBytes, MPOL_PREFERRED, mask.data(), mask.size() * kBits + 1, 0) != 0) {
      return tl::unexpected(
          files::system_error(errno, fmt::format("cannot ask for memory of node {}", node.value)));
    }
    (void)::madvise(begin_, kBytes, MADV_HUGEPAGE);  // without huge pages, small ones will do
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<void*> pages;
    for (std::size_t offset = 0; offset < kBytes; offset += page) {
      begin_[offset] = std::byte{1};
      pages.push_back(begin_ + offset);
    }
    std::vector<int> nodes(pages.size(), -1);
    if (::move_pages(0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) {
      return tl::unexpected(files::system_error(errno, "cannot ask where memory is"));
    }
    for (const int found : nodes) {
      if (found != node.value) {
        return failure(ErrorCode::kNoSpace,
                       fmt::format("node {} had no free memory to measure with", node.value));
      }
    }
    return {};
  }

  void thread() const {
    const std::vector<std::uint32_t> order = shuffled();
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::byte* from = begin_ + order[i] * kLine;
      *reinterpret_cast<void**>(from) = begin_ + order[(i + 1) % order.size()] * kLine;
    }
  }

  std::byte* mapping_;
  std::byte* begin_;
};

ChaseProbe::ChaseProbe() = default;
ChaseProbe::~ChaseProbe() = default;

Result<void> ChaseProbe::prepare(const Node& cpus, NodeId memory) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  return failure(ErrorCode::kUnsupported,
                 "reading without the caches is not supported on this machine");
#endif
  lines_.reset();
  VMNUMA_RETURN_IF_ERROR(run_on(cpus));
  VMNUMA_ASSIGN_OR_RETURN(auto lines, Lines::on(memory));
  lines_ = std::move(lines);
  return {};
}

LatencyRound ChaseProbe::round() {
  lines_->evict_from_caches();
  const std::int64_t running = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t begun = nanoseconds(CLOCK_MONOTONIC);
  const void* end = lines_->follow();
  const std::int64_t ended = nanoseconds(CLOCK_MONOTONIC);
  const std::int64_t ran = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  // A complete round ends where it began.
  const bool whole = end == lines_->begin();
  return {whole ? static_cast<std::int64_t>(kLines) : 0, ended - begun, ran - running};
}

}  // namespace vmnuma::stats
