import { h, put, redraw, button, chip, changedOnly, keeping } from "../dom.js";
import { state } from "../live.js";
import { change } from "../ask.js";
import { MODES, ago, clock, count, firstSummary, hour, named, short, span, t } from "../words.js";
import { waitingCards } from "./approvals.js";
import { arrivals } from "./arrivals.js";
import { openRecap } from "./recap.js";
import { why } from "./why.js";

const SHOWN = 120;
const RESTS_AFTER = 1500; // ms: a mouse that moved a moment ago is about to press something
const KINDS = ["line", "reply", "memory", "action"];
const group = (item) => (item.kind === "episode" || item.kind === "note" ? "memory" : item.kind);
const off = new Set();

export function open(panel) {
  const cards = standing();
  const recap = button(t("recap.ready"), () => openRecap(state.now.recap), { class: "recap-ready", hidden: true });
  const approvals = waitingCards();
  const came = arrivals();
  const feed = h("div", { class: "feed", role: "log", "aria-label": t("panel.now"), "aria-live": "off" });
  const held = h("p", { class: "meta held" });
  const first = h("p", { class: "meta first" });
  const filters = h("div", { class: "row filters" });
  const nodes = new Map();
  put(panel, approvals.node, came.node, recap, cards.node, tryOut(), filters, held, first, feed);
  const later = () => setTimeout(refresh, 0);
  let moved = 0;
  let clicked = false; // what came to the focus by the pointer does not hold the list when the pointer leaves
  feed.addEventListener("pointerdown", () => { clicked = true; });
  feed.addEventListener("pointermove", () => { moved = Date.now(); });
  feed.addEventListener("keyup", (event) => { if (event.key === "Tab") clicked = false; });
  feed.addEventListener("mouseleave", () => {
    if (clicked && feed.contains(document.activeElement)) document.activeElement.blur();
    later();
  });
  feed.addEventListener("focusout", later);
  const draw = changedOnly((status) => { cards.draw(status); recap.hidden = !status.recap; });

  function newestInView() {
    const box = feed.firstElementChild?.getBoundingClientRect();
    return Boolean(box) && box.bottom > document.getElementById("top").offsetHeight && box.top < innerHeight;
  }

  // Whoever reads further down, is about to press something, or is in the list by keyboard: it stands still, and what
  // is new is counted. Under a mouse that only rests there it runs on.
  function isHeld() {
    if (!nodes.size) return false;
    if (feed.querySelector(":focus-visible")) return true;
    return feed.matches(":hover") && (!newestInView() || Date.now() - moved < RESTS_AFTER);
  }

  function refresh() {
    const wanted = [...state.items.values()].filter((item) => !off.has(group(item))).sort((a, b) => b.at - a.at || (a.key < b.key ? 1 : -1)).slice(0, SHOWN);
    const still = isHeld();
    const newer = wanted.filter((item) => !nodes.has(item.key)).length;
    put(held, still && newer > 0 && t("now.newer", { n: newer }));
    if (still) return renew();
    const keys = new Set(wanted.map((item) => item.key));
    for (const [key, one] of nodes) if (!keys.has(key)) { one.node.remove(); nodes.delete(key); }
    let before = feed.firstChild;
    for (const item of wanted) {
      let one = nodes.get(item.key);
      if (!one || one.item !== item) {
        const node = drawItem(item);
        if (one) { if (before === one.node) before = one.node.nextSibling; one.node.remove(); }
        one = { item, node };
        nodes.set(item.key, one);
      }
      if (one.node === before) before = before.nextSibling;
      else feed.insertBefore(one.node, before);
    }
    feed.dataset.quiet = wanted.length ? "" : t("nothing_yet");
    const waits = state.now && !state.now.summaries && state.now.unread ? firstSummary(state.now) : "";
    if (first.textContent !== waits) put(first, waits);
  }

  // What has become of what is shown already.
  function renew() {
    for (const [key, one] of nodes) {
      const item = state.items.get(key);
      if (!item || item === one.item) continue;
      const node = drawItem(item);
      keeping(feed, () => one.node.replaceWith(node));
      nodes.set(key, { item, node });
    }
  }

  function tick() {
    approvals.tick();
    came.refresh();
    if (held.firstChild) refresh();
    for (const node of feed.querySelectorAll("time")) {
      const text = ago(Number(node.dataset.at));
      if (node.textContent !== text) node.textContent = text;
    }
  }

  function drawFilters() {
    redraw(filters, KINDS.map((kind) =>
      button(kind === "memory" ? t("panel.memory") : t(`now.kind.${kind}`), () => { off.has(kind) ? off.delete(kind) : off.add(kind); drawFilters(); refresh(); },
        { class: "toggle", "aria-pressed": String(!off.has(kind)), data: { key: kind } })));
  }

  if (state.now) draw(state.now);
  came.refresh();
  drawFilters();
  refresh();
  return {
    on(what, data) {
      if (what === "now") { draw(state.now); came.refresh(); approvals.refresh(); refresh(); }
      if (what === "gone") for (const key of data) { nodes.get(key)?.node.remove(); nodes.delete(key); }
      if (what === "items" || what === "gone") { refresh(); tick(); }
    },
    tick,
  };
}

