// Pictures of figures in plain SVG: one path a series, coloured by the stylesheet. A chart has a caption that says the
// totals, a table that is built when it is opened, and points through which the arrow keys and the pointer step.

import { h, put, redraw, s } from "./dom.js";
import { t } from "./words.js";

export const TOP = 16, BOTTOM = 18; // px above and below the plot, for its words
export const SIDE = 4;
export const box = (x, y, w, height) => `M${x.toFixed(1)} ${y.toFixed(1)}h${w.toFixed(1)}v${height.toFixed(1)}h${(-w).toFixed(1)}z`;
export const dot = (x, y, r) => `M${(x - r).toFixed(1)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
export const diamond = (x, y, r) => `M${x.toFixed(1)} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`;
export const triangle = (x, y, r) => `M${x.toFixed(1)} ${y - r}l${r} ${2 * r}h${-2 * r}z`;
export const path = (kind, d) => d && s("path", { class: kind, d });
export const word = (text, x, y, anchor = "start", kind = "") => s("text", { x: x.toFixed(1), y, "text-anchor": anchor, class: kind }, text);

// The next round number.
export function nice(value) {
  const unit = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * unit).find((step) => step >= value);
}

// Bars of one width that stand on each other. `caps`: lines to stay below; one that is far above is only named.
export const bars = ({ series, caps = [], ends, value }) => (width, height) => {
  const totals = series[0].values.map((_, place) => series.reduce((sum, one) => sum + one.values[place], 0));
  const highest = Math.max(...totals);
  const near = caps.filter((cap) => cap.value <= 2.5 * highest);
  const most = nice(Math.max(highest, ...near.map((cap) => cap.value)) || 1);
  const step = (width - 2 * SIDE) / totals.length;
  const gap = Math.min(6, step > 3 ? Math.max(1, step / 5) : 0);
  const floor = height - BOTTOM;
  const high = (amount) => (amount / most) * (floor - TOP);
  const drawn = series.map((one, level) => path(`series ${one.kind}`, one.values.map((amount, place) => {
    if (!amount) return "";
    const below = series.slice(0, level).reduce((sum, other) => sum + other.values[place], 0);
    const tall = Math.max(1, high(amount));
    return box(SIDE + place * step + gap / 2, floor - high(below) - tall, Math.max(0.6, step - gap), tall);
  }).join("")));
  let free = 0; // below what is written already
  return [scale(width, height, most, value), drawn, caps.sort((a, b) => b.value - a.value).map((cap) => {
    const y = near.includes(cap) ? floor - high(cap.value) : TOP + 1;
    const line = Math.max(y - 4, free);
    free = line + 14;
    return [path("cap", `M${SIDE} ${y.toFixed(1)}H${width - SIDE}`), word(near.includes(cap) ? cap.text : `${cap.text} ↑`, width - SIDE, line, "end", "cap")];
  }), edges(width, height, ends)];
};

// What is at the foot, and how high the plot is.
export const scale = (width, height, most, value) => [
  path("grid", `M${SIDE} ${height - BOTTOM}H${width - SIDE}M${SIDE} ${(TOP + height - BOTTOM) / 2}H${width - SIDE}M${SIDE} ${TOP}H${width - SIDE}`),
  word(value(most), SIDE, TOP - 4),
];
export const edges = (width, height, [first, last]) => [word(first, SIDE, height - 4), word(last, width - SIDE, height - 4, "end")];

// Where marks stand that would lie on each other: beside each other, as far as there is room.
export function apart(places, least, width) {
  const room = Math.min(least, (width - 2 * least) / places.length);
  let last = -Infinity;
  return places.map((x, place) => {
    last = Math.min(Math.max(x, least, last + room), width - least - (places.length - 1 - place) * room);
    return last;
  });
}

// The middle of one of so many bars, as a share of the width.
export const middles = (count) => Array.from({ length: count }, (_, place) => (place + 0.5) / count);

// A chart's frame. `draw` takes: caption; points, each with `x` (share of the width) and `text`; head and rows of the
// table; legend, pairs of kind and name; `height`; `paint(width, height)`: what to draw; `open(place)`: a click or Enter.
export function chart(key = "plot") {
  const caption = h("figcaption", {});
  const legend = h("ul", { class: "legend" });
  const plot = h("div", { class: "plot", tabindex: 0, role: "application", data: { key }, onkeydown: press, onpointermove: point, onclick: () => open() });
  const line = h("p", { class: "meta point", "aria-live": "polite" }, t("chart.hint"));
  const table = h("div", { class: "table", tabindex: 0, role: "group", "aria-label": t("chart.table") });
  const details = h("details", { ontoggle: fillTable }, h("summary", { class: "meta" }, t("chart.table")), table);
  const node = h("figure", { class: "chart" }, caption, legend, plot, line, h("div", { class: "row foot" }, details));
  let data = null;
  let at = -1;
  let drawnWidth = 0;

  function draw(next) {
    data = next;
    at = Math.min(at, data.points.length - 1);
    if (caption.textContent !== data.caption) put(caption, data.caption);
    plot.setAttribute("aria-label", data.caption);
    put(legend, (data.legend ?? []).map(([kind, name]) => h("li", {}, s("svg", { viewBox: "0 0 10 10", class: "swatch", "aria-hidden": "true" }, path(`series ${kind}`, data.shapes?.[kind] ?? box(0, 0, 10, 10))), name)));
    paint();
    fillTable();
  }

  function paint() {
    const width = drawnWidth = Math.max(120, Math.floor(plot.clientWidth || plot.parentNode?.clientWidth || 300));
    put(plot, s("svg", { viewBox: `0 0 ${width} ${data.height}`, width, height: data.height, "aria-hidden": "true", class: "figures" }, data.paint(width, data.height), path("cursor", "M0 0")));
    show();
  }

  const place = (one) => SIDE + one.x * (drawnWidth - 2 * SIDE);
  const open = () => { if (at >= 0) data?.open?.(at); };

  function show() {
    const one = data.points[at];
    plot.querySelector(".cursor").setAttribute("d", one ? `M${place(one).toFixed(1)} ${TOP - 4}V${data.height - BOTTOM}` : "M0 0");
    if (one && line.textContent !== one.text) put(line, one.text); // said once
  }

  function go(next) {
    if (!data?.points.length) return;
    at = Math.max(0, Math.min(data.points.length - 1, next));
    show();
  }

  function press(event) {
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: Infinity };
    if (event.key in steps) { event.preventDefault(); go(steps[event.key]); }
    if (event.key === "Enter") open();
  }

  function point(event) {
    if (!data) return;
    const x = event.clientX - plot.getBoundingClientRect().left;
    const away = (one) => Math.abs(place(one) - x);
    const nearest = data.points.reduce((best, one, number) => (best < 0 || away(one) < away(data.points[best]) ? number : best), -1);
    if (nearest !== at) go(nearest);
  }

  function fillTable() {
    if (!details.open || !data) return;
    redraw(table, h("table", {}, h("thead", {}, h("tr", {}, data.head.map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, data.rows.map((row) => h("tr", {}, row.map((one, column) => h(column ? "td" : "th", column ? {} : { scope: "row" }, one)))))));
  }

  new ResizeObserver(() => { if (data && Math.floor(plot.clientWidth) !== drawnWidth && plot.clientWidth) paint(); }).observe(plot);
  return { node, draw };
}
