// SPDX-License-Identifier: Apache-2.0
/// The recorded fields of each value, listed once for writing and reading. Internal to this folder.
///
/// `fields(NAME, value)` is for what is recorded unchanged. `fields.added` is for what older
/// recordings lack; the value is then left unchanged by default. `fields.vm_name`, `fields.group`
/// (for owners, too) and `fields.added_group`, `fields.policies`, `fields.settings` and
/// `fields.command` are for what an anonymized recording renames; `fields.prose` and
/// `fields.sentences` for what it replaces by "left out". Pure explanations (why a client is where
/// it is, origins of options) are not recorded, because no plan depends on them. The struct is a
/// friend of the classes whose state is listed here.
#pragma once

#include <type_traits>

#include "balancer/controller/controller.h"
#include "balancer/controller/far_memory.h"
#include "balancer/controller/kept_fields.h"
#include "stats/text/archive.h"

namespace vmnuma::balancer {

/// The largest amount, positive or negative: bytes of 4 PiB, CPU time of 142 years. A thousand
/// times as much is still in range.
inline constexpr std::int64_t kMostAmount = std::int64_t{1} << 52U;

using text::MaybeConst;

template <class T, class... Types>
concept OneOf = (MaybeConst<T, Types> || ...);

struct RecordFields {
  /// These have the same fields as in the state that outlives the daemon (kept_fields.h).
  static void visit(auto& fields, OneOf<VmProcess, ThreadId, Original, Original::Pins, MemoryLimits,
                                        MemoryOnNode> auto& value) {
    visit_kept(fields, value);
  }

  // ---- the host ----

  static void visit(auto& fields, MaybeConst<Cpu> auto& value) {
    fields("id", value.id);
    fields("core", value.core);
    fields("last_level_cache", value.last_level_cache);
  }
  static void visit(auto& fields, MaybeConst<HugePagePool> auto& value) {
    fields("page_size", value.page_size);
    fields("pages", value.pages);
  }
  static void visit(auto& fields, MaybeConst<Node> auto& value) {
    fields("id", value.id);
    fields("cpus", value.cpus);
    fields("memory", value.memory);
    fields("package", value.package);
    fields("huge_pages", value.huge_pages);
    fields.added("isolated_cpus", value.isolated_cpus);
  }
  static void visit(auto& fields, MaybeConst<Topology> auto& value) {
    fields("nodes", value.nodes);
    fields("distances", value.distances);
  }
  template <class Fields, MaybeConst<Options> T>
  static void visit(Fields& fields, T& value) {
    if constexpr (!std::is_const_v<T>) {
      // Options missing in a recording were added later, when ESXi's rules decided everything.
      value = options_of(Preset::kEsxi);
    }
    for (const OptionRow& info : option_table()) {
      fields.added(info.name, value.*(info.value));
    }
  }

  // ---- VMs ----

