// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_memory.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace vmnuma::tests {

using migration::MemoryRange;
using migration::MoveResult;
using migration::NodeMemory;
using migration::SharedPages;

namespace {

std::uint64_t unsigned_of(Bytes bytes) {
  return static_cast<std::uint64_t>(bytes.value);
}

Bytes pool_of(const MemoryRange& range) {
  return range.hugetlb ? range.page_size : Bytes{};
}

}  // namespace

FakeMemory::FakeMemory(std::vector<FakeMemoryNode> nodes) : nodes_(std::move(nodes)) {}

VmProcess FakeMemory::start_process() {
  const VmProcess process{next_pid_, static_cast<std::uint64_t>(next_pid_ * 10)};
  ++next_pid_;
  processes_[process];
  return process;
}

void FakeMemory::end_process(const VmProcess& process) {
  Process& ending = *find(process);
  for (Range& range : ending.ranges) {
    for (Page& page : range.pages) {
      if (page.node >= 0) {
        used_[{NodeId{page.node}, pool_of(range.description)}] -= range.description.page_size;
      }
    }
  }
  ending.ranges.clear();
  ending.running = false;
}

void FakeMemory::set_cpuset(const VmProcess& process, std::vector<NodeId> nodes) {
  find(process)->cpuset = std::move(nodes);
}

void FakeMemory::map(const VmProcess& process, MemoryRange range) {
  const auto pages = static_cast<std::size_t>(range.length.value / range.page_size.value);
  range.resident.clear();
  find(process)->ranges.push_back({std::move(range), std::vector<Page>(pages)});
}

FakeMemory::Process* FakeMemory::find(const VmProcess& process) {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

Result<FakeMemory::Process*> FakeMemory::running(const VmProcess& process) {
  Process* found = find(process);
  if (found == nullptr || !found->running) {
    return failure(ErrorCode::kVanished, "process " + std::to_string(process.pid) + " has ended",
                   ESRCH);
  }
  return found;
}

const FakeMemoryNode* FakeMemory::node(NodeId id) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const FakeMemoryNode& node) { return node.id == id; });
  return found == nodes_.end() || found->memory <= Bytes{} ? nullptr : &*found;
}

std::optional<FakeMemory::Place> FakeMemory::place(Process& process, std::uint64_t address) const {
  for (Range& range : process.ranges) {
    const MemoryRange& description = range.description;
    if (address < description.start ||
        address >= description.start + unsigned_of(description.length)) {
      continue;
    }
    const std::size_t page = (address - description.start) / unsigned_of(description.page_size);
    if (range.pages[page].node < 0) {
      return std::nullopt;
    }
    if (!range.pages[page].huge) {
      return Place{&range, page, 1};
    }
    const std::uint64_t block = address - address % unsigned_of(description.huge_page_size);
    return Place{&range, (block - description.start) / unsigned_of(description.page_size),
                 unsigned_of(description.huge_page_size) / unsigned_of(description.page_size)};
  }
  return std::nullopt;
}

template <class Change>
void FakeMemory::each_page(const VmProcess& process, std::uint64_t start, Bytes length,
                           Change change) {
  for (Range& range : find(process)->ranges) {
    const std::uint64_t page_size = unsigned_of(range.description.page_size);
    for (std::size_t i = 0; i < range.pages.size(); ++i) {
      const std::uint64_t address = range.description.start + i * page_size;
      if (address >= start && address < start + unsigned_of(length)) {
        change(range, range.pages[i]);
      }
    }
  }
}

void FakeMemory::populate(const VmProcess& process, std::uint64_t start, Bytes length,
                          NodeId target, bool huge) {
  each_page(process, start, length, [&](Range& range, Page& page) {
    if (page.node < 0) {
      page.node = static_cast<std::int16_t>(target.value);
      page.huge = huge;
      used_[{target, pool_of(range.description)}] += range.description.page_size;
    }
  });
}

void FakeMemory::discard(const VmProcess& process, std::uint64_t start, Bytes length) {
  each_page(process, start, length, [&](Range& range, Page& page) {
    if (page.node >= 0) {
      used_[{NodeId{page.node}, pool_of(range.description)}] -= range.description.page_size;
      page = {};
    }
  });
}

void FakeMemory::pin(const VmProcess& process, std::uint64_t start, Bytes length) {
  each_page(process, start, length, [](Range&, Page& page) { page.pinned = true; });
}

void FakeMemory::share(const VmProcess& process, std::uint64_t start, Bytes length) {
  each_page(process, start, length, [](Range&, Page& page) { page.shared = true; });
}

void FakeMemory::hide(const VmProcess& process, std::uint64_t start, Bytes length) {
  each_page(process, start, length, [](Range&, Page& page) { page.hidden = page.node >= 0; });
}

