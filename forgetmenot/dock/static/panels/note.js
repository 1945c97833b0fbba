// One note as a card, with everything that can be done to it; and where it comes from, as a picture: stream → episode →
// note → replies that used it, and the same as a list below.

import { h, s, put, redraw, button, changedOnly, chip, empty, soon } from "../dom.js";
import { get } from "../api.js";
import { act, does, failed, label } from "../ask.js";
import { ago, clock, date, hour, span, sure, t } from "../words.js";
import { why } from "./why.js";

const said = (note) => date(note.said_at) === date(note.confirmed_at) ? ago(note.confirmed_at) : t("note.said", { first: date(note.said_at), last: ago(note.confirmed_at) });

export function noteCard(note, refresh, named = false) {
  const live = note.status === "active";
  const card = h("div", { class: `item notecard ${note.status}`, data: { note: note.id } });
  const go = async (name, body, event, undo = null) => { if (await act(name, { id: note.id, ...body }, event.target, undo)) refresh(); };
  const tool = (name, call) => button(label(name), call, { class: "ghost small", title: does(name), data: { key: `${name}${note.id}` } });
  const meter = h("i", {});
  meter.style.width = `${note.confidence * 100}%`;
  const about = note.who || t(`scope.${note.scope}`);
  const lifetime = !note.expires_at ? t("note.permanent") : note.expires_at > clock.now() ? t("note.left", { span: span(note.expires_at - clock.now()) }) : t("note_status.expired");

  function show() {
    put(
      card,
      h("p", { class: "fact" }, (named || note.scope === "running_bit") && h("b", {}, `${about} `), note.fact, " ", note.pinned && chip(t("note.pinned"), "good"), note.left_alone && chip(t("note.never_mentioned"), "warn"), !live && chip(t(`note_status.${note.status}`)), live && note.stale && chip(t("note_status.stale"))),
      h("p", { class: "meta" }, h("span", { class: "meter", title: t("note.confidence", { n: note.confidence }) }, meter), `${sure(note.confidence)} · ${t(`source.${note.source}`)} · ${said(note)} · ${lifetime} · `,
        h("a", { href: `#memory/note/${note.id}` }, `#${note.id}, ${t("count.episodes", { n: note.episodes })}`)),
      h("div", { class: "row tools" },
        live && tool("edit", edit),
        live && tool(note.pinned ? "unpin" : "pin", (event) => go(note.pinned ? "unpin" : "pin", {}, event)),
        live && !note.left_alone && tool("never_mention", (event) => go("never_mention", { viewer: note.subject, what: `#${note.id}` }, event)),
        note.left_alone && tool("may_mention", async (event) => { if (await act("may_mention", { id: note.left_alone }, event.target)) refresh(); }),
        live && tool("retract", (event) => go("retract", {}, event, { name: "restore", body: { id: note.id } })),
        !live && tool("restore", (event) => go("restore", {}, event))),
    );
  }

  function edit() {
    const field = h("textarea", { rows: 2, maxlength: 200, "aria-label": t("note.fact") });
    field.value = note.fact;
    put(card, h("form", {
      async onsubmit(event) {
        event.preventDefault();
        if (!(await act("edit", { id: note.id, text: field.value }, event.submitter))) return;
        show(); // nobody writes here any more: the list may change
        refresh();
      },
    }, field, h("p", { class: "meta" }, t("note.edit")), h("div", { class: "row end" }, button(t("cancel"), () => { show(); card.querySelector("button")?.focus(); }, { class: "ghost small" }), h("button", { type: "submit", class: "primary small" }, t("save")))));
    field.focus();
  }

  show();
  return card;
}

const LAYERS = ["streams", "episodes", "note", "replies"];
const GAP = 10, SHOWN = 6;

export function openChain(panel, id) {
  let width = 0;
  let chain = null;
  const picture = h("div", { class: "picture" });
  const watcher = new ResizeObserver(() => {
    if (chain && Math.abs(picture.clientWidth - width) > 8) drawPicture();
  });

  function drawPicture() {
    width = picture.clientWidth || 280;
    put(picture, drawn(chain, width));
  }

  async function refresh() {
    const path = encodeURIComponent(id);
    try {
      if (!panel.querySelector("form")) show(...await Promise.all([get(`chain/${path}`), get(`note/${path}`)]));
    } catch (problem) {
      if (problem.status === 404) put(panel, h("p", {}, h("a", { href: "#memory" }, t("memory.back"))), empty(problem.message));
      else failed(panel, problem, refresh);
    }
  }
  const draw = changedOnly(([fresh, note]) => {
    chain = fresh;
    redraw(
      panel, h("a", { href: "#memory", class: "back" }, t("memory.back")),
      h("h2", {}, `${t("chain.title", { id: `${chain.id}` })} `, chip(t(`note_status.${chain.status}`), chain.status)),
      noteCard(note, refresh, true),
      chain.replaced.length > 0 && note.status === "active" && h("div", { class: "row" }, button(t("chain.undo"), async (event) => { if (await act("restore", { id: chain.id }, event.target)) refresh(); }, { class: "small", data: { key: "undo" } })),
      picture, list(chain),
    );
    drawPicture();
    watcher.observe(picture);
  });
  const show = (...both) => draw(both);
  refresh();
  return { close: () => watcher.disconnect(), changed: soon(refresh) };
}

