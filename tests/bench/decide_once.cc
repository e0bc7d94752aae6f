// SPDX-License-Identifier: Apache-2.0
// Makes one plan for a host of busy_host.h, or supposes as many new VMs as may be on a calm one:
// what count-instructions counts.
//
// usage: decide_once calm|imbalanced|overloaded|suppose NODES CLIENTS
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "balancer/core/planner.h"
#include "balancer/core/what_if.h"
#include "tests/bench/busy_host.h"

namespace {

std::int32_t number(const char* text) {
  std::int32_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  using vmnuma::tests::HostLoad;
  const std::map<std::string, HostLoad> loads{{"calm", HostLoad::kCalm},
                                              {"imbalanced", HostLoad::kImbalanced},
                                              {"overloaded", HostLoad::kOverloaded},
                                              {"suppose", HostLoad::kCalm}};
  if (argc != 4 || !loads.contains(argv[1]) || number(argv[2]) <= 0 || number(argv[3]) <= 0) {
    std::fputs("usage: decide_once calm|imbalanced|overloaded|suppose NODES CLIENTS\n", stderr);
    return 2;
  }
  const vmnuma::tests::BusyHost host(number(argv[2]), number(argv[3]), loads.at(argv[1]));
  vmnuma::Snapshot snapshot = host.snapshot();
  snapshot.epoch = 30;  // everything periodic is due
  if (std::strcmp(argv[1], "suppose") == 0) {
    const auto answer =
        vmnuma::balancer::what_if(snapshot, {}, vmnuma::tests::most_new_vms(/*of_clients=*/8), {});
    std::printf("%zu homes\n", answer.homes.size());
    return 0;
  }
  const vmnuma::Plan plan = vmnuma::balancer::make_plan(snapshot, {}, {});
  std::printf("%zu actions\n", plan.actions.size());
  return 0;
}