  static void visit(auto& fields, MaybeConst<CellBinding> auto& value) {
    fields("mode", value.mode);
    fields("nodes", value.nodes);
  }
  static void visit(auto& fields, MaybeConst<GuestCell> auto& value) {
    fields("id", value.id);
    fields("vcpus", value.vcpus);
    fields("memory", value.memory);
    fields.added("page_size", value.page_size);
    fields.added("binding", value.binding);
  }
  static void visit(auto& fields, MaybeConst<PciDevice> auto& value) {
    fields.prose("address", value.address);
    fields("node", value.node);
  }
  static void visit(auto& fields, MaybeConst<MediatedDevice> auto& value) {
    fields.prose("uuid", value.uuid);
    fields("node", value.node);
  }
  static void visit(auto& fields, MaybeConst<HostInterface> auto& value) {
    fields.prose("name", value.name);
    fields("node", value.node);
    // The kind of bridge only determines where its node is read.
  }
  static void visit(auto& fields, MaybeConst<HostDisk> auto& value) {
    fields.prose("name", value.name);
    fields("node", value.node);
  }
  static void visit(auto& fields, MaybeConst<Pin> auto& value) {
    fields("number", value.number);
    fields("cpus", value.cpus);
  }
  static void visit(auto& fields, MaybeConst<PolicySetting> auto& value) {
    fields("key", value.key);
    fields("value", value.value);
  }
  template <class Fields, MaybeConst<VmPolicy> T>
  static void visit(Fields& fields, T& value) {
    fields("memory_mode", value.memory_mode);
    fields("do_not_move", value.do_not_move);
    fields("prefer_ht", value.prefer_ht);
    fields("max_per_node", value.max_per_node);
    fields("max_per_client", value.max_per_client);
    fields("consolidate", value.consolidate);
    fields("nodes", value.nodes);
    fields.group("affinity_group", value.affinity_group);
    fields.group("anti_affinity_group", value.anti_affinity_group);
    fields("anti_affinity_hard", value.anti_affinity_hard);
    fields("reservation_permille", value.reservation_permille);
    // In recordings that lack this, best-effort was the default and had no effect.
    bool leads = value.topology_policy == TopologyPolicy::kBestEffort;
    fields("topology_policy", value.topology_policy);
    fields.added("best_effort_leads", leads);
    if constexpr (!std::is_const_v<T>) {
      if (!leads && value.topology_policy == TopologyPolicy::kBestEffort) {
        value.topology_policy = TopologyPolicy::kNone;
      }
    }
    fields("topology_scope", value.topology_scope);
    fields("prefer_closest_numa_nodes", value.prefer_closest_numa_nodes);
    fields("max_allowable_numa_nodes", value.max_allowable_numa_nodes);
    fields("device_locality", value.device_locality);
    fields("locality_weight_pct", value.locality_weight_pct);
    fields("strategy", value.strategy);
    fields("cpu_binding", value.cpu_binding);
    fields("cpu_policy", value.cpu_policy);
    fields("cpu_class", value.cpu_class);
    fields("memory_class", value.memory_class);
    fields.added("make_room", value.make_room);
    fields.added("make_room_deadline_s", value.make_room_deadline_s);
    fields.added_group("owner", value.owner);
    fields.added("priority", value.priority);
    fields.added("device_pools", value.device_pools);
  }
  static void visit(auto& fields, MaybeConst<NovaProject> auto& value) {
    fields.group("name", value.name);
    fields.group("uuid", value.uuid);
  }
  static void visit(auto& fields, MaybeConst<VmDescription> auto& value) {
    fields("id", value.id);
    fields.vm_name("name", value.name);
    fields("domain_id", value.domain_id);
    fields.added("process", value.process);
    fields("vcpus", value.vcpus);
    fields("max_vcpus", value.max_vcpus);
    fields("memory", value.memory);
    fields("max_memory", value.max_memory);
    fields("cells", value.cells);
    fields("sockets", value.sockets);
    fields("dies", value.dies);
    fields("cores", value.cores);
    fields("threads", value.threads);
    fields("io_threads", value.io_threads);
    fields("numatune", value.numatune);
    fields("numatune_auto", value.numatune_auto);
    fields("placement_auto", value.placement_auto);
    fields("numatune_nodes", value.numatune_nodes);
    fields.added("memory_nodes_fixed", value.memory_nodes_fixed);
    fields("huge_page_size", value.huge_page_size);
    fields("memory_locked", value.memory_locked);
    fields("memory_shared", value.memory_shared);
    fields("pci_devices", value.pci_devices);
    fields.added("mediated_devices", value.mediated_devices);
    fields("host_interfaces", value.host_interfaces);
    fields.added("host_disks", value.host_disks);
    fields("memory_pinned_by", value.memory_pinned_by);  // a kind of device, not a name
    fields("vcpu_pins", value.vcpu_pins);
    fields.added("default_pin", value.default_pin);
    fields.added("advised_cpus", value.advised_cpus);
    fields("emulator_pin", value.emulator_pin);
    fields("io_thread_pins", value.io_thread_pins);
    fields.prose("partition", value.partition);
    fields.added("nova_project", value.nova_project);
    // No decision depends on guest_os, and it might reveal the VM's owner.
    fields.settings("own_policy", value.own_policy);
    fields("policy", value.policy);
  }

  // ---- readings ----

