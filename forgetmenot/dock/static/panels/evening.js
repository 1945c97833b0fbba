// The evening: chat a minute as an area, what happened as marks above it, the bot's replies as ticks below.

import { BOTTOM, TOP, apart, box, chart, diamond, dot, edges, nice, path, triangle, word } from "../chart.js";
import { h, put, changedOnly, soon } from "../dom.js";
import { get } from "../api.js";
import { reading } from "../ask.js";
import { saving } from "../picture_file.js";
import { clock, count, hour, isoDay, span, t } from "../words.js";

const MINUTE = 60_000, HEIGHT = 170, MARKS = 16, TICKS = 12; // px of the bands above and below
const SHAPES = { title: (x, y) => box(x - 5, y - 1.5, 10, 3), game: (x, y) => box(x - 4, y - 4, 8, 8), raid: (x, y) => triangle(x, y, 5), gift: (x, y) => diamond(x, y, 5), clip: (x, y) => dot(x, y, 4), marker: (x, y) => box(x - 1.5, y - 5, 3, 10) };

// A node with the picture of a stream, which is read again when `changed` is called.
export function evening(id) {
  const body = h("div", { class: "evening" });
  const picture = chart(`plot${id}`);
  const draw = changedOnly((data) => {
    if (!data.minutes.length) return put(body, h("p", { class: "meta" }, t("evening.none")));
    if (!picture.node.isConnected) put(body, picture.node);
    picture.draw(eveningPicture(data));
    if (!body.querySelector(".save-as")) picture.node.querySelector(".foot").append(h("span", { class: "save-as row" }, saving(picture.node, `forgetmenot-${isoDay(data.at)}`)));
  });
  return { node: body, changed: soon(reading(body, () => get(`evening/${id}`), draw), 3000) };
}

const moment = (one) => t(`evening.${one.kind}`, { text: one.text, n: Number(one.text) || 1, who: one.who || t("evening.somebody") });

function eveningPicture(data) {
  const first = Math.floor(data.at / MINUTE);
  const last = Math.max(first + 1, Math.floor((data.ended_at || Math.max(data.until, clock.now() - 12 * 60 * MINUTE)) / MINUTE), ...data.minutes.map(([minute]) => minute));
  const length = last - first + 1;
  const spoken = new Map(data.minutes.map((row) => [row[0], row]));
  const lines = data.minutes.reduce((sum, row) => sum + row[1], 0);
  const most = Math.max(...data.minutes.map((row) => row[1]));
  const share = (at) => Math.min(1, Math.max(0, (at / MINUTE - first) / length));
  const happened = (minute) => data.moments.filter((one) => Math.floor(one.at / MINUTE) === minute).map(moment);
  const replied = (minute) => data.replies.filter((at) => Math.floor(at / MINUTE) === minute).length;
  const minutes = Array.from({ length }, (_, place) => first + place);
  const words = (minute) => [
    t("count.lines", { n: spoken.get(minute)?.[1] ?? 0 }), spoken.has(minute) && t("count.people", { n: spoken.get(minute)[2] }),
    replied(minute) > 0 && t("evening.replies", { n: replied(minute) }), ...happened(minute)].filter(Boolean);
  const kinds = Object.keys(SHAPES).filter((kind) => data.moments.some((one) => one.kind === kind));
  return {
    caption: t("evening.caption", { lines: t("count.lines", { n: lines }), span: span(length * MINUTE), most, replies: t("evening.replies", { n: data.replies.length }) }),
    legend: [["chat", t("evening.chat")], ...kinds.map((kind) => [kind, t(`evening.kind.${kind}`)]), ...(data.replies.length ? [["bot", t("evening.bot")]] : [])],
    shapes: { ...Object.fromEntries(kinds.map((kind) => [kind, SHAPES[kind](5, 5)])), bot: box(4, 0, 2, 10) },
    height: HEIGHT,
    points: minutes.map((minute, place) => ({ x: (place + 0.5) / length, text: `${hour(minute * MINUTE)}: ${words(minute).join(" · ")}` })),
    head: [t("chart.time"), t("now.kind.line"), t("memory.people"), t("evening.bot"), t("evening.moments")],
    rows: minutes.filter((minute) => spoken.has(minute) || happened(minute).length).map((minute) => [hour(minute * MINUTE), count(spoken.get(minute)?.[1]), count(spoken.get(minute)?.[2]), count(replied(minute)), happened(minute).join(" · ")]),
    paint(width, height) {
      const x = (at) => 4 + share(at) * (width - 8);
      const floor = height - BOTTOM - TICKS, ceiling = TOP + MARKS, top = nice(most);
      const y = (n) => floor - (n / top) * (floor - ceiling);
      const spots = apart(data.moments.map((one) => x(one.at)), 12, width);
      const area = minutes.map((minute, place) => `L${x((minute + 0.5) * MINUTE).toFixed(1)} ${y(spoken.get(minute)?.[1] ?? 0).toFixed(1)}`);
      return [
        word(count(top), 4, ceiling + 12), path("grid", `M4 ${ceiling}H${width - 4}M4 ${floor}H${width - 4}`),
        path("series chat", `M4 ${floor}${area.join("")}L${width - 4} ${floor}`),
        kinds.map((kind) => path(`series ${kind}`, data.moments.map((one, place) => (one.kind === kind ? SHAPES[kind](spots[place], TOP + 4) : "")).join(""))),
        path("series bot", data.replies.map((at) => box(x(at) - 1, floor + 3, 2, TICKS - 4)).join("")),
        edges(width, height, [hour(data.at), hour((last + 1) * MINUTE)]),
      ];
    },
  };
}
