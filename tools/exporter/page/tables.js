// SPDX-License-Identifier: Apache-2.0
// VMs, what is on its way, and what was moved.
import { byId, fillBar, make, makeBar, setText, showList } from "./dom.js";
import * as format from "./format.js";
import { addressOf } from "./vm_page.js";

let shownHost = null;
let sorting = { column: 0, descending: false };

const resident = (client) => format.sumOf(client.memory_bytes);

/** name, by what to sort, text; `number`: aligned right, and the largest first when clicked. */
const kVmColumns = [
  { name: "VM", key: ({ name }) => name, text: ({ name }) => name },
  { name: "Home", key: ({ client }) => client.home ?? -1, text: ({ client }) => format.node(client.home) },
  { name: "vCPUs", number: true, key: ({ client }) => client.vcpus, text: ({ client }) => String(client.vcpus) },
  { name: "Used", number: true, key: ({ client }) => client.used_ms ?? -1, text: ({ client, epoch }) => `${format.cores(client.used_ms, epoch)} cores` },
  { name: "Entitled", number: true, key: ({ client }) => client.entitled_ms ?? -1, text: ({ client, epoch }) => `${format.cores(client.entitled_ms, epoch)} cores` },
  { name: "Owed", number: true, key: ({ client }) => client.owed_ms ?? -1, text: ({ client, epoch }) => `${format.cores(client.owed_ms, epoch)} cores` },
  { name: "Memory", number: true, key: ({ client }) => resident(client) ?? -1, text: ({ client }) => format.bytes(resident(client)) },
  { name: "Locality", number: true, key: ({ client }) => client.locality_pct ?? -1, bar: true },
  { name: "Moves", number: true, key: ({ client }) => client.moves, text: ({ client }) => String(client.moves) },
  { name: "State", key: ({ vm, client }) => stateOf(vm, client), text: ({ vm, client }) => stateOf(vm, client) },
];

function stateOf(vm, client) {
  if (!vm.managed) return "left alone";
  if (client.moving) return "being moved";
  if (vm.transferring) return "memory being moved";
  return client.home === null ? "no home yet" : "at home";
}

function showVmHeads() {
  const row = byId("vms").tHead.rows[0];
  showList(row, kVmColumns, ({ name }) => name, (column) => {
    const button = make("button", "", column.name);
    button.type = "button";
    const index = kVmColumns.indexOf(column);
    button.addEventListener("click", () => {
      sorting = { column: index, descending: sorting.column === index ? !sorting.descending : Boolean(column.number) };
      showVms(shownHost);
    });
    const head = make("th", column.number ? "number" : "", button);
    head.scope = "col";
    return head;
  }, (head, column) => {
    if (kVmColumns.indexOf(column) === sorting.column) {
      head.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
    } else {
      head.removeAttribute("aria-sort");
    }
  });
}

function makeVmRow() {
  const row = make("tr");
  row.parts = kVmColumns.map((column, index) => {
    const cell = make(index === 0 ? "th" : "td", column.number ? "number" : "");
    if (index === 0) {
      cell.scope = "row";
      cell.detail = make("small");
      cell.label = make("a");
      cell.append(cell.label, cell.detail);
    } else if (column.bar) {
      cell.bar = makeBar();
      cell.label = make("span");
      cell.append(cell.bar, cell.label);
    } else {
      cell.label = cell;
    }
    return cell;
  });
  row.append(...row.parts);
  return row;
}

function fillVmRow(row, item) {
  const { vm, client } = item;
  kVmColumns.forEach((column, index) => {
    const cell = row.parts[index];
    if (column.bar) {
      const locality = client.locality_pct;
      fillBar(cell.bar, locality === null ? null : locality / 100, `locality ${format.percent(locality)}`);
      setText(cell.label, format.percent(locality));
    } else {
      setText(cell.label, column.text(item));
    }
    if (column.name === "Owed") cell.classList.toggle("bad", client.owed_ms * 20 > client.entitled_ms && client.owed_ms > 0);
  });
  row.parts[0].label.href = addressOf(vm.vm_uuid);
  setText(row.parts[0].detail, vm.managed ? "" : vm.not_managed);
}

