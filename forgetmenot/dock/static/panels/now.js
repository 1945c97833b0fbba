// What is going on: what waits for an answer and who came in, how things stand, and chat.

import { h, put, redraw, button, changedOnly } from "../dom.js";
import { state } from "../live.js";
import { change } from "../ask.js";
import { MODES, clock, count, named, span, t } from "../words.js";
import { waitingCards } from "./approvals.js";
import { arrivals } from "./arrivals.js";
import { feed, group } from "./feed.js";
import { openRecap } from "./recap.js";

const KINDS = ["line", "reply", "memory", "action"];
const off = new Set();

export function open(panel) {
  const cards = standing();
  const recap = button(t("recap.ready"), () => openRecap(state.now.recap), { class: "recap-ready", hidden: true });
  const approvals = waitingCards();
  const came = arrivals();
  const filters = h("div", { class: "row filters", role: "group", "aria-label": t("now.shown") });
  const chat = feed(off);
  put(panel, h("div", { class: "aside" }, approvals.node, came.node, recap, cards.node, tryOut(), filters), chat.node);
  const draw = changedOnly((status) => { cards.draw(status); recap.hidden = !status.recap; });

  function drawFilters() {
    redraw(filters, KINDS.map((kind) => {
      const toggle = () => { off.has(kind) ? off.delete(kind) : off.add(kind); drawFilters(); chat.toEnd(); };
      return button(kind === "memory" ? t("panel.memory") : t(`now.kind.${kind}`), toggle, { class: "toggle", "aria-pressed": String(!off.has(kind)), data: { key: kind } });
    }));
  }

  if (state.now) draw(state.now);
  came.refresh();
  drawFilters();
  chat.refresh();
  return {
    on(what) {
      if (what === "now") { draw(state.now); came.refresh(); approvals.refresh(); }
      if (what === "now" || what === "items" || what === "gone") chat.refresh();
    },
    tick() { approvals.tick(); came.refresh(); chat.tick(); },
    close: chat.close,
  };
}

// The cards stay the same elements, and only their words change: a list that is open stays open.
function standing() {
  const mode = h("select", { "aria-label": t("now.mode"), class: "value", onchange: async () => { if (!(await change("mode", { mode: mode.value }))) mode.value = state.now.mode; } },
    MODES.map((name) => h("option", { value: name }, t(`mode.${name}.title`))));
  const [stream, how, chat, spent] = [card(t("now.stream")), card(t("now.mode"), mode), card(t("now.kind.line")), card(t("now.spent"))];
  const bar = h("meter", { class: "spent", min: 0, max: 1, high: 0.8, hidden: true, "aria-label": t("now.spent") });
  spent.node.append(bar, h("a", { class: "meta", href: "#costs" }, t("panel.costs")));
  const node = h("div", { class: "cards" }, [stream, how, chat, spent].map((one) => one.node));

  function draw(status) {
    stream.tell(status.live ? `${t("mode.live.title")}, ${span(clock.now() - status.live_since)}` : t("now.off_air"), status.title, status.live ? "good" : "");
    if (mode.value !== status.mode) mode.value = status.mode;
    how.tell(null, t(`mode.${status.mode}.about`));
    chat.tell(`${count(status.per_minute)}/min`, "");
    const { cost, limits: { day, stream: now }, saving } = status.spent;
    const cap = (limit) => (limit.in_money ? t("now.of_limit", { limit: limit.text }) : t("now.share", { n: Math.round(100 * limit.share) }));
    const caps = [day && cap(day), now && `${t("now.stream")}: ${now.in_money ? now.spent : ""} ${cap(now)}`].filter(Boolean);
    spent.node.hidden = !cost && !caps.length;
    spent.tell(cost || "", saving || caps.join(" · "), saving ? "bad" : "");
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
  const form = h("form", { class: "try", onsubmit: run }, h("label", { for: "try-who" }, t("now.try_who")), who, text, go);
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
