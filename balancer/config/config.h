// SPDX-License-Identifier: Apache-2.0
/// The administrator's configuration of the daemon: /etc/vmnuma/vmnuma.toml.
///
/// Problem: a setting that is silently ignored (a typing mistake, a value of the wrong type) is
/// worse than a daemon that does not start. Approach: every key is a row of a table (config/keys.h,
/// placement/model/options.h); the tables drive the reader, the effective configuration, the
/// example file and the manual, so they cannot disagree. A file is accepted as a whole or refused
/// with all its problems, each with its line. Terms: *key*, a setting of the service; *option*, a
/// number that steers decisions, named as in ESXi if ESXi has it; *origin*, where a value comes
/// from. Properties:
///  - if the default file is missing, the defaults apply; if a named file is missing, that is an
///    error;
///  - an unknown key is an error that names the closest valid one;
///  - a value of the wrong type or out of range is an error that names what is allowed;
///  - all problems of a file are reported at once, in the order of its lines;
///  - a value shown by config/config_view.h is read back as the same value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/model/admission_mode.h"
#include "balancer/model/mode.h"
#include "balancer/model/origin.h"
#include "balancer/model/severity.h"
#include "placement/base/names.h"
#include "placement/base/result.h"
#include "placement/model/device_pool.h"
#include "placement/model/domain.h"
#include "placement/model/options.h"
#include "placement/model/reserved_memory.h"

namespace vmnuma::balancer {

inline constexpr std::string_view kDefaultConfigPath = "/etc/vmnuma/vmnuma.toml";
inline constexpr std::string_view kDefaultSocketPath = "/run/vmnuma/vmnuma.sock";

/// What happens to placements when the daemon stops.
enum class OnStop {
  kLeave,    ///< VMs stay as they are
  kRestore,  ///< pins and memory nodes are restored to what was found
};
[[nodiscard]] constexpr auto names(OnStop) {
  return names_in_order<OnStop>("leave", "restore");
}

/// What happens when a balanced VM is pinned elsewhere externally.
enum class ForeignPins {
  kRespect,  ///< a whole node becomes its home; with any other pins it is left alone
  kRepair,   ///< it is pinned home again, up to three times
};
[[nodiscard]] constexpr auto names(ForeignPins) {
  return names_in_order<ForeignPins>("respect", "repair");
}

/// The source of the distances between nodes.
enum class Distances {
  kMeasured,  ///< from measured latencies where they differ from the firmware's
  kFirmware,  ///< from ACPI's SLIT
};
[[nodiscard]] constexpr auto names(Distances) {
  return names_in_order<Distances>("measured", "firmware");
}

/// The source of VMs.
enum class HypervisorKind {
  kLibvirt,  ///< libvirt only
  kQemu,     ///< QEMU processes not managed by a libvirt
  kAuto,     ///< both, with or without a libvirt
};
[[nodiscard]] constexpr auto names(HypervisorKind) {
  return names_in_order<HypervisorKind>("libvirt", "qemu", "auto");
}

/// How much of the past is kept: `[history]`. Data that is older, or exceeds the size, is deleted,
/// oldest first.
struct HistoryLimits {
  std::int64_t max_mib = 1024;  ///< size of the database
  std::int64_t moves_days = 365;
  std::int64_t epoch_samples_minutes = 60;
  std::int64_t minute_samples_days = 30;
  std::int64_t hour_samples_days = 365;
  bool operator==(const HistoryLimits&) const = default;
};

struct Config {
  HypervisorKind hypervisor = HypervisorKind::kLibvirt;
  std::string uri = "qemu:///system";
  std::string socket_path{kDefaultSocketPath};
  std::string socket_group = "vmnuma";  ///< users who may connect; empty = the daemon's own group
  std::string state_dir = "/var/lib/vmnuma";
  Mode mode = Mode::kDryRun;                          ///< kObserve, kDryRun or kActive
  AdmissionMode admission = AdmissionMode::kEnforce;  ///< has an effect only in active mode
  ReservedMemory reserved_memory;
  std::vector<DevicePool> device_pools;
  OnStop on_stop = OnStop::kLeave;
  ForeignPins foreign_pins = ForeignPins::kRespect;
  /// The strategy of VMs without one in their policy; never kHost.
  PlacementStrategy strategy = PlacementStrategy::kLeastLostTime;
  Distances distances = Distances::kMeasured;
  Preset preset = Preset::kVmnuma;       ///< the defaults of options that are not set
  Severity log_level = Severity::kInfo;  ///< the lowest that is logged
  bool metadata_wins = true;             ///< a policy in the domain's metadata overrides `vms`
  HistoryLimits history;
  Options options;
  /// Policies from `[vm."NAME"]`, by name or by UUID (in libvirt's lower-case form).
  std::map<std::string, VmPolicy, std::less<>> vms;
  /// Origins of values, by key ("mode", "history.max_mib", "Numa.MigThreshold"); absent = default.
  std::map<std::string, Origin, std::less<>> origins;
  /// Sentences for the administrator about how this configuration was read.
  std::vector<std::string> notices;
  bool operator==(const Config&) const = default;

  [[nodiscard]] Origin origin_of(std::string_view key) const;
  /// The policy that the file contains for this VM; an entry by UUID takes precedence over one by
  /// name. Null if there is none.
  [[nodiscard]] const VmPolicy* policy_of(const VmId& vm, std::string_view name) const;
};

/// What is displayed for VMs that no libvirt manages.
inline constexpr std::string_view kQemuProcesses = "QEMU processes";

/// The source of VMs as text for people: libvirt's URI, or what is used instead or in addition.
[[nodiscard]] std::string hypervisor_text(const Config& config);

/// Whether the file must exist: kRequired if the administrator named it, kOptional for the default
/// path.
enum class FileIs { kOptional, kRequired };

/// Reads the file at `path`. Errors: not-found (a required file is missing), io, permission-denied,
/// and invalid-argument with one line "FILE:LINE: what is wrong" for each problem.
[[nodiscard]] Result<Config> load_config(const std::string& path, FileIs file_is);

/// Reads a configuration from text in the same way; `file` is its name in messages.
[[nodiscard]] Result<Config> parse_config(std::string_view text, std::string_view file);

/// Returns a file that contains every key and option at its default, commented out and explained.
[[nodiscard]] std::string example_config();

}  // namespace vmnuma::balancer
