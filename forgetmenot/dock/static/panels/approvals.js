import { h, redraw, button, chip, empty, changedOnly } from "../dom.js";
import { get } from "../api.js";
import { act, failed } from "../ask.js";
import { ago, left, clock, params } from "../words.js";

export function open(room) {
  const waiting = h("section", { "aria-label": "Waiting for you" });
  const log = h("section", { "aria-label": "What was decided" });
  room.append(h("h2", {}, "Waiting for you"), waiting, h("h2", {}, "What was decided"), log);
  const drawWaiting = changedOnly((rows) => redraw(waiting, rows.length ? rows.map((one) => card(one, refresh)) : empty("Nothing waits. What needs a person appears here.")));
  const drawLog = changedOnly((rows) => redraw(log, rows.length ? rows.map((one) => done(one, refresh)) : empty("It has not proposed anything yet.")));

  async function refresh() {
    try {
      const told = await get("approvals");
      drawWaiting(told.waiting);
      drawLog(told.log);
    } catch (problem) {
      failed(waiting, problem, refresh);
    }
  }

  refresh();
  return {
    changed: refresh,
    tick() {
      for (const node of waiting.querySelectorAll("[data-until]")) {
        const until = Number(node.dataset.until);
        node.textContent = left(until);
        const gauge = node.closest(".item").querySelector(".gauge i");
        gauge.style.width = `${Math.max(0, Math.min(100, ((until - clock.now()) / Number(node.dataset.whole)) * 100))}%`;
        if (until <= clock.now()) refresh();
      }
    },
  };
}

const title = (one) => `${one.name.replaceAll("_", " ")}${one.target ? ` ${one.target}` : ""}`;

function card(one, refresh) {
  const go = async (name, event) => { await act(name, { id: one.id }, event.target); refresh(); };
  return h(
    "div", { class: "item action waiting" },
    h("div", { class: "row" }, h("h3", {}, title(one)), chip(`class ${one.class}`, "warn"), h("span", { class: "countdown", data: { until: one.expires_at, whole: one.expires_at - one.at } }, left(one.expires_at))),
    h("div", { class: "gauge" }, h("i", {})),
    params(one) && h("p", {}, params(one)),
    h("p", { class: "meta" }, one.asked_by ? `${one.asked_by} asked for it. ` : "It proposed that by itself. ", `${one.reason} (rule ${one.rule})`),
    h("div", { class: "row pair" },
      button("Approve", (event) => go("approve", event), { class: "primary", data: { key: `yes${one.id}` } }),
      button("Deny", (event) => go("deny", event), { data: { key: `no${one.id}` } })),
  );
}

function done(one, refresh) {
  return h(
    "div", { class: `item action ${one.status}` },
    h("p", {}, chip(one.status, one.status), " ", h("b", {}, title(one)), params(one) && `, ${params(one)}`),
    h("div", { class: "row" },
      h("span", { class: "meta" }, [`${one.reason} (rule ${one.rule})`, one.decided_by && `decided by ${one.decided_by}`, one.detail].filter(Boolean).join(" · ")),
      one.undoable && button("Undo", async (event) => { await act("undo", { id: one.id }, event.target); refresh(); }, { class: "ghost small", data: { key: `undo${one.id}` } }),
      h("time", { class: "meta" }, ago(one.at))),
  );
}
