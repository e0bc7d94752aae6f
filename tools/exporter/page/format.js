// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, with their units. What is not known is null and becomes a dash.

const kUnknown = "–";

const kUnprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const kShort = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with what stands for characters that would change how a line reads, as in tables (stats/text/printable.h). */
export const printable = (text) => text.replace(kUnprintable, (character) => {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  return kShort[character] ?? (code < 0x80 ? `\\x${hex.padStart(2, "0")}` : `\\u${hex.padStart(4, "0")}`);
});

/** JSON whose texts, names of VMs among them, are printable. */
export const parsed = (json) =>
  JSON.parse(json, (_, value) => (typeof value === "string" ? printable(value) : value));

export const isKnown = (value) => value !== null && value !== undefined;

/** The sum of what is known; null if nothing is. */
export const sumOf = (values) => values.filter(isKnown).reduce((sum, value) => (sum ?? 0) + value, null);

/** part / whole; null if either is not known, or the whole is nothing. */
export const share = (part, whole) => (isKnown(part) && isKnown(whole) && whole > 0 ? part / whole : null);

/** 1.9 GiB */
export function bytes(value) {
  if (!isKnown(value)) return kUnknown;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const percent = (value) => (isKnown(value) ? `${Math.round(value)} %` : kUnknown);
/** of a share, 0 to 1 */
export const sharePercent = (value) => percent(isKnown(value) ? value * 100 : null);
export const number = (value) => (isKnown(value) ? String(value) : kUnknown);

/** CPU time per epoch as how many cores that is. */
export function cores(ms, epochMs) {
  if (!epochMs || !isKnown(ms)) return kUnknown;
  const value = ms / epochMs;
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export const node = (id) => (id === null || id === undefined ? "none" : `node ${id}`);

export function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** "12:03:59" for today, with the date before it otherwise. */
export function time(text, now = new Date()) {
  const at = new Date(text);
  const clock = at.toLocaleTimeString([], { hour12: false });
  return at.toDateString() === now.toDateString() ? clock : `${at.toLocaleDateString()} ${clock}`;
}

export const dateAndTime = (text) => new Date(text).toLocaleString([], { hour12: false });

export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
export const clientName = (vm, client, clients) => (clients > 1 ? `${vm}/${client}` : vm);

/** What lies at home of the memory of clients that have a home and whose memory is known. */
export function locality(clients, nodes) {
  const place = new Map(nodes.map((node, index) => [node.node, index]));
  const counted = clients.filter(({ home, memory_bytes: memory }) => place.has(home) && memory.length > 0);
  return share(sumOf(counted.map((client) => client.memory_bytes[place.get(client.home)])),
    sumOf(counted.flatMap((client) => client.memory_bytes)));
}
