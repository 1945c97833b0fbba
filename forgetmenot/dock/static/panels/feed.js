// What happens, as chat shows it: the newest at the bottom. It follows until somebody scrolls up to read.

import { h, put, button, chip, keeping } from "../dom.js";
import { state } from "../live.js";
import { firstSummary, hour, named, params, t } from "../words.js";
import { nameLink } from "../names.js";
import { why } from "./why.js";

const SHOWN = 120;
const NEAR = 6; // rows among which an equal line is only counted
const LONG = 90; // letters from which a line may need more than three rows
const AT_END = 24; // pixels
const RESTS_AFTER = 1500; // ms: a mouse that moved a moment ago is about to press something
const SCROLLS_FOR = 600; // ms from a turn of the wheel or a key to its scrolling
export const group = (item) => (item.kind === "episode" || item.kind === "note" ? "memory" : item.kind);

// `off`: groups that are not shown.
export function feed(off) {
  const first = h("p", { class: "meta first" });
  const list = h("div", { class: "feed", role: "log", tabindex: 0, "aria-label": t("panel.now"), "aria-live": "off" });
  const newer = button("", toEnd, { class: "newer", hidden: true });
  const node = h("section", { class: "chat" }, h("h2", { class: "out" }, t("now.kind.line")), first, list, newer);
  const nodes = new Map();
  let read = new Set(); // the rows that were there when the end was last shown
  let oldest = 0;
  let follows = true;
  let moved = 0;
  let scrolled = 0;
  const pressed = () => list.matches(":active");
  const byHand = () => { scrolled = Date.now(); };
  for (const name of ["wheel", "touchmove", "keydown"]) list.addEventListener(name, byHand, { passive: true });
  list.addEventListener("pointermove", () => { moved = Date.now(); });
  list.addEventListener("mouseleave", () => { moved = 0; setTimeout(refresh, 0); });
  list.addEventListener("scroll", () => {
    if (list.scrollHeight - list.scrollTop - list.clientHeight < AT_END) {
      if (!follows) toEnd();
    } else if (pressed() || Date.now() - scrolled < SCROLLS_FOR) follows = false;
  });
  list.addEventListener("keydown", (event) => { if (event.key === "Escape") toEnd(); });
  const resized = new ResizeObserver(() => { if (follows) list.scrollTop = list.scrollHeight; });
  resized.observe(list);

  function toEnd() {
    follows = true;
    moved = 0;
    refresh();
  }

  // What is about to be pressed does not move away.
  const stands = () => !follows || pressed() || (list.matches(":hover") && Date.now() - moved < RESTS_AFTER);

  function refresh() {
    const still = stands() && nodes.size > 0;
    const items = [...state.items.values()].filter((item) => !off.has(group(item)) && !isAsked(item)).sort((a, b) => a.at - b.at);
    const shown = still ? items.filter((item) => item.at >= oldest) : items.slice(-SHOWN);
    const rows = rowsOf(shown);
    keeping(list, () => draw(rows));
    list.dataset.quiet = rows.length ? "" : t("nothing_yet");
    if (!still) {
      oldest = shown[0]?.at ?? 0;
      read = new Set(rows.map((row) => row.key));
      list.scrollTop = list.scrollHeight;
    }
    const unread = rows.filter((row) => !read.has(row.key)).length;
    newer.hidden = unread === 0;
    if (unread) put(newer, t("now.newer", { n: unread }), " ↓");
    const waits = state.now && !state.now.summaries && state.now.unread ? firstSummary(state.now) : "";
    if (first.textContent !== waits) put(first, waits);
  }

  function draw(rows) {
    const keys = new Set(rows.map((row) => row.key));
    for (const [key, one] of nodes) if (!keys.has(key)) { one.node.remove(); nodes.delete(key); }
    let place = list.firstChild;
    for (const row of rows) {
      let one = nodes.get(row.key);
      if (!one || !sameItems(one.items, row.items)) {
        const drawn = drawRow(row);
        if (one) { if (place === one.node) place = one.node.nextSibling; one.node.remove(); }
        one = { items: row.items, node: drawn };
        nodes.set(row.key, one);
      }
      if (one.node === place) place = place.nextSibling;
      else list.insertBefore(one.node, place);
      fold(one);
    }
  }

  return {
    node, refresh, toEnd,
    tick() { if (!newer.hidden || moved) refresh(); },
    close: () => resized.disconnect(),
  };
}

