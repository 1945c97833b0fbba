import { h, put, redraw, button, chip, changedOnly, keeping } from "../dom.js";
import { post } from "../api.js";
import { state } from "../live.js";
import { say, setMode } from "../ask.js";
import { MODES, ROLES, STATUS, TRIGGERS, ago, clock, count, firstSummary, hour, many, short, span } from "../words.js";
import { waitingCards } from "./approvals.js";
import { bar, sections, why } from "./why.js";

const SHOWN = 120;
const KINDS = { line: "Chat", reply: "Replies", memory: "Memory", action: "Actions" };
const group = (item) => (item.kind === "episode" || item.kind === "note" ? "memory" : item.kind);
const off = new Set();

export function open(room) {
  const cards = standing();
  const approvals = waitingCards();
  const feed = h("div", { class: "feed", role: "log", "aria-label": "Events, newest first", "aria-live": "off" });
  const held = h("p", { class: "meta held" });
  const filters = h("div", { class: "row filters", role: "group", "aria-label": "What is shown" });
  const nodes = new Map();
  put(room, approvals.node, cards.node, tryOut(), h("div", { class: "heading" }, h("h2", {}, "As it happens"), filters), held, feed);
  const first = h("p", { class: "meta first" });
  const drawFirst = (line) => { if (first.textContent !== (line || "")) put(first, line); };
  feed.before(first);
  const later = () => setTimeout(refresh, 0);
  let clicked = false; // what came to the focus by the pointer does not hold the list when the pointer leaves
  feed.addEventListener("pointerdown", () => { clicked = true; });
  feed.addEventListener("keyup", (event) => { if (event.key === "Tab") clicked = false; });
  feed.addEventListener("mouseleave", () => {
    if (clicked && feed.contains(document.activeElement)) document.activeElement.blur();
    later();
  });
  feed.addEventListener("focusout", later);
  const draw = changedOnly(cards.draw);

  // Whoever points at the list, or is in it by keyboard, reads it: it stands still, and what is new is counted.
  function refresh() {
    const wanted = [...state.items.values()].filter((item) => !off.has(group(item))).sort((a, b) => b.at - a.at || (a.key < b.key ? 1 : -1)).slice(0, SHOWN);
    const still = nodes.size > 0 && (feed.matches(":hover") || feed.querySelector(":focus-visible") !== null);
    const newer = wanted.filter((item) => !nodes.has(item.key)).length;
    put(held, still && newer > 0 && `${count(newer)} newer. They appear when you leave the list.`);
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
    feed.dataset.quiet = wanted.length ? "" : off.size ? "Nothing of the chosen kinds yet." : "Nothing yet. Chat appears here as soon as somebody writes.";
    drawFirst(state.now?.summaries ? null : state.now?.unread ? firstSummary(state.now) : null);
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
    for (const node of feed.querySelectorAll("time")) {
      const told = ago(Number(node.dataset.at));
      if (node.textContent !== told) node.textContent = told;
    }
  }

  function drawFilters() {
    redraw(filters, Object.entries(KINDS).map(([kind, title]) =>
      button(title, () => { off.has(kind) ? off.delete(kind) : off.add(kind); drawFilters(); refresh(); },
        { class: "toggle", "aria-pressed": String(!off.has(kind)), data: { key: kind } })));
  }

  if (state.now) draw(state.now);
  drawFilters();
  refresh();
  return {
    on(what, data) {
      if (what === "now") { draw(state.now); approvals.refresh(); refresh(); }
      if (what === "gone") for (const key of data) { nodes.get(key)?.node.remove(); nodes.delete(key); }
      if (what === "items" || what === "gone") { refresh(); tick(); }
    },
    tick,
  };
}

// The cards stay the same elements, and only their words change: a list that is open stays open.
function standing() {
  const mode = h("select", { "aria-label": "Mode", class: "value", onchange: async () => { if (!(await setMode(mode.value))) mode.value = state.now.mode; } },
    Object.entries(MODES).map(([one, [title]]) => h("option", { value: one }, title)));
  const [stream, how, chat, model, spent] = [card("Stream", "wide"), card("Mode", "wide", mode), card("Chat"), card("Model"), card("Spent in 24 h")];
  const node = h("div", { class: "cards" }, [stream, how, chat, model, spent].map((one) => one.node));

  function draw(told) {
    stream.tell(told.live ? `Live, ${span(clock.now() - told.live_since)}` : "Off air", told.title || told.category || "No title", told.live ? "good" : "");
    if (mode.value !== told.mode) mode.value = told.mode;
    how.tell(null, MODES[told.mode][1]);
    chat.tell(`${count(told.per_minute)}/min`, told.thinking ? `${many(told.thinking, "reply", "replies")} being written` : told.queued ? `${told.queued} waiting to be sent` : "queue empty");
    model.tell(told.model, told.model_ok ? "answers" : "does not answer", told.model_ok ? "" : "bad");
    const { input, output, cached, calls, cost } = told.spent;
    const tokens = `${short(input + output)} tokens`;
    spent.tell(cost || tokens, `${cost ? `${tokens}, ` : ""}${many(calls, "call")}, ${input ? Math.round((100 * cached) / input) : 0} % cached`);
  }
  return { node, draw };
}

