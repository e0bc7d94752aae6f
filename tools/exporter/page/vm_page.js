// SPDX-License-Identifier: Apache-2.0
// One VM: why its clients are where they are, and what was considered for it. Its address is #vm=UUID.
import { byId, make, setText, showList } from "./dom.js";
import * as format from "./format.js";

/** The UUID of the VM that is looked at; empty: the host is. */
export const lookedAt = () => (/^#vm=([0-9a-f-]{36})$/.exec(location.hash)?.[1] ?? "");

export const addressOf = (uuid) => `#vm=${uuid}`;

/** Shows the page of the VM, or that of the host. */
export function showPlace(hostName, host) {
  const uuid = lookedAt();
  const section = byId("vm");
  const begins = uuid !== "" && section.dataset.uuid !== uuid;
  section.hidden = uuid === "";
  section.dataset.uuid = uuid;
  document.body.classList.toggle("one-vm", uuid !== "");
  const vm = host?.vms.find((candidate) => candidate.vm_uuid === uuid);
  setText(byId("vm-title"), uuid === "" ? "" : `VM ${vm?.vm ?? uuid}`);
  document.title = [uuid === "" ? "" : vm?.vm ?? "VM", hostName, "vmnuma"].filter(Boolean).join(" · ");
  if (begins) {
    for (const id of ["vm-clients", "vm-considered"]) showList(byId(id), [], () => "", () => null, () => {});
    setText(byId("vm-memory"), "");
    byId("vm-nothing").hidden = true;
    setProblem("Asking the daemon …");
    byId("vm-title").focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function setProblem(text) {
  setText(byId("vm-problem"), text);
  byId("vm-problem").hidden = text === "";
}

const kFigures = [
  ["Home", (client) => format.node(client.home)],
  ["for", (client) => format.count(client.since_epochs, "epoch")],
  ["vCPUs", (client) => format.number(client.vcpus.length)],
  ["Used", (client) => `${format.number(client.used_ms)} ms`],
  ["Entitled", (client) => `${format.number(client.entitled_ms)} ms`],
  ["Owed", (client) => `${format.number(client.owed_ms)} ms`],
  ["Memory", (client) => format.bytes(client.memory_bytes)],
  ["Locality", (client) => format.percent(client.locality_pct)],
];

function makeClient() {
  const element = make("article", "client");
  element.parts = { title: make("h3"), why: make("p"), figures: make("dl"), notes: make("p", "soft") };
  element.parts.values = kFigures.map(([name]) => {
    const value = make("dd");
    element.parts.figures.append(make("dt", "", name), value);
    return value;
  });
  element.append(element.parts.title, element.parts.why, element.parts.figures, element.parts.notes);
  return element;
}

function fillClient({ parts }, client) {
  setText(parts.title, `Client ${client.index}`);
  setText(parts.why, client.why);
  kFigures.forEach(([, text], index) => setText(parts.values[index], text(client)));
  const notes = [client.cpus && `runs on CPUs ${client.cpus}`,
    client.spills_to !== null && `spills to node ${client.spills_to}: it runs on CPUs there too`,
    client.no_own_cores && `has no cores of its own: ${client.no_own_cores}`];
  setText(parts.notes, notes.filter(Boolean).join("; "));
}

function titleOf(candidate) {
  const way = `${format.node(candidate.from)} to ${format.node(candidate.to)}`;
  const partner = candidate.partner ? ` with ${candidate.partner}` : "";
  return `${candidate.action} of client ${candidate.client}, ${way}${partner}`;
}

/** What /api/vm answers. */
export function showVm({ explain, problem, pending }) {
  if (pending) return;
  setProblem(problem ?? "");
  if (!explain || explain.vm_uuid !== lookedAt()) return;
  showList(byId("vm-clients"), explain.clients, ({ index }) => index, makeClient, fillClient);
  setText(byId("vm-memory"), explain.memory);
  const considered = explain.considered.map((candidate, place) => ({ candidate, place }));
  showList(byId("vm-considered"), considered, ({ place }) => place, () => {
    const item = make("li");
    item.parts = { title: make("b"), verdict: make("span", "pill"), text: make("p") };
    item.append(item.parts.title, item.parts.verdict, item.parts.text);
    return item;
  }, ({ parts }, { candidate }) => {
    setText(parts.title, titleOf(candidate));
    setText(parts.verdict, candidate.guard || "no rule forbids it");
    parts.verdict.className = `pill ${candidate.guard ? "" : "good"}`;
    setText(parts.text, candidate.sentence);
  });
  byId("vm-nothing").hidden = considered.length > 0;
}
