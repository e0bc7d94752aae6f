// SPDX-License-Identifier: Apache-2.0
/// The examples in the help of each command.
///
/// Properties: every command has an example, and each example works with a daemon on a simulated
/// host. tests/integration/service/check-examples checks both; it runs the examples in this order
/// and in one folder, with --sim after `vmnuma`.
#pragma once

#include <string_view>

namespace vmnuma::tools {

struct Example {
  std::string_view command;  ///< "options set"
  std::string_view line;     ///< the command line as typed
  std::string_view what;     ///< what the example does
};

inline constexpr Example kExamples[] = {
    {"status", "vmnuma status", "See whether all is well"},
    {"top", "vmnuma top", "Watch the host; q quits"},
    {"top", "vmnuma top --once", "Print one screen as text"},
    {"stats", "vmnuma stats -t numa-pnode", "Show the nodes as ESXi does"},
    {"stats", "vmnuma stats -t numa-clients -o csv", "Export the VMs to a spreadsheet"},
    {"memory", "vmnuma memory -o wide", "Show memory and limits of all VMs"},
    {"explain", "vmnuma explain db1", "See why db1 is where it is"},
    {"history", "vmnuma history --since 1h", "List the moves of the last hour"},
    {"history", "vmnuma history --vm db1 -o wide", "Show db1's moves in detail"},
    {"plan", "vmnuma plan", "See what was chosen, and why"},
    {"plan", "vmnuma plan --optimal --seconds 2", "See where all VMs would be best"},
    {"what-if", "vmnuma what-if --move db1=1", "See what moving it would bring"},
    {"what-if", "vmnuma what-if --add vcpus=8,memory=16GiB", "See where a new VM would go"},
    {"list", "vmnuma list --sort locality", "List VMs, most remote memory first"},
    {"list", "vmnuma list -o name", "List names only, for a script"},
    {"events", "vmnuma events --vm db1", "See what happened to db1"},
    {"events", "vmnuma events --follow", "Follow what happens"},
    {"repack", "vmnuma repack --seconds 2", "Move all VMs to the best homes"},
    {"make-room", "vmnuma make-room --vcpus 8 --memory 20GiB", "See which VMs would have to move"},
    {"make-room", "vmnuma make-room --vcpus 2 --memory 1GiB --do --yes",
     "Move them without asking"},
    {"forecast show", "vmnuma forecast show db1", "See what db1 is expected to want"},
    {"forecast train", "vmnuma forecast train", "Learn from the history"},
    {"advise", "vmnuma advise --vcpus 8 --memory 16GiB", "See how to define a new VM"},
    {"doctor", "vmnuma doctor", "See what is wrong"},
    {"config show", "vmnuma config show", "See what is in effect"},
    {"config check", "vmnuma config check", "Check it before a restart"},
    {"report", "vmnuma report --html --since 1h", "Make a page about the last hour"},
    {"export", "vmnuma export --format nrt", "Describe the host for Kubernetes"},
    {"record", "vmnuma record host.rec --epochs 5", "Record ten seconds"},
    {"replay", "vmnuma replay host.rec", "Check that the same plans come out"},
    {"pve install", "vmnuma pve install --for 101", "Make VM 101 ask before it starts"},
    {"pve remove", "vmnuma pve remove --for 101", "Undo that"},
    {"pve status", "vmnuma pve status", "See which VMs have the hookscript"},
    {"sim run", "vmnuma sim run pile-up --epochs 20", "See how a full node is cleared"},
    {"sim list", "vmnuma sim list", "List the scenarios"},
    {"sim compare", "vmnuma sim compare swap-only", "Compare it with other balancers"},
    {"sim search", "vmnuma sim search --rounds 1", "Find out where vmnuma does badly"},
    {"sim check", "vmnuma sim check pile-up", "Check whether it can be run"},
    {"sim show", "vmnuma sim show pile-up", "Print a file to start from"},
    {"sim start", "vmnuma sim start guest --vcpus 8", "Start another VM"},
    {"sim load", "vmnuma sim load guest 20", "Give it less to do"},
    {"sim stop", "vmnuma sim stop guest", "Stop it"},
    {"sim step", "vmnuma sim step 30", "Go a minute ahead in a recording"},
    {"sim step", "vmnuma sim step --back", "Go back one epoch"},
    {"options list", "vmnuma options list -o wide", "List all with their meaning"},
    {"options get", "vmnuma options get Numa.MigThreshold", "Show one of them"},
    {"options set", "vmnuma options set Numa.MigThreshold 3", "Set it until the daemon ends"},
    {"pause", "vmnuma pause", "Start no more moves until resumed"},
    {"resume", "vmnuma resume", "Start moves again"},
    {"move", "vmnuma move db1 1 --wait", "Move db1 to node 1"},
    {"reserve", "vmnuma reserve db2 --vcpus 2 --memory 1GiB", "Keep room until db2 starts"},
    {"reserve", "vmnuma reserve web --vcpus 2 --memory 1GiB --lasting 8h", "Keep room for 8 hours"},
    {"reserve", "vmnuma reserve pool --vcpus 2 --memory 1GiB --shared", "Keep it for a group"},
    {"reservations", "vmnuma reservations", "See what is reserved"},
    {"reservations", "vmnuma reservations --history", "See what was taken up and given up"},
    {"unreserve", "vmnuma unreserve db2", "Give the room up"},
    {"set", "vmnuma set db1 nodes=0-1", "Keep db1 on these nodes"},
    {"set", "vmnuma set db1", "Show the policy of db1"},
    {"release", "vmnuma release db1", "Stop balancing db1"},
    {"manage", "vmnuma manage db1", "Balance it again"},
};

}  // namespace vmnuma::tools
