import { h, redraw, button, chip, empty, changedOnly } from "../dom.js";
import { get } from "../api.js";
import { act, does, failed, label } from "../ask.js";
import { state } from "../live.js";
import { ago, left, clock, params } from "../words.js";

// What waits for a person, with its buttons, wherever it is shown.
export function waitingCards(nothing = null) {
  const node = h("section", { class: "waiting", "aria-label": "Waiting for you" });
  const draw = changedOnly((rows) => redraw(node, rows.length ? rows.map((one) => card(one, refresh)) : nothing && empty(nothing)));
  async function refresh() {
    if (nothing === null && !state.now?.waiting && !node.childElementCount) return;
    const told = await get("approvals").catch(() => null);
    if (told) draw(told.waiting);
  }
  function tick() {
    for (const one of node.querySelectorAll("[data-until]")) {
      const until = Number(one.dataset.until);
      one.textContent = left(until);
      const gauge = one.closest(".item").querySelector(".gauge i");
      gauge.style.width = `${Math.max(0, Math.min(100, ((until - clock.now()) / Number(one.dataset.whole)) * 100))}%`;
      if (until <= clock.now()) refresh();
    }
  }
  refresh();
  return { node, draw, refresh, tick };
}

export function open(room) {
  const waiting = waitingCards("Nothing is waiting. Actions that need your approval appear here.");
  const log = h("section", { "aria-label": "Decided" });
  room.append(h("h2", {}, "Waiting for you"), waiting.node, h("h2", {}, "Decided"), log);
  const drawLog = changedOnly((rows) => redraw(log, rows.length ? rows.map((one) => done(one, refresh)) : empty("The bot has not proposed anything yet.")));

  async function refresh() {
    try {
      const told = await get("approvals");
      waiting.draw(told.waiting);
      drawLog(told.log);
    } catch (problem) {
      failed(waiting.node, problem, refresh);
    }
  }

  refresh();
  return { changed: refresh, tick: waiting.tick };
}

const title = (one) => `${one.name.replaceAll("_", " ")}${one.target ? ` ${one.target}` : ""}`;

function card(one, refresh) {
  const go = async (name, event) => { await act(name, { id: one.id }, event.target); refresh(); };
  return h(
    "div", { class: "item action waiting" },
    h("div", { class: "row" }, h("h3", {}, title(one)), chip(`class ${one.class}`, "warn"), h("span", { class: "countdown", data: { until: one.expires_at, whole: one.expires_at - one.at } }, left(one.expires_at))),
    h("div", { class: "gauge" }, h("i", {})),
    params(one) && h("p", {}, params(one)),
    h("p", { class: "meta" }, one.asked_by ? `${one.asked_by} asked for it. ` : "The bot proposed it by itself. ", `${one.reason} (rule ${one.rule})`),
    h("div", { class: "row pair" },
      ["approve", "deny"].map((name) => button(label(name), (event) => go(name, event), { class: name === "approve" ? "primary" : "", title: does(name), data: { key: `${name}${one.id}` } }))),
  );
}

function done(one, refresh) {
  return h(
    "div", { class: `item action ${one.status}` },
    h("p", {}, chip(one.status, one.status), " ", h("b", {}, title(one)), params(one) && `, ${params(one)}`),
    h("div", { class: "row" },
      h("span", { class: "meta" }, [`${one.reason} (rule ${one.rule})`, one.decided_by && `decided by ${one.decided_by}`, one.detail].filter(Boolean).join(" · ")),
      one.undoable && button(label("undo"), async (event) => { await act("undo", { id: one.id }, event.target); refresh(); }, { class: "ghost small", data: { key: `undo${one.id}` } }),
      h("time", { class: "meta" }, ago(one.at))),
  );
}
