// SPDX-License-Identifier: Apache-2.0
// `vmnuma pve install`, `remove` and `status`: the hookscript of Proxmox VE, and the VMs that have
// it. /etc/pve belongs to the whole cluster, so it is changed only by qm(1), and only for VMs named
// on the command line.
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/files/directory.h"
#include "stats/files/file.h"
#include "stats/text/shell_word.h"
#include "tools/vmnuma/advise/virsh.h"
#include "tools/vmnuma/pve/pve_host.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {
namespace {

using nlohmann::ordered_json;

constexpr unsigned int kScriptMode = 0755;

/// Relative to the root directory.
std::string below_root(std::string_view path) {
  return std::string(path.substr(std::min(path.find_first_not_of('/'), path.size())));
}

std::string script_path(const PvePlace& place) {
  return fmt::format("{}/{}", place.snippets, kPveScriptName);
}

std::string volume(const PvePlace& place) {
  return fmt::format("{}:snippets/{}", place.storage, kPveScriptName);
}

std::vector<std::string> qm_set(const PveVm& vm, const PvePlace& place) {
  return {"qm", "set", std::to_string(vm.vmid), "--hookscript", volume(place)};
}

std::vector<std::string> qm_unset(const PveVm& vm) {
  return {"qm", "set", std::to_string(vm.vmid), "--delete", "hookscript"};
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + text::shell_word(word);
  }
  return line;
}

/// Returns the VMs of this node with these numbers. Error: not-found.
Result<std::vector<PveVm>> named(const std::vector<PveVm>& vms,
                                 const std::vector<std::string>& vmids) {
  std::vector<PveVm> chosen;
  for (const std::string& vmid : vmids) {
    const auto found = std::find_if(vms.begin(), vms.end(), [&](const PveVm& vm) {
      return vm.node.empty() && std::to_string(vm.vmid) == vmid;
    });
    if (found == vms.end()) {
      return failure(ErrorCode::kNotFound, fmt::format("there is no VM '{}' on this node", vmid));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

struct NodeSeen {
  files::Directory directory;
  std::vector<PveVm> vms;  ///< of the whole cluster
  std::vector<PveVm> chosen;
};

/// Reads the node. Errors: those of read_pve_vms() and named().
Result<NodeSeen> look_at(const std::string& root, const std::vector<std::string>& vmids) {
  auto directory = files::Directory::open(root);
  VMNUMA_ASSIGN_OR_RETURN(auto vms, directory.and_then(read_pve_vms));
  VMNUMA_ASSIGN_OR_RETURN(auto chosen, named(vms, vmids));
  return NodeSeen{std::move(*directory), std::move(vms), std::move(chosen)};
}

/// Runs the commands one after the other; stops at the first failure.
Result<void> run_all(const std::vector<std::vector<std::string>>& commands) {
  for (const std::vector<std::string>& command : commands) {
    if (const auto done = output_of(command, ""); !done) {
      return failure(done.error().code,
                     fmt::format("{}: {}", shell_line(command), done.error().message));
    }
  }
  return {};
}

Result<void> put_in_place(const files::Directory& root, const PvePlace& place) {
  VMNUMA_ASSIGN_OR_RETURN(const auto script, root.read(kShippedPveScript));
  const std::string path = root.path_of(below_root(script_path(place)));
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  if (problem) {
    return failure(ErrorCode::kIo,
                   fmt::format("cannot make the directory of '{}': {}", path, problem.message()));
  }
  return files::replace_file(path, script, kScriptMode);
}

std::string_view script_text(PveScript script) {
  switch (script) {
    case PveScript::kMissing:
      return "not there";
    case PveScript::kCurrent:
      return "in place";
    case PveScript::kOther:
      return "not the one of this version";
    case PveScript::kUnexecutable:
      return "not executable";
  }
  return "";
}

/// Returns "on node b: " for a VM on another node.
std::string where(const PveVm& vm) {
  return vm.node.empty() ? "" : fmt::format("on node {}: ", printable(vm.node));
}

}  // namespace

OrFailure<int> PveInstallRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto node, look_at(place.root, vmids));
  std::vector<std::vector<std::string>> commands;
  for (const PveVm& vm : node.chosen) {
    if (!vm.hookscript.empty() && !vm.has_our_script()) {
      return failure(
          ErrorCode::kBusy,
          fmt::format(
              "VM {} has another hookscript, '{}', and can have only one: nothing is changed",
              vm.vmid, vm.hookscript));
    }
    commands.push_back(qm_set(vm, place));
  }
  VMNUMA_RETURN_IF_ERROR(put_in_place(node.directory, place));
  VMNUMA_RETURN_IF_ERROR(run_all(commands));

  std::string text = fmt::format("{} is in place\n", printable(script_path(place)));
  ordered_json json = {{"script", script_path(place)},
                       {"set", ordered_json::array()},
                       {"commands", ordered_json::array()}};
  for (const PveVm& vm : node.chosen) {
    text += fmt::format("VM {} ({}) has it from its next start on\n", vm.vmid, printable(vm.name));
    json["set"].push_back(vm.vmid);
  }
  std::string offered;
  for (const PveVm& vm : node.vms) {
    const bool is_done = std::find(node.chosen.begin(), node.chosen.end(), vm) != node.chosen.end();
    if (!vm.node.empty() || is_done || vm.has_our_script()) {
      continue;
    }
    if (vm.hookscript.empty()) {
      const std::string line = shell_line(qm_set(vm, place));
      offered += fmt::format("    {}   # {}\n", line, printable(vm.name));
      json["commands"].push_back(line);
    } else {
      text += fmt::format("VM {} ({}) has another hookscript, {}, and can have only one\n", vm.vmid,
                          printable(vm.name), printable(vm.hookscript));
    }
  }
  if (!offered.empty()) {
    text += "To give it to VMs, from their next start on:\n" + offered;
  }
  text += "Each node that such a VM may start on needs the script, too.\n";
  return context.print(json, text);
}

