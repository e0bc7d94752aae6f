// SPDX-License-Identifier: Apache-2.0
// The host in a row of figures.
import { byId, make, setText, showList } from "./dom.js";
import * as format from "./format.js";

/** Sums over all clients and nodes. */
function sums(host) {
  const sum = { local: 0, resident: 0, owed: 0, used: 0, capacity: 0, free: 0, memory: 0, moves: 0 };
  const place = new Map(host.nodes.map((node, index) => [node.node, index]));
  for (const vm of host.vms) {
    for (const client of vm.clients) {
      client.memory_bytes.forEach((bytes, index) => {
        sum.resident += bytes;
        if (index === place.get(client.home)) sum.local += bytes;
      });
    }
  }
  for (const node of host.nodes) {
    sum.owed += node.owed_ms;
    sum.used += node.used_ms;
    sum.capacity += node.capacity_ms;
    sum.free += node.free_bytes;
    sum.memory += node.memory_bytes;
  }
  for (const action of host.actions) {
    if (action.state === "done" && !["initial-placement", "memory-pull", "cpu-assignment"].includes(action.reason)) {
      sum.moves += action.count;
    }
  }
  return sum;
}

export function showFigures(status, host) {
  const sum = sums(host);
  const epoch = host.epoch_length_ms;
  const share = (part, whole) => (whole > 0 ? (part * 100) / whole : null);
  const figures = [
    ["Imbalance", format.percent(status.imbalance_pct), "", "of owed CPU time, between nodes"],
    ["Owed", format.cores(sum.owed, epoch), "cores", `${format.cores(sum.used, epoch)} used of ${format.cores(sum.capacity, epoch)}`],
    ["Lost", format.cores(status.lost_ms, epoch), "cores", "to shortage and to far memory"],
    ["Locality", format.percent(share(sum.local, sum.resident)), "", `of ${format.bytes(sum.resident)} resident`],
    ["Free memory", format.bytes(sum.free), "", `of ${format.bytes(sum.memory)}`],
    ["VMs", String(status.vms), "", `${format.count(status.clients, "client")} on ${format.count(status.nodes, "node")}`],
    ["Moves", String(sum.moves), "", `${format.bytes(host.moved_bytes)} brought along since the start`],
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