void FakeMemory::make_busy(const VmProcess& process, std::uint64_t start, Bytes length, int times,
                           bool at_queueing) {
  each_page(process, start, length, [&](Range&, Page& page) {
    (at_queueing ? page.busy_queueing : page.busy_moving) = static_cast<std::uint8_t>(times);
  });
}

void FakeMemory::set_used_by_others(NodeId node, Bytes bytes) {
  others_[node] = bytes;
}

Bytes FakeMemory::used(NodeId node, Bytes pool) const {
  const auto found = used_.find({node, pool});
  return found == used_.end() ? Bytes{} : found->second;
}

Bytes FakeMemory::free_on(NodeId id) const {
  const FakeMemoryNode* found = node(id);
  const auto others = others_.find(id);
  return found == nullptr
             ? Bytes{}
             : found->memory - used(id, {}) - (others == others_.end() ? Bytes{} : others->second);
}

bool FakeMemory::has_room(const Place& place, NodeId target) const {
  const MemoryRange& range = place.range->description;
  const Bytes size = range.page_size * static_cast<std::int64_t>(place.count);
  if (!range.hugetlb) {
    return free_on(target) >= size;
  }
  for (const migration::PoolFree& pool : node(target)->pools) {
    if (pool.page_size == range.page_size) {
      return range.page_size * pool.pages - used(target, range.page_size) >= size;
    }
  }
  return false;
}

void FakeMemory::relocate(const Place& place, int target) {
  const MemoryRange& range = place.range->description;
  const Bytes pool = pool_of(range);
  for (std::size_t i = place.first; i < place.first + place.count; ++i) {
    Page& page = place.range->pages[i];
    used_[{NodeId{page.node}, pool}] -= range.page_size;
    used_[{NodeId{target}, pool}] += range.page_size;
    page.node = static_cast<std::int16_t>(target);
  }
}

Result<void> FakeMemory::check(const VmProcess& process) {
  const auto found = running(process);
  return found ? Result<void>{} : tl::unexpected(found.error());
}

Result<std::vector<MemoryRange>> FakeMemory::find_ranges(const VmProcess& process) {
  VMNUMA_ASSIGN_OR_RETURN(const auto found, running(process));
  if (found->denied) {
    return failure(ErrorCode::kPermissionDenied, "no permission", EACCES);
  }
  std::vector<MemoryRange> ranges;
  for (const Range& range : found->ranges) {
    std::map<NodeId, Bytes> resident;
    for (const Page& page : range.pages) {
      if (page.node >= 0) {
        resident[NodeId{page.node}] += range.description.page_size;
      }
    }
    ranges.push_back(range.description);
    for (const auto& [node, bytes] : resident) {
      ranges.back().resident.push_back({node, bytes});
    }
  }
  return ranges;
}

int FakeMemory::status_at(Process& process, std::uint64_t address) const {
  const auto page = place(process, address);
  if (page && !page->head().hidden) {
    return page->head().node;
  }
  if (page) {
    return page->head().huge ? -EFAULT : -ENOENT;
  }
  const bool shared =
      std::any_of(process.ranges.begin(), process.ranges.end(), [&](const Range& range) {
        return range.description.shared && address >= range.description.start &&
               address < range.description.start + unsigned_of(range.description.length);
      });
  return shared ? -ENOENT : -EFAULT;
}

Result<std::vector<int>> FakeMemory::query(const VmProcess& process,
                                           std::span<const std::uint64_t> addresses) {
  ++queries_;
  addresses_asked_ += static_cast<std::int64_t>(addresses.size());
  VMNUMA_ASSIGN_OR_RETURN(const auto found, running(process));
  if (found->denied) {
    return failure(ErrorCode::kPermissionDenied, "no permission", EPERM);
  }
  std::vector<int> statuses;
  for (const std::uint64_t address : addresses) {
    statuses.push_back(status_at(*found, address));
  }
  return statuses;
}

Result<void> FakeMemory::reveal(const VmProcess& process, std::span<const std::uint64_t> addresses,
                                Bytes unit) {
  VMNUMA_ASSIGN_OR_RETURN(const auto found, running(process));
  if (found->denied) {
    return failure(ErrorCode::kPermissionDenied, "no permission", EPERM);
  }
  for (const std::uint64_t address : addresses) {
    const auto page = place(*found, address);
    if (!page) {
      // A whole block is checked before it is touched.
      holes_touched_ += unit == kKiB * 4 ? 1 : 0;
    } else if (page->head().huge == (unit > page->range->description.page_size)) {
      page->head().hidden = false;
    }
  }
  return {};
}

long FakeMemory::flush(std::vector<Place>& queue, NodeId target, MoveResult& result) {
  long failed = 0;
  const std::vector<Place> places = std::exchange(queue, {});
  for (const Place& place : places) {
    place.head().queued = false;
  }
  for (const Place& place : places) {
    Page& page = place.head();
    result.elapsed += place.count > 1 ? cost_.huge_page : cost_.page;
    if (page.pinned || page.busy_moving > 0) {
      if (!page.pinned) {
        --page.busy_moving;
      }
      ++failed;
    } else if (!has_room(place, target)) {
      return -ENOMEM;
    } else {
      relocate(place, target.value);
      ++moves_.back().moved_units;
    }
  }
  return failed;
}