  static void visit(auto& fields, MaybeConst<VcpuSample> auto& value) {
    fields("vcpu", value.vcpu);
    fields("tid", value.tid);
    fields("run_ns", value.run_ns);
    fields("wait_ns", value.wait_ns);
  }
  static void visit(auto& fields, MaybeConst<MemoryState> auto& value) {
    fields.prose("scope", value.scope);  // contains the VM's name
    fields("read_in", value.read_in);
    fields("limits", value.limits);
    fields("anonymous", value.anonymous);
    fields("shared", value.shared);
    fields("file", value.file);
    fields("unevictable", value.unevictable);
    fields("swap", value.swap);
    fields("waits_some", value.waits_some);
    fields("waits_full", value.waits_full);
    fields("oom_score_adj", value.oom_score_adj);
  }
  static void visit(auto& fields, MaybeConst<SliceMemory> auto& value) {
    fields.prose("path", value.path);
    fields("limits", value.limits);
  }
  static void visit(auto& fields, MaybeConst<MemoryReads> auto& value) {
    fields("count", value.count);
    fields("counted", value.counted);
    fields("ran", value.ran);
    fields("cycles", value.cycles);
    fields("stalled_cycles", value.stalled_cycles);
  }
  static void visit(auto& fields, MaybeConst<VmSample> auto& value) {
    fields("id", value.id);
    fields("process", value.process);
    fields("vcpus", value.vcpus);
    fields.added("last_cpus", value.last_cpus);
    fields("throttled_us", value.throttled_us);
    fields("weight", value.weight);
    fields("quota_permille", value.quota_permille);
    fields("memory", value.memory);
    fields("cell_memory", value.cell_memory);
    fields("memory_state", value.memory_state);
    fields("threads", value.threads);
    fields("cpu_waits", value.cpu_waits);
    fields.added("cpus", value.cpus);
    fields.added("memory_reads", value.memory_reads);
    fields.added("beside_us", value.beside_us);
  }
  static void visit(auto& fields, MaybeConst<CpuSample> auto& value) {
    fields("id", value.id);
    fields("busy_us", value.busy_us);
  }
  static void visit(auto& fields, MaybeConst<NodeSample> auto& value) {
    fields("id", value.id);
    fields("free", value.free);
    fields("total", value.total);
    fields.added("huge_pages", value.huge_pages);
    fields.added("copying_us", value.copying_us);
  }
  static void visit(auto& fields, MaybeConst<MissingSource> auto& value) {
    fields("vm", value.vm);
    if (value.vm) {
      fields.prose("source", value.source);
    } else {
      fields("source", value.source);
    }
    fields.prose("reason", value.reason);
  }
  static void visit(auto& fields, MaybeConst<WakeupSample> auto& value) {
    fields("a", value.a);
    fields("b", value.b);
    fields("count", value.count);
  }
  static void visit(auto& fields, MaybeConst<SchedExt> auto& value) {
    fields.prose("name", value.name);
    fields("takes_all", value.takes_all);
  }
  static void visit(auto& fields, MaybeConst<Sample> auto& value) {
    fields("sequence", value.sequence);
    fields("taken_at", value.taken_at);
    fields("nodes", value.nodes);
    fields("cpus", value.cpus);
    fields("vms", value.vms);
    fields("memory_pressure", value.memory_pressure);
    fields("direct_reclaims", value.direct_reclaims);
    fields("kernel_numa_balancing", value.kernel_numa_balancing);
    fields.added("sched_ext", value.sched_ext);
    fields.added("cache_scheduling", value.cache_scheduling);
    fields("slices", value.slices);
    fields("swap_total", value.swap_total);
    fields("protection_inherited", value.protection_inherited);
    fields.added("wakeups", value.wakeups);
    fields("missing", value.missing);
  }

  // ---- the epoch as the planner sees it ----

