// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/start_checks.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "placement/base/number.h"
#include "tools/numad/name.h"
#include "tools/vmnuma/doctor/libvirt_checks.h"

namespace vmnuma::tools {

namespace {

using files::Directory;

constexpr std::string_view kNumad = "usr/bin/numad";
constexpr std::string_view kOurNumad = "usr/libexec/vmnuma/numad";
constexpr std::string_view kHook = "etc/libvirt/hooks/qemu.d/vmnuma";
constexpr std::string_view kShippedHook = "usr/share/vmnuma/libvirt-hook";
constexpr std::string_view kAbstraction = "etc/apparmor.d/abstractions/libvirt-qemu";
constexpr std::string_view kLocalAbstraction = "etc/apparmor.d/local/abstractions/libvirt-qemu";

/// Returns how to install both by hand; the Debian package does it automatically.
std::vector<std::string> numad_lines() {
  return {"dpkg-divert --add --rename /usr/bin/numad",
          fmt::format("install -m 755 /{} /{}", kOurNumad, kNumad)};
}
std::vector<std::string> hook_lines(const Directory& root) {
  return {fmt::format("install -D -m 755 /{} /{}", kShippedHook, kHook),
          fmt::format("systemctl restart {}", libvirt_daemon_of(root, "qemu:///system").name)};
}

bool is_executable(const files::Directory& root, std::string_view path) {
  std::error_code problem;
  const auto permissions = std::filesystem::status(root.path_of(path), problem).permissions();
  return !problem &&
         (permissions & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
}

}  // namespace

int process_named(const files::Directory& root, std::string_view name) {
  const auto proc = root.directory("proc");
  const auto names = proc ? proc->names() : tl::unexpected(proc.error());
  if (!names) {
    return -1;
  }
  for (const std::string& entry : *names) {
    const auto pid = whole_number<int>(entry);
    if (pid && proc->read(entry + "/comm").value_or("") == std::string(name) + "\n") {
      return *pid;
    }
  }
  return -1;
}

Finding check_numad_service(const files::Directory& root) {
  // Our numad has the same name and ends within a second; the service keeps running and has pid 1
  // as its parent.
  const int pid = process_named(root, "numad");
  const std::string status = root.read(fmt::format("proc/{}/status", pid)).value_or("");
  if (pid > 0 && status.find("\nPPid:\t1\n") != std::string::npos) {
    return {"numad",
            Severity::kError,
            fmt::format("the numad service runs (pid {}) and pins the same VMs", pid),
            "Stop and disable it:",
            {"systemctl disable --now numad"}};
  }
  return {"numad", Severity::kOk, "no numad service runs that would pin the same VMs"};
}

Finding check_numad_program(const files::Directory& root) {
  const auto program = root.read(kNumad);
  if (!program && program.error().code == ErrorCode::kNotFound) {
    return {"auto", Severity::kNote,
            "there is no /usr/bin/numad, so VMs with placement='auto' do not start",
            "To install vmnuma's, which answers libvirt (vmnuma-numad(8)):", numad_lines()};
  }
  if (!program) {
    return {"auto", Severity::kWarning, program.error().message};
  }
  if (program->find(kNumadName) == std::string::npos) {
    return {"auto", Severity::kWarning,
            "/usr/bin/numad is not vmnuma's, so VMs with placement='auto' start where the daemon "
            "does not expect them",
            "To replace it by vmnuma's, which answers libvirt (vmnuma-numad(8)):", numad_lines()};
  }
  if (!is_executable(root, kNumad)) {
    return {"auto",
            Severity::kError,
            "/usr/bin/numad is not executable, so VMs with placement='auto' do not start",
            "Make it executable:",
            {"chmod 755 /usr/bin/numad"}};
  }
  return {"auto", Severity::kOk, "libvirt asks vmnuma where VMs with placement='auto' start"};
}

Finding check_hook(const files::Directory& root) {
  const auto hook = root.read(kHook);
  if (!hook && hook.error().code == ErrorCode::kNotFound) {
    return {"hook", Severity::kNote,
            "libvirt's hook is not installed, so the daemon does not know which VM starts, and the "
            "XML of incoming VMs is not adapted to this host",
            "To install it (vmnuma-hook(8)):", hook_lines(root)};
  }
  if (!hook) {
    return {"hook", Severity::kWarning, hook.error().message};
  }
  if (!is_executable(root, kHook)) {
    return {"hook",
            Severity::kWarning,
            fmt::format("/{} is not executable, so libvirt ignores it", kHook),
            "Make it executable:",
            {fmt::format("chmod 755 /{}", kHook)}};
  }
  if (const auto shipped = root.read(kShippedHook); shipped && *shipped != *hook) {
    return {"hook", Severity::kWarning, fmt::format("/{} is not the one of this version", kHook),
            "Unless it was changed on purpose, replace it:", hook_lines(root)};
  }
  return {"hook", Severity::kOk, "libvirt tells the daemon which VM starts"};
}

Finding check_apparmor(const files::Directory& root) {
  const std::string enabled = root.read("sys/module/apparmor/parameters/enabled").value_or("N\n");
  const auto abstraction = root.read(kAbstraction);
  if (enabled != "Y\n" || !abstraction) {
    return {"apparmor", Severity::kOk, "AppArmor does not confine VMs"};
  }
  const std::string rules = *abstraction + root.read(kLocalAbstraction).value_or("");
  if (rules.find("cpumap") != std::string::npos) {
    return {"apparmor", Severity::kOk, "AppArmor lets QEMU read the CPU maps of nodes"};
  }
  return {
      "apparmor",
      Severity::kWarning,
      "AppArmor keeps QEMU from reading the CPU maps of nodes: VMs with <numatune> strict, "
      "preferred or interleave and <allocation mode='immediate'/> do not start",
      fmt::format("Add to /{}, for the next start of such a VM:", kLocalAbstraction),
      {"/sys/devices/system/node/node*/cpumap r,", "/sys/devices/system/node/node*/cpulist r,"}};
}

std::vector<Finding> check_start(const files::Directory& root) {
  return {check_numad_service(root), check_numad_program(root), check_hook(root),
          check_apparmor(root)};
}

}  // namespace vmnuma::tools
