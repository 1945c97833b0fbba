// The frame: header, switches, panels. Which panel is shown stands in the address behind the #.

import { h, put, redraw, icon, button, changedOnly, sentence } from "./dom.js";
import { whenLockedOut } from "./api.js";
import { age, connect, disconnect, listen, state } from "./live.js";
import { act, change, does, label } from "./ask.js";
import { clock, span, t, typed } from "./words.js";
import * as earpiece from "./panels/arrivals.js";
import * as now from "./panels/now.js";
import * as costs from "./panels/costs.js";
import * as memory from "./panels/memory.js";
import * as approvals from "./panels/approvals.js";
import * as settings from "./panels/settings.js";
import * as setup from "./panels/setup.js";

const PANELS = { now, memory, approvals, settings, setup, costs };
const OF_ITS_OWN = location.pathname === "/earpiece"; // the cards alone, for a second screen
const IN_NAV = ["now", "memory", "approvals", "settings"]; // the others are reached from where they are missed
const main = document.getElementById("main");
let shown = null;

function route() {
  if (OF_ITS_OWN) return ["earpiece", []];
  try {
    const [name, ...rest] = location.hash.slice(1).split("/").map(decodeURIComponent);
    if (Object.hasOwn(PANELS, name)) return [name, rest];
  } catch { /* what is no address */ }
  return ["now", []];
}

function open() {
  const [name, rest] = route();
  shown?.close?.();
  main.className = `panel ${name}`;
  document.body.classList.toggle("earpiece", OF_ITS_OWN);
  document.title = `${t(`panel.${name}`)} · ForgetMeNot`;
  put(main, h("h1", { class: "out" }, t(`panel.${name}`)));
  const panel = h("div", { class: "content" });
  main.append(panel);
  shown = (OF_ITS_OWN ? earpiece : PANELS[name]).open(panel, rest) || {};
  nav(name);
  document.body.classList.remove("with-menu");
  window.scrollTo(0, 0);
}

// Both are drawn anew only when they change: whoever presses a button meanwhile keeps it.
const drawNav = changedOnly(({ current, waiting }) => {
  redraw(
    document.getElementById("nav"),
    IN_NAV.map((name) => [name, t(`panel.${name}`)]).map(([name, title]) =>
      h(
        "a", { href: `#${name}`, title, data: { key: name }, "aria-label": title, "aria-current": name === current ? "page" : null },
        icon(name), h("span", { class: "label" }, title),
        name === "approvals" && waiting > 0 && h("b", { class: "badge" }, waiting),
      ),
    ),
  );
});
const nav = (current) => drawNav({ current, waiting: state.now?.waiting || 0 });

function standing(status) {
  if (state.restarting > Date.now()) return ["warn", t("frame.restarting")];
  if (state.connection === "lost") return ["bad", t("frame.lost")];
  if (!status) return ["", t("frame.connecting")];
  if (status.paused) return ["warn", t("frame.paused")];
  if (status.quiet_until > clock.now()) return ["warn", t("frame.quiet", { span: span(status.quiet_until - clock.now()) })];
  if (status.trouble) return ["bad", status.trouble];
  if (status.phase === "none") return ["", t("frame.no_channel")];
  if (status.phase !== "connected") return ["warn", t("frame.connecting")];
  return ["good", t(status.live ? "frame.live" : "frame.reading", { channel: status.channel })];
}

function top() {
  const status = state.now;
  const [kind, line] = standing(status);
  const stopped = status && (status.paused || status.quiet_until > clock.now());
  const hint = status?.phase === "none" || localStorage.getItem(DISMISSED) === status?.hint ? "" : status?.hint;
  drawTop({ kind, line, hint, unset: status?.phase === "none", stopped, name: status?.name, trouble: status?.trouble, safe: status?.safe_mode, settled: status?.safe_in_settings, hearing: status?.hearing });
}

const DISMISSED = "forgetmenot-dismissed";