Result<MoveResult> FakeMemory::move(const VmProcess& process,
                                    std::span<const std::uint64_t> addresses, NodeId target,
                                    SharedPages shared) {
  moves_.push_back({{addresses.begin(), addresses.end()}, target, shared, 0});
  VMNUMA_ASSIGN_OR_RETURN(const auto found, running(process));
  Process& owner = *found;
  if (owner.denied) {
    return failure(ErrorCode::kPermissionDenied, "no permission", EPERM);
  }
  if (node(target) == nullptr) {
    return failure(ErrorCode::kNotFound, "there is no such node, or it has no memory", ENODEV);
  }
  if (owner.cpuset &&
      std::find(owner.cpuset->begin(), owner.cpuset->end(), target) == owner.cpuset->end()) {
    return failure(ErrorCode::kUnsupported, "its cpuset does not allow the node", EACCES);
  }
  MoveResult result{.not_moved = 0,
                    .statuses = std::vector<int>(addresses.size(), migration::kStatusNotWritten),
                    .elapsed = cost_.call};
  std::vector<Place> queue;
  std::size_t queued_from = 0;
  // The number of pages not moved includes those that were not tried.
  const auto fail = [&](long failed, std::size_t next) -> Result<MoveResult> {
    if (failed < 0) {
      return failure(ErrorCode::kNoSpace, "the node has no free memory", ENOMEM);
    }
    result.not_moved = failed + static_cast<std::int64_t>(addresses.size() - next);
    return result;
  };
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto page = place(owner, addresses[i]);
    int status = status_at(owner, addresses[i]);
    if (status >= 0) {
      const MemoryRange& range = page->range->description;
      Page& head = page->head();
      const bool inside_hugetlb =
          range.hugetlb && (addresses[i] - range.start) % unsigned_of(range.page_size) != 0;
      if (head.node == target.value) {
        status = target.value;
      } else if ((head.shared && shared == SharedPages::kLeave) || inside_hugetlb) {
        status = -EACCES;
      } else if (head.queued) {
        status = -EBUSY;
      } else if (head.busy_queueing > 0) {
        --head.busy_queueing;
        status = -EBUSY;
      } else {
        if (queue.empty()) {
          queued_from = i;
        }
        head.queued = true;
        queue.push_back(*page);
        continue;
      }
    }
    result.statuses[i] = status;
    if (queue.empty()) {
      continue;
    }
    if (const long failed = flush(queue, target, result); failed != 0) {
      return fail(failed, i + 1);
    }
    std::fill(result.statuses.begin() + static_cast<std::ptrdiff_t>(queued_from),
              result.statuses.begin() + static_cast<std::ptrdiff_t>(i), target.value);
  }
  if (!queue.empty()) {
    if (const long failed = flush(queue, target, result); failed != 0) {
      return fail(failed, addresses.size());
    }
    std::fill(result.statuses.begin() + static_cast<std::ptrdiff_t>(queued_from),
              result.statuses.end(), target.value);
  }
  return result;
}

Result<NodeMemory> FakeMemory::node_memory(NodeId id) {
  const FakeMemoryNode* found = node(id);
  if (found == nullptr) {
    return failure(ErrorCode::kNotFound, "there is no node " + std::to_string(id.value), ENOENT);
  }
  NodeMemory memory{.total = found->memory, .available = free_on(id), .pools = found->pools};
  for (migration::PoolFree& pool : memory.pools) {
    pool.pages -= used(id, pool.page_size).value / pool.page_size.value;
  }
  return memory;
}

Bytes FakeMemory::bytes_on(const VmProcess& process, NodeId node) const {
  Bytes sum;
  const auto found = processes_.find(process);
  if (found == processes_.end()) {
    return sum;
  }
  for (const Range& range : found->second.ranges) {
    for (const Page& page : range.pages) {
      sum += page.node == node.value ? range.description.page_size : Bytes{};
    }
  }
  return sum;
}

Bytes FakeMemory::bytes_on(NodeId node) const {
  Bytes sum;
  for (const auto& [process, pages] : processes_) {
    sum += bytes_on(process, node);
  }
  return sum;
}

bool FakeMemory::consistent() const {
  for (const FakeMemoryNode& node : nodes_) {
    Bytes counted = used(node.id, {});
    bool fits = free_on(node.id) >= Bytes{};
    for (const migration::PoolFree& pool : node.pools) {
      counted += used(node.id, pool.page_size);
      fits = fits && used(node.id, pool.page_size) <= pool.page_size * pool.pages;
    }
    if (!fits || counted != bytes_on(node.id)) {
      return false;
    }
  }
  return true;
}

}  // namespace vmnuma::tests
