// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, with their units.

const kUnknown = "–";

/** 1.9 GiB */
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const percent = (value) => (value === null || value === undefined ? kUnknown : `${Math.round(value)} %`);

/** CPU time per epoch as how many cores that is. */
export function cores(ms, epochMs) {
  if (!epochMs) return kUnknown;
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

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
export const clientName = (vm, client, clients) => (clients > 1 ? `${vm}/${client}` : vm);
