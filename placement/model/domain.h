// SPDX-License-Identifier: Apache-2.0
/// A VM as it is defined: by libvirt's domain XML, or its QEMU's command line, and by the
/// administrator's policy. Produced by balancer/host from the live XML and by balancer/qemu from
/// the process; everything that is measured is in model/sample.h instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/base/names.h"
#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma {

/// libvirt's <numatune><memory mode=...>; kNone where there is no such element.
enum class NumatuneMode { kNone, kStrict, kPreferred, kInterleave, kRestrictive };
[[nodiscard]] constexpr auto names(NumatuneMode) {
  return names_in_order<NumatuneMode>("none", "strict", "preferred", "interleave", "restrictive");
}

/// What may be done with a VM's memory.
/// kSoft: cpuset.mems stays wide, pages are moved; kMask: libvirt numatune `restrictive` follows
/// the homes; kHandsOff: memory is never touched.
enum class MemoryMode { kSoft, kMask, kHandsOff };
[[nodiscard]] constexpr auto names(MemoryMode) {
  return names_in_order<MemoryMode>("soft", "mask", "hands-off");
}

/// Whether all that a VM needs belongs together: the kubelet's topology manager policies. kNone:
/// not checked; kBestEffort: it starts on as few nodes as hold all of it, or elsewhere if there are
/// none; kRestricted: it only starts on as few nodes as the host could ever give it;
/// kSingleNumaNode: only on one.
enum class TopologyPolicy { kNone, kBestEffort, kRestricted, kSingleNumaNode };
[[nodiscard]] constexpr auto names(TopologyPolicy) {
  return names_in_order<TopologyPolicy>("none", "best-effort", "restricted", "single-numa-node");
}

/// The unit that topology_policy keeps together, as in the kubelet's pod and container scopes. kVm:
/// the whole VM; kClient: each of its clients by itself.
enum class TopologyScope { kVm, kClient };
[[nodiscard]] constexpr auto names(TopologyScope) {
  return names_in_order<TopologyScope>("vm", "client");
}

/// What the nodes of its devices mean for a VM. kStrict: it lives there; kSocket: it lives on nodes
/// of their sockets; kPreferred: it starts near passed-through devices unless that loses CPU time,
/// and near its network interfaces and disks if all else is equal; kNone: nothing.
enum class DeviceLocality { kStrict, kSocket, kPreferred, kNone };
[[nodiscard]] constexpr auto names(DeviceLocality) {
  return names_in_order<DeviceLocality>("strict", "socket", "preferred", "none");
}

/// Which of the nodes with room a VM without a home gets (placement/strategy.h). The names are
/// those of the kubelet and of Koordinator. kHost: as the host's configuration says.
enum class PlacementStrategy {
  kHost,
  kLeastLostTime,
  kMostAllocated,
  kLeastAllocated,
  kDistributeEvenly,
};
[[nodiscard]] constexpr auto names(PlacementStrategy) {
  return names_in_order<PlacementStrategy>("host", "least-lost-time", "MostAllocated",
                                           "LeastAllocated", "DistributeEvenly");
}

/// Which CPUs of its home a client is pinned to (placement/cpu_assignment.h). kNode: all that do
/// not belong to one client alone; kShare: of these, the CPUs of one last-level cache if it fits
/// there; kExclusive: physical cores of its own.
enum class CpuBinding { kNode, kShare, kExclusive };
[[nodiscard]] constexpr auto names(CpuBinding) {
  return names_in_order<CpuBinding>("node", "share", "exclusive");
}

/// How many cores a client with such a binding takes, by Koordinator's names. kFullPCPUs: whole
/// ones, all threads; kSpreadByPCPUs: one for each vCPU, one thread of each; kNone: no fixed
/// number.
enum class CpuPolicy { kNone, kFullPCPUs, kSpreadByPCPUs };
[[nodiscard]] constexpr auto names(CpuPolicy) {
  return names_in_order<CpuPolicy>("none", "FullPCPUs", "SpreadByPCPUs");
}

