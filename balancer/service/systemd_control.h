// SPDX-License-Identifier: Apache-2.0
/// Limits of units, set through systemd.
///
/// Problem: the daemon may not write to cgroups, and systemd would undo what others write there.
/// Approach: its own interface, org.freedesktop.systemd1.Manager.SetUnitProperties with
/// runtime=true (org.freedesktop.systemd1(5), systemd 252), over the system bus, where polkit
/// decides who may (tools/units/50-vmnuma.rules). The connection is made with the first call and
/// made anew after a failure. Properties: no call takes longer than kPatience; a bus that is gone
/// or comes back later is an error of that call only.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "balancer/service/unit_control.h"

struct sd_bus;

namespace vmnuma::balancer {

class SystemdControl final : public UnitControl {
 public:
  static constexpr std::chrono::seconds kPatience{5};

  /// `address` is a D-Bus address, "unix:path=/run/dbus/system_bus_socket"; empty: the system bus.
  explicit SystemdControl(std::string address);
  ~SystemdControl() override;
  SystemdControl(const SystemdControl&) = delete;
  SystemdControl& operator=(const SystemdControl&) = delete;

  [[nodiscard]] Result<void> set_memory(const std::string& unit,
                                        const placement::MemoryLimits& limits) override;

 private:
  struct CloseBus {
    void operator()(sd_bus* bus) const;
  };
  [[nodiscard]] Result<void> connect();

  std::string address_;
  std::unique_ptr<sd_bus, CloseBus> bus_;
};

}  // namespace vmnuma::balancer
