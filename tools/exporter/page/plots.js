// SPDX-License-Identifier: Apache-2.0
// Lines over the last ten minutes, one plot a figure, one line a node. All plots share one cursor.
import { byId, make, makeSvg, nodeColour, setText, showList } from "./dom.js";
import * as format from "./format.js";

const kSpan = 600000; // ms
const kGap = 7000; // ms between two readings, above which a line is broken
const kPlots = [
  { key: "load", name: "Load", unit: "that VMs want, of the node", text: (value) => `${value} %`, least: 100 },
  { key: "others", name: "Other processes", unit: "use of the node", text: (value) => `${value} %`, least: 100 },
  { key: "owed", name: "Owed", unit: "of capacity", text: (value) => `${value} %`, least: 10 },
  { key: "locality", name: "Locality", unit: "of resident memory", text: (value) => `${value} %`, least: 100 },
  { key: "free", name: "Free memory", unit: "", text: format.bytes, least: 1 },
];

let past = null;
let cursor = null; // index in past.times

const emptyPast = (nodes) => ({
  times: [], nodes, ...Object.fromEntries(kPlots.map(({ key }) => [key, nodes.map(() => [])])),
});

/** The smallest of 1, 2, 2.5, 5 times a power of ten that is not below the value; of two for bytes. */
function roundUp(value, inBytes) {
  if (inBytes) return 2 ** Math.ceil(Math.log2(Math.max(value, 1)));
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function makePlot(plot) {
  const element = make("article", "plot");
  const area = make("div", "area");
  const svg = makeSvg("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" });
  const grid = [0, 50].map((y) => makeSvg("line", { x1: 0, x2: 100, y1: y, y2: y }));
  const lines = makeSvg("g");
  const mark = makeSvg("line", { class: "cursor", y1: 0, y2: 100, visibility: "hidden" });
  svg.append(...grid, lines, mark);
  const labels = [0, 50, 100].map((top) => {
    const label = make("span", "y");
    label.style.top = `${top}%`;
    return label;
  });
  const times = [["10 min ago", "0", ""], ["5 min ago", "50%", "translateX(-50%)"], ["now", "100%", "translateX(-100%)"]].map(
    ([text, left, shift]) => {
      const label = make("span", "x", text);
      label.style.left = left;
      label.style.transform = shift;
      return label;
    });
  area.append(svg, ...labels, ...times);
  area.tabIndex = 0;
  area.setAttribute("role", "img");
  listen(area);
  element.parts = { area, lines, mark, labels, values: make("ul") };
  element.append(make("h3", "", `${plot.name} `, make("small", "", plot.unit)), element.parts.values, area);
  return element;
}

const begins = () => past.times[past.times.length - 1] - kSpan;

function listen(area) {
  const moveTo = (index) => {
    cursor = index;
    draw();
  };
  area.addEventListener("pointermove", (event) => {
    const box = area.getBoundingClientRect();
    const time = begins() + ((event.clientX - box.left) / box.width) * kSpan;
    let nearest = 0;
    past.times.forEach((at, index) => {
      if (Math.abs(at - time) < Math.abs(past.times[nearest] - time)) nearest = index;
    });
    moveTo(nearest);
  });
  area.addEventListener("pointerleave", () => moveTo(null));
  area.addEventListener("blur", () => moveTo(null));
  area.addEventListener("keydown", (event) => {
    const last = past.times.length - 1;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -last, End: last }[event.key];
    if (step !== undefined) {
      moveTo(Math.min(Math.max((cursor ?? last) + step, 0), last));
      event.preventDefault();
    } else if (event.key === "Escape") {
      moveTo(null);
    }
  });
}