  static void visit(auto& fields, MaybeConst<PagesOfSize> auto& value) {
    fields("page_size", value.page_size);
    fields("memory", value.memory);
  }
  static void visit(auto& fields, MaybeConst<NodeState> auto& value) {
    fields("physical", value.physical);
    fields("threads", value.threads);
    fields("non_vm", value.non_vm);
    fields.added("non_vm_now", value.non_vm_now);
    fields.added("short_lately", value.short_lately);
    fields("set_aside", value.set_aside);
    fields("capacity", value.capacity);
    fields("used", value.used);
    fields("demand", value.demand);
    fields("entitled", value.entitled);
    fields("owed", value.owed);
    fields("load_average", value.load_average);
    fields("vcpus", value.vcpus);
    fields("free", value.free);
    fields("total", value.total);
    fields("reserve", value.reserve);
    fields.added("reserved", value.reserved);
    fields("known", value.known);
    fields.added("reservations", value.reservations);
  }
  static void visit(auto& fields, MaybeConst<VmState> auto& value) {
    fields("id", value.id);
    fields.vm_name("name", value.name);
    fields("weight", value.weight);
    fields("first_client", value.first_client);
    fields("client_count", value.client_count);
    fields("demand", value.demand);
    fields("entitled", value.entitled);
    fields("stall", value.stall);
    fields.added("counted_stall", value.counted_stall);
    fields("huge_page_size", value.huge_page_size);
    fields("memory_stays_because", value.memory_stays_because);  // one of a few fixed sentences
    fields.added("shares_memory", value.shares_memory);
    fields("policy", value.policy);
    fields("fresh", value.fresh);
    fields.prose("stale_because", value.stale_because);
    fields.added("epochs_stale", value.epochs_stale);
    fields("measured", value.measured);
    fields("suggested", value.suggested);
    fields("device_nodes", value.device_nodes);
    fields("interface_nodes", value.wished_nodes);  // those of disks were added later
    fields("transferring", value.transferring);
    fields("left_behind", value.left_behind);
    fields("epochs_since_transfer", value.epochs_since_transfer);
    fields("epochs_travelled", value.epochs_travelled);
    fields("epochs_rested", value.epochs_rested);
    fields("pull_again_after", value.pull_again_after);
  }
  static void visit(auto& fields, MaybeConst<Ahead> auto& value) {
    fields("mean", value.mean);
    fields("p95", value.p95);
  }
  static void visit(auto& fields, MaybeConst<ClientState> auto& value) {
    fields("id", value.id);
    fields("vm", value.vm);
    fields("vcpus", value.vcpus);
    fields("home", value.home);
    fields("used", value.used);
    fields("ready", value.ready);
    fields("demand", value.demand);
    fields("load", value.load);
    fields.added("recent", value.recent);
    fields.added("ahead", value.ahead);
    fields("effective_used", value.effective_used);
    fields("entitled", value.entitled);
    fields("owed", value.owed);
    fields("owed_before", value.owed_before);
    fields("owed_on_average", value.owed_on_average);
    fields("weight", value.weight);
    fields("memory_size", value.memory_size);
    fields.added("page_size", value.page_size);
    fields("memory", value.memory);
    fields("memory_known", value.memory_known);
    fields("allowed", value.allowed);
    fields.added("bound_to", value.bound_to);
    fields("epochs_here", value.epochs_here);
    fields("came_from", value.came_from);
    fields("epochs_since_swap", value.epochs_since_swap);
    fields("moving", value.moving);
    fields("exclusive_cores", value.exclusive_cores);
    fields.added("spills_to", value.spills_to);
    fields.added("spill_saves", value.spill_saves);
  }
  static void visit(auto& fields, MaybeConst<Chat> auto& value) {
    fields("a", value.a);
    fields("b", value.b);
    fields("rate", value.rate);
  }
  static void visit(auto& fields, MaybeConst<Snapshot> auto& value) {
    fields("epoch", value.epoch);
    fields("epoch_length", value.epoch_length);
    fields("topology", value.topology);
    fields("nodes", value.nodes);
    fields("vms", value.vms);
    fields("clients", value.clients);
    fields.added("chats", value.chats);
  }

  // ---- plans ----

  static void visit(auto& fields, MaybeConst<Relocation> auto& value) {
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
    fields("memory", value.memory);
    fields.added("spills_to", value.spills_to);
  }
  static void visit(auto& fields, MaybeConst<Prediction> auto& value) {
    // `known` is only explanatory.
    fields("lost_before", value.lost_before);
    fields("lost_after", value.lost_after);
    fields.added("gain_at_home", value.gain_at_home);
    fields("cost", value.cost);
    fields("imbalance_before", value.imbalance_before);
    fields("imbalance_after", value.imbalance_after);
    fields("locality_before", value.locality_before);
    fields("locality_after", value.locality_after);
  }
  static void visit(auto& fields, MaybeConst<Action> auto& value) {
    fields("reason", value.reason);
    fields("relocations", value.relocations);
    fields("predicted", value.predicted);
  }
  static void visit(auto& fields, MaybeConst<Rejection> auto& value) {
    fields("reason", value.reason);
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
    fields("partner", value.partner);
    fields("guard", value.guard);
    fields("gain", value.gain);
  }
  static void visit(auto& fields, MaybeConst<Spill> auto& value) {
    fields("client", value.client);
    fields("to", value.to);
    fields("saves", value.saves);
  }
  static void visit(auto& fields, MaybeConst<Plan> auto& value) {
    fields("epoch", value.epoch);
    fields("lost", value.lost);
    fields("imbalance", value.imbalance);
    fields("actions", value.actions);
    fields.added("spills", value.spills);
    fields("rejections", value.rejections);
  }

  // ---- results of orders ----

