// Who just came in, of those that the memory knows: a line each, for ten minutes or until it is put away.

import { h, put, redraw, button, changedOnly, empty, heading } from "../dom.js";
import { get } from "../api.js";
import { change } from "../ask.js";
import { state } from "../live.js";
import { ago, t } from "../words.js";

const away = new Set(); // put away in this window
const to = (place) => (location.pathname === "/" ? { href: `#${place}` } : { href: `/#${place}`, target: "_blank", rel: "opener" });
const keyOf = (one) => `${one.id}:${one.at}`;
const ROOM = matchMedia("(min-width: 35rem) and (min-height: 37rem)"); // for whole cards

// `whole`: all of a card is shown at once, wherever it stands.
export function arrivals(nobody = null, whole = false) {
  const node = h("section", { class: "arrivals", "aria-label": t("panel.earpiece") });
  const opened = new Set();
  const draw = changedOnly((cards) => redraw(node, cards.length > 0 && heading(t("panel.earpiece")), cards.map(card), cards.length === 0 && nobody && empty(nobody)));
  const refresh = () => draw((state.now?.arrivals ?? []).filter((one) => !away.has(keyOf(one))));

  function card(one) {
    const key = keyOf(one);
    const putAway = () => { away.add(key); refresh(); };
    const figures = [one.wishes, t("count.streams", { n: one.streams }), one.before_at && t("people.seen", { ago: ago(one.before_at) }), one.together].filter(Boolean).join(" · ");
    const lately = one.lately && t(one.over ? "arrivals.over" : "arrivals.lately", { text: one.lately });
    const details = h("details", { open: whole || ROOM.matches || opened.has(key), ontoggle: () => (details.open ? opened.add(key) : opened.delete(key)) },
      h("summary", { data: { key } }, h("b", {}, one.name), h("span", { class: "brief" }, ` ${lately || one.who || figures}`)),
      one.who && h("p", {}, one.who), lately && h("p", {}, lately), h("p", { class: "meta" }, figures),
      h("div", { class: "row" }, h("a", { ...to(`memory/person/${encodeURIComponent(one.id)}`) }, t("arrivals.open")), one.notes.map((id) => h("a", { class: "meta", ...to(`memory/note/${id}`) }, `#${id}`)),
        button(t("arrivals.never"), (event) => never(one, event.currentTarget).then((done) => done && putAway()), { class: "ghost small", data: { key: `never${key}` } })));
    return h("div", { class: "arrival" }, details, button("×", putAway, { class: "ghost small", "aria-label": t("arrivals.close", { name: one.name }), title: t("close"), data: { key: `close${key}` } }));
  }
  return { node, refresh };
}

async function never(one, from) {
  const { rows } = await get("settings");
  const row = rows.find(({ table, key }) => table === "dock" && key === "earpiece_without");
  return change("set", { table: row.table, key: row.key, value: [...row.value, one.login] }, from);
}

// A page of its own, for a second screen: /earpiece
export function open(panel) {
  const cards = arrivals(t("arrivals.nobody"), true);
  put(panel, cards.node);
  cards.refresh();
  return { on: cards.refresh, tick: cards.refresh };
}
