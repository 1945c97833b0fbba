import { h, redraw, button, chip, empty, changedOnly } from "../dom.js";
import { get } from "../api.js";
import { act, does, doing, label, reading } from "../ask.js";
import { state } from "../live.js";
import { ago, left, clock, named, params, question, t } from "../words.js";

// What waits for a person, with its buttons, wherever it is shown.
export function waitingCards(nothing = null) {
  const node = h("section", { class: "waiting", "aria-label": t("approvals.waiting") });
  const draw = changedOnly((rows) => redraw(node, rows.length ? rows.map((action) => card(action, decided)) : nothing && empty(nothing)));
  async function refresh() {
    if (nothing === null && !state.now?.waiting && !node.childElementCount) return;
    const data = await get("approvals").catch(() => null);
    if (data) draw(data.waiting);
  }
  // The next question has the keyboard's place, or what stands behind it.
  async function decided(name, action, from) {
    const had = document.activeElement === from;
    await act(name, { id: action.id }, from);
    await refresh();
    if (had && !node.contains(document.activeElement)) (node.querySelector("button") ?? document.getElementById("main")).focus({ preventScroll: true });
  }
  function tick() {
    for (const countdown of node.querySelectorAll("[data-until]")) {
      const until = Number(countdown.dataset.until);
      countdown.textContent = left(until);
      if (until <= clock.now()) refresh();
    }
  }
  refresh();
  return { node, draw, refresh, tick };
}

export function open(panel) {
  const waiting = waitingCards(t("approvals.nothing"));
  const log = h("section", { "aria-label": t("approvals.decided") });
  panel.append(h("div", { class: "stack" }, h("h2", {}, t("approvals.waiting")), waiting.node), h("div", { class: "stack" }, h("h2", {}, t("approvals.decided")), log));
  const drawLog = changedOnly((rows) => redraw(log, rows.length ? rows.map((action) => done(action, refresh)) : empty(t("approvals.none_decided"))));
  const refresh = reading(waiting.node, () => get("approvals"), (data) => { waiting.draw(data.waiting); drawLog(data.log); });
  return { changed: refresh, tick: waiting.tick };
}

function card(action, decided) {
  return h(
    "div", { class: "item action waiting" },
    h("p", {}, h("b", {}, question(action)), ` ${askedBy(action)} `, h("span", { class: "countdown", "aria-hidden": "true", data: { until: action.expires_at } }, left(action.expires_at))),
    action.params.reason && h("p", { class: "meta" }, `“${action.params.reason}”`),
    h("div", { class: "row pair" },
      ["approve", "deny"].map((name) => button(label(name), (event) => decided(name, action, event.currentTarget), { class: name === "approve" ? "primary" : "", title: does(name), data: { key: `${name}${action.id}` } }))),
  );
}

function askedBy(action) {
  if (!action.asked_by) return t("approvals.by_itself");
  return action.asked_by === action.target ? t("approvals.asked_themselves") : t("approvals.asked_by", { name: action.asked_by });
}

function done(action, refresh) {
  return h(
    "div", { class: `item action ${action.status}` },
    h("p", {}, chip(t(`status.${action.status}`), action.status), ` ${named("action", action.name)} `, h("b", {}, action.target), params(action) && ` ${params(action)}`),
    h("div", { class: "row" },
      h("span", { class: "meta" }, [action.asked_by && askedBy(action), action.reason, action.decided_by && t("approvals.decided_by", { name: action.decided_by }), action.detail].filter(Boolean).join(" · ")),
      action.undoable && doing("undo", { id: action.id }, refresh, { data: { key: `undo${action.id}` } }),
      h("time", { class: "meta" }, ago(action.at))),
  );
}
