// SPDX-License-Identifier: Apache-2.0
#include "stats/topology/hwloc_cpus.h"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>

#include <hwloc.h>

namespace vmnuma::stats {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// Sets HWLOC_FSROOT during its lifetime, unless the root is that of the live host.
class FilesystemRoot {
 public:
  explicit FilesystemRoot(const std::string& root) : active_(root != "/") {
    if (!active_) {
      return;
    }
    if (const char* before = std::getenv(kVariable)) {
      before_ = before;
    }
    ::setenv(kVariable, root.c_str(), /*overwrite=*/1);
  }
  FilesystemRoot(const FilesystemRoot&) = delete;
  FilesystemRoot& operator=(const FilesystemRoot&) = delete;
  ~FilesystemRoot() {
    if (active_ && before_) {
      ::setenv(kVariable, before_->c_str(), /*overwrite=*/1);
    } else if (active_) {
      ::unsetenv(kVariable);
    }
  }

 private:
  static constexpr const char* kVariable = "HWLOC_FSROOT";
  bool active_;
  std::optional<std::string> before_;
};

tl::unexpected<Error> hwloc_error(const char* attempt) {
  const int cause = errno;
  return failure(ErrorCode::kIo,
                 "hwloc cannot " + std::string(attempt) +
                     " the host's topology: " + std::generic_category().message(cause),
                 cause);
}

Result<HwlocTopology> load(const std::string& root) {
  const FilesystemRoot injected(root);
  hwloc_topology* raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    return hwloc_error("begin");
  }
  HwlocTopology topology(raw);
  // CPUs outside our own cpuset count, too.
  if (hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) {
    return hwloc_error("configure");
  }
  // The x86 back end would bind this thread to every CPU in turn and adds nothing to the kernel's
  // information. The call fails only on other architectures, which have no such back end.
  (void)hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
  if (hwloc_topology_load(raw) != 0) {
    return hwloc_error("load");
  }
  return topology;
}

/// Returns the outermost data cache that contains a CPU, or null.
hwloc_obj_t last_level_cache_of(hwloc_obj_t cpu) {
  hwloc_obj_t largest = nullptr;
  for (hwloc_obj_t object = cpu->parent; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type)) {
      largest = object;
    }
  }
  return largest;
}

std::int32_t lowest_cpu_of(hwloc_obj_t object) {
  return hwloc_bitmap_first(object->cpuset);
}

CpuPlace place_of(hwloc_topology* topology, hwloc_obj_t cpu) {
  const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, cpu);
  const hwloc_obj_t cache = last_level_cache_of(cpu);
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, cpu);
  const hwloc_obj_t package = found != nullptr ? found : hwloc_get_root_obj(topology);
  CpuPlace place;
  place.core = lowest_cpu_of(core != nullptr ? core : cpu);
  place.last_level_cache = lowest_cpu_of(cache != nullptr ? cache : package);
  place.package = package->os_index == HWLOC_UNKNOWN_INDEX
                      ? lowest_cpu_of(package)
                      : static_cast<std::int32_t>(package->os_index);
  return place;
}

}  // namespace

Result<std::map<CpuId, CpuPlace>> read_cpu_places(const std::string& root) {
  VMNUMA_ASSIGN_OR_RETURN(const auto topology, load(root));
  std::map<CpuId, CpuPlace> places;
  hwloc_obj_t cpu = nullptr;
  while ((cpu = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_PU, cpu)) != nullptr) {
    const CpuId id{static_cast<std::int32_t>(cpu->os_index)};
    places.emplace(id, place_of(topology.get(), cpu));
  }
  return places;
}

}  // namespace vmnuma::stats
