// Where a note comes from, as a picture: stream → episode → note → replies that used it; and the same as a list below.

import { h, s, put, redraw, button, changedOnly, chip, empty, soon } from "../dom.js";
import { get } from "../api.js";
import { act, failed } from "../ask.js";
import { ago, date, hour } from "../words.js";
import { noteCard } from "./note.js";
import { why } from "./why.js";

const LAYERS = ["Streams", "Episodes", "Note", "Replies"];
const GAP = 10, SHOWN = 6;

export function openChain(room, id) {
  let width = 0;
  let told = null;
  const picture = h("div", { class: "picture" });
  const watcher = new ResizeObserver(() => {
    if (told && Math.abs(picture.clientWidth - width) > 8) drawPicture();
  });

  function drawPicture() {
    width = picture.clientWidth || 280;
    put(picture, drawn(told, width));
  }

  async function refresh() {
    const asked = encodeURIComponent(id);
    try {
      if (!room.querySelector("form")) show(...await Promise.all([get(`chain/${asked}`), get(`note/${asked}`)]));
    } catch (problem) {
      if (problem.status === 404) put(room, h("p", {}, h("a", { href: "#memory" }, "← Memory")), empty(problem.message));
      else failed(room, problem, refresh);
    }
  }
  const draw = changedOnly(([chain, note]) => {
    told = chain;
    redraw(
      room, h("a", { href: "#memory", class: "back" }, "← Memory"),
      h("h2", {}, `Note #${told.id} `, chip(told.status, told.status)),
      noteCard(note, refresh, true),
      told.replaced.length > 0 && note.status === "active" && h("div", { class: "row" }, button("Undo its last change", async (event) => { if (await act("restore", { id: told.id }, event.target)) refresh(); }, { class: "small", data: { key: "undo" } })),
      picture, list(told),
    );
    drawPicture();
    watcher.observe(picture);
  });
  const show = (...both) => draw(both);
  refresh();
  return { close: () => watcher.disconnect(), changed: soon(refresh) };
}

function layers(told) {
  return [
    told.streams.map((one) => ({ id: `s${one.id}`, head: one.title || "Stream", foot: date(one.at), href: "#memory/streams" })),
    told.evidence.map((one) => ({ id: `e${one.episode}`, from: one.stream && `s${one.stream}`, head: one.speaker ? `${one.stance} by ${one.speaker}` : one.stance, foot: `summary ${one.episode}, ${hour(one.at)}`, title: one.summary })),
    [{ id: "n", head: told.fact, foot: `#${told.id} ${told.who}`, strong: true }],
    told.replies.map((one) => ({ id: `r${one.id}`, from: "n", head: `reply ${one.id}`, foot: ago(one.at), call: () => why(one.id) })),
  ];
}

function drawn(told, wide) {
  const all = layers(told).map((layer) => (layer.length > SHOWN ? [...layer.slice(0, SHOWN), { id: `more${layer[0].id}`, head: `${layer.length - SHOWN} more`, foot: "in the list below" }] : layer));
  const flat = wide >= 620;
  const places = flat ? across(all, wide) : down(all, wide);
  const high = Math.max(...places.map((one) => one.y + one.h)) + 6;
  const by = new Map(places.map((one) => [one.id, one]));
  const lines = [];
  for (const one of places) {
    if (one.from && by.has(one.from)) lines.push(link(by.get(one.from), one, flat));
    if (one.id.startsWith("e") && by.has("n")) lines.push(link(one, by.get("n"), flat));
  }
  return s("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "chain", role: "group", "aria-label": "Where this note comes from" },
    lines, places.map((one) => (one.title_of ? s("text", { x: one.x, y: one.y + 12, class: "layer" }, one.title_of) : box(one))));
}

function across(all, wide) {
  const column = (wide - 3 * 36) / 4;
  const tall = Math.max(...all.map((layer) => layer.length)) * 62;
  return all.flatMap((layer, number) => {
    const x = number * (column + 36);
    const start = 22 + (tall - layer.length * 62) / 2;
    return [...(layer.length ? [{ id: `t${number}`, title_of: LAYERS[number], x, y: 0, w: column, h: 16 }] : []), ...layer.map((one, place) => ({ ...one, x, y: start + place * 62, w: column, h: 50 }))];
  });
}

