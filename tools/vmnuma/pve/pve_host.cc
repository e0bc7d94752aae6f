// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/pve/pve_host.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/pve_config.h"
#include "placement/base/number.h"
#include "stats/formats/fields.h"

namespace vmnuma::tools {
namespace {

constexpr std::string_view kHere = "etc/pve/qemu-server";
constexpr std::string_view kPveNodes = "etc/pve/nodes";

std::optional<std::int32_t> vmid_of(std::string_view file) {
  constexpr std::string_view kSuffix = ".conf";
  return file.ends_with(kSuffix)
             ? whole_number<std::int32_t>(file.substr(0, file.size() - kSuffix.size()))
             : std::nullopt;
}

/// Adds the VMs in a directory that are not known yet.
void add_vms(const files::Directory& directory, const std::string& node,
             std::map<std::int32_t, PveVm>& vms) {
  for (const std::string& file : directory.names().value_or(std::vector<std::string>{})) {
    const auto vmid = vmid_of(file);
    const auto text = vmid && !vms.contains(*vmid) ? directory.read(file)
                                                   : failure(ErrorCode::kNotFound, "none of ours");
    if (!text) {
      continue;
    }
    const auto config = balancer::qemu::parse_pve_config(*text);
    const std::string_view name = config.value("name");
    vms[*vmid] = {*vmid, name.empty() ? fmt::format("vm{}", *vmid) : std::string(name), node,
                  std::string(config.value("hookscript")), std::string(config.value("affinity"))};
  }
}

}  // namespace

bool PveVm::has_our_script() const {
  return hookscript.ends_with(fmt::format(":snippets/{}", kPveScriptName));
}

Result<std::vector<PveVm>> read_pve_vms(const files::Directory& root) {
  const auto here = root.directory(kHere);
  if (!here) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("this is not a node of Proxmox VE: {}", here.error().message));
  }
  std::map<std::int32_t, PveVm> vms;
  add_vms(*here, "", vms);
  const auto nodes =
      root.directory(kPveNodes).and_then([](const files::Directory& all) { return all.names(); });
  for (const std::string& node : nodes.value_or(std::vector<std::string>{})) {
    if (const auto there = root.directory(fmt::format("{}/{}/qemu-server", kPveNodes, node))) {
      add_vms(*there, node, vms);
    }
  }
  std::vector<PveVm> ascending;
  ascending.reserve(vms.size());
  for (auto& [vmid, vm] : vms) {
    ascending.push_back(std::move(vm));
  }
  return ascending;
}

std::string snippets_of(const files::Directory& root, std::string_view storage) {
  const auto text = root.read("etc/pve/storage.cfg");
  if (!text) {
    return storage == "local" ? "var/lib/vz/snippets" : "";
  }
  // "nfs: nas" begins a storage, and its indented lines are "key value" (pvesm(1)).
  std::string_view rest = *text;
  bool is_it = false;
  while (auto line = stats::take_line(rest)) {
    const bool is_header = !line->empty() && line->front() != ' ' && line->front() != '\t';
    auto word = stats::take_word(*line);
    if (is_header) {
      is_it = word && word->ends_with(':') && stats::take_word(*line) == storage;
    } else if (is_it && word == "path") {
      const std::string_view path = stats::take_word(*line).value_or("");
      return fmt::format("{}/snippets",
                         path.substr(std::min(path.find_first_not_of('/'), path.size())));
    }
  }
  return "";
}

PveScript pve_script_in(const files::Directory& root, std::string_view snippets) {
  const std::string path = fmt::format("{}/{}", snippets, kPveScriptName);
  const auto text = root.read(path);
  if (!text) {
    return PveScript::kMissing;
  }
  std::error_code problem;
  const auto status = std::filesystem::status(root.path_of(path), problem);
  if (problem ||
      (status.permissions() & std::filesystem::perms::owner_exec) == std::filesystem::perms::none) {
    return PveScript::kUnexecutable;
  }
  const auto shipped = root.read(kShippedPveScript);
  return shipped && *shipped != *text ? PveScript::kOther : PveScript::kCurrent;
}

}  // namespace vmnuma::tools
