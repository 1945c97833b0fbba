// Why it said that: the prompt in its sections as a bar, the recalled notes marked, what was left out, what was decided.

import { h, button, chip } from "../dom.js";
import { get } from "../api.js";
import { act, sheet, say } from "../ask.js";
import { count, section, MEMORY, STATUS, TRIGGERS, date, hour } from "../words.js";

export function bar(sections, usage, budget, cost = "") {
  const total = sections.reduce((sum, one) => sum + one.tokens, 0) || 1;
  const parts = sections.filter((one) => one.tokens > 0).map((one, place) => {
    const part = h("i", { class: `tone${place % 6} ${MEMORY.has(one.name) ? "remembered" : ""}`, title: `${section(one.name)}: ${one.tokens} tokens` });
    part.style.flexGrow = one.tokens;
    return part;
  });
  const billed = usage.billed || usage.estimated || total;
  const cached = Math.min(1, (usage.cached || 0) / billed);
  const inner = h("i", { class: "cached" });
  inner.style.width = `${cached * 100}%`;
  const shedding = budget ? ` of ${count(budget)}` : "";
  return h(
    "div", { class: "tokens" },
    h("div", { class: "bar", role: "img", "aria-label": sections.map((one) => `${section(one.name)} ${one.tokens}`).join(", ") }, parts),
    h("div", { class: "bar thin", role: "img", "aria-label": `${Math.round(cached * 100)} % cached` }, inner),
    h("p", { class: "meta" }, `${count(usage.estimated || total)}${shedding} tokens`,
      usage.billed ? ` · ${count(usage.billed)} billed` : "", ` · ${Math.round(cached * 100)} % from the cache`, cost ? ` · ${cost}` : ""),
  );
}

function row(one, of) {
  const remembered = of === "lore" || of === "others" || of.startsWith("channel_notes");
  const text = remembered ? h("a", { href: `#memory/note/${one.id}` }, `#${one.id}`) : null;
  return h(
    "li", { class: remembered ? "remembered" : "" }, text, text && " ", one.text,
    one.score > 0 && h("span", { class: "meta" }, ` fits ${one.score.toFixed(2)}`),
  );
}

export function sections(list) {
  return list.map((one) =>
    h(
      "details", { class: MEMORY.has(one.name) ? "part remembered" : "part", open: MEMORY.has(one.name) && (one.rows || []).length > 0 },
      h("summary", {}, section(one.name), h("span", { class: "meta" }, ` ${count(one.tokens)} tokens `),
        one.dropped > 0 && chip(`${one.dropped} left out`, "warn")),
      (one.rows || []).length ? h("ul", {}, one.rows.map((each) => row(each, one.name))) : h("p", { class: "meta" }, "Nothing from the memory."),
    ),
  );
}

// The ladder's steps (prompt/ladder) as people say them.
const SHED = {
  "1 episodes": "recent summaries", "2 lore past 5": "more than five notes about them", "3 channel notes past 3": "the week, and more than three channel notes",
  "4 chat past 12": "more than 12 chat messages", "5 lore past 2": "more than two notes about them", "6 chat past 8": "more than 8 chat messages", "7 chat past 5": "more than 5 chat messages",
  rest: "nearly everything else",
};

export async function why(id) {
  let told;
  try {
    told = await get(`why/${id}`);
  } catch (problem) {
    return say(problem.message, false);
  }
  const dialog = sheet(
    `Why reply ${told.id}?`,
    h("p", { class: "meta" }, `${date(told.at)}, ${hour(told.at)} · in ${told.mode} mode · ${TRIGGERS[told.trigger] || told.trigger}`),
    told.asked && h("blockquote", { class: "asked" }, h("b", {}, told.who), " ", told.asked),
    h("blockquote", { class: "said" }, told.text || "The bot did not reply."),
    h("p", {}, chip(STATUS[told.status] || told.status, told.status), told.detail && ` ${told.detail}`),
    told.actions.map((line) => h("p", { class: "decision" }, line)),
    told.sections.length > 0 && [h("h3", {}, "What the model saw"), bar(told.sections, told.usage, told.budget, told.cost)],
    told.shed.length > 0 && h("p", { class: "meta" }, `Left out to fit the token budget: ${[...new Set(told.shed)].map((one) => SHED[one] || one).join(", ")}.`),
    sections(told.sections),
    told.unsupported.length > 0 && h("p", {}, chip("not supported", "warn"), ` Nothing it was shown says: ${told.unsupported.join(", ")}.`),
    told.status === "sent" && h("div", { class: "row" },
      h("span", { class: "meta" }, told.outcome ? `Taken by chat: ${told.outcome.replace("_", " ")}. ` : ""),
      button("👍", (event) => act("good", { id: told.id }, event.target), { class: "small", "aria-label": "A good reply" }),
      button("👎", (event) => act("bad", { id: told.id }, event.target), { class: "small", "aria-label": "A bad reply" })),
    told.filters.length > 0 && h("p", { class: "meta" }, `Filters that changed the reply: ${told.filters.join(", ")}.`),
    h("p", { class: "meta" }, told.model ? `${told.model}, ${count(told.latency_ms)} ms, ${count(told.usage.output)} tokens out` : "No model answered."),
  );
  dialog.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
}
