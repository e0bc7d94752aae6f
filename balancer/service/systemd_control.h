// SPDX-License-Identifier: Apache-2.0
/// Sets memory limits of units through systemd.
///
/// Problem: the daemon may not write to cgroups, and systemd would undo writes by others. Approach:
/// systemd's own interface, org.freedesktop.systemd1.Manager.SetUnitProperties with runtime=true
/// (org.freedesktop.systemd1(5), systemd 252), over the system bus, where polkit authorises the
/// caller (tools/units/50-vmnuma.rules). The connection is made with the first call and again after
/// a failure. systemd keeps these settings in drop-ins UNIT.d/50-Memory*.conf: for a transient
/// unit, as scopes are, in kSettings/transient until it ends, for others in
/// kSettings/system.control until the host's next boot (src/core/unit.c, unit_drop_in_dir()). There
/// is no call that removes individual settings, so that is done by a unit that runs as root,
/// vmnuma-revert@UNIT.service.
///
/// Properties:
///  - no call takes longer than kPatience;
///  - if the bus is gone, or comes back later, only the call fails.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "balancer/service/unit_control.h"

struct sd_bus;
struct sd_bus_message;

namespace vmnuma::balancer {

class SystemdControl final : public UnitControl {
 public:
  static constexpr std::chrono::seconds kPatience{5};

  /// Where systemd keeps run-time settings.
  static constexpr const char* kSettings = "/run/systemd";

  /// `address` is a D-Bus address, "unix:path=/run/dbus/system_bus_socket"; empty: the system bus.
  /// `settings` is kSettings, or a folder with the same layout.
  SystemdControl(std::string address, std::string settings);
  ~SystemdControl() override;
  SystemdControl(const SystemdControl&) = delete;
  SystemdControl& operator=(const SystemdControl&) = delete;

  [[nodiscard]] Result<void> set_memory(const std::string& unit,
                                        const MemoryLimits& limits) override;
  [[nodiscard]] Result<bool> has_memory_settings(const std::string& unit) override;
  [[nodiscard]] Result<void> remove_memory_settings(const std::string& unit) override;

 private:
  struct CloseBus {
    void operator()(sd_bus* bus) const;
  };
  [[nodiscard]] Result<void> connect();
  /// Calls this method of systemd's manager. `add` appends the arguments and returns a negative
  /// errno on failure.
  [[nodiscard]] Result<void> call(const char* method,
                                  const std::function<int(sd_bus_message*)>& add);

  std::string address_;
  std::string settings_;
  std::unique_ptr<sd_bus, CloseBus> bus_;
};

}  // namespace vmnuma::balancer
