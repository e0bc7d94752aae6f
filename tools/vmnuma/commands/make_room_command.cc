// SPDX-License-Identifier: Apache-2.0
// `vmnuma make-room`: makes room on one node for a VM that is to start.
//
// Approach: the moves are found in a separate process, as by `plan --optimal` (outlook_apart.h);
// with --do the daemon gets them step by step (step_by_step.h). At the end the daemon is asked
// whether there is room now.
//
// Properties:
//  - without --do nothing is changed, and with it nothing before it is confirmed, by --yes or an
//    answer;
//  - if nothing needs to move, there is no question;
//  - if no moves help, the exit code shows it.
#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/optimal/make_room.h"
#include "placement/model/device_names.h"
#include "placement/model/text.h"
#include "stats/devices/host_devices.h"
#include "stats/text/json.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"
#include "tools/vmnuma/commands/follow_action.h"
#include "tools/vmnuma/commands/outlook_apart.h"
#include "tools/vmnuma/commands/step_by_step.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/optimal_text.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

using balancer::Outlook;
using balancer::RoomMade;
using balancer::RoomWanted;
using nlohmann::ordered_json;

/// Memory that has left a node is visible in the next reading or the one after it.
constexpr int kPollsForRoom = 12;

/// The request, before it is known which nodes the host has.
struct Asked {
  std::int32_t vcpus = 1;
  Bytes memory;
  Bytes page_size;
  std::vector<NodeId> nodes;    ///< the VM must be on one of these; empty: on any
  std::vector<NodeId> devices;  ///< and near all of these
};

/// Returns the node of a PCI device. Failures: a wrong address, and those of reading the device.
OrFailure<NodeId> node_of_device(const std::string& address, const std::string& root) {
  if (!is_pci_address(address)) {
    return wrong_usage(
        fmt::format("--device: '{}' is no PCI address such as 0000:3b:00.0", address));
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto directory, files::Directory::open(root));
  const auto carriers = stats::HostDevices(directory).of(PciDevice{address, NodeId{}});
  if (carriers.empty()) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("--device: this host has no PCI device {}", address));
  }
  return stats::common_node(carriers);
}

OrFailure<Asked> asked_by(const MakeRoomRun& run) {
  Asked asked;
  if (!run.vcpus || run.memory.empty()) {
    return wrong_usage("say how large the VM is: --vcpus N --memory SIZE");
  }
  asked.vcpus = static_cast<std::int32_t>(*run.vcpus);
  VMNUMA_ASSIGN_OR_RETURN(const auto memory,
                          parse_memory_of("--memory", run.memory).map_error(usage_failure));
  asked.memory = Bytes{memory};
  if (!run.hugepages.empty()) {
    VMNUMA_ASSIGN_OR_RETURN(const auto page,
                            parse_memory_of("--hugepages", run.hugepages).map_error(usage_failure));
    asked.page_size = Bytes{page};
    asked.memory = asked.page_size * ((memory + page - 1) / page);
  }
  if (!run.on.empty()) {
    auto nodes = parse_node_list(run.on);
    if (!nodes || nodes->empty()) {
      return wrong_usage(fmt::format("--on: '{}' is no list of nodes such as 0-1", run.on));
    }
    asked.nodes = std::move(*nodes);
  }
  for (const std::string& device : run.devices) {
    VMNUMA_ASSIGN_OR_RETURN(const auto node, node_of_device(device, run.root));
    if (node.value >= 0) {  // otherwise it is near no node, or its node is unknown
      asked.devices.push_back(node);
    }
  }
  return asked;
}

/// Converts the request to this host's nodes.
RoomWanted wanted_on(const Outlook& outlook, const Asked& asked) {
  RoomWanted wanted{asked.vcpus, asked.memory, asked.page_size, {}};
  const Topology& topology = outlook.snapshot.topology;
  for (NodeIndex node = 0; node < topology.nodes.size(); ++node) {
    const auto is_it = [id = topology.nodes[node].id](NodeId one) { return one == id; };
    if ((asked.nodes.empty() || std::any_of(asked.nodes.begin(), asked.nodes.end(), is_it)) &&
        std::all_of(asked.devices.begin(), asked.devices.end(), is_it)) {
      wanted.nodes.push_back(node);
    }
  }
  return wanted;
}

/// Returns the result as JSON on the first line and as text after it.
std::string shown(const RoomMade& room, const RoomWanted& wanted, const Outlook& outlook) {
  return json_of(room, wanted, outlook) + text_of(room, wanted, outlook);
}

class RoomCommand {
 public:
  RoomCommand(const MakeRoomRun& run, const Context& context) : run_(run), context_(context) {}

  [[nodiscard]] OrFailure<int> run() {
    VMNUMA_RETURN_IF_ERROR(check_devices());
    VMNUMA_ASSIGN_OR_RETURN(const auto asked, asked_by(run_));
    VMNUMA_RETURN_IF_ERROR(check_host(asked));
    VMNUMA_ASSIGN_OR_RETURN(const auto found, find(asked));
    const std::size_t line = found.find('\n');
    VMNUMA_ASSIGN_OR_RETURN(json_, text::read_json<ordered_json>(found.substr(0, line),
                                                                 {found.size()}, "what was found")
                                       .map_error(answer_failure));
    text_ = found.substr(std::min(line, found.size() - 1) + 1);
    const bool is_possible = !json_["node"].is_null();
    if (!run_.carry_out || !is_possible || json_["fits_now"].get<bool>()) {
      const int code = context_.print(json_, text_);
      return code == kExitOk && !is_possible ? kExitRefused : code;
    }
    return carry_out();
  }

