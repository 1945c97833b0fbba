// What it learns: new, confirmed, replaced and gone notes of each stream; a bar opens what it stands for.

import { bars, chart, middles } from "../chart.js";
import { h, put, redraw, changedOnly, chip, soon } from "../dom.js";
import { get } from "../api.js";
import { reading } from "../ask.js";
import { count, date, hour, shortDate, t } from "../words.js";

const KINDS = ["new", "confirmed", "replaced", "gone"];

export function learned() {
  const picture = chart();
  const opened = h("div", { class: "opened", "aria-live": "polite" }), body = h("section", { class: "learned" });
  const draw = changedOnly((rows) => {
    if (!rows.some((row) => KINDS.some((kind) => row[kind]))) return put(body);
    // In a small dock the notes come first.
    if (!picture.node.isConnected) put(body, h("details", { open: innerHeight > 500 }, h("summary", { class: "meta" }, t("learned.title")), picture.node, h("p", { class: "meta" }, t("learned.erased")), opened));
    picture.draw({ ...learnedPicture(rows), open: (place) => show(rows[place]) });
  });
  async function show(stream) {
    const rows = await get(`learned/${stream.id}`).catch(() => []);
    redraw(opened, h("h2", {}, [date(stream.at), stream.title].filter(Boolean).join(" · ")),
      rows.length ? h("ul", { class: "plain" }, rows.map((row) => h("li", { class: `change ${row.kind}` }, chip(t(`learned.kind.${row.kind}`), row.kind), " ",
        h("a", { href: `#memory/note/${row.note}` }, `#${row.note}`), " ", h("b", {}, row.who || t(`scope.${row.scope}`)), ` ${row.fact} `, h("span", { class: "meta" }, hour(row.at))))) : h("p", { class: "meta" }, t("memory.not_found")));
  }
  return { node: body, changed: soon(reading(body, () => get("learned"), draw), 3000) };
}

function learnedPicture(rows) {
  const sum = (kind) => rows.reduce((total, row) => total + row[kind], 0);
  const words = (row) => KINDS.filter((kind) => row[kind]).map((kind) => `${count(row[kind])} ${t(`learned.kind.${kind}`)}`).join(", ") || t("learned.nothing");
  return {
    caption: t("learned.caption", { streams: t("count.streams", { n: rows.length }), ...Object.fromEntries(KINDS.map((kind) => [kind, sum(kind)])) }),
    legend: KINDS.map((kind) => [`l-${kind}`, t(`learned.kind.${kind}`)]),
    height: 130,
    points: middles(rows.length).map((x, place) => ({ x, text: `${date(rows[place].at)}: ${words(rows[place])}` })),
    head: [t("now.stream"), ...KINDS.map((kind) => t(`learned.kind.${kind}`))],
    rows: rows.map((row) => [date(row.at), ...KINDS.map((kind) => count(row[kind]))]),
    paint: bars({ series: KINDS.map((kind) => ({ kind: `l-${kind}`, values: rows.map((row) => row[kind]) })), value: count, ends: [shortDate(rows[0].at), shortDate(rows.at(-1).at)] }),
  };
}