/// kBatch is kept off the cores and caches of kLatency while there are others.
enum class CpuClass { kNone, kLatency, kBatch };
[[nodiscard]] constexpr auto names(CpuClass) {
  return names_in_order<CpuClass>("none", "latency", "batch");
}

/// How well a VM's memory is protected compared with that of others: Kubernetes' classes of
/// service. kNone: its limits are not touched; for the others see placement/memory_qos.h.
enum class MemoryClass { kNone, kGuaranteed, kBurstable, kBestEffort };
[[nodiscard]] constexpr auto names(MemoryClass) {
  return names_in_order<MemoryClass>("none", "guaranteed", "burstable", "best-effort");
}

/// No start waits longer: any other program that lists VMs through libvirt waits with it.
inline constexpr std::int32_t kLongestWaitForRoom_s = 120;
/// Bound of VmPolicy::priority, in both directions.
inline constexpr std::int32_t kMostPriority = 1000;
/// What is done for a VM for which no single node has room when it starts.
enum class MakeRoom {
  kNever,        ///< nothing
  kAdvise,       ///< its refusal suggests what to try
  kBeforeStart,  ///< others are moved away while its start waits
};
[[nodiscard]] constexpr auto names(MakeRoom) {
  return names_in_order<MakeRoom>("never", "advise", "before-start");
}

/// <numatune><memnode mode= nodeset=>: what the memory of one cell is bound to.
struct CellBinding {
  NumatuneMode mode = NumatuneMode::kNone;  ///< kNone: to nothing
  std::vector<NodeId> nodes;                ///< ascending
  bool operator==(const CellBinding&) const = default;
};

/// One guest NUMA cell: <cpu><numa><cell id= cpus= memory=>.
struct GuestCell {
  std::int32_t id = 0;
  std::vector<std::int32_t> vcpus;  ///< ascending, all configured ones (also not yet plugged)
  Bytes memory;
  /// <memoryBacking><hugepages><page nodeset=>: zero = ordinary pages; absent: as the VM's.
  std::optional<Bytes> page_size = std::nullopt;
  std::optional<CellBinding> binding = std::nullopt;  ///< absent: as the VM's numatune
  bool operator==(const GuestCell&) const = default;
};

/// A PCI device handed to the guest (<hostdev type='pci'>), in lspci's long form "0000:3b:00.0".
struct PciDevice {
  std::string address;
  NodeId node;  ///< negative: not known
  bool operator==(const PciDevice&) const = default;
};

/// A mediated device handed to the guest (<hostdev type='mdev'>): a part of a device of the host.
struct MediatedDevice {
  std::string uuid;
  NodeId node;  ///< of the device it is a part of; negative: not known
  bool operator==(const MediatedDevice&) const = default;
};

/// A network interface of the host that carries the guest's traffic by vhost or vDPA: a bridge, the
/// interface below a macvtap ("eth0"), or a vDPA device ("vhost-vdpa-0").
struct HostInterface {
  std::string name;
  NodeId node;  ///< of the adapter below it; negative: not known, or there is none or more than one
  bool is_open_vswitch = false;  ///< a bridge of Open vSwitch: the kernel shows no links below it
  bool operator==(const HostInterface&) const = default;
};

/// A block device of the host that is a disk of the guest.
struct HostDisk {
  std::string name;  ///< below /dev: "nvme0n1", "mapper/vg-root", "disk/by-id/wwn-0x5000"
  NodeId node;       ///< of its controller; negative: not known, or there is more than one
  bool operator==(const HostDisk&) const = default;
};

/// The CPUs that one thread of the VM is pinned to in the live XML.
struct Pin {
  std::int32_t number = 0;  ///< vCPU or I/O thread number
  std::vector<CpuId> cpus;  ///< ascending
  bool operator==(const Pin&) const = default;
};

/// Returns the CPUs of the pin with that number; none if there is no such pin.
[[nodiscard]] std::vector<CpuId> pinned_cpus(const std::vector<Pin>& pins, std::int32_t number);