OrFailure<int> PveRemoveRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto node, look_at(place.root, vmids));
  std::vector<std::vector<std::string>> commands;
  for (const PveVm& vm : node.chosen) {
    if (vm.has_our_script()) {
      commands.push_back(qm_unset(vm));
    }
  }
  VMNUMA_RETURN_IF_ERROR(run_all(commands));
  VMNUMA_ASSIGN_OR_RETURN(const auto now, read_pve_vms(node.directory));
  std::string needed;
  for (const PveVm& vm : now) {
    if (vm.has_our_script()) {
      needed +=
          fmt::format("\n    {}{}   # {}", where(vm), shell_line(qm_unset(vm)), printable(vm.name));
    }
  }
  const std::string path = script_path(place);
  if (!needed.empty()) {
    return failure(
        ErrorCode::kBusy,
        fmt::format("'{}' stays: without it these VMs would not start; first{}", path, needed));
  }
  std::error_code problem;
  const bool was_there = std::filesystem::remove(node.directory.path_of(below_root(path)), problem);
  if (problem) {
    return failure(ErrorCode::kIo, fmt::format("cannot remove '{}': {}", path, problem.message()));
  }
  return context.print(
      {{"script", path}, {"removed", was_there}},
      fmt::format("{} {}\n", printable(path), was_there ? "is removed" : "was not there"));
}

OrFailure<int> PveStatusRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto node, look_at(place.root, {}));
  const PveScript script = pve_script_in(node.directory, below_root(place.snippets));
  Listing listing;
  listing.columns = {{"vmid", "VMID", Align::kRight},
                     {"vm", "VM"},
                     {"hookscript", "HOOKSCRIPT"},
                     {"affinity", "AFFINITY"}};
  ordered_json json = {{"script", script_path(place)},
                       {"state", script_text(script)},
                       {"vms", ordered_json::array()}};
  for (const PveVm& vm : node.vms) {
    if (vm.node.empty()) {
      listing.names.push_back(std::to_string(vm.vmid));
      listing.rows.push_back({cell(std::int64_t{vm.vmid}), cell(vm.name),
                              cell_if_any(vm.hookscript), cell_if_any(vm.affinity)});
      json["vms"].push_back({{"vmid", vm.vmid},
                             {"vm", vm.name},
                             {"hookscript", vm.hookscript},
                             {"affinity", vm.affinity}});
    }
  }
  if (context.invocation.json) {
    return context.print(json, "");
  }
  std::string text = text_of(listing, context.invocation.format);
  if (context.invocation.format == ListFormat::kTable) {
    text = fmt::format("hookscript {}: {}\n", printable(script_path(place)), script_text(script)) +
           (listing.rows.empty() ? "" : "\n" + text);
  }
  return context.print(text);
}

}  // namespace vmnuma::tools
