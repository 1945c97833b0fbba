import { h, s, empty, redraw, soon } from "../dom.js";
import { get } from "../api.js";
import { reading } from "../ask.js";
import { count, date, hour, language, named, t } from "../words.js";

// Small charts: plain SVG, with the numbers as a table behind each for whoever reads them another way.

const WIDE = 320, HIGH = 100;
const opened = new Set(); // tables that somebody reads stay open when the figures move

function chart(name, { note = "", head, rows, draw }) {
  const title = t(`figures.${name}.title`);
  return h(
    "figure", { class: "chart" },
    h("figcaption", {}, h("h2", {}, title), note && h("p", { class: "meta" }, note)),
    rows.length ? draw(rows) : empty(t(`figures.${name}.none`)),
    rows.length > 0 && h("details", { open: opened.has(title), ontoggle: (event) => { event.target.open ? opened.add(title) : opened.delete(title); } }, h("summary", { data: { key: `table ${title}` } }, t("figures.table")), h("table", { class: "figures" },
      h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => (place ? h("td", {}, cell) : h("th", { scope: "row" }, cell)))))))),
  );
}

// The drawing stretches with the page; the words stand beside it and keep their size.
const frame = (label, ...content) => s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...content);

const rounded = (n) => (n < 0.01 ? n.toPrecision(1) : Number(n.toFixed(n < 10 ? 2 : 0)).toLocaleString(language));

// rows: [label, value, …more values, which are stacked]
const bars = (label) => (rows) => {
  const sums = rows.map((row) => row.slice(1).reduce((sum, value) => sum + Number(value || 0), 0));
  const most = Math.max(...sums) || 1;
  const step = WIDE / rows.length;
  const wide = Math.max(1, Math.min(28, step * 0.74));
  const shapes = rows.map((row, place) => {
    let y = HIGH;
    const x = place * step + (step - wide) / 2;
    return s("g", {}, s("title", {}, row.join(" · ")), row.slice(1).map((value, layer) => {
      const high = (Number(value || 0) / most) * HIGH;
      y -= high;
      return high > 0 && s("rect", { x, y, width: wide, height: Math.max(high, 1), class: `tone${layer}` });
    }));
  });
  return h("div", { class: "bars" }, h("p", { class: "meta" }, rounded(most)), frame(label, shapes),
    h("p", { class: "meta ends" }, h("span", {}, rows[0][0]), rows.length > 1 && h("span", {}, rows.at(-1)[0])));
};

// rows: [label, value], the names long: lying bars
const lying = (label) => (rows) => {
  const most = Math.max(...rows.map((row) => Number(row[1])), 1);
  return h("div", { class: "lying", role: "img", "aria-label": label }, rows.map((row) => {
    const fill = h("i", { class: "tone0" });
    fill.style.width = `${Math.max(1, (Number(row[1]) / most) * 100)}%`;
    return h("div", {}, h("span", { class: "name" }, row[0]), h("span", { class: "meta" }, row.slice(1).join(" × ")), h("div", { class: "track" }, fill));
  }));
};

const legend = (names) => h("p", { class: "legend" }, names.map((name, place) => h("span", {}, h("i", { class: `tone${place}` }), name)));
const column = (name) => t(`figures.column.${name}`);
const columns = (...names) => names.map(column);

const STATUSES = ["active", "past", "superseded", "expired", "evicted", "retracted"];

export function open(panel) {
  function draw(data) {
    const present = STATUSES.filter((name) => data.notes.some((row) => row.counts[name]));
    const statuses = present.map((name) => t(`note_status.${name}`));
    const billed = data.bills.filter((bill) => bill[2]);
    const cached = billed.reduce((sum, bill) => sum + bill[3], 0) / Math.max(1, billed.reduce((sum, bill) => sum + bill[2], 0));
    const held = data.recall;
    const at = (share) => (held.length ? held[Math.min(held.length - 1, Math.floor(share * held.length))] : 0);
    redraw(
      panel,
      h("div", { class: "charts" },
        chart("chat", { note: t("figures.chat.note"), head: columns("when", "per_minute"), rows: data.chat.map(([when, n]) => [hour(when), n]), draw: bars(t("figures.chat.title")) }),
        chart("prompt", { note: t("figures.prompt.note"), head: columns("section", "tokens"), rows: data.sections.map(([name, n]) => [named("section", name), Math.round(n)]), draw: lying(t("figures.prompt.title")) }),
        chart("tokens", { note: billed.length ? t("figures.tokens.note", { n: Math.round(cached * 100) }) : "", head: columns("reply", "cached", "new"), rows: billed.map(([id, , billed, hit]) => [`#${id}`, hit, Math.max(0, billed - hit)]), draw: (rows) => [bars(t("figures.tokens.title"))(rows), legend(columns("cached", "new"))] }),
        spend(data),
        chart("notes", { note: t("figures.notes.note"), head: [column("day"), ...statuses], rows: data.notes.map((row) => [date(row.at), ...present.map((name) => row.counts[name] || 0)]), draw: (rows) => [bars(t("figures.notes.title"))(rows), legend(statuses)] }),
        chart("filters", { note: t("figures.filters.note"), head: columns("filter", "times"), rows: data.filters.map(([name, n]) => [named("filter", name), n]), draw: lying(t("figures.filters.title")) }),
        chart("rules", { note: t("figures.rules.note"), head: columns("rule", "times", "decision"), rows: data.rules.map(([rule, verdict, n]) => [rule, n, named("verdict", verdict)]), draw: lying(t("figures.rules.title")) }),
        chart("recall", { note: held.length ? t("figures.recall.note", { half: count(at(0.5)), most: count(at(0.95)) }) : "", head: columns("share", "within"), rows: held.length ? [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99].map((share) => [`${Math.round(share * 100)} %`, at(share)]) : [], draw: bars(t("figures.recall.title")) }),
      ),
    );
  }
  return { changed: soon(reading(panel, () => get("figures"), draw), 5000) };
}

// In money where the settings name prices, else in tokens.
function spend(data) {
  const currency = data.currency || column("cost");
  if (!data.streams.some(([, input, output]) => input || output)) data.streams = [];
  if (data.streams.some((row) => row[3] !== null)) {
    return chart("spend", { note: t("figures.spend.note", { currency }), head: [column("stream"), currency, ...columns("tokens_in", "tokens_out")],
      rows: data.streams.map(([when, input, output, cost]) => [date(when), cost ?? 0, input, output]), draw: (rows) => bars(t("figures.spend.title"))(rows.map((row) => row.slice(0, 2))) });
  }
  return chart("spend", { note: t("figures.spend.note_tokens"), head: columns("stream", "tokens_in", "tokens_out"),
    rows: data.streams.map(([when, input, output]) => [date(when), input, output]), draw: (rows) => [bars(t("figures.spend.title"))(rows), legend(columns("tokens_in", "tokens_out"))] });
}