function card(title, kind = "", value = h("div", { class: "value" })) {
  const note = h("div", { class: "meta" });
  const node = h("div", {}, h("div", { class: "meta" }, title), value, note);
  function tell(words, more, mood = "") {
    if (words !== null && value.textContent !== words) value.textContent = words;
    if (note.textContent !== more) note.textContent = more;
    node.className = `card ${kind} ${mood}`;
  }
  tell(null, "");
  return { node, tell };
}

function tryOut() {
  const who = h("input", { type: "text", id: "try-who", value: "", placeholder: "alice", maxlength: 50, autocomplete: "off" });
  const text = h("input", { type: "text", id: "try-text", placeholder: "do you remember my dog?", maxlength: 400, autocomplete: "off" });
  const result = h("div", { class: "result", "aria-live": "polite" });
  const go = h("button", { type: "submit", class: "primary" }, "Try");
  const form = h(
    "form", { class: "try", onsubmit: run },
    h("label", { for: "try-who" }, "What would the bot say to"), who, h("label", { for: "try-text", class: "out" }, "the message"), text, go,
  );
  async function run(event) {
    event.preventDefault();
    go.disabled = true;
    put(result, h("p", { class: "meta" }, "Thinking …"));
    try {
      put(result, tried(await post("try", { viewer: who.value || "somebody", text: text.value })));
    } catch (problem) {
      put(result);
      say(problem.message, false);
    }
    go.disabled = false;
  }
  return h("details", { class: "box" }, h("summary", {}, "Try a message; nothing is sent"), form, result);
}

function tried(told) {
  return h(
    "div", { class: "item reply" },
    h("p", { class: "text" }, told.text || "The bot would not reply."),
    told.proposal && h("p", { class: "decision" }, `The bot would propose ${told.proposal.name.replaceAll("_", " ")}: ${told.proposal.verdict}. ${told.proposal.reason} (rule ${told.proposal.rule})`),
    told.recalled.length > 0 && h("ul", { class: "recalled" }, told.recalled.map((note) => h("li", { class: "remembered" }, h("a", { href: `#memory/note/${note.id}` }, `#${note.id}`), ` ${note.fact}`))),
    bar(told.sections, told.usage, told.budget, told.cost),
    h("details", { class: "part" }, h("summary", {}, "The prompt's sections"), sections(told.sections)),
    h("p", { class: "meta" }, `${told.model}, ${count(told.latency_ms)} ms. Nothing was sent or done.`),
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
    h("p", {}, h("b", {}, item.who), ROLES[item.role] && chip(ROLES[item.role]), " ", item.text), when(item),
    item.learned.length > 0 && h("p", { class: "heard-now" }, "Heard just now, not yet summarised: ", h("b", {}, `${item.who} ${item.learned.join(", ")}`)));
}

function reply(item) {
  const meta = [item.who && `to ${item.who}`, TRIGGERS[item.trigger] || item.trigger, item.tokens && `${count(item.tokens)} tokens`];
  return h(
    "div", { class: `item reply ${item.status}` },
    h("p", {}, chip(STATUS[item.status] || item.status, item.status), " ", item.text || h("span", { class: "meta" }, item.detail || "no reply")),
    item.text && item.detail && h("p", { class: "meta" }, item.detail),
    h("div", { class: "row" }, h("span", { class: "meta" }, meta.filter(Boolean).join(" · ")), button("Why", () => why(item.id), { class: "ghost small", data: { key: `why${item.id}` } }), when(item)),
  );
}

function action(item) {
  return h("div", { class: `item action ${item.status}` },
    h("p", {}, chip(item.status, item.status), ` ${item.name.replaceAll("_", " ")}${item.target ? ` → ${item.target}` : ""}`),
    h("div", { class: "row" }, h("span", { class: "meta" }, `${item.reason} (rule ${item.rule})`), when(item)));
}

function episode(item) {
  return h("div", { class: "item episode" },
    h("p", {}, chip("summary"), " ", item.text), h("div", { class: "row" }, h("span", { class: "meta" }, `from ${many(item.events, "line")}`), when(item)));
}

const MARKS = { active: "learned", superseded: "replaced", retracted: "removed", expired: "expired", evicted: "dropped", stale: "inactive" };

function note(item) {
  const about = item.who || (item.scope === "viewer" ? "somebody" : item.scope.replace("_", " "));
  return h("div", { class: `item note ${item.after}` },
    h("p", {}, chip(item.before && item.after === "active" ? "restored" : MARKS[item.after] || item.after, item.after), " ", h("b", {}, about), " ", item.text),
    h("div", { class: "row" }, h("a", { class: "meta", href: `#memory/note/${item.note}` }, `note #${item.note}`), h("span", { class: "meta" }, item.cause), when(item)));
}
