// Why it said that: the prompt in its sections as a bar, the recalled notes marked, what was left out, what was decided.

import { h, chip } from "../dom.js";
import { get } from "../api.js";
import { sheet, say } from "../ask.js";
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
      (one.rows || []).length ? h("ul", {}, one.rows.map((each) => row(each, one.name))) : h("p", { class: "meta" }, "Nothing of the memory stands in it."),
    ),
  );
}

// The ladder's steps (prompt/ladder) as people say them.
const SHED = {
  "1 episodes": "recent episodes", "2 lore past 5": "notes about them past five", "3 channel notes past 3": "the week and channel notes past three",
  "4 chat past 12": "chat past 12 lines", "5 lore past 2": "notes about them past two", "6 chat past 8": "chat past 8 lines", "7 chat past 5": "chat past 5 lines",
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
    h("blockquote", { class: "said" }, told.text || "It said nothing."),
    h("p", {}, chip(STATUS[told.status] || told.status, told.status), told.detail && ` ${told.detail}`),
    told.actions.map((line) => h("p", { class: "decision" }, line)),
    told.sections.length > 0 && [h("h3", {}, "What the model was shown"), bar(told.sections, told.usage, told.budget, told.cost)],
    told.shed.length > 0 && h("p", { class: "meta" }, `To stay within the budget it left out: ${[...new Set(told.shed)].map((one) => SHED[one] || one).join(", ")}.`),
    sections(told.sections),
    told.filters.length > 0 && h("p", { class: "meta" }, `Changed on the way by: ${told.filters.join(", ")}.`),
    h("p", { class: "meta" }, told.model ? `${told.model}, ${count(told.latency_ms)} ms, ${count(told.usage.output)} tokens out` : "No model answered."),
  );
  dialog.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
}
