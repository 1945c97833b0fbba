// Elements from data. Text is only ever set as text: nothing here, or anywhere on this page, reads markup from a string.

import { typed } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else if (name === "data") for (const [key, one] of Object.entries(value)) node.dataset[key] = one;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

export function put(node, ...children) {
  node.replaceChildren();
  add(node, children);
  return node;
}

const ICONS = {
  now: "M3 12h4l3-8 4 16 3-8h4",
  memory: "M12 21s-7-4.4-9.3-8.6C.9 8.9 3 5 6.6 5c2.2 0 3.8 1.2 5.4 3.2C13.600 6.200 15.200 5 17.400 5c3.600 0 5.700 3.900 3.900 7.400C19 16.600 12 21 12 21z",
  approvals: "M4 12l5 5L20 6",
  hearing: "M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5 11a7 7 0 0 0 14 0M12 18v3",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4",
};

export const icon = (name) =>
  s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));

export const chip = (text, kind = "") => h("span", { class: `chip ${kind}` }, text);

export function button(text, onclick, props = {}) {
  return h("button", { type: "button", ...props, onclick }, text);
}

// A sentence in which `what is typed` is marked.
export const sentence = (text) => text.split("`").map((part, place) => (place % 2 ? h("code", {}, typed(part)) : part));
export const empty = (text) => h("p", { class: "empty" }, text);
export const heading = (text, ...more) => h("div", { class: "heading" }, h("h2", {}, text), ...more);

// Change what is below a node without taking the keyboard's place away: whoever had the focus has it again, found by
// data-key, or on what came next if it is gone.
export function keeping(node, change) {
  const held = node.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const keys = held ? [...node.querySelectorAll("[data-key]")].map((one) => one.dataset.key) : [];
  change();
  if (!held || node.contains(document.activeElement)) return;
  const place = keys.indexOf(held);
  const candidates = [...keys.slice(place), ...keys.slice(0, place).reverse()].map((key) => node.querySelector(`[data-key="${CSS.escape(key)}"]`));
  (candidates.find(Boolean) ?? document.getElementById("main")).focus({ preventScroll: true });
}

// Heard once and politely by those who do not see the page.
export function announce(text) {
  const heard = document.getElementById("heard");
  heard?.append(h("p", {}, text));
  while (heard?.childElementCount > 3) heard.firstChild.remove();
}

export const entitle = (...parts) => { document.title = [...parts, "ForgetMeNot"].join(" · "); };

export const redraw = (node, ...children) => keeping(node, () => put(node, ...children));

// For what happens often: not at once each time, but soon once; and not between press and release, which would lose a click.
export function soon(call, wait = 1000) {
  let due = 0;
  const go = () => {
    if (pressed) return setTimeout(go, 200);
    due = 0;
    call();
  };
  return () => { due ||= setTimeout(go, wait); };
}
let pressed = false;
for (const [name, is] of Object.entries({ pointerdown: true, pointerup: false, pointercancel: false })) addEventListener(name, () => { pressed = is; }, true);

// Panels are drawn again only when what they show has changed.
export function changedOnly(draw) {
  let last = "";
  return (data, ...rest) => {
    const text = JSON.stringify(data);
    if (text === last) return;
    last = text;
    draw(data, ...rest);
  };
}
