// Why it said that: first what it used, each with its buttons; then what it answered; the engineers' figures in a fold.

import { h, put, redraw, button, chip } from "../dom.js";
import { get } from "../api.js";
import { act, does, doing, label, sheet, say } from "../ask.js";
import { date, hour, named, t } from "../words.js";
import { editor, wordsOf } from "./note.js";

const RATINGS = ["good", "bad"];
const SUMMARIES = ["episodes", "past_episode", "looked_up_past"]; // the parts of a prompt that have them
const section = (name) => named("section", name);

export async function why(id) {
  const reply = await get(`why/${id}`).catch((problem) => say(problem.message, false));
  if (!reply) return;
  const notes = await Promise.all(reply.used.map((note) => get(`note/${note}`).catch(() => null)));
  const used = notes.filter(Boolean);
  const dialog = sheet(
    t("now.why"),
    h("blockquote", { class: "said" }, reply.text || t(reply.status !== "sent" ? "status.silent" : "why.text_gone")),
    reply.status !== "sent" && h("p", {}, chip(t(`status.${reply.status}`), reply.status), reply.detail && ` ${reply.detail}`),
    used.length > 0 && h("h3", {}, t("why.used")),
    used.map(usedNote),
    summariesOf(reply),
    reply.asked && [h("h3", {}, t("why.answered")), h("blockquote", { class: "asked" }, h("b", {}, reply.who), " ", reply.asked)],
    reply.actions.map((line) => h("p", { class: "decision" }, line)),
    reply.status === "sent" && rating(reply),
    engineers(reply),
  );
  dialog.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
}

// What it read of streams, which no note says. A summary may be wrong as well.
function summariesOf(reply) {
  const rows = reply.sections.filter((one) => SUMMARIES.includes(one.name)).flatMap((one) => one.rows ?? []);
  return rows.length > 0 && h("details", { class: "part" }, h("summary", {}, t("why.read")),
    h("ul", {}, rows.map((row) => h("li", {}, row.text))), h("p", {}, h("a", { href: "#memory/streams" }, t("why.correct"))));
}

// The one that was pressed is marked by its sign as well as by its colour.
function rating(reply) {
  const node = h("div", { class: "row" });
  const rate = async (name, event) => { if (await act(name, { id: reply.id }, event.currentTarget)) show(name); };
  const show = (outcome) => redraw(node, outcome && !RATINGS.includes(outcome) && chip(named("outcome", outcome, label(outcome))), RATINGS.map((name) =>
    button([outcome === name && h("span", { "aria-hidden": "true" }, "✓ "), label(name)], (event) => rate(name, event), { class: "toggle", title: does(name), "aria-pressed": String(outcome === name), data: { key: `rate-${name}` } })));
  show(reply.outcome);
  return node;
}

function usedNote(note) {
  const node = h("div", { class: "item notecard" });
  const again = async () => { note = await get(`note/${note.id}`).catch(() => note); show(); };
  const key = (name) => ({ class: "small", data: { key: `${name}${note.id}` } });
  const tool = (name, undo = null) => doing(name, { id: note.id }, again, { ...key(name), undo });
  const edit = () => put(node, editor(note, back, (changed) => { note = changed; back(); }));
  function back() {
    show();
    node.querySelector("button").focus();
  }
  function show() {
    const { who, text, said } = wordsOf(note);
    const stands = note.status === "active";
    redraw(node, h("p", {}, h("a", { href: `#memory/note/${note.id}` }, `#${note.id}`), " ", who && h("b", {}, `${who} `), text, " ", !stands && chip(t(`status.${note.status}`)), h("span", { class: "meta" }, ` (${said}, ${date(note.confirmed_at)})`)),
      h("div", { class: "row" }, stands ? [button(label("edit"), edit, key("edit")), tool("retract", { name: "restore", body: { id: note.id }, then: again })] : tool("restore")));
  }
  show();
  return node;
}

function engineers(reply) {
  const { usage } = reply;
  const facts = [
    `#${reply.id}`, `${date(reply.at)}, ${hour(reply.at)}`, t(`mode.${reply.mode}.title`), named("trigger", reply.trigger),
    reply.model && `${reply.model}, ${reply.latency_ms} ms`,
    reply.model && t("why.tokens", { n: usage.billed || usage.estimated || 0, budget: reply.budget ?? 0, cached: usage.cached ?? 0, out: usage.output ?? 0 }),
    reply.cost, reply.filters.join(", "), reply.shed.length > 0 && t("why.shed", { list: [...new Set(reply.shed)].join(", ") }),
  ];
  return h("details", { class: "part" }, h("summary", {}, t("why.engineers")), h("p", { class: "meta" }, facts.filter(Boolean).join(" · ")),
    reply.sections.map((one) => h("details", { class: "part" },
      h("summary", {}, section(one.name), h("span", { class: "meta" }, ` ${t("count.tokens", { n: one.tokens })} `), one.dropped > 0 && chip(`−${one.dropped}`, "warn")),
      h("ul", {}, (one.rows || []).map((row) => h("li", {}, row.text, row.score > 0 && h("span", { class: "meta" }, ` ${row.score.toFixed(2)}`)))))));
}
