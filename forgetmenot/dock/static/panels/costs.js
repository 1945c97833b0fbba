// What it costs: a bar a day (a year: a week), replies and memory on each other, with the caps that can be changed here.

import { bars, chart, middles } from "../chart.js";
import { h, put, redraw, button, changedOnly, soon } from "../dom.js";
import { get } from "../api.js";
import { reading } from "../ask.js";
import { calendarDay, calendarShort, money, short, t } from "../words.js";
import { setting } from "./settings.js";

const PERIODS = [30, 90, 364]; // a year is shown by whole weeks

export function open(panel) {
  const picture = chart();
  const periods = h("div", { class: "row filters" });
  const note = h("p", { class: "meta" });
  const limits = h("fieldset", { class: "limits" });
  let days = PERIODS[0];
  put(panel, periods, picture.node, note, h("h2", {}, t("costs.limits")), limits);

  const choose = () => redraw(periods, PERIODS.map((n) => button(t(`costs.period.${n}`), () => { days = n; choose(); refresh(); }, { class: "toggle", "aria-pressed": String(days === n), data: { key: `days${n}` } })));
  const draw = changedOnly((data) => {
    const value = (amount) => (data.money ? money(amount, data.currency) : t("count.calls", { n: short(amount) }));
    picture.draw(costPicture(data, value));
    put(note, [!data.calls && t("nothing_yet"), data.calls > 0 && !data.money && t("costs.no_prices"), data.listed && t("costs.listed"), data.failed > 0 && t("costs.failed", { n: data.failed, calls: data.calls })].filter(Boolean).join(" "));
  });
  const fields = (rows, inTokens) => rows.filter((row) => row.table === "limits" && row.key.startsWith("tokens") === inTokens).map(setting);
  const drawLimits = changedOnly((rows) => redraw(limits, fields(rows, false), h("details", { class: "part" }, h("summary", { data: { key: "tokens" } }, t("why.engineers")), fields(rows, true))));
  const refresh = reading(panel, () => Promise.all([get("costs", { days }), get("settings")]), ([data, { rows }]) => {
    draw(data);
    if (!limits.querySelector(".save:not([hidden])")) drawLimits(rows);
  });
  choose();
  return { changed: soon(refresh, 3000) };
}

function costPicture(data, value) {
  const weekly = data.days.length > 120;
  const slots = weekly ? weeks(data.days) : data.days;
  const sum = (kind) => data.days.reduce((total, day) => total + day[kind], 0);
  const [reply, memory] = [sum("reply"), sum("memory")];
  const name = (slot) => (weekly ? t("costs.week", { date: calendarDay(slot.day) }) : calendarDay(slot.day));
  const cap = (limit, text) => (limit && !weekly ? [{ value: limit, text: t(text, { amount: value(limit) }) }] : []);
  return {
    caption: t("costs.caption", { n: data.days.length, total: value(reply + memory), reply: value(reply), memory: value(memory) }),
    legend: [["reply", t("costs.reply")], ["memory", t("costs.memory")]],
    height: 150,
    points: middles(slots.length).map((x, place) => ({ x, text: `${name(slots[place])}: ${t("costs.day", { reply: value(slots[place].reply), memory: value(slots[place].memory) })}` })),
    head: [t(weekly ? "chart.week" : "chart.day"), t("costs.reply"), t("costs.memory")],
    rows: slots.map((slot) => [calendarDay(slot.day), value(slot.reply), value(slot.memory)]),
    paint: bars({
      series: ["reply", "memory"].map((kind) => ({ kind, values: slots.map((slot) => slot[kind]) })),
      caps: [...cap(data.day_limit, "costs.cap"), ...cap(data.stream_limit, "costs.cap_stream")], value, ends: [slots[0].day, slots.at(-1).day].map(weekly ? calendarDay : calendarShort),
    }),
  };
}

const weeks = (days) => Array.from({ length: Math.ceil(days.length / 7) }, (_, number) => {
  const part = days.slice(7 * number, 7 * number + 7);
  const total = (kind) => part.reduce((sum, day) => sum + day[kind], 0);
  return { day: part[0].day, reply: total("reply"), memory: total("memory") };
});
