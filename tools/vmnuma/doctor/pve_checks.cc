// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/pve_checks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>

#include "balancer/config/config.h"
#include "placement/base/mapped.h"
#include "placement/base/number.h"
#include "stats/formats/fields.h"
#include "stats/text/shell_word.h"
#include "tools/vmnuma/pve/pve_host.h"

namespace vmnuma::tools {
namespace {

/// The storage in which `vmnuma pve install` puts the hookscript by default.
constexpr std::string_view kUsualStorage = "local";

Finding check_adapter(const Result<balancer::StatusView>& status) {
  if (!status) {
    return {"pve", Severity::kNote,
            "it is not known whether VMs of Proxmox VE are balanced: no daemon answers"};
  }
  if (status->uri.find(balancer::kQemuProcesses) == std::string::npos) {
    return {"pve",
            Severity::kWarning,
            "the daemon balances libvirt's VMs only, not those of Proxmox VE",
            "Add to /etc/vmnuma/vmnuma.toml, and restart vmnumad:",
            {"hypervisor = \"qemu\""}};
  }
  return {"pve", Severity::kOk, "VMs of Proxmox VE are balanced"};
}

/// Returns whether the group is the primary or a supplementary group of a process (proc(5),
/// /proc/PID/status).
bool is_in_group(std::string_view status, gid_t group) {
  while (auto line = stats::take_line(status)) {
    for (const std::string_view label : {"Gid:", "Groups:"}) {
      auto numbers = stats::after(*line, label);
      while (numbers) {
        const auto number = stats::take_word(*numbers);
        if (!number) {
          break;
        }
        if (whole_number<gid_t>(*number) == group) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Checks that the daemon may read /etc/pve. All of it belongs to one group, which may read what is
/// not secret (pmxcfs(8)).
Finding check_reading(const files::Directory& root, const Result<Peer>& daemon) {
  constexpr std::string_view kCheck = "pve-config";
  const auto status = daemon.and_then(
      [&](const Peer& peer) { return root.read(fmt::format("proc/{}/status", peer.pid)); });
  struct stat directory {};
  if (!status || ::stat(root.path_of("etc/pve/qemu-server").c_str(), &directory) != 0) {
    return {kCheck, Severity::kNote, "it is not known whether the daemon may read configurations"};
  }
  if (daemon->uid != 0 && daemon->uid != directory.st_uid &&
      !is_in_group(*status, directory.st_gid)) {
    return {
        kCheck,
        Severity::kWarning,
        "the daemon may not read VMs' configurations, so the policies in their notes do not count",
        "The package vmnuma-pve makes it a member of their group; without it:",
        {"install -D -m 644 /usr/share/vmnuma/vmnuma-pve.conf "
         "/etc/systemd/system/vmnumad.service.d/vmnuma-pve.conf",
         "systemctl daemon-reload && systemctl restart vmnumad"}};
  }
  return {kCheck, Severity::kOk, "the daemon may read VMs' configurations"};
}

/// Checks the hookscript in one storage, which `vms` of this node use.
Finding check_storage(const files::Directory& root, const std::string& storage,
                      const std::vector<const PveVm*>& vms) {
  constexpr std::string_view kCheck = "pve-hook";
  const std::string snippets = snippets_of(root, storage);
  if (snippets.empty()) {
    return {kCheck, Severity::kNote,
            fmt::format("not checked: the directory of the storage '{}' is not known", storage)};
  }
  const std::string path = fmt::format("/{}/{}", snippets, kPveScriptName);
  std::vector<std::string> install{"vmnuma pve install"};
  if (storage != kUsualStorage) {
    install.front() += fmt::format(" --storage {} --snippets {}", text::shell_word(storage),
                                   text::shell_word("/" + snippets));
  }
  const PveScript script = pve_script_in(root, snippets);
  const bool runs = script == PveScript::kCurrent || script == PveScript::kOther;
  if (!runs && !vms.empty()) {
    std::string broken;
    for (const PveVm* vm : vms) {
      broken += fmt::format("{}{}", broken.empty() ? "" : ", ", vm->vmid);
    }
    return {
        kCheck, Severity::kError,
        fmt::format("{} is missing or not executable, so these VMs do not start: {}", path, broken),
        "Install it:", install};
  }
  if (!runs) {
    return {kCheck, Severity::kNote,
            "the hookscript is not in place, so no VM is kept from starting where it does not fit",
            "To install it (vmnuma-hook(8)):", install};
  }
  if (script == PveScript::kOther) {
    return {kCheck, Severity::kWarning, path + " is not the one of this version",
            "Unless it was changed on purpose, replace it:", install};
  }
  return {kCheck, Severity::kOk,
          fmt::format("the hookscript is in place in the storage '{}', {} {} it", storage,
                      vms.size(), vms.size() == 1 ? "VM has" : "VMs have")};
}

/// Checks the hookscript in each storage from which a VM uses it; if there is none, in the default
/// one.
std::vector<Finding> check_script(const files::Directory& root, const std::vector<PveVm>& vms) {
  std::map<std::string, std::vector<const PveVm*>> by_storage;
  for (const PveVm& vm : vms) {
    if (!vm.has_our_script()) {
      continue;
    }
    std::vector<const PveVm*>& here = by_storage[vm.storage()];
    if (vm.node.empty()) {
      here.push_back(&vm);
    }
  }
  if (by_storage.empty()) {
    by_storage[std::string(kUsualStorage)];
  }
  return mapped(by_storage, [&](const auto& storage) {
    return check_storage(root, storage.first, storage.second);
  });
}

Finding check_affinity(const std::vector<PveVm>& vms) {
  std::string pinned;
  for (const PveVm& vm : vms) {
    if (vm.node.empty() && !vm.affinity.empty()) {
      pinned += fmt::format("{}{} ({})", pinned.empty() ? "" : ", ", vm.vmid, vm.affinity);
    }
  }
  if (pinned.empty()) {
    return {"affinity", Severity::kOk, "no VM of this node has an affinity"};
  }
  return {"affinity",
          Severity::kNote,
          fmt::format("VMs with an affinity in Proxmox VE are left where they are: {}", pinned),
          "To have one balanced from its next start on, remove its affinity:",
          {"qm set VMID --delete affinity"}};
}

}  // namespace

std::vector<Finding> check_pve(const files::Directory& root,
                               const Result<balancer::StatusView>& status,
                               const Result<Peer>& daemon) {
  const auto vms = read_pve_vms(root);
  if (!vms) {
    return {};
  }
  std::vector<Finding> findings{check_adapter(status), check_reading(root, daemon)};
  std::ranges::move(check_script(root, *vms), std::back_inserter(findings));
  findings.push_back(check_affinity(*vms));
  return findings;
}

}  // namespace vmnuma::tools
