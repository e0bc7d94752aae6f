// SPDX-License-Identifier: Apache-2.0
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

std::string new_home_text(const balancer::NewHomeView& home) {
  std::string line = fmt::format("{}/{}, {} vCPUs, {}: ", home.vm, home.client, home.vcpus,
                                 bytes_text(home.memory_bytes));
  line += home.home.value < 0 ? "no home" : fmt::format("node {}", home.home.value);
  if (home.elsewhere_bytes > 0) {
    line += fmt::format(", {} of its memory elsewhere", bytes_text(home.elsewhere_bytes));
  }
  std::string out = wrapped(line, /*indent=*/2);
  for (const auto& node : home.considered) {
    out += wrapped(fmt::format("node {}: load {} with it, room for {}{}", node_text(node.node),
                               figure_text(node.load_pct, "%"), bytes_text(node.room_bytes),
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
  if (!view.homes.empty()) {
    out += "\nHomes of new VMs\n";
  }
  for (const auto& home : view.homes) {
    out += new_home_text(home);
  }
  out += "\n" + text_of(view.plan);
  if (!view.notes.empty()) {
    out += "\nNotes\n";
  }
  for (const std::string& note : view.notes) {
    out += wrapped(note, /*indent=*/2);
  }
  return out;
}

}  // namespace vmnuma::tools