  static void visit(auto& fields, MaybeConst<migration::Outcome> auto& value) {
    fields("moved", value.moved);
    fields("already_home", value.already_home);
    fields("absent", value.absent);
    fields("left_by_reason", value.left_by_reason);
    fields("left", value.left);
    fields("calls", value.calls);
    fields("stalls", value.stalls);
    fields("long_stalls", value.long_stalls);
    fields("longest", value.longest);
  }
  static void visit(auto& fields, MaybeConst<migration::ActionEvent> auto& value) {
    fields("kind", value.kind);
    fields("action", value.action);
    fields("vms", value.vms);
    fields("state", value.state);
    fields.prose("detail", value.detail);
    fields("outcome", value.outcome);
    fields("took", value.took);
    fields.added("set_failed", value.set_failed);
  }
  static void visit(auto& fields, MaybeConst<migration::TransferProgress> auto& value) {
    // `problem` is only explanatory.
    fields("vm", value.vm);
    fields("action", value.action);
    fields("done", value.done);
    fields("remaining", value.remaining);
    fields("per_second", value.per_second);
    fields("outcome", value.outcome);
    fields("waits_for_room", value.waits_for_room);
  }

  // ---- events ----

  static void visit(auto& fields, MaybeConst<DomainsChanged> auto& value) {
    fields("running", value.running);
    fields.added("unreadable", value.unreadable);
  }
  static void visit(auto& fields, MaybeConst<SampleTaken> auto& value) {
    fields("sample", value.sample);
    fields("wall_unix_s", value.wall_unix_s);
  }
  static void visit(auto& fields, MaybeConst<ActionProgressed> auto& value) {
    fields("event", value.event);
  }
  static void visit(auto& fields, MaybeConst<TransfersReported> auto& value) {
    fields("transfers", value.transfers);
  }
  static void visit(auto& fields, MaybeConst<SourceChanged> auto& value) {
    fields("source", value.source);
    fields.prose("reason", value.reason);
    fields("wall_unix_s", value.wall_unix_s);
  }
  static void visit(auto& fields, MaybeConst<CommandReceived> auto& value) {
    fields.command("request", value.command);
  }
  /// Records the one origin that a decision depends on: a price of remote memory that was set is
  /// not replaced by the measured one. In recordings that lack this, none was set.
  template <class Fields, class T>
  static void visit_price_origin(Fields& fields, T& settings) {
    bool is_set = is_price_set(settings);
    fields.added("mem_stall_is_set", is_set);
    if constexpr (!std::is_const_v<T>) {
      if (is_set) {
        settings.origins[kMemStallPct] = Origin::kFile;
      }
    }
  }
  static void visit(auto& fields, MaybeConst<ConfigChanged> auto& value) {
    fields("mode", value.mode);
    fields("options", value.options);
    visit_price_origin(fields, value);
    fields.policies("policies", value.policies);
    fields("metadata_wins", value.metadata_wins);
    fields("repairs_pins", value.repairs_pins);
    fields("strategy", value.strategy);
    fields.added("admission", value.admission);
    fields.added("reserved_memory", value.reserved_memory);
  }
  static void visit(auto& fields, MaybeConst<MeasuredMemory> auto& value) {
    fields("local_read_ns", value.local_read_ns);
    fields("stall_pct", value.stall_pct);
  }
  static void visit(auto& fields, MaybeConst<TopologyChanged> auto& value) {
    fields("topology", value.topology);
    fields.added("measured", value.measured);
  }
  static void visit(auto& fields, MaybeConst<LoadForecast> auto& value) {
    fields("mean", value.mean);
    fields("p95", value.p95);
    fields.added("by", value.by);
  }
  static void visit(auto& fields, MaybeConst<LoadsForecast> auto& value) {
    fields("forecasts", value.forecasts);
  }
  static void visit(auto& fields, MaybeConst<LoadExpected> auto& value) {
    fields("vm", value.vm);
    fields("per_vcpu", value.per_vcpu);
  }
  static void visit(auto& fields, MaybeConst<MemoryLimitsSet> auto& value) {
    fields.prose("path", value.path);
    fields.prose("problem", value.problem);
  }
  static void visit(auto& fields, MaybeConst<RoomMove> auto& value) {
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
  }
  static void visit(auto& fields, MaybeConst<RoomSearched> auto& value) {
    fields("vm", value.vm);
    fields("node", value.node);
    fields("steps", value.steps);
    fields.prose("refused", value.refused);
  }
  static void visit(auto& fields, MaybeConst<Stopping> auto& value) {
    fields("restore", value.restore);
  }

  // ---- the initial state of a recording ----

