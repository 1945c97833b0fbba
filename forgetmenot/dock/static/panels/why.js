// Why it said that: the prompt in its sections as a bar, the recalled notes marked, what was left out, what was decided.

import { h, button, chip } from "../dom.js";
import { get } from "../api.js";
import { act, sheet, say } from "../ask.js";
import { count, MEMORY, date, hour, named, t } from "../words.js";

const section = (name) => named("section", name);

export function bar(sections, usage, budget, cost = "") {
  const total = sections.reduce((sum, one) => sum + one.tokens, 0) || 1;
  const parts = sections.filter((one) => one.tokens > 0).map((one, place) => {
    const part = h("i", { class: `tone${place % 6} ${MEMORY.has(one.name) ? "remembered" : ""}`, title: `${section(one.name)}: ${t("count.tokens", { n: one.tokens })}` });
    part.style.flexGrow = one.tokens;
    return part;
  });
  const billed = usage.billed || usage.estimated || total;
  const cached = Math.min(1, (usage.cached || 0) / billed);
  const inner = h("i", { class: "cached" });
  inner.style.width = `${cached * 100}%`;
  const estimated = usage.estimated || total;
  const percent = Math.round(cached * 100);
  return h(
    "div", { class: "tokens" },
    h("div", { class: "bar", role: "img", "aria-label": sections.map((one) => `${section(one.name)} ${one.tokens}`).join(", ") }, parts),
    h("div", { class: "bar thin", role: "img", "aria-label": t("why.cached", { n: percent }) }, inner),
    h("p", { class: "meta" }, [budget ? t("why.of_budget", { n: estimated, budget }) : t("count.tokens", { n: estimated }),
      usage.billed ? t("why.billed", { n: usage.billed }) : "", t("why.cached", { n: percent }), cost].filter(Boolean).join(" · ")),
  );
}

function row(one, of) {
  const remembered = of === "lore" || of === "others" || of.startsWith("channel_notes");
  const text = remembered ? h("a", { href: `#memory/note/${one.id}` }, `#${one.id}`) : null;
  return h(
    "li", { class: remembered ? "remembered" : "" }, text, text && " ", one.text,
    one.score > 0 && h("span", { class: "meta" }, ` ${t("why.fits", { score: one.score.toFixed(2) })}`),
  );
}

export function sections(list) {
  return list.map((one) =>
    h(
      "details", { class: MEMORY.has(one.name) ? "part remembered" : "part", open: MEMORY.has(one.name) && (one.rows || []).length > 0 },
      h("summary", {}, section(one.name), h("span", { class: "meta" }, ` ${t("count.tokens", { n: one.tokens })} `),
        one.dropped > 0 && chip(t("why.left_out", { n: one.dropped }), "warn")),
      (one.rows || []).length ? h("ul", {}, one.rows.map((each) => row(each, one.name))) : h("p", { class: "meta" }, t("why.no_memory")),
    ),
  );
}

export async function why(id) {
  let reply;
  try {
    reply = await get(`why/${id}`);
  } catch (problem) {
    return say(problem.message, false);
  }
  const dialog = sheet(
    t("why.title", { id: `${reply.id}` }),
    h("p", { class: "meta" }, `${date(reply.at)}, ${hour(reply.at)} · ${t(`mode.${reply.mode}.title`)} · ${named("trigger", reply.trigger)}`),
    reply.asked && h("blockquote", { class: "asked" }, h("b", {}, reply.who), " ", reply.asked),
    h("blockquote", { class: "said" }, reply.text || t(reply.status === "sent" ? "why.text_gone" : "why.no_reply")),
    h("p", {}, chip(t(`reply_status.${reply.status}`), reply.status), reply.detail && ` ${reply.detail}`),
    reply.actions.map((line) => h("p", { class: "decision" }, line)),
    reply.sections.length > 0 && [h("h3", {}, t("why.saw")), bar(reply.sections, reply.usage, reply.budget, reply.cost)],
    reply.shed.length > 0 && h("p", { class: "meta" }, t("why.shed", { list: [...new Set(reply.shed)].map((one) => named("shed", one)).join(", ") })),
    sections(reply.sections),
    reply.used.length > 0 && h("p", { class: "meta" }, t("why.used_notes", { list: reply.used.map((id) => `#${id}`).join(", ") })),
    reply.status === "sent" && h("div", { class: "row" },
      h("span", { class: "meta" }, reply.outcome ? `${t("why.outcome", { outcome: named("outcome", reply.outcome) })} ` : ""),
      button("👍", (event) => act("good", { id: reply.id }, event.target), { class: "small", "aria-label": t("why.good") }),
      button("👎", (event) => act("bad", { id: reply.id }, event.target), { class: "small", "aria-label": t("why.bad") })),
    reply.filters.length > 0 && h("p", { class: "meta" }, t("why.filters", { list: reply.filters.map((one) => named("filter", one)).join(", ") })),
    h("p", { class: "meta" }, reply.model ? t("why.model", { model: reply.model, ms: reply.latency_ms, n: reply.usage.output }) : t("why.no_model")),
  );
  dialog.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
}
