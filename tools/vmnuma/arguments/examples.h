// SPDX-License-Identifier: Apache-2.0
/// What the help of each command shows as examples.
///
/// Properties: every command has one; each is run against a daemon on a simulated host by
/// tests/integration/service/check-examples, in this order and in one folder, with --sim behind
/// `vmnuma`.
#pragma once

#include <string_view>

namespace vmnuma::tools {

struct Example {
  std::string_view command;  ///< "options set"
  std::string_view line;     ///< as it is typed
  std::string_view what;     ///< what it does
};

inline constexpr Example kExamples[] = {
    {"status", "vmnuma status", "Whether all is well"},
    {"top", "vmnuma top", "On the full screen; q ends it"},
    {"top", "vmnuma top --once", "One such screen as text"},
    {"stats", "vmnuma stats -t numa-pnode", "The nodes as ESXi shows them"},
    {"stats", "vmnuma stats -t numa-clients -o csv", "The VMs, for a spreadsheet"},
    {"memory", "vmnuma memory -o wide", "Memory and limits, a line a VM"},
    {"explain", "vmnuma explain db1", "Why db1 is where it is"},
    {"history", "vmnuma history --since 1h", "Who moved in the last hour"},
    {"history", "vmnuma history --vm db1 -o wide", "All that is known of its moves"},
    {"plan", "vmnuma plan", "What was decided, what not and why"},
    {"plan", "vmnuma plan --optimal --seconds 2", "Where all would be best"},
    {"what-if", "vmnuma what-if --move db1=1", "What moving it there would bring"},
    {"what-if", "vmnuma what-if --add vcpus=8,memory=16GiB", "Where a new VM would go"},
    {"list", "vmnuma list --sort locality", "Most remote memory first"},
    {"list", "vmnuma list -o name", "Their names, for a script"},
    {"events", "vmnuma events --vm db1", "What happened to db1"},
    {"events", "vmnuma events --follow", "What happens, as it happens"},
    {"repack", "vmnuma repack --seconds 2", "All to where they are best, now"},
    {"make-room", "vmnuma make-room --vcpus 8 --memory 20GiB", "Who must move for that VM"},
    {"make-room", "vmnuma make-room --vcpus 2 --memory 1GiB --do --yes", "Move them"},
    {"forecast show", "vmnuma forecast show db1", "What db1 will want"},
    {"forecast train", "vmnuma forecast train", "Learn from the history"},
    {"advise", "vmnuma advise --vcpus 8 --memory 16GiB", "How to define a new VM"},
    {"doctor", "vmnuma doctor", "What is wrong, and the cure"},
    {"config show", "vmnuma config show", "What counts, and from where"},
    {"config check", "vmnuma config check", "Before the daemon is restarted"},
    {"report", "vmnuma report --html --since 1h", "A page about the last hour"},
    {"export", "vmnuma export --format nrt", "The host for Kubernetes"},
    {"record", "vmnuma record host.rec --epochs 5", "Ten seconds, to look at elsewhere"},
    {"replay", "vmnuma replay host.rec", "Whether the same plans come out"},
    {"pve install", "vmnuma pve install --for 101", "VM 101 asks before it starts"},
    {"pve remove", "vmnuma pve remove --for 101", "It does not any more"},
    {"pve status", "vmnuma pve status", "Who has the hookscript"},
    {"sim run", "vmnuma sim run pile-up --epochs 20", "How a full node is cleared"},
    {"sim list", "vmnuma sim list", "The scenarios"},
    {"sim compare", "vmnuma sim compare swap-only", "vmnuma beside other balancers"},
    {"sim search", "vmnuma sim search --rounds 1", "Where vmnuma does badly"},
    {"sim check", "vmnuma sim check pile-up", "Whether it can be run"},
    {"sim show", "vmnuma sim show pile-up", "A file to begin with"},
    {"sim start", "vmnuma sim start guest --vcpus 8", "A VM more on the simulated host"},
    {"sim load", "vmnuma sim load guest 20", "It has less to do"},
    {"sim stop", "vmnuma sim stop guest", "It ends"},
    {"sim step", "vmnuma sim step 30", "A minute further in a recording"},
    {"sim step", "vmnuma sim step --back", "To the epoch before"},
    {"options list", "vmnuma options list -o wide", "All, with what they mean"},
    {"options get", "vmnuma options get Numa.MigThreshold", "One of them"},
    {"options set", "vmnuma options set Numa.MigThreshold 3", "Until the daemon ends"},
    {"pause", "vmnuma pause", "No more moves until resumed"},
    {"resume", "vmnuma resume", "Move again"},
    {"move", "vmnuma move db1 1 --wait", "Take db1 to node 1"},
    {"reserve", "vmnuma reserve db2 --vcpus 2 --memory 1GiB", "Till db2 starts"},
    {"reserve", "vmnuma reserve web --vcpus 2 --memory 1GiB --lasting 8h", "Tonight"},
    {"reservations", "vmnuma reservations", "What is kept, and for whom"},
    {"unreserve", "vmnuma unreserve db2", "For all again"},
    {"set", "vmnuma set db1 nodes=0-1", "db1 stays on these nodes"},
    {"set", "vmnuma set db1", "What holds for db1"},
    {"release", "vmnuma release db1", "Balance db1 no more"},
    {"manage", "vmnuma manage db1", "Balance it again"},
};

}  // namespace vmnuma::tools
