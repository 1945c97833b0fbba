// How well it answers: replies a week by how they were taken, how high the notes were ranked that they used, and which
// share of the notes in a prompt was used. A bar opens the replies behind it.

import { bars, box, chart, middles, path } from "../chart.js";
import { h, put, redraw, s, button, changedOnly, chip, empty, soon } from "../dom.js";
import { get } from "../api.js";
import { reading } from "../ask.js";
import { ago, calendarDay, calendarShort, count, percent, t } from "../words.js";
import { why } from "./why.js";

const OUTCOMES = ["good", "silence", "asked_again", "corrected", "bad", "deleted"];
const title = (outcome) => t(`answers.outcome.${outcome}`);

export function openAnswers(panel) {
  const picture = chart();
  const facts = h("div", { class: "cards" });
  const opened = h("div", { class: "opened stack" });
  const draw = changedOnly((data) => {
    if (!data.replies) return put(panel, empty(t("answers.none")));
    if (!picture.node.isConnected) put(panel, picture.node, facts, opened, h("p", { class: "meta" }, t("answers.how")));
    picture.draw({ ...answersPicture(data), open: (place) => show(data.weeks[place]) });
    put(facts, ranking(data), share(data));
  });
  async function show(week) {
    const rows = week.kept ? await get(`answers/${week.week}`).catch(() => []) : [];
    redraw(opened, h("h2", {}, t("costs.week", { date: calendarDay(week.week) })), !rows.length && h("p", { class: "meta" }, t("answers.too_old")),
      rows.map((row) => h("div", { class: "item reply" }, h("p", {}, chip(title(row.outcome), row.outcome), ` ${row.text || t("why.text_gone")}`),
        h("div", { class: "row" }, row.who && h("span", { class: "meta" }, t("now.to", { name: row.who })), button(t("now.why"), () => why(row.id), { class: "ghost small", data: { key: `why${row.id}` } }), h("span", { class: "meta" }, ago(row.at))))));
  }
  return { changed: soon(reading(panel, () => get("answers"), draw), 30_000) }; // all replies of a month are judged anew each time
}

function answersPicture({ replies, outcomes, weeks }) {
  const shown = OUTCOMES.filter((name) => outcomes[name]);
  const words = (counts) => OUTCOMES.filter((name) => counts[name]).map((name) => `${count(counts[name])} ${title(name)}`).join(", ");
  return {
    caption: t("answers.caption", { n: replies, outcomes: words(outcomes) }),
    legend: shown.map((name) => [`o-${name}`, title(name)]),
    height: 150,
    points: middles(weeks.length).map((x, place) => ({ x, text: `${t("costs.week", { date: calendarDay(weeks[place].week) })}: ${words(weeks[place].outcomes)}` })),
    head: [t("chart.week"), ...OUTCOMES.map(title), t("answers.share")],
    rows: weeks.map((week) => [calendarDay(week.week), ...OUTCOMES.map((name) => count(week.outcomes[name])), week.shown ? percent(week.used / week.shown) : ""]),
    paint: bars({ series: OUTCOMES.map((name) => ({ kind: `o-${name}`, values: weeks.map((week) => week.outcomes[name]) })), value: count, ends: [calendarShort(weeks[0].week), calendarShort(weeks.at(-1).week)] }),
  };
}

// Of the notes that replies used, which place they had: the first is the best.
function ranking({ ranks, median_rank: median }) {
  const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
  const all = sum(Object.values(ranks));
  const pieces = Object.values(ranks).map((n, place, each) => path(`rank${place}`, box((100 * sum(each.slice(0, place))) / (all || 1), 0, (100 * n) / (all || 1), 10)));
  return h("div", { class: "card" }, h("div", { class: "meta" }, t("answers.ranks")), h("div", { class: "value" }, median === null ? "–" : t("answers.median", { place: median })),
    all > 0 && s("svg", { viewBox: "0 0 100 10", class: "ranks", preserveAspectRatio: "none", "aria-hidden": "true" }, pieces),
    h("div", { class: "meta" }, Object.entries(ranks).map(([place, n]) => `${place.replace("-", "–")}: ${count(n)}`).join(" · ")));
}

const share = ({ shown, used, share_used: part }) => h("div", { class: "card" }, h("div", { class: "meta" }, t("answers.share")), h("div", { class: "value" }, part === null ? "–" : percent(part)),
  h("div", { class: "meta" }, t("answers.of_shown", { used, shown })));
