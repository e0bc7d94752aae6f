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

#include <concepts>
#include <type_traits>

#include "balancer/controller/controller.h"
#include "balancer/controller/far_memory.h"

namespace vmnuma::balancer {

/// The largest amount, positive or negative: bytes of 4 PiB, CPU time of 142 years. A thousand
/// times as much is still in range.
inline constexpr std::int64_t kMostAmount = std::int64_t{1} << 52U;

struct RecordFields {
  template <class Value, class T>
  static constexpr bool kIs = std::same_as<std::remove_const_t<Value>, T>;

#define VMNUMA_FIELDS(Type)        \
  template <class Fields, class T> \
  requires kIs<T, Type>            \
  static void visit(Fields& fields, T& value)

  // ---- the host ----

  VMNUMA_FIELDS(Cpu) {
    fields("id", value.id);
    fields("core", value.core);
    fields("last_level_cache", value.last_level_cache);
  }
  VMNUMA_FIELDS(HugePagePool) {
    fields("page_size", value.page_size);
    fields("pages", value.pages);
  }
  VMNUMA_FIELDS(ReservedOnNode) {
    fields("node", value.node);
    fields("page_size", value.page_size);
    fields("memory", value.memory);
  }
  VMNUMA_FIELDS(Node) {
    fields("id", value.id);
    fields("cpus", value.cpus);
    fields("memory", value.memory);
    fields("package", value.package);
    fields("huge_pages", value.huge_pages);
    fields.added("isolated_cpus", value.isolated_cpus);
  }
  VMNUMA_FIELDS(Topology) {
    fields("nodes", value.nodes);
    fields("distances", value.distances);
  }
  VMNUMA_FIELDS(Options) {
    if constexpr (!std::is_const_v<T>) {
      // Options missing in a recording were added later, when ESXi's rules decided everything.
      value = options_of(Preset::kEsxi);
    }
    for (const OptionRow& info : option_table()) {
      fields.added(info.name, value.*(info.value));
    }
  }

  // ---- VMs ----

