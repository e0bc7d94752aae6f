// SPDX-License-Identifier: Apache-2.0
/// How many VMs start whole on one node of a host that is nearly full, without and with others
/// moved out of their way, and how much memory travels for it. See README.md here.
///
/// A host of 512 GiB in 2, 4 or 8 nodes lives through one week that does not count and one that
/// does. Whenever less than 85 % of the memory that VMs may have is theirs, the next VM arrives. It
/// asks for one node (topology_policy single-numa-node); if none has room it goes elsewhere, or
/// waits until others were moved (make_room before-start). Sizes and lifetimes are those of a
/// published trace. The rules are the shipped ones: admission, first homes, the search for moves,
/// and the planner's validator, which holds every order against the host as it is then.
///
/// Usage: room_figures [HOSTS]. Exit status: 0 if all is as README.md says, else 1.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/core/entitlement.h"
#include "balancer/core/new_vm.h"
#include "balancer/core/validator.h"
#include "balancer/optimal/make_room.h"
#include "placement/admission.h"
#include "placement/largest_vm.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

using tests::Draw;

// ---- the workload ----

struct Size {
  std::int32_t vcpus = 0;
  std::int64_t gib = 0;
  std::int64_t weight = 0;  ///< of 1000 VMs so many are of this size
};
/// Of all of Azure's VMs in 2019, as the analysis of AzurePublicDatasetV2 shows them: 2 GB or less
/// 11.9 %, to 4 GB 16.5, to 8 GB 32.6, to 32 GB 28.9, to 64 GB 6.4, above 3.4; 2 cores or less 57.8
/// %, 4 22.9, 8 11.9, up to 24 6.2, above 0.7. Joined as if the larger in one were the larger in
/// the other; of a range the sizes that Azure sold.
constexpr Size kSizes[] = {{1, 2, 119},  {2, 4, 165},   {2, 8, 294}, {4, 8, 32},
                           {4, 16, 145}, {4, 32, 52},   {8, 32, 92}, {8, 56, 27},
                           {16, 56, 37}, {16, 112, 30}, {32, 112, 7}};