// The cards stay the same elements, and only their words change: a list that is open stays open.
function standing() {
  const mode = h("select", { "aria-label": t("now.mode"), class: "value", onchange: async () => { if (!(await change("mode", { mode: mode.value }))) mode.value = state.now.mode; } },
    MODES.map((name) => h("option", { value: name }, t(`mode.${name}.title`))));
  const [stream, how, chat, spent] = [card(t("now.stream")), card(t("now.mode"), mode), card(t("now.kind.line")), card(t("now.spent"))];
  const bar = h("meter", { class: "spent", min: 0, max: 1, high: 0.8, hidden: true, "aria-label": t("now.spent") });
  spent.node.append(bar, h("a", { class: "meta", href: "#costs" }, t("costs.title")));
  const node = h("div", { class: "cards" }, [stream, how, chat, spent].map((one) => one.node));

  function draw(status) {
    stream.tell(status.live ? `${t("mode.live.title")}, ${span(clock.now() - status.live_since)}` : t("now.off_air"), status.title, status.live ? "good" : "");
    if (mode.value !== status.mode) mode.value = status.mode;
    how.tell(null, t(`mode.${status.mode}.about`));
    chat.tell(`${count(status.per_minute)}/min`, "");
    const { tokens, cost, limits: { day, stream: now }, saving } = status.spent;
    const caps = [day && t("now.of_limit", { limit: day.text }), now && `${t("now.stream")}: ${now.spent} ${t("now.of_limit", { limit: now.text })}`].filter(Boolean);
    spent.tell(cost || t("count.tokens", { n: short(tokens) }), saving || caps.join(" · "), saving ? "bad" : "");
    bar.hidden = !caps.length;
    bar.value = Math.max(day?.share ?? 0, now?.share ?? 0);
  }
  return { node, draw };
}

function card(title, value = h("div", { class: "value" })) {
  const note = h("div", { class: "meta" });
  const node = h("div", { class: "card" }, h("div", { class: "meta" }, title), value, note);
  function tell(words, more, mood = "") {
    if (words !== null && value.textContent !== words) value.textContent = words;
    if (note.textContent !== more) note.textContent = more;
    node.className = `card ${mood}`;
  }
  return { node, tell };
}

function tryOut() {
  const who = h("input", { type: "text", id: "try-who", value: "", placeholder: "alice", maxlength: 50, autocomplete: "off" });
  const text = h("input", { type: "text", "aria-label": t("now.try"), maxlength: 400, autocomplete: "off" });
  const result = h("div", { class: "result", "aria-live": "polite" });
  const go = h("button", { type: "submit", class: "primary" }, t("now.try_go"));
  const form = h(
    "form", { class: "try", onsubmit: run },
    h("label", { for: "try-who" }, t("now.try_who")), who, text, go,
  );
  async function run(event) {
    event.preventDefault();
    put(result, h("p", { class: "meta" }, t("moment")));
    const preview = await change("try", { viewer: who.value, text: text.value }, go);
    put(result, preview && tried(preview));
  }
  return h("details", { class: "box" }, h("summary", {}, t("now.try")), form, result);
}

function tried(preview) {
  const { proposal } = preview;
  return h(
    "div", { class: "item reply" },
    h("p", { class: "text" }, preview.text || t("silent")),
    proposal && h("p", { class: "decision" }, `${named("action", proposal.name)}: ${proposal.reason}`),
    preview.recalled.length > 0 && h("ul", { class: "recalled" }, preview.recalled.map((note) => h("li", { class: "remembered" }, h("a", { href: `#memory/note/${note.id}` }, `#${note.id}`), ` ${note.fact}`))),
  );
}

const when = (item) => h("time", { data: { at: item.at }, title: hour(item.at) }, ago(item.at));

function drawItem(item) {
  const draw = { line, reply, action, episode, note }[item.kind];
  const node = draw(item);
  node.dataset.kind = item.kind;
  return node;
}

function line(item) {
  return h("div", { class: item.addressed ? "item line addressed" : "item line" },
    h("p", {}, h("b", {}, item.who), item.what === "spoken" ? chip(t("now.spoken")) : item.role !== "viewer" && chip(t(`role.${item.role}`)), " ", item.text), when(item));
}

function reply(item) {
  return h(
    "div", { class: `item reply ${item.status}` },
    h("p", {}, chip(t(`status.${item.status}`), item.status), " ", item.text || h("span", { class: "meta" }, item.detail || t(item.status === "sent" ? "why.text_gone" : "status.silent"))),
    item.text && item.detail && h("p", { class: "meta" }, item.detail),
    item.points && h("p", { class: "meta" }, t("now.points")),
    h("div", { class: "row" }, item.who && h("span", { class: "meta" }, t("now.to", { name: item.who })), button(t("now.why"), () => why(item.id), { class: "ghost small", data: { key: `why${item.id}` } }), when(item)),
  );
}

function action(item) {
  return h("div", { class: `item action ${item.status}` },
    h("p", {}, chip(t(`status.${item.status}`), item.status), ` ${named("action", item.name)}${item.target ? ` → ${item.target}` : ""}`),
    h("div", { class: "row" }, h("span", { class: "meta" }, item.reason), when(item)));
}

function episode(item) {
  return h("div", { class: "item episode" },
    h("p", {}, chip(t("now.summary")), " ", item.text), h("div", { class: "row" }, h("span", { class: "meta" }, t("count.lines", { n: item.events })), when(item)));
}

function note(item) {
  const about = item.who || t(`scope.${item.scope}`);
  return h("div", { class: `item note ${item.after}` },
    h("p", {}, chip(t(item.after === "active" ? "now.learned" : `status.${item.after}`), item.after), " ", h("b", {}, about), " ", item.text),
    h("div", { class: "row" }, h("a", { class: "meta", href: `#memory/note/${item.note}` }, `#${item.note}`), h("span", { class: "meta" }, item.cause), when(item)));
}