function pathOf(values, top) {
  let path = "";
  let before = null; // time of the point the line goes on from
  values.forEach((value, index) => {
    const time = past.times[index];
    if (value === null || time < begins()) {
      before = null;
      return;
    }
    const x = ((time - begins()) / kSpan) * 100;
    const y = 100 - (Math.min(value, top) / top) * 100;
    path += `${before === null || time - before > kGap ? "M" : "L"}${x.toFixed(2)} ${y.toFixed(2)}`;
    before = time;
  });
  return path;
}

function fillPlot(element, plot) {
  const { area, lines, mark, labels, values } = element.parts;
  const columns = past[plot.key];
  const most = columns.flat().reduce((a, b) => Math.max(a, b ?? 0), 0);
  const top = plot.key === "locality" ? 100 : roundUp(Math.max(most, plot.least), plot.key === "free");
  [top, top / 2, 0].forEach((value, index) => setText(labels[index], plot.text(value)));
  showList(lines, columns.map((column, index) => ({ column, index })), ({ index }) => index,
    ({ index }) => {
      const path = makeSvg("path");
      path.style.setProperty("--node", nodeColour(index));
      return path;
    },
    (path, { column }) => path.setAttribute("d", pathOf(column, top)));
  const at = cursor ?? past.times.length - 1;
  const now = past.nodes.map((node, index) => ({ node, index, value: columns[index][at] ?? null }));
  showList(values, now, ({ node }) => node, ({ index }) => {
    const item = make("li");
    item.style.setProperty("--node", nodeColour(index));
    item.figure = make("b");
    item.append(item.figure);
    return item;
  }, (item, { value, node }) => {
    item.title = `node ${node}`;
    setText(item.figure, value === null ? "–" : plot.text(value));
  });
  const x = ((past.times[at] - begins()) / kSpan) * 100;
  mark.setAttribute("x1", x);
  mark.setAttribute("x2", x);
  mark.setAttribute("visibility", cursor === null ? "hidden" : "visible");
  const when = cursor === null ? "now" : new Date(past.times[at]).toLocaleTimeString([], { hour12: false });
  area.setAttribute("aria-label", `${plot.name}, ${when}: ` +
    now.map(({ node, value }) => `node ${node} ${value === null ? "not known" : plot.text(value)}`).join(", "));
}

function draw() {
  if (past === null || past.times.length === 0) return;
  showList(byId("plots"), kPlots, ({ key }) => key, makePlot, fillPlot);
  showList(byId("legend"), past.nodes.map((node, index) => ({ node, index })), ({ node }) => node, ({ node, index }) => {
    const item = make("li", "", `node ${node}`);
    item.style.setProperty("--node", nodeColour(index));
    return item;
  }, () => {});
  setText(byId("plots-title"), cursor === null ? "Last 10 minutes" :
    `At ${new Date(past.times[cursor]).toLocaleTimeString([], { hour12: false })}`);
}

/** `earlier`: what /api/past tells. */
export function beginPlots(earlier) {
  past = earlier;
  draw();
}

export function addToPlots({ time_ms: time, host }) {
  const nodes = host.nodes.map((node) => node.node);
  if (past === null || JSON.stringify(past.nodes) !== JSON.stringify(nodes)) past = emptyPast(nodes);
  const last = past.times[past.times.length - 1];
  if (time !== last) {
    past.times.push(time);
    host.nodes.forEach((node, index) => {
      const whole = (share) => (share === null ? null : Math.round(share * 100));
      const residents = host.vms.flatMap((vm) => vm.clients).filter((client) => client.home === node.node);
      past.load[index].push(node.vm_load_pct);
      past.others[index].push(node.non_vm_pct);
      past.owed[index].push(whole(format.share(node.owed_ms, node.capacity_ms)));
      past.locality[index].push(whole(format.locality(residents, host.nodes)));
      past.free[index].push(node.free_bytes);
    });
    while (past.times[0] < time - kSpan) {
      past.times.shift();
      for (const { key } of kPlots) past[key].forEach((column) => column.shift());
      if (cursor !== null) cursor = Math.max(cursor - 1, 0);
    }
  }
  draw();
}