struct Life {
  std::int64_t minutes = 0;
  std::int64_t weight = 0;  ///< of 1000 VMs so many live about so long
};
/// Of the VMs of AzurePublicDatasetV2: 71 % live for at most 2 hours, 77.9 % for 5, 83.2 % for 12,
/// 87.2 % for 24, 90.4 % for 100. All together run for 162.5 million hours, 60.3 each, so those
/// that are left live for 25 days.
constexpr Life kLives[] = {{30, 710}, {180, 69}, {480, 53}, {1080, 40}, {3000, 32}, {36'000, 96}};

constexpr std::int64_t kDay = 24 * 60;
constexpr std::int64_t kWeek = 7 * kDay;
constexpr std::int64_t kFillPct = 85;
/// Of each vCPU: low, so that memory alone decides, and steady, so that the balancer moves no VM.
constexpr std::int64_t kBusyPct = 10;
/// The daemon lets a search take 10 s. What is not found in one is hardly ever found later, but on
/// 8 nodes it may take that long to prove that there is no way.
constexpr double kSecondsOfSearch = 1;

/// Of CPU time: what a search takes says nothing on a machine that others use.
double seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <class Row, std::size_t kRows, class Weight>
const Row& drawn(Draw& draw, const Row (&rows)[kRows], const Weight& weight) {
  std::int64_t all = 0;
  for (const Row& row : rows) {
    all += weight(row);
  }
  std::int64_t at = draw.up_to(all - 1);
  for (const Row& row : rows) {
    at -= weight(row);
    if (at < 0) {
      return row;
    }
  }
  return rows[kRows - 1];
}

// ---- the host ----

struct Shape {
  const char* name;
  int nodes = 0;
  std::int32_t cores = 0;
  std::int64_t gib = 0;
  /// Of HOSTS, one in so many: where searches take long.
  int one_in = 1;
  /// Of the VMs that arrive, per cent that start on one node with others moved, at least.
  std::int64_t at_least_pct = 0;
};
constexpr Shape kShapes[] = {{"2 x 256 GiB", 2, 64, 256, 1, 94},
                             {"4 x 128 GiB", 4, 32, 128, 1, 94},
                             {"8 x 64 GiB", 8, 16, 64, 4, 84}};

struct Vm {
  std::string name;
  std::int32_t vcpus = 0;
  std::int64_t gib = 0;
  NodeIndex home = kNoNode;
  std::int64_t until = 0;  ///< minute
  std::int64_t since = 0;  ///< it is on that node
};

struct Figures {
  std::int64_t arrivals = 0;
  std::int64_t whole = 0;      ///< found room on one node
  std::int64_t made = 0;       ///< started after others had been moved
  std::int64_t scattered = 0;  ///< refused, although all nodes together had the room
  std::int64_t short_of = 0;   ///< refused, as all nodes together had too little
  std::int64_t moves = 0;
  std::int64_t moved_gib = 0;
  std::int64_t most_gib = 0;  ///< for one VM
  std::int64_t unproved = 0;  ///< searches whose answer may not be the cheapest
  std::int64_t broken = 0;    ///< rules, by orders or after them
  void operator+=(const Figures& other) {
    arrivals += other.arrivals;
    whole += other.whole;
    made += other.made;
    scattered += other.scattered;
    short_of += other.short_of;
    moves += other.moves;
    moved_gib += other.moved_gib;
    most_gib = std::max(most_gib, other.most_gib);
    unproved += other.unproved;
    broken += other.broken;
  }
};

class Host {
 public:
  Host(const Shape& shape, bool makes_room, std::uint64_t number)
      : shape_(shape), makes_room_(makes_room), draw_(number, static_cast<std::uint64_t>(1)) {}

  Figures live() {
    fill();
    for (now_ = 1; now_ <= 2 * kWeek; ++now_) {
      std::erase_if(vms_, [this](const Vm& vm) { return vm.until <= now_; });
      while (used_gib() * 100 < for_vms_gib() * kFillPct) {
        Vm vm = next_vm();
        const Life& life = drawn(draw_, kLives, [](const Life& row) { return row.weight; });
        // Not all at once, however alike they are.
        vm.until = now_ + life.minutes * draw_.between(50, 150) / 100;
        arrive(std::move(vm));
      }
      if (now_ == kWeek) {
        figures_ = {};
      }
    }
    return figures_;
  }

 private:
  [[nodiscard]] std::int64_t used_gib() const {
    std::int64_t all = 0;
    for (const Vm& vm : vms_) {
      all += vm.gib;
    }
    return all;
  }
  [[nodiscard]] std::int64_t for_vms_gib() const { return shape_.gib * shape_.nodes; }

  /// Those that a host has at any moment: the longer they live, the likelier one is seen.
  void fill() {
    while (used_gib() * 100 < for_vms_gib() * kFillPct) {
      Vm vm = next_vm();
      const Life& life =
          drawn(draw_, kLives, [](const Life& row) { return row.weight * row.minutes; });
      vm.until = draw_.between(1, life.minutes);
      arrive(std::move(vm));
    }
  }

  /// Of those sizes that a node has if it is empty.
  Vm next_vm() {
    for (;;) {
      const Size& size = drawn(draw_, kSizes, [](const Size& row) { return row.weight; });
      if (size.vcpus <= shape_.cores && size.gib < shape_.gib) {
        return {"vm" + std::to_string(++number_), size.vcpus, size.gib, kNoNode, 0, now_};
      }
    }
  }

  [[nodiscard]] Snapshot snapshot() const {
    tests::SnapshotBuilder builder;
    builder.nodes(shape_.nodes, {.cores = shape_.cores, .memory_gib = shape_.gib});
    for (const Vm& vm : vms_) {
      std::vector<std::int64_t> memory(static_cast<std::size_t>(shape_.nodes), 0);
      memory[vm.home] = vm.gib;
      constexpr std::int64_t kEpochsPerMinute = 30;
      builder.vm({.name = vm.name,
                  .homes = {vm.home},
                  .vcpus = vm.vcpus,
                  .busy_pct = kBusyPct,
                  .memory_gib = memory,
                  .epochs_here = (now_ - vm.since) * kEpochsPerMinute + 1});
    }
    return builder.build();
  }

  static FreeForVm free_of(const Arrangement& now) {
    FreeForVm free;
    for (NodeIndex node = 0; node < now.snapshot().nodes.size(); ++node) {
      free.room.push_back(room_for_starts(now, node));
    }
    return free;
  }

  void arrive(Vm vm) {
    ++figures_.arrivals;
    if (start(vm)) {
      ++figures_.whole;
      return;
    }
    if (makes_room_ && make_room_for(vm)) {
      ++figures_.made;
      figures_.broken += start(vm) ? 0 : 1;
      return;
    }
    const Snapshot snapshot = this->snapshot();
    const FreeForVm free = free_of(Arrangement(snapshot, options_, Arrangement::Basis::kLoad));
    Bytes all;
    for (const Bytes room : free.room) {
      all += std::max(room, Bytes{});
    }
    ++(all >= kGiB * vm.gib ? figures_.scattered : figures_.short_of);
  }

  /// True if a node has room for it, where it then lives.
  bool start(Vm& vm) {
    Snapshot snapshot = this->snapshot();
    NewVm added;
    VmDescription& description = added.description;
    description.id.uuid[0] = 0xff;  // of none that runs
    description.name = vm.name;
    for (std::int32_t vcpu = 0; vcpu < vm.vcpus; ++vcpu) {
      description.vcpus.push_back(vcpu);
    }
    description.max_vcpus = vm.vcpus;
    description.memory = kGiB * vm.gib;
    description.max_memory = description.memory;
    description.policy.topology_policy = TopologyPolicy::kSingleNumaNode;
    added.load = Permille{kBusyPct * 10};
    const Arrangement now(snapshot, options_, Arrangement::Basis::kLoad);
    const VmAdmission admission =
        admit_vm(snapshot.topology, description, /*prefer_ht=*/false, free_of(now),
                 [&](AdmissionRequest& asked, const VmDescription& /*part*/) {
                   for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
                     asked.load.push_back(now.node(node).demand().value * 1000 /
                                          now.node(node).capacity().value);
                   }
                   asked.last = last_placed_on_;
                 });
    if (admission.refused) {
      return false;
    }
    for (const NodeIndex node : admission.nodes) {
      description.policy.nodes.push_back(snapshot.topology.nodes[node].id);
    }
    add_vm(snapshot, added, options_);
    share_out(snapshot, options_);
    const std::vector<NewHome> homes =
        place_vm(snapshot, description.id, options_, last_placed_on_);
    figures_.broken +=
        homes.size() == 1 && homes.front().elsewhere + homes.front().nowhere == Bytes{} ? 0 : 1;
    vm.home = homes.front().home;
    vm.since = now_;
    vms_.push_back(vm);
    return true;
  }

  /// True if others were moved so that it has room.
  bool make_room_for(const Vm& vm) {
    const Snapshot snapshot = this->snapshot();
    const Arrangement now(snapshot, options_, Arrangement::Basis::kDemand);
    RoomWanted wanted;
    wanted.vcpus = vm.vcpus;
    wanted.memory = kGiB * vm.gib;
    for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
      wanted.nodes.push_back(node);
    }
    const RoomMade made = make_room(now, free_of(now), wanted, kSecondsOfSearch, seconds);
    figures_.unproved += made.is_cheapest ? 0 : 1;
    if (made.node == kNoNode) {
      return false;
    }
    std::int64_t gib = 0;
    for (const Step& step : made.sequence.steps) {
      // As the host is by then.
      const Snapshot then = this->snapshot();
      Plan plan;
      plan.actions.push_back({Reason::kAdministrator, step.relocations, {}});
      figures_.broken +=
          static_cast<std::int64_t>(violations_of_orders(plan, then, options_).size());
      for (const Relocation& relocation : step.relocations) {
        // Clients are in the order of VMs, one each.
        const ClientIndex client = index_of(snapshot, relocation.client);
        Vm& moved = vms_[client];
        moved.home = relocation.to;
        ++figures_.moves;
        gib += moved.gib;
      }
    }
    // Only now: steps follow each other at once, and no VM is in two.
    for (const Step& step : made.sequence.steps) {
      for (const Relocation& relocation : step.relocations) {
        vms_[index_of(snapshot, relocation.client)].since = now_;
      }
    }
    figures_.moved_gib += gib;
    figures_.most_gib = std::max(figures_.most_gib, gib);
    return true;
  }

  const Shape& shape_;
  const bool makes_room_;
  const Options options_;
  Draw draw_;
  std::int64_t now_ = 0;
  std::int64_t number_ = 0;
  std::vector<Vm> vms_;
  NodeIndex last_placed_on_ = kNoNode;
  Figures figures_;
};

