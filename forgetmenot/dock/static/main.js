// The frame: header, switches, panels. Which panel is shown stands in the address behind the #.

import { announce, h, put, redraw, icon, button, changedOnly, entitle, sentence } from "./dom.js";
import { whenLockedOut } from "./api.js";
import { age, connect, disconnect, listen, state } from "./live.js";
import { act, change, does, label } from "./ask.js";
import { clock, question, span, t, typed } from "./words.js";
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

function close() {
  shown?.close?.();
  shown = null;
}

function open() {
  const [name, rest] = route();
  close();
  main.className = `panel ${name}`;
  document.body.dataset.page = name;
  document.body.classList.toggle("earpiece-page", OF_ITS_OWN);
  document.body.classList.remove("stopped");
  entitle(t(`panel.${name}`));
  put(main, h("h1", { class: name === "now" || OF_ITS_OWN ? "out" : "" }, t(`panel.${name}`)));
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
    IN_NAV.map((name) => h(
      "a", { href: `#${name}`, data: { key: name }, "aria-current": name === current ? "page" : null },
      icon(name), h("span", { class: "label" }, t(`panel.${name}`)), " ",
      name === "approvals" && waiting > 0 && h("b", { class: "badge" }, waiting),
    )),
  );
});
const nav = (current) => drawNav({ current, waiting: state.now?.waiting || 0 });

// How it stands: a mood, a sentence, and a time that runs and is not read out each second.
function standing(status) {
  if (state.restarting > Date.now()) return ["warn", t("frame.restarting")];
  if (state.connection === "lost") return ["bad", t("frame.lost")];
  if (!status) return ["", t("frame.connecting")];
  if (status.paused) return ["warn", t("frame.paused")];
  if (isQuiet(status)) return ["warn", t("frame.quiet"), span(status.quiet_until - clock.now())];
  if (status.trouble) return ["bad", status.trouble];
  if (status.phase === "none") return ["", t("frame.no_channel")];
  if (status.phase !== "connected") return ["warn", t("frame.connecting")];
  return ["good", t(status.live ? "frame.live" : "frame.reading", { channel: status.channel })];
}
const isQuiet = (status) => status.quiet_until > clock.now();

function top() {
  const status = state.now;
  const [kind, line, rest = ""] = standing(status);
  const stopped = status && (status.paused || isQuiet(status));
  const hint = status?.phase === "none" || localStorage.getItem(DISMISSED) === status?.hint ? "" : status?.hint;
  drawTop({ kind, line, hint, unset: status?.phase === "none", stopped: Boolean(stopped), name: status?.name, trouble: status?.trouble, safe: status?.safe_mode, settled: status?.safe_in_settings, hearing: status?.hearing, account: Boolean(status?.login_trouble) && status.login_trouble === line });
  const left = document.querySelector("#top .rest");
  if (left && left.textContent !== rest) left.textContent = rest;
}

const DISMISSED = "forgetmenot-dismissed";
let toldLine = "";

const drawTop = changedOnly(({ kind, line, hint, unset, stopped, name, trouble, safe, settled, hearing, account }) => {
  const node = document.getElementById("top");
  const inTrouble = Boolean(trouble) && trouble === line;
  node.classList.toggle("bad", kind === "bad");
  redraw(
    node,
    h("div", { class: "brand" }, h("img", { src: document.querySelector("link[rel=icon]").href, alt: "", width: 22, height: 22 }), h("span", {}, name || "ForgetMeNot")),
    h("div", { class: `standing ${kind}${unset || inTrouble ? " has-link" : ""}` }, h("i", { class: "dot" }),
      inTrouble ? h("a", { href: account ? "#setup/login" : "#settings", data: { key: "trouble" } }, sentence(line)) : h("span", { title: line }, line), h("span", { class: "rest", "aria-hidden": "true" }),
      unset && h("a", { href: "#setup", data: { key: "setup" } }, t("panel.setup"))),
    h("button", { type: "button", class: "ghost small menu", "aria-label": t("frame.menu"), onclick: () => document.body.classList.toggle("with-menu"), data: { key: "menu" } }, "⋯"),
    name && h("div", { class: "switches" }, hearing && hearingSwitch(hearing), bigSwitch("pause", "resume", stopped), bigSwitch("safe", "unsafe", safe, settled)),
    hint && h("p", { class: "hint" }, h("span", {}, hint), h("a", { href: "#setup" }, t("panel.setup")),
      button(t("close"), () => { localStorage.setItem(DISMISSED, hint); top(); }, { class: "ghost small", data: { key: "dismiss" } })),
  );
  const words = line.replace(/\d+/g, ""); // "next try in 5 s" is not read aloud each second
  if (toldLine && toldLine !== words && !state.fresh) announce(line);
  toldLine = words;
});