// What waits for approval stands above with its buttons, and so does what was said about it.
const isAsked = (item) => (item.kind === "action" && item.status === "waiting") || item.asks;
const sameItems = (before, after) => before.length === after.length && before.every((item, place) => item === after[place]);
const words = (item) => item.text.trim().toLowerCase();
const countable = (item) => item.kind === "line" && !item.addressed && item.what !== "spoken";

// What is said again within a few rows is counted where it was said first.
function rowsOf(items) {
  const rows = [];
  for (const item of items) {
    const same = countable(item) && rows.slice(-NEAR).find((row) => countable(row.items[0]) && words(row.items[0]) === words(item));
    if (same) same.items.push(item);
    else rows.push({ key: item.key, items: [item] });
  }
  return rows;
}

// Three rows of a long text, and a button for the rest. It is measured once, where it stands.
function fold(one) {
  if (one.folded) return;
  one.folded = true;
  const text = one.node.querySelector(".text");
  if (!text || text.textContent.length < LONG || text.scrollHeight <= text.clientHeight + 2) return;
  const more = button(t("now.more"), () => {
    const open = one.node.classList.toggle("open");
    more.setAttribute("aria-expanded", String(open));
    put(more, t(open ? "now.less" : "now.more"));
  }, { class: "ghost small", "aria-expanded": "false", data: { key: `more${one.items[0].key}` } });
  one.node.append(more);
}

function drawRow({ items }) {
  const draw = { line, reply, action, episode, note }[items[0].kind];
  const node = draw(items[0], items);
  node.dataset.kind = items[0].kind;
  return node;
}

const when = (item) => h("time", {}, hour(item.at));
const text = (...content) => h("p", { class: "text" }, ...content);

function line(item, items) {
  const times = items.length > 1 && h("b", { class: "meta", title: [...new Set(items.map((one) => one.who))].join(", ") }, ` ×${items.length}`);
  return h("div", { class: item.addressed ? "item line addressed" : "item line" }, when(item),
    text(nameLink(item), item.what === "spoken" ? chip(t("now.spoken")) : item.role !== "viewer" && chip(t(`role.${item.role}`)), " ", item.text, times));
}

function reply(item) {
  const detail = item.detail && h("span", { class: "meta" }, ` ${item.detail}`);
  const missing = item.status === "sent" && h("span", { class: "meta" }, t("why.text_gone")); // its status says why any other has no text
  return h("div", { class: `item reply ${item.status}` }, when(item),
    text(h("b", {}, state.now?.name), item.who && [" → ", nameLink(item)], " ", item.status !== "sent" && chip(t(`status.${item.status}`), item.status), " ",
      item.text || missing, item.status !== "sent" && detail, item.points && h("span", { class: "meta" }, ` ${t("now.points")}`)),
    button(t("now.why"), () => why(item.id), { class: "ghost small", data: { key: `why${item.id}` } }));
}

function action(item) {
  return h("div", { class: `item action ${item.status}` }, when(item),
    text(chip(t(`status.${item.status}`), item.status), ` ${named("action", item.name)} `, item.target && nameLink({ person: item.target_id, who: item.target }), params(item) && ` ${params(item)}`,
      item.status !== "done" && h("span", { class: "meta" }, ` ${item.reason}`)));
}

function episode(item) {
  return h("div", { class: "item episode" }, when(item), text(chip(t("now.summary")), " ", item.text, h("span", { class: "meta" }, ` (${t("count.lines", { n: item.events })})`)));
}

function note(item) {
  const about = item.who ? nameLink(item) : h("b", {}, t(`scope.${item.scope}`));
  return h("div", { class: `item note ${item.after}` }, when(item),
    text(chip(t(item.after === "active" ? "now.learned" : `status.${item.after}`), item.after), " ", about, " ", item.text, " ",
      h("a", { class: "meta", href: `#memory/note/${item.note}` }, `#${item.note}`), h("span", { class: "meta" }, ` ${item.cause}`)));
}
