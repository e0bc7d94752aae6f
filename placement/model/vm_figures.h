// SPDX-License-Identifier: Apache-2.0
/// Figures of a VM other than CPU times and memory: they are shown and stored but decide nothing.
///
/// Problem: a figure passes through the snapshot, the socket's JSON, tables, metrics, the history
/// and the manual, and a list of figures in each of them goes out of date. Approach: a figure is
/// declared here, in one line, and everything else follows from that line: its field in JSON, its
/// column in the history (created, written, averaged and read), its columns in tables, its metric,
/// and that metric's row in vmnuma-exporter(8). To add a figure, all that remains is to measure it
/// (Ledger::measure_vm).
///
/// Properties:
///  - all figures are shares in thousandths, and absent where they are not known;
///  - a member without a line in the table does not compile.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "placement/model/amounts.h"

namespace vmnuma {

/// Waiting is as in pressure stall information (Linux 6.1, Documentation/accounting/psi.rst),
/// averaged over 10 s.
struct VmFigures {
  std::optional<Permille> cpu_some;
  std::optional<Permille> memory_some;
  std::optional<Permille> memory_full;
  std::optional<Permille> huge_pages = {};
  std::optional<Permille> memory_stall = {};  ///< VmState::counted_stall
  bool operator==(const VmFigures&) const = default;
};

struct VmFigureInfo {
  std::optional<Permille> VmFigures::*value = nullptr;
  std::string_view name;           ///< in JSON and in the history
  std::string_view list_title;     ///< its column of `vmnuma list`; empty: none
  std::string_view report_title;   ///< its column of `vmnuma report`, among waiting; empty: none
  std::string_view metric;         ///< consecutive figures may share one metric
  std::string_view metric_label;   ///< tells these apart, in addition to "vm"; empty: one figure
  std::string_view metric_marked;  ///< the value of that label
  std::string_view metric_help;    ///< one sentence
};

inline constexpr std::array kVmFigures{
    VmFigureInfo{&VmFigures::cpu_some, "cpu_some_permille", "", "CPU(%)",
                 "vmnuma_vm_cpu_pressure_ratio", "", "",
                 "Share of the last 10 s in which some task of the VM waited for a CPU."},
    VmFigureInfo{&VmFigures::memory_some, "memory_some_permille", "", "MEMORY(%)",
                 "vmnuma_vm_memory_pressure_ratio", "tasks", "some",
                 "Share of the last 10 s in which some or all (full) tasks waited for memory."},
    VmFigureInfo{&VmFigures::memory_full, "memory_full_permille", "", "FULL(%)",
                 "vmnuma_vm_memory_pressure_ratio", "tasks", "full",
                 "Share of the last 10 s in which some or all (full) tasks waited for memory."},
    VmFigureInfo{&VmFigures::huge_pages, "huge_page_permille", "HUGE%", "",
                 "vmnuma_vm_huge_page_ratio", "", "",
                 "Share of the VM's resident memory that is on huge pages of either kind."},
    VmFigureInfo{&VmFigures::memory_stall, "memory_stall_permille", "STALL%", "",
                 "vmnuma_vm_memory_stall_ratio", "", "",
                 "Share of the VM's run time that it waits for memory, estimated from its reads."},
};
static_assert(sizeof(VmFigures) == kVmFigures.size() * sizeof(std::optional<Permille>),
              "a figure has no line in the table");

/// Returns true if any of them is known.
[[nodiscard]] constexpr bool is_any_known(const VmFigures& figures) {
  for (const VmFigureInfo& info : kVmFigures) {
    if (figures.*info.value) {
      return true;
    }
  }
  return false;
}

}  // namespace vmnuma