export function showVms(host) {
  shownHost = host;
  if (host === null) return;
  showVmHeads();
  const wanted = byId("filter").value.trim().toLowerCase();
  const items = host.vms.flatMap((vm) => vm.clients.map((client) => ({
    vm, client, epoch: host.epoch_length_ms, name: format.clientName(vm.vm, client.index, vm.clients.length),
  }))).filter(({ name }) => name.toLowerCase().includes(wanted));
  const { key } = kVmColumns[sorting.column];
  const order = (a, b) => (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
  items.sort((a, b) => (sorting.descending ? -1 : 1) * order(key(a), key(b)) || order(a.name, b.name));
  showList(byId("vms").tBodies[0], items, ({ vm, client }) => `${vm.vm_uuid}/${client.index}`, makeVmRow, fillVmRow);
  const note = byId("vms-note");
  setText(note, host.vms.length === 0 ? "No VM is running." : "No name matches.");
  note.hidden = items.length > 0;
}

byId("filter").addEventListener("input", () => showVms(shownHost));

export function showTransfers(status) {
  byId("transfers-section").hidden = status.transfers.length === 0;
  showList(byId("transfers"), status.transfers, ({ vm_uuid: id, action }) => `${id}/${action}`, () => {
    const item = make("li");
    item.parts = { name: make("b"), bar: makeBar(), text: make("span") };
    item.append(item.parts.name, item.parts.bar, item.parts.text);
    return item;
  }, ({ parts }, transfer) => {
    const whole = transfer.bytes_done + transfer.bytes_remaining;
    const text = `${format.bytes(transfer.bytes_done)} of ${format.bytes(whole)}` +
      (transfer.state === "running" ? ` · ${format.bytes(transfer.rate_bytes_per_second)}/s` : ` · ${transfer.state}`);
    setText(parts.name, `${transfer.vm} to ${transfer.to.map(format.node).join(", ")}`);
    fillBar(parts.bar, whole > 0 ? transfer.bytes_done / whole : null, text);
    setText(parts.text, text);
  });
}

const kMoveColumns = ["Time", "VM", "Reason", "From", "To", "Lost, predicted", "Lost, measured", "Moved", "State"];
const change = ({ lost_before_ms: before, lost_after_ms: after }) =>
  (format.isKnown(before) && format.isKnown(after) ? `${before} → ${after} ms` : "–");

function moveCells(move) {
  const { outcome } = move;
  return [format.time(move.time), move.client > 0 ? `${move.vm}/${move.client}` : move.vm, move.reason, format.node(move.from),
    format.node(move.to), move.reason === "initial-placement" ? "–" : change(move.predicted), outcome ? change(outcome) : move.state === "open" ? "not yet measured" : "–",
    outcome ? `${format.bytes(outcome.moved_bytes)} in ${format.duration(outcome.took_ms)}` : "", move.state];
}

export function showMoves(history) {
  const moves = history?.moves ?? [];
  showList(byId("moves").tHead.rows[0], kMoveColumns, (name) => name, (name) => {
    const head = make("th", "", name);
    head.scope = "col";
    return head;
  }, () => {});
  showList(byId("moves").tBodies[0], moves, (move) => `${move.action}/${move.vm_uuid}/${move.client}`, () => {
    const row = make("tr");
    row.parts = kMoveColumns.map(() => make("td"));
    row.detail = make("small");
    row.append(...row.parts);
    return row;
  }, (row, move) => {
    const { outcome, predicted } = move;
    moveCells(move).forEach((text, index) => {
      const cell = row.parts[index];
      const isState = index === kMoveColumns.length - 1;
      if (isState) {
        cell.replaceChildren(text, row.detail);
        setText(row.detail, move.detail);
      } else {
        setText(cell, text);
      }
    });
    // A move that left more lost time than there was before was a mistake.
    row.parts[6].classList.toggle("bad", Boolean(outcome) && outcome.lost_after_ms > outcome.lost_before_ms &&
      format.isKnown(predicted.lost_after_ms) && outcome.lost_after_ms > predicted.lost_after_ms);
    row.parts[8].classList.toggle("warn", move.state === "undone" || move.state === "dropped");
  });
  const note = byId("moves-note");
  setText(note, history ? "Nothing has been moved yet." : "The daemon keeps no history at present.");
  note.hidden = moves.length > 0;
}
