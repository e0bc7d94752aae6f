// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"

namespace vmnuma::tools {

namespace {

std::string figures_text(std::string_view name, const balancer::Figure& before,
                         const balancer::Figure& after, std::string_view unit) {
  return fmt::format("{:<10}  {:>8}  {:>8}  {}\n", name, figure_text(before), figure_text(after),
                     unit);
}

using balancer::NewHomeView;

/// Clients of one VM that differ only in their numbers; a VM that is far too large has very many.
using AlikeClients = std::vector<const NewHomeView*>;

bool are_alike(const NewHomeView& a, const NewHomeView& b) {
  const auto key = [](const NewHomeView& home) {
    return std::tie(home.vm, home.vcpus, home.home, home.memory_bytes, home.elsewhere_bytes);
  };
  return key(a) == key(b);
}

std::vector<AlikeClients> grouped(const std::vector<NewHomeView>& homes) {
  std::vector<AlikeClients> groups;
  for (const NewHomeView& home : homes) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const AlikeClients& alike) {
      return are_alike(*alike.front(), home);
    });
    if (group == groups.end()) {
      groups.push_back({&home});
    } else {
      group->push_back(&home);
    }
  }
  return groups;
}

std::string new_home_text(const AlikeClients& alike) {
  const NewHomeView& home = *alike.back();  // its figures include the others
  const bool is_one = alike.size() == 1;
  std::vector<std::int32_t> clients;
  for (const NewHomeView* one : alike) {
    clients.push_back(one->client);
  }
  std::string line = fmt::format("{}/{}, {} vCPUs, {}{}: ", home.vm, numbers_text(clients),
                                 home.vcpus, bytes_text(home.memory_bytes), is_one ? "" : " each");
  line += home.home.value < 0 ? "no home" : fmt::format("node {}", home.home.value);
  if (home.elsewhere_bytes > 0) {
    line += fmt::format(", which has no room for {} of {} memory", bytes_text(home.elsewhere_bytes),
                        is_one ? "its" : "the");
  }
  std::string out = wrapped(line, /*indent=*/2);
  for (const auto& node : home.considered) {
    out += wrapped(fmt::format("node {}: load {} with {}, room for {}{}", node_text(node.node),
                               figure_text(node.load_pct, "%"), is_one ? "it" : "the last of them",
                               bytes_text(node.room_bytes),
                               node.fits || !node.room_bytes ? "" : ", too little"),
                   /*indent=*/4);
  }
  return out;
}

}  // namespace

std::string text_of(const balancer::WhatIfView& view) {
  std::string out =
      fmt::format("{:<10}  {:>8}  {:>8}\n", fmt::format("Epoch {}", view.epoch), "now", "supposed");
  out += figures_text("Lost time", view.before.lost_ms, view.after.lost_ms, "ms per epoch");
  out += figures_text("Imbalance", view.before.imbalance_pct, view.after.imbalance_pct, "%");
  out += figures_text("Locality", view.before.locality_pct, view.after.locality_pct, "%");
  if (!view.notes.empty()) {
    out += "\nNotes\n";
  }
  for (const std::string& note : view.notes) {
    out += wrapped(note, /*indent=*/2);
  }
  if (!view.homes.empty()) {
    out += "\nHomes of new VMs\n";
  }
  for (const AlikeClients& alike : grouped(view.homes)) {
    out += new_home_text(alike);
  }
  return out + "\n" + text_of(view.plan);
}

}  // namespace vmnuma::tools