const drawTop = changedOnly(({ kind, line, hint, unset, stopped, name, trouble, safe, settled, hearing }) => {
  const node = document.getElementById("top");
  const linked = unset || (trouble && trouble === line);
  node.classList.toggle("bad", kind === "bad");
  redraw(
    node,
    h("div", { class: "brand" }, h("img", { src: document.querySelector("link[rel=icon]").href, alt: "", width: 22, height: 22 }),
      h("span", { class: "name" }, name || "ForgetMeNot")),
    h("div", { class: `standing ${kind}${linked ? " has-link" : ""}`, role: "status" }, h("i", { class: "dot" }),
      trouble && trouble === line ? h("a", { href: "#settings", data: { key: "trouble" } }, sentence(line)) : h("span", { title: line }, line), unset && h("a", { href: "#setup", data: { key: "setup" } }, t("panel.setup"))),
    h("button", { type: "button", class: "ghost small menu", "aria-label": t("frame.menu"), onclick: () => document.body.classList.toggle("with-menu"), data: { key: "menu" } }, "⋯"),
    name && h(
      "div", { class: "switches" },
      hearing && hearingSwitch(hearing),
      button(label(stopped ? "resume" : "pause"), (event) => act(stopped ? "resume" : "pause", {}, event.target),
        { class: stopped ? "big on pause" : "big pause", data: { key: "pause" }, "aria-pressed": String(Boolean(stopped)) }),
      button(label(safe ? "unsafe" : "safe"), (event) => act(safe ? "unsafe" : "safe", {}, event.target), {
        class: safe ? "big on" : "big", data: { key: "safe" }, "aria-pressed": String(safe), disabled: settled,
        title: does(safe ? "unsafe" : "safe"),
      }),
    ),
    hint && h("p", { class: "hint" }, h("span", {}, hint), h("a", { href: "#setup" }, t("panel.setup")),
      button(t("close"), () => { localStorage.setItem(DISMISSED, hint); top(); }, { class: "ghost small", data: { key: "dismiss" } })),
  );
});

// In a narrow dock only its picture is there, so that one sees that the bot listens.
function hearingSwitch({ on, trouble }) {
  const name = t(!on ? "hearing.stopped" : trouble ? "hearing.deaf" : "hearing.listening");
  const node = button([icon("hearing"), h("span", { class: "label" }, name)], () => change("listen", { on: !on }, node), {
    class: `big hearing ${!on ? "" : trouble ? "deaf" : "on"}`, data: { key: "hearing" }, "aria-pressed": String(on), "aria-label": name, title: on && trouble || name,
  });
  return node;
}

let locked = false;

whenLockedOut(() => {
  if (locked) return;
  locked = true;
  disconnect();
  shown?.close?.();
  shown = null;
  put(
    document.body,
    h("main", { class: "locked" }, h("h1", {}, t("locked.title")), h("p", {}, t("locked.type")), h("pre", {}, typed("forgetmenot dock")), h("p", {}, t("locked.obs"))),
  );
});

listen((what, data) => {
  if (locked) return;
  if (what === "now" && !state.now.channel && !location.hash && !OF_ITS_OWN) location.hash = "setup"; // nothing is set up yet
  if (what === "now" || what === "connection") {
    top();
    nav(route()[0]);
  }
  if (what === "connection" && state.connection === "live" && data === "lost") {
    state.restarting = 0;
    top();
    shown?.changed?.();
  }
  shown?.on?.(what, data);
  if (what === "changed") shown?.changed?.();
});

setInterval(() => {
  if (locked) return;
  age();
  if (state.now?.quiet_until > clock.now() - 2000) top();
  shown?.tick?.();
}, 1000);
window.addEventListener("hashchange", () => {
  if (locked) return location.reload();
  open();
  main.focus({ preventScroll: true });
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.documentElement.style.setProperty("--moment", `"${t("moment")}"`);
top();
open();
connect();
