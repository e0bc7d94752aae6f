// SPDX-License-Identifier: Apache-2.0
// The host in a row of figures.
import { byId, make, setText, showList } from "./dom.js";
import * as format from "./format.js";

/** Actions that were carried out since the daemon was started, by what kind they are of. */
function done(host) {
  const kinds = { moves: 0, placements: 0, pulls: 0 };
  for (const { reason, state, count } of host.actions) {
    if (state !== "done" || reason === "cpu-assignment") continue;
    kinds[{ "initial-placement": "placements", "memory-pull": "pulls" }[reason] ?? "moves"] += count;
  }
  return kinds;
}

/** Where the largest VM that would start now would live, and what all nodes together have. */
function largest({ node, vcpus, room_bytes: room }) {
  if (!format.isKnown(room)) return "";
  const all = `${format.bytes(room)} free for VMs on all nodes`;
  return format.isKnown(node) ? `and ${format.count(vcpus, "vCPU")} would start on ${format.node(node)}; ${all}` : all;
}

/** What is kept for VMs that do not run yet, if anything. */
function reserved({ reservations }, bytes) {
  return reservations > 0 ? `; ${format.bytes(bytes)} reserved for VMs that do not run yet` : "";
}

export function showFigures(status, host) {
  const sum = (key) => format.sumOf(host.nodes.map((node) => node[key]));
  const clients = host.vms.flatMap((vm) => vm.clients);
  const cores = (ms) => format.cores(ms, host.epoch_length_ms);
  const actions = done(host);
  const figures = [
    ["Imbalance", format.percent(status.imbalance_pct), "", "of owed CPU time, between nodes"],
    ["Owed", cores(sum("owed_ms")), "cores", `VMs use ${cores(sum("used_ms"))} of ${cores(sum("capacity_ms"))}, other processes ${cores(sum("non_vm_ms"))}`],
    ["Lost", cores(status.lost_ms), "cores", "to waiting and to remote memory"],
    ["Locality", format.sharePercent(format.locality(clients, host.nodes)), "",
      `of ${format.bytes(format.sumOf(clients.flatMap((client) => client.memory_bytes)))} resident`],
    ["Free memory", format.bytes(sum("free_bytes")), "", `of ${format.bytes(sum("memory_bytes"))}${reserved(status, sum("reservation_bytes"))}`],
    ["Largest VM", format.bytes(status.largest_vm.memory_bytes), "", largest(status.largest_vm)],
    ["VMs", format.number(status.vms), "", `${format.count(status.clients, "client")} on ${format.count(status.nodes, "node")}`],
    ["Moves since start", String(actions.moves), "", `${format.count(actions.placements, "placement")}, ${format.count(actions.pulls, "memory pull")}, ` +
      `${format.bytes(host.moved_bytes)} of memory moved`],
  ];
  showList(byId("figures"), figures, ([name]) => name, ([name]) => {
    const element = make("div", "figure");
    element.parts = { value: make("span"), unit: make("small"), more: make("p", "more") };
    element.append(make("h3", "", name), make("p", "value", element.parts.value, element.parts.unit), element.parts.more);
    return element;
  }, ({ parts }, [, value, unit, more]) => {
    setText(parts.value, value);
    setText(parts.unit, unit);
    setText(parts.more, more);
  });
}
