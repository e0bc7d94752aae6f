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
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/arguments/what_if_arguments.h"
#include "tools/vmnuma/commands/follow_action.h"
#include "tools/vmnuma/commands/outlook_apart.h"
#include "tools/vmnuma/commands/step_by_step.h"
#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/confirm.h"
#include "tools/vmnuma/terminal/messages.h"
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

/// Returns the node of a PCI device. Error: invalid-argument, corrupt, and those of reading the
/// device.
Result<NodeId> node_of_device(const std::string& address, const std::string& root) {
  if (!is_pci_address(address)) {
    return failure(ErrorCode::kInvalidArgument,
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

Result<Asked> asked_by(const MakeRoomRun& run) {
  Asked asked;
  if (!run.vcpus || run.memory.empty()) {
    return failure(ErrorCode::kInvalidArgument, "say how large the VM is: --vcpus N --memory SIZE");
  }
  asked.vcpus = static_cast<std::int32_t>(*run.vcpus);
  const auto memory = parse_memory(run.memory);
  if (!memory) {
    return failure(ErrorCode::kInvalidArgument, "--memory: " + memory.error().message);
  }
  asked.memory = Bytes{*memory};
  if (!run.hugepages.empty()) {
    const auto page = parse_memory(run.hugepages);
    if (!page) {
      return failure(ErrorCode::kInvalidArgument, "--hugepages: " + page.error().message);
    }
    asked.page_size = Bytes{*page};
    asked.memory = asked.page_size * ((*memory + *page - 1) / *page);
  }
  if (!run.on.empty()) {
    auto nodes = parse_node_list(run.on);
    if (!nodes || nodes->empty()) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("--on: '{}' is no list of nodes such as 0-1", run.on));
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
  RoomCommand(const MakeRoomRun& run, const Invocation& invocation, Surroundings& surroundings)
      : run_(run), invocation_(invocation), surroundings_(surroundings) {}

  [[nodiscard]] int run() {
    if (const auto ours = check_devices(); !ours) {
      return failed(ours.error());
    }
    const Result<Asked> asked = asked_by(run_);
    if (!asked) {
      return failed({/*by_daemon=*/true, asked.error()});
    }
    if (const auto possible = check_host(*asked); !possible) {
      return failed(possible.error());
    }
    auto found = find(*asked);
    if (!found) {
      return fail(invocation_, surroundings_, found.error());
    }
    const std::size_t line = found->find('\n');
    const auto json =
        text::read_json<ordered_json>(found->substr(0, line), {found->size()}, "what was found");
    if (!json) {
      return fail(invocation_, surroundings_, {/*by_daemon=*/false, json.error()});
    }
    json_ = *json;
    text_ = found->substr(std::min(line, found->size() - 1) + 1);
    const bool is_possible = !json_["node"].is_null();
    if (!run_.carry_out || !is_possible || json_["fits_now"].get<bool>()) {
      const int code = print(invocation_, surroundings_,
                             invocation_.json ? text::json_text(json_) + "\n" : text_);
      return code == kExitOk && !is_possible ? kExitRefused : code;
    }
    return carry_out();
  }

 private:
  [[nodiscard]] int failed(const Refusal& refusal) const {
    return refusal.error.code == ErrorCode::kInvalidArgument
               ? fail(invocation_, surroundings_, refusal.error, kExitUsage)
               : fail(invocation_, surroundings_, refusal);
  }

  static tl::unexpected<Refusal> wrong(std::string message) {
    return tl::unexpected(
        Refusal{/*by_daemon=*/true, {ErrorCode::kInvalidArgument, 0, std::move(message)}});
  }

  /// Checks that the daemon's host is this one, from which devices are read.
  [[nodiscard]] tl::expected<void, Refusal> check_devices() const {
    if (run_.devices.empty()) {
      return {};
    }
    return ask_view<balancer::StatusView>(invocation_, surroundings_, balancer::StatusRequest{})
        .and_then([](const balancer::StatusView& status) -> tl::expected<void, Refusal> {
          if (is_about_another_host(status)) {
            return wrong(fmt::format(
                "--device: the daemon's host is another one ({}), whose devices are not known",
                status.uri));
          }
          return {};
        });
  }

  /// Checks that the host has the nodes and the huge pages that were requested.
  [[nodiscard]] tl::expected<void, Refusal> check_host(const Asked& asked) const {
    if (asked.nodes.empty() && asked.page_size == Bytes{}) {
      return {};
    }
    return ask_view<balancer::HostView>(invocation_, surroundings_, balancer::HostRequest{})
        .and_then([&](const balancer::HostView& host) -> tl::expected<void, Refusal> {
          std::vector<NodeId> nodes;
          bool has_pages = asked.page_size == Bytes{};
          for (const balancer::NodeView& node : host.nodes) {
            nodes.push_back(node.node);
            has_pages =
                has_pages || std::any_of(node.huge_pages.begin(), node.huge_pages.end(),
                                         [&](const balancer::HugePagesView& pages) {
                                           return Bytes{pages.page_bytes} == asked.page_size;
                                         });
          }
          for (const NodeId node : asked.nodes) {
            if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
              return wrong(fmt::format("--on: there is no node {}, this host has {}", node.value,
                                       nodes_text(nodes)));
            }
          }
          if (!has_pages) {
            return wrong(fmt::format("--hugepages: this host has no huge pages of {} KiB",
                                     asked.page_size.value / kKiB.value));
          }
          return {};
        });
  }

  [[nodiscard]] tl::expected<std::string, Refusal> find(const Asked& asked) const {
    return make_apart(
        invocation_,
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
         }},
        surroundings_);
  }

  [[nodiscard]] int carry_out() {
    std::ostream& out = invocation_.json ? surroundings_.err : surroundings_.out;
    out << text_ << std::flush;
    if (!run_.yes && !is_confirmed("Move them?", surroundings_)) {
      return fail(invocation_, surroundings_,
                  {ErrorCode::kUnavailable, 0, "not confirmed, so nothing was moved"},
                  kExitRefused);
    }
    const auto steps = steps_from(json_["steps"]);
    const StepsTaken taken =
        take_steps(invocation_, surroundings_, steps, std::numeric_limits<std::int64_t>::max(),
                   [&](const std::string& sentence) {
                     if (!invocation_.json && !sentence.empty()) {
                       surroundings_.out << wrapped(sentence, /*indent=*/0) << std::flush;
                     }
                   });
    const bool is_done = taken.steps == steps.size() && has_room();
    if (invocation_.json) {
      json_["steps_done"] = taken.steps;
      json_["has_room"] = is_done;
      json_["stopped_because"] = taken.refusal       ? taken.refusal->error.message
                                 : taken.interrupted ? "interrupted"
                                                     : "";
      surroundings_.out << text::json_text(json_) << "\n";
    } else {
      surroundings_.out << wrapped(became(taken, steps.size(), is_done), /*indent=*/0);
    }
    if (taken.refusal) {
      return fail(invocation_, surroundings_, *taken.refusal);
    }
    const int printed = print(invocation_, surroundings_, "");
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
      const auto host =
          ask_view<balancer::HostView>(invocation_, surroundings_, balancer::HostRequest{});
      if (host && room_on(*host) >= json_["memory_bytes"].get<std::int64_t>()) {
        return true;
      }
      if (!surroundings_.pause(kPollInterval)) {
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
  const Invocation& invocation_;
  Surroundings& surroundings_;
  ordered_json json_;
  std::string text_;
};

}  // namespace

int MakeRoomRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  return RoomCommand(*this, invocation, surroundings).run();
}

}  // namespace vmnuma::tools