  static void visit(auto& fields, MaybeConst<ControllerSetup> auto& value) {
    fields("mode", value.mode);
    fields("topology", value.topology);
    fields.added("measured_memory", value.measured_memory);
    fields("options", value.options);
    visit_price_origin(fields, value);
    fields.policies("policies", value.policies);
    fields("metadata_wins", value.metadata_wins);
    fields("repairs_pins", value.repairs_pins);
    fields("strategy", value.strategy);
    fields.added("admission", value.admission);
    fields.added("reserved_memory", value.reserved_memory);
    fields.added("expected", value.expected);
    fields("remembered_homes", value.remembered_homes);
    fields("originals", value.originals);
    fields("originals_known", value.originals_known);
    fields("released", value.released);
  }
  static void visit(auto& fields, MaybeConst<ClientShape> auto& value) {
    fields("vcpus", value.vcpus);
    fields("cells", value.cells);
    fields("memory", value.memory);
  }
  static void visit(auto& fields, MaybeConst<CpuRates> auto& value) {
    fields("used", value.used);
    fields("ready", value.ready);
    fields("demand", value.demand);
  }
  static void visit(auto& fields, MaybeConst<MigrationCounts> auto& value) {
    fields("balance", value.balance);
    fields("load_swap", value.load_swap);
    fields("locality", value.locality);
    fields("locality_swap", value.locality_swap);
    fields("long_term", value.long_term);
    fields("administrator", value.administrator);
  }
  static void visit(auto& fields, MaybeConst<RanOnNode> auto& value) {
    fields("node", value.node);
    fields("lately", value.lately);
  }
  static void visit(auto& fields, MaybeConst<ClientRecord> auto& value) {
    fields("shape", value.shape);
    fields("home", value.home);
    fields("came_from", value.came_from);
    fields.added("came_from_before", value.came_from_before);
    fields("pinned_to", value.pinned_to);
    fields.added("pinned_to_two", value.pinned_to_two);
    fields.added("ran_on", value.ran_on);
    fields("epochs_here", value.epochs_here);
    fields("epochs_since_swap", value.epochs_since_swap);
    fields("age_epochs", value.age_epochs);
    fields("moving", value.moving);
    fields("exclusive_cores", value.exclusive_cores);
    fields.added("spills_to", value.spills_to);
    fields.added("spill_saves", value.spill_saves);
    fields("held", value.held);
    fields("has_average", value.has_average);
    fields("average", value.average);
    fields.added("recent", value.recent);
    fields("owed", value.owed);
    fields("owed_before", value.owed_before);
    fields("counts", value.counts);
    fields("local_mib_epochs", value.local_mib_epochs);
    fields("all_mib_epochs", value.all_mib_epochs);
  }
  static void visit(auto& fields, MaybeConst<CountedStall> auto& value) {
    fields("share", value.share_);
    fields("readings", value.readings_);
    fields("read_at", value.read_at_);
  }
  static void visit(auto& fields, MaybeConst<BesideUse> auto& value) {
    fields("us", value.us);
    fields("read_at", value.read_at);
    fields("averaged", value.averaged);
    fields("lasting", value.lasting);
  }
  static void visit(auto& fields, MaybeConst<VmRecord> auto& value) {
    fields("description", value.description);
    fields("clients", value.clients);
    fields("allowed", value.allowed);
    fields("last", value.last);
    fields("read_at", value.read_at);
    fields("measured", value.measured);
    fields.added("epochs_stale", value.epochs_stale);
    fields("weight", value.weight);
    fields("memory", value.memory);
    fields("cell_memory", value.cell_memory);
    fields.added("counted_stall", value.counted_stall);
    fields.added("beside", value.beside);
    fields("found_running", value.found_running);
    fields("expected", value.expected);
    fields("suggested", value.suggested);
    fields("transferring", value.transferring);
    fields("left_behind", value.left_behind);
    fields("epochs_since_transfer", value.epochs_since_transfer);
    fields("epochs_travelled", value.epochs_travelled);
    fields("epochs_rested", value.epochs_rested);
    fields("pull_again_after", value.pull_again_after);
  }
  static void visit(auto& fields, MaybeConst<Wakeups::Pair> auto& value) {
    fields("a", value.a);
    fields("b", value.b);
    fields("average", value.average);
  }
  static void visit(auto& fields, MaybeConst<Wakeups> auto& value) {
    fields("pairs", value.pairs_);
    fields("epochs_held", value.epochs_held_);
  }
  static void visit(auto& fields, MaybeConst<Ledger> auto& value) {
    fields("topology", value.topology_);
    fields("options", value.options_);
    fields.added("reserved", value.reserved_);
    fields.added("local_read_ns", value.local_read_ns_);
    fields("vms", value.vms_);
    fields.added("forecasts", value.forecasts_);
    fields.added("forecasts_end", value.forecasts_end_);
    fields("last_sample", value.last_sample_);
    fields("lasting_non_vm", value.node_averages_.lasting_non_vm);
    fields.added("newest_non_vm", value.node_averages_.newest_non_vm);
    fields.added("short_lately", value.node_averages_.short_lately);
    fields.added("wakeups", value.wakeups_);
    fields("epochs", value.epochs_);
    fields("knows_domains", value.knows_domains_);
  }
  static void visit(auto& fields, MaybeConst<StartingVm> auto& value) {
    fields("description", value.description);
    fields("asks", value.asks);
    fields("since_epoch", value.since_epoch);
    fields("homes", value.homes);
    fields("nodes", value.nodes);
    fields.added("memory", value.memory);
    fields("appeared", value.appeared);
  }
  static void visit(auto& fields, MaybeConst<StartingVms> auto& value) {
    fields("vms", value.vms_);
    fields("unnamed", value.unnamed_);
  }
  static void visit(auto& fields, MaybeConst<SharedPart> auto& value) {
    fields("vm", value.vm);
    fields.vm_name("name", value.name);
    fields("vcpus", value.vcpus);
    fields("memory", value.memory);
  }
  static void visit(auto& fields, MaybeConst<Reservation> auto& value) {
    fields.vm_name("name", value.name);
    fields.vm_name("vm", value.vm);
    fields("vm_id", value.vm_id);
    fields.group("group", value.group);
    fields("vcpus", value.vcpus);
    fields("homes", value.homes);
    fields("memory", value.memory);
    fields("until_unix_s", value.until_unix_s);
    fields("served", value.served);
    fields.added_group("owner", value.owner);
    fields.added("shared", value.shared);
    fields.added("taken", value.taken);
    fields.added("lasting", value.lasting);
  }
  static void visit(auto& fields, MaybeConst<Reservations> auto& value) {
    fields("all", value.all_);
  }
  static void visit(auto& fields, MaybeConst<RoomNeeded> auto& value) {
    fields("vcpus", value.vcpus);
    fields("memory", value.memory);
    fields("page_size", value.page_size);
    fields("nodes", value.nodes);
  }
  static void visit(auto& fields, MaybeConst<RoomWait> auto& value) {
    fields("vm", value.vm);
    fields.vm_name("name", value.name);
    fields("needed", value.needed);
    fields("until_unix_s", value.until_unix_s);
    fields("phase", value.phase);
    fields("steps", value.steps);
    fields("action", value.action);
    fields("moved_in_epoch", value.moved_in_epoch);
    fields("searches", value.searches);
    fields.prose("became", value.became);
  }
  static void visit(auto& fields, MaybeConst<RoomMaking> auto& value) {
    fields("waits", value.waits);
    fields("searching", value.searching);
  }
  static void visit(auto& fields, MaybeConst<Measured> auto& value) {
    fields("lost", value.lost);
    fields("demand", value.demand);
    fields("imbalance", value.imbalance);
    fields.added("talk", value.talk);
  }
  static void visit(auto& fields, MaybeConst<Outcomes::Step> auto& value) {
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
    fields("far_when_busy", value.far_when_busy);
    fields("busy", value.busy);
  }
  static void visit(auto& fields, MaybeConst<Outcomes::Sampled> auto& value) {
    fields("before", value.before);
    fields("after", value.after);
  }
  static void visit(auto& fields, MaybeConst<Outcomes::Watched> auto& value) {
    fields("locality_before", value.locality_before);
    fields("clients", value.clients);
    fields("moves_clients", value.moves_clients);
    fields.added("steps", value.steps);
    fields.added("unexplained_before", value.unexplained_before);
    fields.added("unexplained_after", value.unexplained_after);
    fields.added("pinned", value.pinned);
    fields.added("sampled", value.sampled);
    fields("due", value.due);
  }
  static void visit(auto& fields, MaybeConst<Outcomes> auto& value) {
    fields("watched", value.watched_);
    fields("failures_in_a_row", value.failed_in_a_row_);
    fields("rest_until", value.rest_until_);
    fields.added("last_failed_in", value.last_failed_in_);
    fields.added("harmful_in_a_row", value.harmful_in_a_row_);
  }
  static void visit(auto& fields, MaybeConst<VmCpus> auto& value) {
    fields("clients", value.clients);
    fields("reach", value.reach);
  }
  static void visit(auto& fields, MaybeConst<UnderWay> auto& value) {
    fields("action", value.action);
    fields("homes_before", value.homes_before);
    fields("narrow_before", value.cpu_subsets_before);
    fields.added("spills_before", value.spills_before);
    fields("pinned", value.pinned);
    fields("gives_back", value.restores);
  }
  static void visit(auto& fields, MaybeConst<Rest> auto& value) {
    fields("failures", value.failures);
    fields("until_epoch", value.until_epoch);
    fields.prose("why", value.why);
  }
  static void visit(auto& fields, MaybeConst<Health::Missing> auto& value) {
    fields.prose("reason", value.reason);
    fields("since_unix_s", value.since_unix_s);
  }
  static void visit(auto& fields, MaybeConst<OrdersUnderWay::Finished> auto& value) {
    fields("moved", value.moved);
    fields("took", value.took);
  }
  /// Visits one member of the records of all VMs; a recording has it as a separate list, by VM.
  template <class Vms, class T, class Visit>
  static void each(Vms& vms, std::optional<T> ManagedVm::*member, const Visit& visit) {
    std::map<VmId, T> values = vms.each(member);
    visit(values);
    if constexpr (!std::is_const_v<Vms>) {
      vms.set_each(member, std::move(values));
    }
  }
  template <class Fields, MaybeConst<ControllerState> T>
  static void visit(Fields& fields, T& value) {
    ControllerSetup setup = value.setup;
    setup.remembered_homes = value.vms.remembered_homes();
    setup.originals = value.vms.each(&ManagedVm::original);
    setup.released = value.vms.each(&ManagedVm::released);
    fields("setup", setup);
    if constexpr (!std::is_const_v<T>) {
      value = ControllerState(std::move(setup));
    }
    const auto by_vm = [&](std::string_view name, auto member) {
      each(value.vms, member, [&](auto& values) { fields(name, values); });
    };
    const auto sentences = [&](std::string_view name, auto member) {
      each(value.vms, member, [&](auto& values) { fields.sentences(name, values); });
    };
    fields("ledger", value.ledger);
    fields("outcomes", value.outcomes);
    fields("starting", value.starts.starting_);
    fields.added("reservations", value.reservations);
    fields.added("room_making", value.room_making);
    fields("snapshot", value.last.snapshot);
    fields("plan", value.last.plan);
    fields("running", value.running);
    fields.added("unreadable", value.unreadable);
    fields("under_way", value.orders.under_way_);
    fields("finished", value.orders.finished_);
    by_vm("rests", &ManagedVm::rest);
    by_vm("settled_since", &ManagedVm::settled_since);
    sentences("foreign", &ManagedVm::pinned_by_others);
    by_vm("narrow", &ManagedVm::cpu_subset);
    by_vm("repairs", &ManagedVm::repairs);
    each(value.vms, &ManagedVm::repaired_in,
         [&](auto& values) { fields.added("repaired_in", values); });
    each(value.vms, &ManagedVm::outdated_since,
         [&](auto& values) { fields.added("outdated", values); });
    each(value.vms, &ManagedVm::recovered_in,
         [&](auto& values) { fields.added("recovered", values); });
    each(value.vms, &ManagedVm::confined, [&](auto& values) { fields.added("confined", values); });
    sentences("refused", &ManagedVm::refused_policy);
    fields("missing", value.health.missing_);
    fields("last_placed_on", value.last.last_placed_on);
    fields("next_action", value.orders.next_);
    fields("now_unix_s", value.last.wall_unix_s);
    fields("paused", value.health.paused_);
    fields("direct_reclaims", value.pressure.direct_reclaims_);
    fields("reclaims_read_at", value.pressure.reclaims_read_at_);
    fields("memory_pressure", value.pressure.is_high_);
    fields("kernel_numa_balancing", value.last.kernel_numa_balancing);
    fields.added("sched_ext", value.last.sched_ext);
    fields.added("cache_scheduling", value.last.cache_scheduling);
    fields("breaker_was_open", value.last.breaker_was_open);
  }
  static void visit(auto& fields, MaybeConst<Controller> auto& value) {
    visit(fields, value.state_);
  }

  // ---- for sound.cc ----

  [[nodiscard]] static Result<void> check(const Controller& controller);
  [[nodiscard]] static const std::optional<Sample>& last_sample(const Ledger& ledger);
};

}  // namespace vmnuma::balancer
