// The frame: header, switches, panels. Which panel is shown stands in the address behind the #.

import { h, put, redraw, icon, button, changedOnly, sentence } from "./dom.js";
import { whenLockedOut } from "./api.js";
import { age, connect, disconnect, listen, state } from "./live.js";
import { act, does, label, say } from "./ask.js";
import { clock, span } from "./words.js";
import * as now from "./panels/now.js";
import * as memory from "./panels/memory.js";
import * as approvals from "./panels/approvals.js";
import * as figures from "./panels/figures.js";
import * as health from "./panels/health.js";
import * as rights from "./panels/rights.js";
import * as settings from "./panels/settings.js";
import * as setup from "./panels/setup.js";

const PANELS = { now, memory, approvals, figures, health, rights, settings, setup };
const NAMES = {
  now: "Now", memory: "Memory", approvals: "Approvals", figures: "Figures", health: "Health", rights: "Rights",
  settings: "Settings", setup: "Set up",
};
const IN_NAV = Object.keys(NAMES).filter((name) => name !== "setup"); // the set-up is reached from where it is missed
const main = document.getElementById("main");
let shown = null;

function route() {
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
  document.title = `${NAMES[name]} · ForgetMeNot`;
  put(main, h("h1", { class: "out" }, NAMES[name]));
  const room = h("div", { class: "room" });
  main.append(room);
  shown = PANELS[name].open(room, rest) || {};
  nav(name);
  document.body.classList.remove("with-menu");
  window.scrollTo(0, 0);
}

// Both are drawn anew only when they change: whoever presses a button meanwhile keeps it.
const drawNav = changedOnly(({ current, waiting }) => {
  redraw(
    document.getElementById("nav"),
    IN_NAV.map((name) => [name, NAMES[name]]).map(([name, title]) =>
      h(
        "a", { href: `#${name}`, title, data: { key: name }, "aria-label": title, "aria-current": name === current ? "page" : null },
        icon(name), h("span", { class: "label" }, title),
        name === "approvals" && waiting > 0 && h("b", { class: "badge", "aria-label": `${waiting} waiting` }, waiting),
      ),
    ),
  );
});
const nav = (current) => drawNav({ current, waiting: state.now?.waiting || 0 });

function standing(told) {
  if (state.restarting > Date.now()) return ["warn", "Starting with the new settings …"];
  if (state.connection === "lost") return ["bad", "The bot cannot be reached. Trying again …"];
  if (!told) return ["", "Connecting …"];
  if (told.paused) return ["warn", "Paused"];
  if (told.quiet_until > clock.now()) return ["warn", `Quiet for ${span(told.quiet_until - clock.now())}`];
  if (told.trouble) return ["bad", told.trouble];
  if (told.phase === "none") return ["", "No channel yet"];
  if (told.phase !== "connected") return ["warn", "Connecting to chat …"];
  return ["good", told.live ? `Live in ${told.channel}` : `Reading ${told.channel}`];
}

function top() {
  const told = state.now;
  const [kind, line] = standing(told);
  const stopped = told && (told.paused || told.quiet_until > clock.now());
  const hint = told?.phase === "none" || localStorage.getItem(DISMISSED) === told?.hint ? "" : told?.hint;
  drawTop({ kind, line, hint, unset: told?.phase === "none", stopped, name: told?.name, trouble: told?.trouble, safe: told?.safe_mode, settled: told?.safe_in_settings });
}

const DISMISSED = "forgetmenot-dismissed";

const drawTop = changedOnly(({ kind, line, hint, unset, stopped, name, trouble, safe, settled }) => {
  redraw(
    document.getElementById("top"),
    h("div", { class: "brand" }, h("img", { src: document.querySelector("link[rel=icon]").href, alt: "", width: 22, height: 22 }),
      h("span", { class: "name" }, name || "ForgetMeNot")),
    h("div", { class: `standing ${kind}`, role: "status" }, h("i", { class: "dot" }),
      trouble && trouble === line ? h("a", { href: "#health", title: "What to do about it", data: { key: "trouble" } }, sentence(line)) : h("span", { title: line }, line), unset && h("a", { href: "#setup", data: { key: "setup" } }, "Set up")),
    h("button", { type: "button", class: "ghost small menu", "aria-label": "Menu", onclick: () => document.body.classList.toggle("with-menu"), data: { key: "menu" } }, "☰"),
    name && h(
      "div", { class: "switches" },
      button(label(stopped ? "resume" : "pause"), (event) => act(stopped ? "resume" : "pause", {}, event.target),
        { class: stopped ? "big on pause" : "big pause", data: { key: "pause" }, "aria-pressed": String(Boolean(stopped)) }),
      button(label(safe ? "unsafe" : "safe"), (event) => act(safe ? "unsafe" : "safe", {}, event.target), {
        class: safe ? "big on" : "big", data: { key: "safe" }, "aria-pressed": String(safe), disabled: settled,
        title: settled ? "Switched on in the settings" : does(safe ? "unsafe" : "safe"),
      }),
    ),
    hint && h("p", { class: "hint" }, h("span", {}, hint), h("a", { href: "#setup" }, "Set up"),
      button("Dismiss", () => { localStorage.setItem(DISMISSED, hint); top(); }, { class: "ghost small", data: { key: "dismiss" } })),
  );
});

let locked = false;

whenLockedOut(() => {
  if (locked) return;
  locked = true;
  disconnect();
  shown?.close?.();
  shown = null;
  put(
    document.body,
    h("main", { class: "locked" }, h("h1", {}, "Open the dock again"),
      h("p", {}, "This link is not valid or has expired. In a terminal, type:"), h("pre", {}, "forgetmenot dock"),
      h("p", {}, "In OBS, enter the whole address, with its token, under Docks → Custom Browser Docks.")),
  );
});

listen((what, data) => {
  if (locked) return;
  if (what === "now" && !state.now.channel && !location.hash) location.hash = "setup"; // nothing is set up yet
  if (what === "now" || what === "connection") {
    top();
    nav(route()[0]);
  }
  if (what === "connection" && state.connection === "live" && data === "lost") {
    if (state.restarting < Date.now()) say("The bot is back. The page is up to date again.");
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
top();
open();
connect();