const stance = (word) => (word.speaker ? t("chain.by", { stance: t(`stance.${word.stance}`), name: word.speaker }) : t(`stance.${word.stance}`));

function layers(chain) {
  return [
    chain.streams.map((one) => ({ id: `s${one.id}`, head: one.title || t("streams.untitled"), foot: date(one.at), href: "#memory/streams" })),
    chain.evidence.map((one) => ({ id: `e${one.episode}`, from: one.stream && `s${one.stream}`, head: stance(one), foot: `${t("chain.summary", { id: `${one.episode}` })}, ${hour(one.at)}`, title: one.summary })),
    [{ id: "n", head: chain.fact, foot: `#${chain.id} ${chain.who}`, strong: true }],
    chain.replies.map((one) => ({ id: `r${one.id}`, from: "n", head: t("chain.reply", { id: `${one.id}` }), foot: ago(one.at), call: () => why(one.id) })),
  ];
}

function drawn(chain, wide) {
  const all = layers(chain).map((layer) => (layer.length > SHOWN ? [...layer.slice(0, SHOWN), { id: `more${layer[0].id}`, head: t("chain.more", { n: layer.length - SHOWN }), foot: t("chain.below") }] : layer));
  const flat = wide >= 620;
  const places = flat ? across(all, wide) : down(all, wide);
  const high = Math.max(...places.map((one) => one.y + one.h)) + 6;
  const by = new Map(places.map((one) => [one.id, one]));
  const lines = [];
  for (const one of places) {
    if (one.from && by.has(one.from)) lines.push(link(by.get(one.from), one, flat));
    if (one.id.startsWith("e") && by.has("n")) lines.push(link(one, by.get("n"), flat));
  }
  return s("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, class: "chain", role: "group", "aria-label": t("chain.origin") },
    lines, places.map((one) => (one.title_of ? s("text", { x: one.x, y: one.y + 12, class: "layer" }, one.title_of) : box(one))));
}

function across(all, wide) {
  const column = (wide - 3 * 36) / 4;
  const tall = Math.max(...all.map((layer) => layer.length)) * 62;
  return all.flatMap((layer, number) => {
    const x = number * (column + 36);
    const start = 22 + (tall - layer.length * 62) / 2;
    return [...(layer.length ? [{ id: `t${number}`, title_of: t(`chain.${LAYERS[number]}`), x, y: 0, w: column, h: 16 }] : []), ...layer.map((one, place) => ({ ...one, x, y: start + place * 62, w: column, h: 50 }))];
  });
}

function down(all, wide) {
  let y = 0;
  const found = [];
  all.forEach((layer, number) => {
    if (!layer.length) return;
    found.push({ id: `t${number}`, title_of: t(`chain.${LAYERS[number]}`), x: 0, y, w: wide, h: 16 });
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
function fitting(text, size, width) {
  ruler.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  if (ruler.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length && ruler.measureText(`${letters.join("")}…`).width > width) letters.pop();
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
  return s("g", { class: `${cls} able`, tabindex: 0, role: "button", "aria-label": t("chain.why", { name: one.head }), onclick: one.call, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); one.call(); } } }, content);
}

function list(chain) {
  return h(
    "div", { class: "stack" },
    h("h2", {}, t("chain.evidence")),
    chain.evidence.map((one) => h("div", { class: "item episode" }, h("p", {}, one.summary),
      h("p", { class: "meta" }, `${stance(one)} · ${t("chain.summary", { id: `${one.episode}` })} · ${date(one.at)}, ${hour(one.at)}`))),
    (chain.replaced.length > 0 || chain.replaced_by) && h("h2", {}, t(chain.replaced_by ? "chain.replaced_by" : "chain.replaced")),
    chain.replaced_by && h("p", {}, t("chain.replaced_by"), " ", h("a", { href: `#memory/note/${chain.replaced_by.id}` }, `#${chain.replaced_by.id}`), ` ${chain.replaced_by.fact}`),
    chain.replaced.map((one) => h("p", {}, t("chain.replaced"), " ", h("a", { href: `#memory/note/${one.id}` }, `#${one.id}`), ` ${one.fact}`)),
    h("h2", {}, t("chain.history")),
    h("ul", { class: "plain" }, chain.history.map((one) => h("li", {}, `${date(one.at)}, ${hour(one.at)}: ${one.from ? `${t(`note_status.${one.from}`)} → ` : ""}${t(`note_status.${one.to}`)} (${one.cause})`))),
    h("h2", {}, t("chain.used")),
    chain.replies.length ? h("div", { class: "row" }, chain.replies.map((one) => button(`${t("chain.reply", { id: `${one.id}` })}, ${ago(one.at)}`, () => why(one.id), { class: "small" }))) : h("p", { class: "meta" }, t("chain.unused")),
  );
}
