import { h, redraw, button, chip, empty, changedOnly } from "../dom.js";
import { get } from "../api.js";
import { act, does, label, reading } from "../ask.js";
import { state } from "../live.js";
import { ago, left, clock, named, params, t } from "../words.js";

// What waits for a person, with its buttons, wherever it is shown.
export function waitingCards(nothing = null) {
  const node = h("section", { class: "waiting", "aria-label": t("approvals.waiting") });
  const draw = changedOnly((rows) => redraw(node, rows.length ? rows.map((action) => card(action, refresh)) : nothing && empty(nothing)));
  async function refresh() {
    if (nothing === null && !state.now?.waiting && !node.childElementCount) return;
    const data = await get("approvals").catch(() => null);
    if (data) draw(data.waiting);
  }
  function tick() {
    for (const countdown of node.querySelectorAll("[data-until]")) {
      const until = Number(countdown.dataset.until);
      countdown.textContent = left(until);
      const gauge = countdown.closest(".item").querySelector(".gauge i");
      gauge.style.width = `${Math.max(0, Math.min(100, ((until - clock.now()) / Number(countdown.dataset.whole)) * 100))}%`;
      if (until <= clock.now()) refresh();
    }
  }
  refresh();
  return { node, draw, refresh, tick };
}

export function open(panel) {
  const waiting = waitingCards(t("approvals.nothing"));
  const log = h("section", { "aria-label": t("approvals.decided") });
  panel.append(h("h2", {}, t("approvals.waiting")), waiting.node, h("h2", {}, t("approvals.decided")), log);
  const drawLog = changedOnly((rows) => redraw(log, rows.length ? rows.map((action) => done(action, refresh)) : empty(t("approvals.nothing"))));
  const refresh = reading(waiting.node, () => get("approvals"), (data) => { waiting.draw(data.waiting); drawLog(data.log); });
  return { changed: refresh, tick: waiting.tick };
}

const title = (action) => `${named("action", action.name)}${action.target ? ` ${action.target}` : ""}`;

function card(action, refresh) {
  const go = async (name, event) => { await act(name, { id: action.id }, event.target); refresh(); };
  return h(
    "div", { class: "item action waiting" },
    h("div", { class: "row" }, h("h3", {}, title(action)), h("span", { class: "countdown", data: { until: action.expires_at, whole: action.expires_at - action.at } }, left(action.expires_at))),
    h("div", { class: "gauge" }, h("i", {})),
    params(action) && h("p", {}, params(action)),
    h("p", { class: "meta" }, action.asked_by ? t("approvals.asked_by", { name: action.asked_by }) : t("approvals.by_itself"), " ", action.reason),
    h("div", { class: "row pair" },
      ["approve", "deny"].map((name) => button(label(name), (event) => go(name, event), { class: name === "approve" ? "primary" : "", title: does(name), data: { key: `${name}${action.id}` } }))),
  );
}

function done(action, refresh) {
  return h(
    "div", { class: `item action ${action.status}` },
    h("p", {}, chip(t(`status.${action.status}`), action.status), " ", h("b", {}, title(action)), params(action) && `, ${params(action)}`),
    h("div", { class: "row" },
      h("span", { class: "meta" }, [action.reason, action.decided_by && t("approvals.decided_by", { name: action.decided_by }), action.detail].filter(Boolean).join(" · ")),
      action.undoable && button(label("undo"), async (event) => { await act("undo", { id: action.id }, event.target); refresh(); }, { class: "ghost small", data: { key: `undo${action.id}` } }),
      h("time", { class: "meta" }, ago(action.at))),
  );
}