  VMNUMA_FIELDS(CellBinding) {
    fields("mode", value.mode);
    fields("nodes", value.nodes);
  }
  VMNUMA_FIELDS(GuestCell) {
    fields("id", value.id);
    fields("vcpus", value.vcpus);
    fields("memory", value.memory);
    fields.added("page_size", value.page_size);
    fields.added("binding", value.binding);
  }
  VMNUMA_FIELDS(PciDevice) {
    fields.prose("address", value.address);
    fields("node", value.node);
  }
  VMNUMA_FIELDS(MediatedDevice) {
    fields.prose("uuid", value.uuid);
    fields("node", value.node);
  }
  VMNUMA_FIELDS(HostInterface) {
    fields.prose("name", value.name);
    fields("node", value.node);
    // The kind of bridge only determines where its node is read.
  }
  VMNUMA_FIELDS(HostDisk) {
    fields.prose("name", value.name);
    fields("node", value.node);
  }
  VMNUMA_FIELDS(Pin) {
    fields("number", value.number);
    fields("cpus", value.cpus);
  }
  VMNUMA_FIELDS(PolicySetting) {
    fields("key", value.key);
    fields("value", value.value);
  }
  VMNUMA_FIELDS(VmPolicy) {
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
  VMNUMA_FIELDS(NovaProject) {
    fields.group("name", value.name);
    fields.group("uuid", value.uuid);
  }
  VMNUMA_FIELDS(VmDescription) {
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

  VMNUMA_FIELDS(VmProcess) {
    fields("pid", value.pid);
    fields("start_time_ticks", value.start_time_ticks);
  }
  VMNUMA_FIELDS(VcpuSample) {
    fields("vcpu", value.vcpu);
    fields("tid", value.tid);
    fields("run_ns", value.run_ns);
    fields("wait_ns", value.wait_ns);
  }
  VMNUMA_FIELDS(MemoryLimits) {
    fields.unbounded("min", value.min);
    fields.unbounded("low", value.low);
    fields.unbounded("high", value.high);
    fields.unbounded("max", value.max);
    fields.unbounded("swap_max", value.swap_max);
  }
  VMNUMA_FIELDS(MemoryState) {
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
  VMNUMA_FIELDS(SliceMemory) {
    fields.prose("path", value.path);
    fields("limits", value.limits);
  }
  VMNUMA_FIELDS(MemoryReads) {
    fields("count", value.count);
    fields("counted", value.counted);
    fields("ran", value.ran);
    fields("cycles", value.cycles);
    fields("stalled_cycles", value.stalled_cycles);
  }
  VMNUMA_FIELDS(VmSample) {
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
  VMNUMA_FIELDS(CpuSample) {
    fields("id", value.id);
    fields("busy_us", value.busy_us);
  }
  VMNUMA_FIELDS(NodeSample) {
    fields("id", value.id);
    fields("free", value.free);
    fields("total", value.total);
    fields.added("huge_pages", value.huge_pages);
    fields.added("copying_us", value.copying_us);
  }
  VMNUMA_FIELDS(MissingSource) {
    fields("vm", value.vm);
    if (value.vm) {
      fields.prose("source", value.source);
    } else {
      fields("source", value.source);
    }
    fields.prose("reason", value.reason);
  }
  VMNUMA_FIELDS(WakeupSample) {
    fields("a", value.a);
    fields("b", value.b);
    fields("count", value.count);
  }
  VMNUMA_FIELDS(SchedExt) {
    fields.prose("name", value.name);
    fields("takes_all", value.takes_all);
  }
  VMNUMA_FIELDS(Sample) {
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

  VMNUMA_FIELDS(PagesOfSize) {
    fields("page_size", value.page_size);
    fields("memory", value.memory);
  }
  VMNUMA_FIELDS(NodeState) {
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
  VMNUMA_FIELDS(VmState) {
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
  VMNUMA_FIELDS(Ahead) {
    fields("mean", value.mean);
    fields("p95", value.p95);
  }
  VMNUMA_FIELDS(ClientState) {
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
  VMNUMA_FIELDS(Chat) {
    fields("a", value.a);
    fields("b", value.b);
    fields("rate", value.rate);
  }
  VMNUMA_FIELDS(Snapshot) {
    fields("epoch", value.epoch);
    fields("epoch_length", value.epoch_length);
    fields("topology", value.topology);
    fields("nodes", value.nodes);
    fields("vms", value.vms);
    fields("clients", value.clients);
    fields.added("chats", value.chats);
  }

  // ---- plans ----

  VMNUMA_FIELDS(Relocation) {
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
    fields("memory", value.memory);
    fields.added("spills_to", value.spills_to);
  }
  VMNUMA_FIELDS(Prediction) {  // `known` is only explanatory
    fields("lost_before", value.lost_before);
    fields("lost_after", value.lost_after);
    fields.added("gain_at_home", value.gain_at_home);
    fields("cost", value.cost);
    fields("imbalance_before", value.imbalance_before);
    fields("imbalance_after", value.imbalance_after);
    fields("locality_before", value.locality_before);
    fields("locality_after", value.locality_after);
  }
  VMNUMA_FIELDS(Action) {
    fields("reason", value.reason);
    fields("relocations", value.relocations);
    fields("predicted", value.predicted);
  }
  VMNUMA_FIELDS(Rejection) {
    fields("reason", value.reason);
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
    fields("partner", value.partner);
    fields("guard", value.guard);
    fields("gain", value.gain);
  }
  VMNUMA_FIELDS(Spill) {
    fields("client", value.client);
    fields("to", value.to);
    fields("saves", value.saves);
  }
  VMNUMA_FIELDS(Plan) {
    fields("epoch", value.epoch);
    fields("lost", value.lost);
    fields("imbalance", value.imbalance);
    fields("actions", value.actions);
    fields.added("spills", value.spills);
    fields("rejections", value.rejections);
  }

  // ---- results of orders ----

  VMNUMA_FIELDS(migration::Outcome) {
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
  VMNUMA_FIELDS(migration::ActionEvent) {
    fields("kind", value.kind);
    fields("action", value.action);
    fields("vms", value.vms);
    fields("state", value.state);
    fields.prose("detail", value.detail);
    fields("outcome", value.outcome);
    fields("took", value.took);
    fields.added("set_failed", value.set_failed);
  }
  VMNUMA_FIELDS(migration::TransferProgress) {  // `problem` is only explanatory
    fields("vm", value.vm);
    fields("action", value.action);
    fields("done", value.done);
    fields("remaining", value.remaining);
    fields("per_second", value.per_second);
    fields("outcome", value.outcome);
    fields("waits_for_room", value.waits_for_room);
  }

  // ---- events ----

  VMNUMA_FIELDS(DomainsChanged) {
    fields("running", value.running);
  }
  VMNUMA_FIELDS(SampleTaken) {
    fields("sample", value.sample);
    fields("wall_unix_s", value.wall_unix_s);
  }
  VMNUMA_FIELDS(ActionProgressed) {
    fields("event", value.event);
  }
  VMNUMA_FIELDS(TransfersReported) {
    fields("transfers", value.transfers);
  }
  VMNUMA_FIELDS(SourceChanged) {
    fields("source", value.source);
    fields.prose("reason", value.reason);
    fields("wall_unix_s", value.wall_unix_s);
  }
  VMNUMA_FIELDS(CommandReceived) {
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
  VMNUMA_FIELDS(ConfigChanged) {
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
  VMNUMA_FIELDS(MeasuredMemory) {
    fields("local_read_ns", value.local_read_ns);
    fields("stall_pct", value.stall_pct);
  }
  VMNUMA_FIELDS(TopologyChanged) {
    fields("topology", value.topology);
    fields.added("measured", value.measured);
  }
  VMNUMA_FIELDS(LoadForecast) {
    fields("mean", value.mean);
    fields("p95", value.p95);
    fields.added("by", value.by);
  }
  VMNUMA_FIELDS(LoadsForecast) {
    fields("forecasts", value.forecasts);
  }
  VMNUMA_FIELDS(LoadExpected) {
    fields("vm", value.vm);
    fields("per_vcpu", value.per_vcpu);
  }
  VMNUMA_FIELDS(MemoryLimitsSet) {
    fields.prose("path", value.path);
    fields.prose("problem", value.problem);
  }
  VMNUMA_FIELDS(RoomMove) {
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
  }
  VMNUMA_FIELDS(RoomSearched) {
    fields("vm", value.vm);
    fields("node", value.node);
    fields("steps", value.steps);
    fields.prose("refused", value.refused);
  }
  VMNUMA_FIELDS(Stopping) {
    fields("restore", value.restore);
  }

  // ---- the initial state of a recording ----

  VMNUMA_FIELDS(ThreadId) {
    fields("kind", value.kind);
    fields("number", value.number);
  }
  VMNUMA_FIELDS(Original::Pins) {
    fields("found", value.found);
    fields("ours", value.ours);
  }
  VMNUMA_FIELDS(Original) {
    fields("process", value.process);
    fields("threads", value.threads);
    fields("memory_nodes", value.memory_nodes);
  }
  VMNUMA_FIELDS(ControllerSetup) {
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
  VMNUMA_FIELDS(ClientShape) {
    fields("vcpus", value.vcpus);
    fields("cells", value.cells);
    fields("memory", value.memory);
  }
  VMNUMA_FIELDS(CpuRates) {
    fields("used", value.used);
    fields("ready", value.ready);
    fields("demand", value.demand);
  }
  VMNUMA_FIELDS(MigrationCounts) {
    fields("balance", value.balance);
    fields("load_swap", value.load_swap);
    fields("locality", value.locality);
    fields("locality_swap", value.locality_swap);
    fields("long_term", value.long_term);
    fields("administrator", value.administrator);
  }
  VMNUMA_FIELDS(RanOnNode) {
    fields("node", value.node);
    fields("lately", value.lately);
  }
  VMNUMA_FIELDS(ClientRecord) {
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
  VMNUMA_FIELDS(CountedStall) {
    fields("share", value.share_);
    fields("readings", value.readings_);
    fields("read_at", value.read_at_);
  }
  VMNUMA_FIELDS(BesideUse) {
    fields("us", value.us);
    fields("read_at", value.read_at);
    fields("averaged", value.averaged);
    fields("lasting", value.lasting);
  }
  VMNUMA_FIELDS(VmRecord) {
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
  VMNUMA_FIELDS(Wakeups::Pair) {
    fields("a", value.a);
    fields("b", value.b);
    fields("average", value.average);
  }
  VMNUMA_FIELDS(Wakeups) {
    fields("pairs", value.pairs_);
    fields("epochs_held", value.epochs_held_);
  }
  VMNUMA_FIELDS(Ledger) {
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
  VMNUMA_FIELDS(PromisedMemory) {
    fields("node", value.node);
    fields("page_size", value.page_size);
    fields("memory", value.memory);
  }
  VMNUMA_FIELDS(StartingVm) {
    fields("description", value.description);
    fields("asks", value.asks);
    fields("since_epoch", value.since_epoch);
    fields("homes", value.homes);
    fields("nodes", value.nodes);
    fields.added("memory", value.memory);
    fields("appeared", value.appeared);
  }
  VMNUMA_FIELDS(StartingVms) {
    fields("vms", value.vms_);
    fields("unnamed", value.unnamed_);
  }
  VMNUMA_FIELDS(SharedPart) {
    fields("vm", value.vm);
    fields.vm_name("name", value.name);
    fields("vcpus", value.vcpus);
    fields("memory", value.memory);
  }
  VMNUMA_FIELDS(Reservation) {
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
  VMNUMA_FIELDS(Reservations) {
    fields("all", value.all_);
  }
  VMNUMA_FIELDS(RoomNeeded) {
    fields("vcpus", value.vcpus);
    fields("memory", value.memory);
    fields("page_size", value.page_size);
    fields("nodes", value.nodes);
  }
  VMNUMA_FIELDS(RoomWait) {
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
  VMNUMA_FIELDS(RoomMaking) {
    fields("waits", value.waits);
    fields("searching", value.searching);
  }
  VMNUMA_FIELDS(Measured) {
    fields("lost", value.lost);
    fields("demand", value.demand);
    fields("imbalance", value.imbalance);
    fields.added("talk", value.talk);
  }
  VMNUMA_FIELDS(Outcomes::Step) {
    fields("client", value.client);
    fields("from", value.from);
    fields("to", value.to);
    fields("far_when_busy", value.far_when_busy);
    fields("busy", value.busy);
  }
  VMNUMA_FIELDS(Outcomes::Sampled) {
    fields("before", value.before);
    fields("after", value.after);
  }
  VMNUMA_FIELDS(Outcomes::Watched) {
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
  VMNUMA_FIELDS(Outcomes) {
    fields("watched", value.watched_);
    fields("failures_in_a_row", value.failed_in_a_row_);
    fields("rest_until", value.rest_until_);
    fields.added("last_failed_in", value.last_failed_in_);
    fields.added("harmful_in_a_row", value.harmful_in_a_row_);
  }
  VMNUMA_FIELDS(VmCpus) {
    fields("clients", value.clients);
    fields("reach", value.reach);
  }
  VMNUMA_FIELDS(UnderWay) {
    fields("action", value.action);
    fields("homes_before", value.homes_before);
    fields("narrow_before", value.cpu_subsets_before);
    fields.added("spills_before", value.spills_before);
    fields("pinned", value.pinned);
    fields("gives_back", value.restores);
  }
  VMNUMA_FIELDS(Rest) {
    fields("failures", value.failures);
    fields("until_epoch", value.until_epoch);
    fields.prose("why", value.why);
  }
  VMNUMA_FIELDS(Health::Missing) {
    fields.prose("reason", value.reason);
    fields("since_unix_s", value.since_unix_s);
  }
  VMNUMA_FIELDS(OrdersUnderWay::Finished) {
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
  VMNUMA_FIELDS(ControllerState) {
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
  VMNUMA_FIELDS(Controller) {
    visit(fields, value.state_);
  }

#undef VMNUMA_FIELDS

  // ---- for sound.cc ----

  [[nodiscard]] static Result<void> check(const Controller& controller);
  [[nodiscard]] static const std::optional<Sample>& last_sample(const Ledger& ledger);
};

}  // namespace vmnuma::balancer
