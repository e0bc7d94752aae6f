// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/service_setup.h"

#include <algorithm>
#include <string>
#include <utility>

#include "balancer/config/keys.h"
#include "balancer/service/admission_keeper.h"
#include "balancer/service/remembered.h"

namespace vmnuma::balancer {

Settings settings_of(const Config& config) {
  return {config.mode,
          config.options,
          {config.origins.begin(), config.origins.end()},
          {config.vms.begin(), config.vms.end()},
          config.metadata_wins,
          config.foreign_pins == ForeignPins::kRepair,
          config.strategy,
          config.admission,
          config.reserved_memory,
          config.notices,
          config.device_pools,
          config.preset};
}

Config without_restart(Config read, const Config& running) {
  const auto keep_origin = [&](const std::string& key) {
    read.origins.erase(key);
    if (const auto origin = running.origins.find(key); origin != running.origins.end()) {
      read.origins.insert(*origin);
    }
  };
  const auto keep = [&](const std::string& key, auto& setting, const auto& in_force) {
    if (setting != in_force) {
      setting = in_force;
      keep_origin(key);
    }
  };
  keep("hypervisor", read.hypervisor, running.hypervisor);
  keep("uri", read.uri, running.uri);
  keep("socket_path", read.socket_path, running.socket_path);
  keep("socket_group", read.socket_group, running.socket_group);
  keep("state_dir", read.state_dir, running.state_dir);
  for (const auto& key : history_keys()) {
    if (key.get(read.history) != key.get(running.history)) {
      keep_origin("history." + std::string(key.name));
    }
  }
  read.history = running.history;
  return read;
}

ControllerSetup controller_setup(const ServiceSetup& setup, EventLog& log) {
  ControllerSetup controller{settings_of(setup.config)};
  controller.version = VMNUMA_VERSION;
  controller.uri = hypervisor_text(setup.config);
  controller.host_name = setup.host->host_name();
  controller.topology = setup.host->topology();
  controller.expected =
      read_expected_vms(setup.config.state_dir,
                        admission_stamp(setup.host->root(), setup.host->time().wall_unix_s()), log);
  if (setup.history == nullptr) {
    controller.originals_known = false;
    return controller;
  }
  controller.history_path = setup.history->path();
  controller.history_notice = setup.history->notice();
  controller.last_action = setup.last_action;
  Remembered& remembered = controller;
  if (setup.resumed) {
    remembered = *setup.resumed;
    controller.last_action = std::max(setup.last_action, setup.resumed->last_action);
  } else {
    remembered = remember(*setup.history, log);
  }
  return controller;
}

}  // namespace vmnuma::balancer
