// Small charts: plain SVG, with the numbers as a table behind each for whoever reads them another way.

import { h, s, empty } from "./dom.js";

const WIDE = 320, HIGH = 100;
const opened = new Set(); // tables that somebody reads stay open when the figures move

export function chart({ title, note, head, rows, draw, none = "No data yet." }) {
  return h(
    "figure", { class: "chart" },
    h("figcaption", {}, h("h2", {}, title), note && h("p", { class: "meta" }, note)),
    rows.length ? draw(rows) : empty(none),
    rows.length > 0 && h("details", { open: opened.has(title), ontoggle: (event) => { event.target.open ? opened.add(title) : opened.delete(title); } }, h("summary", { data: { key: `table ${title}` } }, "As a table"), h("table", { class: "figures" },
      h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((one, place) => (place ? h("td", {}, one) : h("th", { scope: "row" }, one)))))))),
  );
}

// The drawing stretches with the page; the words stand beside it and keep their size.
const frame = (label, ...content) => s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img", "aria-label": label }, ...content);

const rounded = (n) => (n < 0.01 ? n.toPrecision(1) : Number(n.toFixed(n < 10 ? 2 : 0)).toLocaleString("en"));

// rows: [label, value, …more values, which are stacked]
export function bars(label, { ends = true } = {}) {
  return (rows) => {
    const sums = rows.map((row) => row.slice(1).reduce((sum, one) => sum + Number(one || 0), 0));
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
      ends && h("p", { class: "meta ends" }, h("span", {}, rows[0][0]), rows.length > 1 && h("span", {}, rows.at(-1)[0])));
  };
}

// rows: [label, value], the names long: lying bars
export const lying = (label) => (rows) => {
  const most = Math.max(...rows.map((row) => Number(row[1])), 1);
  return h("div", { class: "lying", role: "img", "aria-label": label }, rows.map((row) => {
    const fill = h("i", { class: "tone0" });
    fill.style.width = `${Math.max(1, (Number(row[1]) / most) * 100)}%`;
    return h("div", {}, h("span", { class: "name" }, row[0]), h("span", { class: "meta" }, row.slice(1).join(" × ")), h("div", { class: "track" }, fill));
  }));
};

export const legend = (names) => h("p", { class: "legend" }, names.map((name, place) => h("span", {}, h("i", { class: `tone${place}` }), name)));