function down(all, wide) {
  let y = 0;
  const found = [];
  all.forEach((layer, number) => {
    if (!layer.length) return;
    found.push({ id: `t${number}`, title_of: LAYERS[number], x: 0, y, w: wide, h: 16 });
    y += 22;
    const columns = Math.max(1, Math.min(layer.length, Math.floor(wide / 130)));
    const w = (wide - GAP * (columns - 1)) / columns;
    layer.forEach((one, place) => found.push({ ...one, x: (place % columns) * (w + GAP), y: y + Math.floor(place / columns) * 60, w, h: 50 }));
    y += Math.ceil(layer.length / columns) * 60 + 14;
  });
  return found;
}

function link(a, b, flat) {
  const [x1, y1, x2, y2] = flat ? [a.x + a.w, a.y + a.h / 2, b.x, b.y + b.h / 2] : [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y];
  const bend = flat ? `C${x1 + 18},${y1} ${x2 - 18},${y2}` : `C${x1},${y1 + 16} ${x2},${y2 - 16}`;
  return s("path", { d: `M${x1},${y1} ${bend} ${x2},${y2}`, class: "link" });
}

const ruler = document.createElement("canvas").getContext("2d");

// As much of a text as there is room for, in px; `size` as in the style sheet.
function fitting(text, size, room) {
  ruler.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  if (ruler.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length && ruler.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

function box(one) {
  const cut = (text, size) => fitting(text, size, one.w - 18);
  const content = [
    s("title", {}, one.title || `${one.head} ${one.foot}`), s("rect", { x: one.x + 0.5, y: one.y + 0.5, width: one.w - 1, height: one.h - 1, rx: 9 }),
    s("text", { x: one.x + 9, y: one.y + 21 }, cut(one.head, 12.5)), s("text", { x: one.x + 9, y: one.y + 38, class: "soft" }, cut(one.foot, 11.5)),
  ];
  const cls = one.strong ? "box strong" : "box";
  if (one.href) return s("a", { href: one.href, class: cls }, content);
  if (!one.call) return s("g", { class: cls }, content);
  return s("g", { class: `${cls} able`, tabindex: 0, role: "button", "aria-label": `Why ${one.head}`, onclick: one.call, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); one.call(); } } }, content);
}

function list(told) {
  return h(
    "div", { class: "stack" },
    h("h2", {}, "Evidence"),
    told.evidence.map((one) => h("div", { class: "item episode" }, h("p", {}, one.summary),
      h("p", { class: "meta" }, `${one.stance}${one.speaker ? ` by ${one.speaker}` : ""} · summary ${one.episode} · ${date(one.at)}, ${hour(one.at)}`))),
    (told.replaced.length > 0 || told.replaced_by) && h("h2", {}, told.replaced_by ? "Replaced by" : "Replaced"),
    told.replaced_by && h("p", {}, "Replaced by ", h("a", { href: `#memory/note/${told.replaced_by.id}` }, `#${told.replaced_by.id}`), ` ${told.replaced_by.fact}`),
    told.replaced.map((one) => h("p", {}, "Replaced ", h("a", { href: `#memory/note/${one.id}` }, `#${one.id}`), ` ${one.fact}`)),
    h("h2", {}, "History"),
    h("ul", { class: "plain" }, told.history.map((one) => h("li", {}, `${date(one.at)}, ${hour(one.at)}: ${one.from ? `${one.from} → ` : ""}${one.to} (${one.cause})`))),
    h("h2", {}, "Where it was used"),
    told.replies.length ? h("div", { class: "row" }, told.replies.map((one) => button(`Reply ${one.id}, ${ago(one.at)}`, () => why(one.id), { class: "small" }))) : h("p", { class: "meta" }, "In no reply that is still stored."),
  );
}
