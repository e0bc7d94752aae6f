// SPDX-License-Identifier: Apache-2.0
// The host's nodes with their bars, and who lives on them.
import { byId, fillBar, make, makeBar, nodeColour, setText, showList } from "./dom.js";
import * as format from "./format.js";

const kBars = [["load", "Load"], ["owed", "Owed"], ["memory", "Memory"], ["locality", "Locality"]];

function makeNode() {
  const element = make("article", "node");
  const title = make("h3");
  const size = make("span");
  const bars = make("dl", "bars");
  const clients = make("ul", "clients");
  element.parts = { title, size, clients, bars: {} };
  for (const [key, name] of kBars) {
    const bar = makeBar(`var(--${key})`);
    const figure = make("dd");
    bars.append(make("dt", "", name), make("dd", "", bar), figure);
    element.parts.bars[key] = { bar, figure, name };
  }
  element.append(make("header", "", title, size), bars, clients);
  return element;
}

/** share: 0 to 1, more than that, or null for not known. */
function fillFigure({ bar, figure, name }, share, text) {
  fillBar(bar, share, `${name}: ${text}`);
  setText(figure, text);
}

/** What VMs want of the node, and behind it what others use. */
function fillLoad({ bar, figure }, node) {
  const { vm_load_pct: wanted, non_vm_pct: others } = node;
  const known = format.isKnown(wanted) && format.isKnown(others);
  const label = known ? `Load: VMs want ${wanted} % of the node, others use ${others} %` : "Load: not known";
  fillBar(bar, known ? wanted / 100 : null, label, known ? others / 100 : 0);
  bar.title = label;
  setText(figure, known && others > 0 ? `${wanted} + ${others} %` : format.percent(wanted));
}

function makeClient() {
  const element = make("li");
  const level = make("i");
  element.parts = { level, name: make("b"), more: make("small") };
  const dot = make("span", "dot", level);
  dot.setAttribute("aria-hidden", "true");
  element.append(dot, element.parts.name, element.parts.more);
  return element;
}

function fillClient(element, { vm, client, epoch }) {
  const { level, name, more } = element.parts;
  const locality = client.locality_pct;
  setText(name, format.clientName(vm.vm, client.index, vm.clients.length));
  setText(more, `${format.cores(client.used_ms, epoch)} / ${format.count(client.vcpus, "vCPU")}`);
  level.style.height = `${locality ?? 0}%`;
  // Owed a twentieth of what it is entitled to is worth a look.
  element.classList.toggle("owed", client.owed_ms * 20 > client.entitled_ms && client.owed_ms > 0);
  element.classList.toggle("moving", client.moving || vm.transferring);
  element.classList.toggle("alone", !vm.managed);
  const notes = [`${vm.vm}, client ${client.index}: ${format.count(client.vcpus, "vCPU")}`,
    `uses ${format.cores(client.used_ms, epoch)} cores, is owed ${format.cores(client.owed_ms, epoch)}`,
    `locality ${format.percent(locality)}`];
  if (vm.transferring) notes.push("its memory is being moved");
  if (!vm.managed) notes.push(`left alone: ${vm.not_managed}`);
  element.title = notes.join("\n");
}

function residents(host, home) {
  const found = [];
  for (const vm of host.vms) {
    for (const client of vm.clients) {
      if (client.home === home) found.push({ vm, client, epoch: host.epoch_length_ms });
    }
  }
  return found.sort((a, b) => b.client.vcpus - a.client.vcpus || a.vm.vm.localeCompare(b.vm.vm));
}

function showDistances(host) {
  const table = byId("distances").querySelector("table");
  const text = JSON.stringify(host.nodes.map((node) => [node.node, node.distances]));
  if (table.shown === text) return;
  table.shown = text;
  const header = (name, scope) => {
    const cell = make("th", "", name);
    cell.scope = scope;
    return cell;
  };
  const row = make("tr", "", make("td"), ...host.nodes.map((node) => header(`to ${node.node}`, "col")));
  const body = host.nodes.map((node) =>
    make("tr", "", header(`node ${node.node}`, "row"), ...node.distances.map((distance) => make("td", "", String(distance)))));
  byId("distances").open = host.nodes.length <= 8; // more is only for those who ask
  table.replaceChildren(make("thead", "", row), make("tbody", "", ...body));
}

export function showMap(status, host) {
  const nodes = host.nodes.map((node, index) => ({ node, index, clients: residents(host, node.node) }));
  showList(byId("map"), nodes, ({ node }) => node.node, makeNode, (element, { node, index, clients }) => {
    const { title, size, bars, clients: list } = element.parts;
    element.style.setProperty("--node", nodeColour(index));
    element.classList.toggle("unknown", !node.known);
    setText(title, `Node ${node.node}`);
    setText(size, node.cpus === 0 ? "memory only" : `${format.count(node.cores, "core")}, ${format.count(node.cpus, "CPU")}` +
      ` · ${format.count(node.vcpus, "vCPU")}`);
    fillLoad(bars.load, node);
    const owed = format.share(node.owed_ms, node.capacity_ms);
    fillFigure(bars.owed, owed, format.sharePercent(owed));
    const free = format.share(node.free_bytes, node.memory_bytes);
    fillFigure(bars.memory, free === null ? null : 1 - free,
      node.memory_bytes > 0 ? `${format.bytes(node.free_bytes)} free` : "none");
    const locality = format.locality(clients.map(({ client }) => client), host.nodes);
    fillFigure(bars.locality, locality, format.sharePercent(locality));
    showList(list, clients, ({ vm, client }) => `${vm.vm_uuid}/${client.index}`, makeClient, fillClient);
  });
  const homeless = residents(host, null);
  setText(byId("map-note"), homeless.length === 0 ? "" :
    `${format.count(homeless.length, "client")} without a home yet: ` +
    homeless.slice(0, 8).map(({ vm, client }) => format.clientName(vm.vm, client.index, vm.clients.length)).join(", "));
  showDistances(host);
}
