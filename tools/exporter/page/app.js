// SPDX-License-Identifier: Apache-2.0
// Asks for the state every two seconds and hands it to those who show it.
import { byId, setText } from "./dom.js";
import { showFigures } from "./figures.js";
import * as format from "./format.js";
import { showMap } from "./host_map.js";
import { addToPlots, beginPlots } from "./plots.js";
import { showMoves, showTransfers, showVms } from "./tables.js";
import { lookedAt, showPlace, showVm } from "./vm_page.js";

const kInterval = 2000;
const kTimeLimit = 5000;
const kModes = {
  active: ["good", "VMs are placed and moved"],
  "dry-run": ["warn", "plans are made and shown, but not carried out"],
  observe: ["", "only measures and reports"],
  paused: ["warn", "nothing new is begun until 'vmnuma resume'"],
  degraded: ["bad", "something is missing"],
};

let shown = null; // the state on the page
let shownAt = 0; // when the figures on the page were read, in ms

async function fetchJson(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(kTimeLimit) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return format.parsed(await answer.text());
}

function showProblem(text, isBad) {
  const problem = byId("problem");
  setText(problem, text);
  problem.classList.toggle("bad", isBad);
  problem.hidden = text === "";
}

function showBalance(text) {
  const balance = byId("balance");
  setText(balance, text ? `This host has ${text}.` : "");
  balance.hidden = !text;
}

function showMode(name, detail, kind) {
  const mode = byId("mode");
  setText(mode, name);
  mode.title = detail;
  mode.className = `pill ${kind}`;
}

function showAge() {
  const seconds = Math.round((Date.now() - shownAt) / 1000);
  const isOld = shownAt !== 0 && seconds >= 5;
  setText(byId("age"), isOld ? `as of ${seconds} s ago` : shown && !shown.status.recorded ? "live" : "");
}

function show(state) {
  if (!state.up) {
    showMode("no daemon", state.problem, "bad");
    showProblem(`${state.problem}${shownAt ? " The page shows what was last known." : ""}`, true);
    return;
  }
  shown = state;
  shownAt = state.time_ms;
  const { status, host, history } = state;
  showMode(status.mode, kModes[status.mode]?.[1] ?? "", kModes[status.mode]?.[0] ?? "");
  showProblem(status.degraded.map((missing) => `${missing.source} is missing: ${missing.reason}.`).join(" "), true);
  showBalance(status.nothing_to_balance);
  setText(byId("where"), `${status.host_name} · ${status.uri}`);
  setText(byId("recorded"), status.recorded ? `recorded ${format.dateAndTime(status.recorded)}, epoch ${host.epoch}` : "");
  setText(byId("about"), `vmnumad ${status.version} · epoch ${host.epoch} · history ${status.history.state}`);
  showPlace(status.host_name, host);
  showFigures(status, host);
  showMap(status, host);
  showVms(host);
  showPast(status, history);
  addToPlots(state);
}

/** Of the VM that is looked at, or of all. */
function showPast(status, history) {
  const vm = lookedAt();
  const isShown = ({ vm_uuid: uuid }) => vm === "" || uuid === vm;
  showTransfers({ ...status, transfers: status.transfers.filter(isShown) });
  showMoves(history && { ...history, moves: history.moves.filter(isShown) });
}

async function showLookedAt() {
  const vm = lookedAt();
  if (vm === "") return;
  const explained = await fetchJson(`/api/vm/${vm}`).catch(() => null); // what is wrong is shown by refresh()
  if (explained && vm === lookedAt()) showVm(explained);
}

async function refresh() {
  setTimeout(refresh, kInterval);
  if (document.hidden) return;
  const state = await fetchJson("/api/state").catch((error) => {
    showMode("no exporter", String(error), "bad");
    showProblem("vmnuma-exporter does not answer; trying again.", true);
  });
  if (state) show(state);
  showAge();
  await showLookedAt();
}

addEventListener("hashchange", () => {
  showPlace(shown?.status.host_name, shown?.host);
  if (shown) showPast(shown.status, shown.history);
  showLookedAt();
});

async function begin() {
  const past = await fetchJson("/api/past").catch(() => null); // what is wrong is shown by refresh()
  if (past) beginPlots(past);
  await refresh();
}

begin();
