// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

std::string home_text(const balancer::ClientView& client) {
  return client.home.value < 0
             ? "no home yet"
             : fmt::format("on node {} for {} epochs", client.home.value, client.since_epochs);
}

/// Returns the client's CPUs; empty if it has all CPUs of its home and requested no more.
std::string cpus_text(const balancer::ClientView& client) {
  std::string out;
  if (!client.cpus.empty()) {
    out += wrapped("runs on CPUs " + client.cpus, /*indent=*/2);
  }
  if (client.spills_to.value >= 0) {
    const std::string where =
        fmt::format("spills to node {}: it runs on CPUs there too, ", client.spills_to.value);
    out += wrapped(
        where + (client.spill_saves_ms == 0
                     ? "ahead of need"
                     : fmt::format("while those of its home are short, which saves {} per epoch",
                                   figure_text(client.spill_saves_ms, "ms"))),
        /*indent=*/2);
  }
  if (!client.no_own_cores.empty()) {
    out += wrapped("has no cores of its own: " + client.no_own_cores, /*indent=*/2);
  }
  return out;
}

std::string client_text(const balancer::ClientView& client) {
  const std::string locality = client.locality_pct
                                   ? fmt::format("{} % of it local", *client.locality_pct)
                                   : "locality not known";
  return fmt::format("\nClient {}: vCPUs {}, {}, may use nodes {}\n", client.index,
                     numbers_text(client.vcpus), home_text(client), nodes_text(client.allowed)) +
         wrapped(client.why, /*indent=*/2) + cpus_text(client) +
         fmt::format(
             "  Thread time in the last epoch: used {}, ready {}, demand {};\n"
             "  core time: entitled {}, owed {}\n"
             "  memory: {}, {}\n",
             figure_text(client.used_ms, "ms"), figure_text(client.ready_ms, "ms"),
             figure_text(client.demand_ms, "ms"), figure_text(client.entitled_ms, "ms"),
             figure_text(client.owed_ms, "ms"), bytes_text(client.memory_bytes), locality);
}

std::string talks_text(const std::vector<balancer::TalkView>& talks) {
  std::string out;
  for (const balancer::TalkView& talk : talks) {
    const std::string where =
        !talk.same_node_pct          ? "not all have homes yet"
        : *talk.same_node_pct == 100 ? "on the same node"
        : *talk.same_node_pct == 0
            ? "on different nodes"
            : fmt::format("{} % of them on the same node", *talk.same_node_pct);
    out += wrapped(fmt::format("VM '{}': {} wake-ups a second, {}", printable(talk.vm),
                               talk.wakeups_per_second, where),
                   /*indent=*/2);
  }
  return out.empty() ? "" : "\nTalks most to\n" + out;
}

std::string devices_text(const std::vector<balancer::DeviceView>& devices) {
  std::string out;
  for (const balancer::DeviceView& device : devices) {
    const std::string where =
        device.node.value < 0 ? "node not known" : fmt::format("on node {}", device.node.value);
    out += wrapped(fmt::format("{} {}: {}", device.kind, printable(device.name), where),
                   /*indent=*/2);
    if (!device.advice.empty()) {
      out += wrapped(printable(device.advice), /*indent=*/4);
    }
  }
  return out.empty() ? "" : "\nDevices\n" + out;
}

/// Returns the differences from a VM without a policy.
std::string policy_text(const balancer::PolicyView& view) {
  std::string out;
  if (!view.refused.empty()) {
    out += wrapped("the policy in its metadata is refused: " + view.refused, /*indent=*/2);
  }
  for (const auto& key : view.keys) {
    if (key.origin != balancer::Origin::kDefault) {
      out += fmt::format("  {} = {} ({})\n", key.name, printable(key.value), name_of(key.origin));
    }
  }
  return out.empty() ? "" : "\nPolicy\n" + out;
}

}  // namespace

std::string text_of(const balancer::ExplainView& view) {
  std::string out = fmt::format("VM {} ({}), epoch {}\n", printable(view.vm),
                                printable(view.vm_uuid), view.epoch);
  for (const auto& client : view.clients) {
    out += client_text(client);
  }
  out += "\nMemory\n" + wrapped(view.memory, /*indent=*/2);
  if (!view.topology.empty()) {
    out += "\nTopology\n" + wrapped(view.topology, /*indent=*/2);
  }
  out += talks_text(view.talks);
  out += devices_text(view.devices);
  out += policy_text(view.policy);
  out += "\nMoves to other nodes, each judged by itself, best first\n";
  for (const auto& candidate : view.considered) {
    out += candidate_text(fmt::format("client {}", candidate.client), candidate);
  }
  if (view.considered.empty()) {
    out += "  nothing\n";
  }
  return out;
}

}  // namespace vmnuma::tools