/// A project of OpenStack, named in the metadata of Nova's VMs; empty if there is none.
struct NovaProject {
  std::string name;
  std::string uuid;
  bool operator==(const NovaProject&) const = default;
};

/// What the administrator wants for this VM. The defaults are what a VM without any policy gets.
struct VmPolicy {
  MemoryMode memory_mode = MemoryMode::kSoft;
  bool do_not_move = false;               ///< placed once, then left where it is
  bool prefer_ht = false;                 ///< count threads, not cores, when sizing clients
  std::int32_t max_per_node = 0;          ///< most vCPUs of this VM on one node; 0 = no limit
  std::int32_t max_per_client = 0;        ///< most vCPUs of one client; 0 = as max_per_node
  bool consolidate = true;                ///< keep the fewest clients even if memory spills
  std::vector<NodeId> nodes;              ///< allowed nodes; empty = all
  std::string affinity_group;             ///< VMs of one group belong together; empty = none
  std::string anti_affinity_group;        ///< VMs of one group belong apart; empty = none
  bool anti_affinity_hard = false;        ///< forbids being together instead of discouraging it
  std::int32_t reservation_permille = 0;  ///< guaranteed share of its vCPUs' full speed
  TopologyPolicy topology_policy = TopologyPolicy::kNone;
  TopologyScope topology_scope = TopologyScope::kVm;
  bool prefer_closest_numa_nodes = false;     ///< of equally few nodes, take those near each other
  std::int32_t max_allowable_numa_nodes = 0;  ///< larger hosts do not admit it; 0 = any
  DeviceLocality device_locality = DeviceLocality::kPreferred;
  std::int32_t locality_weight_pct = 100;  ///< of the estimated cost of remote memory
  PlacementStrategy strategy = PlacementStrategy::kHost;
  CpuBinding cpu_binding = CpuBinding::kNode;
  CpuPolicy cpu_policy = CpuPolicy::kNone;
  CpuClass cpu_class = CpuClass::kNone;
  MemoryClass memory_class = MemoryClass::kNone;
  MakeRoom make_room = MakeRoom::kNever;
  std::int32_t make_room_deadline_s = 0;  ///< longest time its start waits
  std::int32_t priority = 0;              ///< VMs of lower priority make room first
  std::string owner;                      ///< owner of the VM; empty: its project in Nova
  std::vector<std::string> device_pools;  ///< it gets a device of each; a name may occur repeatedly
  bool operator==(const VmPolicy&) const = default;
};

/// One setting of a policy as text: "nodes" = "0-1".
struct PolicySetting {
  std::string key;
  std::string value;
  bool operator==(const PolicySetting&) const = default;
};