double share(std::int64_t part, std::int64_t all) {
  return static_cast<double>(part) * 100 / static_cast<double>(std::max<std::int64_t>(all, 1));
}

double each(std::int64_t sum, std::int64_t count) {
  return static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(count, 1));
}

int run(int hosts) {
  bool good = true;
  std::printf(
      "a week of %d hosts of 512 GiB, %lld %% full\n%-12s %-12s %8s %7s %7s %9s %7s %6s %6s %6s "
      "%5s\n",
      hosts, static_cast<long long>(kFillPct), "nodes", "room", "arrivals", "whole%", "made%",
      "scatter%", "short%", "GiB", "moves", "most", "CPU s");
  for (const Shape& shape : kShapes) {
    for (const bool makes_room : {false, true}) {
      const std::clock_t begin = std::clock();
      Figures all;
      for (int number = 0; number < std::max(hosts / shape.one_in, 1); ++number) {
        all += Host(shape, makes_room, static_cast<std::uint64_t>(number)).live();
      }
      std::printf("%-12s %-12s %8lld %7.1f %7.1f %9.1f %7.1f %6.1f %6.2f %6lld %5.1f\n", shape.name,
                  makes_room ? "before-start" : "never", static_cast<long long>(all.arrivals),
                  share(all.whole, all.arrivals), share(all.made, all.arrivals),
                  share(all.scattered, all.arrivals), share(all.short_of, all.arrivals),
                  each(all.moved_gib, all.made), each(all.moves, all.made),
                  static_cast<long long>(all.most_gib),
                  static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      if (all.broken > 0 || all.unproved > 0) {
        std::printf("%lld rules were broken, %lld searches may have missed the cheapest way\n",
                    static_cast<long long>(all.broken), static_cast<long long>(all.unproved));
      }
      good = good && all.broken == 0 &&
             (!makes_room || (all.whole + all.made) * 100 >= all.arrivals * shape.at_least_pct);
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace vmnuma::balancer

int main(int argc, char** argv) {
  int hosts = 24;
  if (argc > 1) {
    const std::string_view text(argv[1]);
    std::from_chars(text.data(), text.data() + text.size(), hosts);
  }
  return vmnuma::balancer::run(hosts);
}
