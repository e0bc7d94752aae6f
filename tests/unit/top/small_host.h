// SPDX-License-Identifier: Apache-2.0
/// Two nodes and three clients in which everything that top shows is to be seen.
#pragma once

#include "tests/support/views.h"
#include "tools/vmnuma/top/top_host.h"

namespace vmnuma::tools {

inline TopHost small_host() {
  TopHost host;
  host.status = tests::status_view();
  host.epoch_length_ms = 2000;
  host.nodes = {{.node = {0}, .cpus = 32, .vcpus = 34, .memory_bytes = 64 * kGiB.value},
                {.node = {2},
                 .cpus = 16,
                 .vcpus = 4,
                 .capacity_ms = 31000,
                 .owed_ms = 3,
                 .memory_bytes = 64 * kGiB.value,
                 .free_bytes = 60 * kGiB.value,
                 .vm_load_pct = 3,
                 .non_vm_pct = 40}};
  host.clients = {{"web1",
                   "c7a5fdbd-edaf-9455-926a-d65c16db1809",
                   0,
                   4,
                   {0},
                   true,
                   3520,
                   3400,
                   300,
                   8 * kGiB.value,
                   6 * kGiB.value},
                  {"web1",
                   "c7a5fdbd-edaf-9455-926a-d65c16db1809",
                   1,
                   4,
                   {2},
                   false,
                   850,
                   850,
                   3,
                   8 * kGiB.value,
                   8 * kGiB.value},
                  {"db7",
                   "11111111-2222-3333-4444-555555555555",
                   0,
                   30,
                   {-1},
                   false,
                   46000,
                   45000,
                   5700,
                   std::nullopt,
                   std::nullopt}};
  return host;
}

}  // namespace vmnuma::tools