struct VmDescription {
  VmId id;
  std::string name;
  /// Of this run: libvirt's running id, part of the scope's name, or the number of the process.
  std::int32_t domain_id = -1;
  /// Its QEMU process, if the inventory knows it; else it is found by libvirt's pid file.
  std::optional<VmProcess> process;
  std::vector<std::int32_t> vcpus;  ///< online vCPU numbers, ascending; holes are possible
  std::int32_t max_vcpus = 0;
  Bytes memory;  ///< current allocation (<currentMemory>)
  Bytes max_memory;
  std::vector<GuestCell> cells;  ///< by id; empty without guest NUMA
  std::int32_t sockets = 0;      ///< <cpu><topology>; 0 = not declared
  std::int32_t dies = 0;
  std::int32_t cores = 0;
  std::int32_t threads = 0;
  std::vector<std::int32_t> io_threads;  ///< I/O thread ids, ascending
  NumatuneMode numatune = NumatuneMode::kNone;
  bool numatune_auto = false;   ///< placement='auto' of its memory
  bool placement_auto = false;  ///< of its memory or vCPUs: libvirt asks numad where to start it
  std::vector<NodeId> numatune_nodes;
  bool memory_nodes_fixed = false;  ///< the nodes for its memory cannot be set: no memory mode mask
  Bytes huge_page_size;        ///< <memoryBacking><hugepages>, the largest; zero = ordinary pages
  bool memory_locked = false;  ///< <memoryBacking><locked/>
  bool memory_shared = false;  ///< <memoryBacking> access shared: memfd, vhost-user
  std::vector<PciDevice> pci_devices;
  std::vector<MediatedDevice> mediated_devices;
  std::vector<HostInterface> host_interfaces;
  std::vector<HostDisk> host_disks;
  std::string memory_pinned_by;  ///< what else pins its memory, e.g. encryption; may be empty
  std::vector<Pin> vcpu_pins;    ///< by vCPU; empty = may run anywhere
  /// <vcpu cpuset=>: the pin of every thread that has none of its own, also of a vCPU that is
  /// plugged later; empty = any CPU.
  std::vector<CpuId> default_pin;
  /// With placement='auto': the CPUs that libvirt was advised to start it on, and that threads
  /// without a pin run on. Only for restoring them; empty: none, or not known.
  std::vector<CpuId> advised_cpus;
  std::vector<CpuId> emulator_pin;
  std::vector<Pin> io_thread_pins;
  std::string guest_os;  ///< libosinfo's id ("http://debian.org/debian/12"); may be empty
  NovaProject nova_project;
  std::string partition;  ///< <resource><partition>, for finding the cgroup; may be empty
  std::vector<PolicySetting> own_policy;  ///< in the domain's metadata, as found: not checked yet
  VmPolicy policy;                        ///< the one that counts
  bool operator==(const VmDescription&) const = default;
};

/// Makes it a VM of this size, with vCPUs from 0 on.
void set_size(VmDescription& vm, std::int32_t vcpus, Bytes memory);

/// Returns the name of the VM's owner: the owner in its policy, or else its project in Nova, by
/// UUID if the project has no name; empty if neither is set.
[[nodiscard]] std::string owner_of(const VmDescription& vm);
/// Returns true if the VM belongs to that owner; a project in Nova may be given by name or UUID. An
/// empty name matches no VM.
[[nodiscard]] bool is_owned_by(const VmDescription& vm, std::string_view owner);

/// Memory that consists of pages of one size; zero: ordinary ones.
struct PagesOfSize {
  Bytes page_size;
  Bytes memory;
  bool operator==(const PagesOfSize&) const = default;
};

/// Returns what the VM's memory consists of when its balloon is empty, by page size, ascending.
[[nodiscard]] std::vector<PagesOfSize> memory_by_page_size(const VmDescription& vm);

/// Returns the same for a part of the VM's memory, which has each size in proportion, in whole
/// pages: for one client, say, without looking up which pages it has.
[[nodiscard]] std::vector<PagesOfSize> memory_by_page_size(const VmDescription& vm, Bytes part);

/// Returns the page size of these guest cells' memory (zero: ordinary pages) if it is a single size
/// and differs from the VM's huge_page_size; else nothing.
[[nodiscard]] std::optional<Bytes> other_page_size(const VmDescription& vm,
                                                   const std::vector<std::int32_t>& cells);

/// Returns the nodes to which a numatune in mode strict or restrictive, which we do not change,
/// binds the memory of these guest cells (of the whole VM if there are none). Nodes that libvirt
/// was advised at the start are not included. Ascending; empty: the memory may lie anywhere.
[[nodiscard]] std::vector<NodeId> bound_nodes(const VmDescription& vm,
                                              const std::vector<std::int32_t>& cells);

/// Returns why none of the VM's memory may be touched, because the kernel can neither move nor
/// reclaim it; nothing if it may: its memory mode is hands-off, a device or something else pins it,
/// or it is locked.
[[nodiscard]] std::optional<std::string> why_memory_is_held(const VmDescription& vm);

/// Returns why this VM's memory cannot be moved, as a sentence for people, or nothing if it can.
/// VFIO and the like pin it, <locked/> forbids it, a strict, preferred or interleave numatune binds
/// it, and hands-off is the administrator's choice.
[[nodiscard]] std::optional<std::string> why_memory_stays(const VmDescription& vm);

}  // namespace vmnuma
