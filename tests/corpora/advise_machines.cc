// SPDX-License-Identifier: Apache-2.0
// Advice for VMs of many sizes on machines that others collected.
//
// usage: vmnuma_advise_machines FOLDER ROOT...
//
//   FOLDER    directory where a definition as advised is put for each machine, as NAME.xml
//
// Prints how many VMs were advised on how many machines; before that a line for each broken promise
// of placement/advice/advice.h, and of balancer/host/advise_xml.h, with which the exit status is 1.
// Machines that cannot be read, or have no node that a VM can live on, are left out.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "placement/advice/advice.h"
#include "stats/topology/topology_reader.h"
#include "tests/support/advice_promises.h"
#include "tests/support/advised_definition.h"

namespace vmnuma {
namespace {

struct Tally {
  int machines = 0;
  int vms = 0;
  int broken = 0;
};

void report_broken(const std::string& machine, const std::string& what, Tally& tally) {
  fmt::print("{}: {}\n", machine, what);
  ++tally.broken;
}

/// The definition of the last one, which is the widest and may have any memory, is kept.
void advise_on(const std::string& machine, const AdviceHost& host,
               const std::filesystem::path& folder, Tally& tally) {
  for (const std::string& wrong : tests::wrong_advice_on(host.topology)) {
    report_broken(machine, wrong, tally);
  }
  for (const AdviceRequest& request : tests::vms_of_all_sizes(host.topology)) {
    const auto advised =
        tests::advised_definition(tests::definition_of(request), request.vm.policy, host);
    if (!advised) {
      report_broken(machine, request.vm.name + ": " + advised.error().message, tally);
      continue;
    }
    std::ofstream(folder / (machine + ".xml")) << *advised;
    ++tally.vms;
  }
  ++tally.machines;
}

}  // namespace
}  // namespace vmnuma

int main(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: vmnuma_advise_machines FOLDER ROOT...\n");
    return 2;
  }
  vmnuma::Tally tally;
  for (int at = 2; at < count; ++at) {
    const auto reading =
        vmnuma::files::Directory::open(words[at]).and_then(vmnuma::stats::read_topology);
    if (reading && reading->topology.home_count() > 0) {
      vmnuma::advise_on(std::filesystem::path(words[at]).filename(),
                        {.topology = reading->topology}, words[1], tally);
    }
  }
  fmt::print("{} VMs advised on {} machines\n", tally.vms, tally.machines);
  return tally.broken == 0 && tally.vms > 0 ? 0 : 1;
}