 private:
  /// Checks that the daemon's host is this one, from which devices are read.
  [[nodiscard]] OrFailure<void> check_devices() const {
    if (run_.devices.empty()) {
      return {};
    }
    VMNUMA_ASSIGN_OR_RETURN(const auto status, context_.ask(balancer::StatusRequest{}));
    if (is_about_another_host(status)) {
      return wrong_usage(fmt::format(
          "--device: the daemon's host is another one ({}), whose devices are not known",
          status.uri));
    }
    return {};
  }

  /// Checks that the host has the nodes and the huge pages that were requested.
  [[nodiscard]] OrFailure<void> check_host(const Asked& asked) const {
    if (asked.nodes.empty() && asked.page_size == Bytes{}) {
      return {};
    }
    VMNUMA_ASSIGN_OR_RETURN(const auto host, context_.ask(balancer::HostRequest{}));
    std::vector<NodeId> nodes;
    bool has_pages = asked.page_size == Bytes{};
    for (const balancer::NodeView& node : host.nodes) {
      nodes.push_back(node.node);
      has_pages = has_pages || std::any_of(node.huge_pages.begin(), node.huge_pages.end(),
                                           [&](const balancer::HugePagesView& pages) {
                                             return Bytes{pages.page_bytes} == asked.page_size;
                                           });
    }
    for (const NodeId node : asked.nodes) {
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
        return wrong_usage(fmt::format("--on: there is no node {}, this host has {}", node.value,
                                       nodes_text(nodes)));
      }
    }
    if (!has_pages) {
      return wrong_usage(fmt::format("--hugepages: this host has no huge pages of {} KiB",
                                     asked.page_size.value / kKiB.value));
    }
    return {};
  }

  [[nodiscard]] OrFailure<std::string> find(const Asked& asked) const {
    return make_apart(
        context_,
        {run_.seconds, run_.memory_mib,
         [&](const Outlook& outlook) {
           const RoomWanted wanted = wanted_on(outlook, asked);
           const Arrangement now(outlook.snapshot, outlook.options, Arrangement::Basis::kDemand);
           return shown(
               make_room(now, outlook.free, wanted, static_cast<double>(run_.seconds), seconds_now),
               wanted, outlook);
         },
         [&](const Outlook& outlook, const std::string& trouble) {
           RoomMade none;
           none.is_cheapest = false;
           none.refused = "the search did not finish: " + trouble;
           return shown(none, wanted_on(outlook, asked), outlook);
         }});
  }

  [[nodiscard]] OrFailure<int> carry_out() {
    if (!context_.may_do(text_, "Move them?", run_.yes)) {
      return failure(ErrorCode::kUnavailable, "not confirmed, so nothing was moved");
    }
    const auto steps = steps_from(json_["steps"]);
    const StepsTaken taken = take_steps(context_, steps, std::numeric_limits<std::int64_t>::max());
    const bool is_done = taken.steps == steps.size() && has_room();
    json_["steps_done"] = taken.steps;
    json_["has_room"] = is_done;
    json_["stopped_because"] = taken.failure       ? taken.failure->error.message
                               : taken.interrupted ? "interrupted"
                                                   : "";
    const int printed =
        context_.print(json_, wrapped(became(taken, steps.size(), is_done), /*indent=*/0));
    if (taken.failure) {
      return tl::unexpected(*taken.failure);
    }
    return printed == kExitOk && !is_done ? kExitRefused : printed;
  }

  [[nodiscard]] std::string became(const StepsTaken& taken, std::size_t steps, bool is_done) const {
    if (taken.steps < steps) {
      return fmt::format("{} of {} steps are done, the others were not begun", taken.steps, steps);
    }
    const int node = json_["node"].get<int>();
    return is_done ? fmt::format("Node {} has room now", node)
                   : fmt::format(
                         "All steps are done, but node {} has too little room again: other "
                         "memory has arrived there meanwhile",
                         node);
  }

  /// Returns whether the daemon finds the room; gives it some epochs to notice.
  [[nodiscard]] bool has_room() const {
    for (int polls = 0; polls < kPollsForRoom; ++polls) {
      const auto host = context_.ask(balancer::HostRequest{});
      if (host && room_on(*host) >= json_["memory_bytes"].get<std::int64_t>()) {
        return true;
      }
      if (!context_.surroundings.pause(kPollInterval)) {
        break;
      }
    }
    return false;
  }

  [[nodiscard]] std::int64_t room_on(const balancer::HostView& host) const {
    for (const balancer::NodeView& node : host.nodes) {
      if (node.node.value != json_["node"].get<std::int32_t>()) {
        continue;
      }
      if (json_["page_bytes"] == 0) {
        return node.largest_vm_bytes.value_or(0);
      }
      for (const balancer::HugePagesView& pages : node.huge_pages) {
        if (pages.page_bytes == json_["page_bytes"].get<std::int64_t>()) {
          return pages.largest_vm_bytes.value_or(0);
        }
      }
    }
    return 0;
  }

  const MakeRoomRun& run_;
  const Context& context_;
  ordered_json json_;
  std::string text_;
};

}  // namespace

OrFailure<int> MakeRoomRun::run(const Context& context) const {
  return RoomCommand(*this, context).run();
}

}  // namespace vmnuma::tools
