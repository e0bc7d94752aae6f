// SPDX-License-Identifier: Apache-2.0
/// How fast the page mover is against migrate_pages(2), which is all that migratepages(8) does.
///
/// usage: mover_rate PID NODE OTHER-NODE ROUNDS
///
/// Moves all memory of a process from one node to the other and back, in turn by one and by the
/// other way, which change places every round. Prints one JSON object: the rates of each round in
/// MiB/s, the median of their ratios, and how much of the page mover's time the kernel had. Only
/// the largest chunk paces the mover.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "migration/linux/linux_page_mover.h"
#include "migration/pacing.h"
#include "migration/transfer.h"
#include "stats/files/directory.h"
#include "stats/formats/proc_formats.h"

namespace {

using vmnuma::Bytes;
using vmnuma::Microseconds;
using vmnuma::NodeId;
using vmnuma::Result;
using vmnuma::VmProcess;
using vmnuma::migration::LinuxPageMover;
using vmnuma::migration::MemoryRange;
using vmnuma::migration::MoveResult;
using vmnuma::migration::NodeMemory;
using vmnuma::migration::PageMover;
using vmnuma::migration::SharedPages;

constexpr Microseconds kNoTarget{1'000'000};

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "mover_rate: {}\n", why);
  std::exit(1);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

VmProcess process_of(int pid) {
  const auto folder = vmnuma::files::Directory::open(fmt::format("/proc/{}", pid));
  const auto text = folder.and_then([](const auto& open) { return open.read("stat"); });
  const auto stat = text.and_then(vmnuma::stats::parse_process_stat);
  if (!stat) {
    die(stat.error().message);
  }
  return {pid, stat->start_time_ticks};
}

template <class Call>
auto timed(double& seconds, Call call) {
  const double begun = seconds_now();
  auto result = call();
  seconds += seconds_now() - begun;
  return result;
}

/// Hands everything on, and keeps the seconds that it took.
class TimedMover final : public PageMover {
 public:
  explicit TimedMover(PageMover& mover) : mover_(mover) {}
  Result<void> check(const VmProcess& process) override { return mover_.check(process); }
  Result<std::vector<MemoryRange>> find_ranges(const VmProcess& process) override {
    return timed(surveying_, [&] { return mover_.find_ranges(process); });
  }
  Result<std::vector<int>> query(const VmProcess& process,
                                 std::span<const std::uint64_t> addresses) override {
    asked_ += addresses.size();
    return timed(asking_, [&] { return mover_.query(process, addresses); });
  }
  Result<void> reveal(const VmProcess& process, std::span<const std::uint64_t> addresses,
                      Bytes unit) override {
    return timed(asking_, [&] { return mover_.reveal(process, addresses, unit); });
  }
  Result<MoveResult> move(const VmProcess& process, std::span<const std::uint64_t> addresses,
                          NodeId node, SharedPages shared) override {
    submitted_ += addresses.size();
    ++calls_;
    return timed(moving_, [&] { return mover_.move(process, addresses, node, shared); });
  }
  Result<NodeMemory> node_memory(NodeId node) override { return mover_.node_memory(node); }

  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] std::size_t submitted() const { return submitted_; }
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] double moving() const { return moving_; }
  [[nodiscard]] double asking() const { return asking_; }
  [[nodiscard]] double surveying() const { return surveying_; }

 private:
  PageMover& mover_;
  std::size_t asked_ = 0;      ///< addresses
  std::size_t submitted_ = 0;  ///< addresses
  std::size_t calls_ = 0;
  double moving_ = 0;
  double asking_ = 0;
  double surveying_ = 0;
};

/// What the mover may move and lies on the node.
double mebibytes_on(PageMover& mover, const VmProcess& process, NodeId node) {
  const auto ranges = mover.find_ranges(process);
  if (!ranges) {
    die(ranges.error().message);
  }
  Bytes sum;
  for (const auto& range : *ranges) {
    for (const auto& part : range.resident) {
      sum += part.node == node ? part.bytes : Bytes{};
    }
  }
  return static_cast<double>(sum.value) / (1 << 20);
}

void move_plainly(const VmProcess& process, NodeId from, NodeId to) {
  const unsigned long from_mask = 1UL << from.value;
  const unsigned long to_mask = 1UL << to.value;
  if (::syscall(SYS_migrate_pages, process.pid, sizeof from_mask * 8, &from_mask, &to_mask) < 0) {
    die("migrate_pages: " + std::generic_category().message(errno));
  }
}

void move_by_mover(PageMover& mover, const VmProcess& process, NodeId to) {
  vmnuma::migration::MemoryChange change;
  change.quotas = {{to, vmnuma::kGiB}};
  vmnuma::migration::Limits limits;
  limits.stall_target = kNoTarget;
  vmnuma::migration::RoomBook room;
  vmnuma::migration::Transfer transfer(process, change, room, {});
  Microseconds now{1};
  while (!transfer.finished()) {
    now = std::max(now + Microseconds{1}, transfer.ready_at());  // back-offs are not waited for
    if (transfer.waits_for_room()) {
      die("the node has no room");
    }
    (void)transfer.step(mover, limits, now, vmnuma::migration::kLargestChunk);
  }
  if (transfer.error()) {
    die(transfer.error()->message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: mover_rate PID NODE OTHER-NODE ROUNDS\n");
    return 2;
  }
  const std::array<NodeId, 2> nodes{NodeId{std::atoi(argv[2])}, NodeId{std::atoi(argv[3])}};
  const int rounds = std::atoi(argv[4]);
  const VmProcess process = process_of(std::atoi(argv[1]));
  auto mover = LinuxPageMover::open("/");
  if (!mover) {
    die(mover.error().message);
  }
  TimedMover kept(*mover);
  std::array<std::vector<double>, 2> rates;
  std::array<double, 2> seconds{};
  std::size_t at = 0;
  move_plainly(process, nodes[1], nodes[0]);
  for (int round = 0; round < rounds; ++round) {
    for (int turn = 0; turn < 2; ++turn, at = 1 - at) {
      const NodeId to = nodes[1 - at];
      const bool plainly = turn == round % 2;
      const double before = mebibytes_on(*mover, process, to);
      const double begun = seconds_now();
      if (plainly) {
        move_plainly(process, nodes[at], to);
      } else {
        move_by_mover(kept, process, to);
      }
      const double took = seconds_now() - begun;
      const double moved = mebibytes_on(*mover, process, to) - before;
      rates[plainly ? 0 : 1].push_back(moved / took);
      seconds[plainly ? 0 : 1] += took;
    }
  }
  fmt::print(
      "{{\"migrate_pages_mib_per_s\": [{:.0f}], \"mover_mib_per_s\": [{:.0f}], \"ratio\": {:.2f},"
      " \"share_moving\": {:.2f}, \"share_asking\": {:.2f}, \"share_surveying\": {:.2f},"
      " \"addresses_asked\": {}, \"addresses_submitted\": {}, \"calls\": {}}}\n",
      fmt::join(rates[0], ", "), fmt::join(rates[1], ", "), seconds[0] / seconds[1],
      kept.moving() / seconds[1], kept.asking() / seconds[1], kept.surveying() / seconds[1],
      kept.asked(), kept.submitted(), kept.calls());
  return 0;
}
