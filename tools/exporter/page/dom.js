// SPDX-License-Identifier: Apache-2.0
// Building and changing elements. Names of VMs only ever become text, never markup.

export const byId = (id) => document.getElementById(id);

/** An element with a class and children, which are elements or texts. */
export function make(tag, className = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

export function makeSvg(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Touches the document only where something has changed, so that selections and focus stay. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Makes the children of `parent` show `items`, in their order. An item's element is made once and
 * kept as long as its key is among them, so that focus and transitions survive.
 */
export function showList(parent, items, keyOf, makeItem, fill) {
  const known = parent.elementsByKey ?? new Map();
  const next = new Map();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const element = known.get(key) ?? makeItem(item);
    next.set(key, element);
    fill(element, item);
    if (element === place) {
      place = place.nextElementSibling;
    } else {
      parent.insertBefore(element, place);
    }
  }
  for (const [key, element] of known) {
    if (!next.has(key)) element.remove();
  }
  parent.elementsByKey = next;
}

/** A bar that fillBar() fills. */
export function makeBar(colour = "") {
  const bar = make("span", "bar", make("i"), make("i", "others"));
  bar.setAttribute("role", "img");
  if (colour) bar.style.setProperty("--colour", colour);
  return bar;
}

/** `share` of the whole and behind it that of others; above 1 is marked at the end. null: not known. */
export function fillBar(bar, share, label, others = 0) {
  const width = (part, most) => Math.min(Math.max(part ?? 0, 0) * 100, most);
  const first = width(share, 100);
  bar.firstElementChild.style.width = `${first}%`;
  bar.lastElementChild.style.width = `${width(others, 100 - first)}%`;
  bar.classList.toggle("over", share !== null && share + others > 1);
  bar.setAttribute("aria-label", label);
}

/** The colour of the n-th node, as a CSS value. */
export const nodeColour = (index) => `var(--n${index % 8})`;