// It is as wide as the longer of its two words.
function bigSwitch(name, back, on, disabled = false) {
  const next = on ? back : name;
  const wider = [name, back].map((word) => h("span", { class: "widest", "aria-hidden": "true" }, label(word)));
  return button([h("span", {}, label(next)), wider], (event) => act(next, {}, event.currentTarget), { class: `big ${name}${on ? " on" : ""}`, data: { key: name }, disabled, title: does(next) });
}

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
  close();
  put(document.body, h("main", { class: "locked" },
    h("h1", {}, t("locked.title")), h("p", {}, t("locked.type")), h("pre", {}, typed("forgetmenot dock")), h("p", {}, t("locked.obs"))));
});

// A bot that does not run is one page that says so. After Quit it stays; else it goes away when the bot is back.
const STOPPED_AFTER = 10_000;
let over = false;

function stopped(line) {
  close();
  document.body.classList.add("stopped");
  document.body.dataset.page = "stopped";
  entitle(t("stopped.title"));
  put(main, h("div", { class: "locked" }, h("h1", {}, t("stopped.title")), h("p", {}, line)));
  announce(`${t("stopped.title")} ${line}`);
}

addEventListener("quit", () => {
  over = true;
  disconnect();
  stopped(t("stopped.quit"));
});

// What is new is heard once, wherever in the page somebody is.
const heard = new Set();

function hear(key, text) {
  if (heard.has(key)) return;
  heard.add(key);
  if (!state.fresh) announce(text);
}

function hearNews(what, data) {
  if (what === "now") for (const one of state.now.arrivals) hear(`${one.id}:${one.at}`, `${one.name} ${one.lately || one.who}`);
  if (what !== "items") return;
  for (const item of data) {
    if (item.kind === "reply" && item.text && !item.asks) hear(item.key, `${state.now?.name}: ${item.text}`);
    if (item.kind === "action" && item.status === "waiting") hear(item.key, `${t("panel.approvals")}: ${question(item)}`);
  }
}

listen((what, data) => {
  if (locked || over) return;
  if (what === "now" && !state.now.channel && !location.hash && !OF_ITS_OWN) location.hash = "setup"; // nothing is set up yet
  if (what === "now" || what === "connection") {
    top();
    nav(route()[0]);
  }
  hearNews(what, data);
  if (what === "connection" && state.connection === "live" && data === "lost") {
    state.restarting = 0;
    top();
    if (!shown) open();
    shown?.changed?.();
  }
  shown?.on?.(what, data);
  if (what === "changed") shown?.changed?.();
});

setInterval(() => {
  if (locked || over) return;
  age();
  if (state.now?.quiet_until > clock.now() - 2000) top();
  if (shown && state.lostAt && state.restarting < Date.now() && Date.now() - state.lostAt > STOPPED_AFTER) stopped(t("stopped.lost"));
  shown?.tick?.();
}, 1000);
window.addEventListener("hashchange", () => {
  if (locked) return location.reload();
  if (!shown) return; // there is nothing to show
  open();
  main.focus({ preventScroll: true });
});
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.documentElement.style.setProperty("--moment", `"${t("moment")}"`);
top();
open();
connect();
