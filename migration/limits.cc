// SPDX-License-Identifier: Apache-2.0
#include "migration/limits.h"

namespace vmnuma::migration {

Limits limits_from(const Options& options, const Topology& topology) {
  // The page rates count 4 KiB pages on every host.
  const Bytes page = kKiB * 4;
  return {.move_memory = options.page_mig_enable != 0,
          .bytes_per_second = page * options.page_mig_rate_max,
          .vm_bytes_per_second = page * options.page_mig_vm_rate_max,
          .stall_target = {options.page_mig_stall_target},
          .node_reserve = {options.node_reserve_pct * 10},
          .all_cpus = topology.cpu_ids()};
}

}  // namespace vmnuma::migration
