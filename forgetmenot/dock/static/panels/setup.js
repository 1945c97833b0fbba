// The set-up, step by step: each can be left and come back to, and says in words what came of it.

import { h, s, put, button, changedOnly, sentence, soon } from "../dom.js";
import { get } from "../api.js";
import { failed, step as ask } from "../ask.js";
import { state } from "../live.js";
import { MODES, ago, clock, firstSummary, language, left, named, parts, t } from "../words.js";
import { pastChatStep } from "./past_chat.js";
import { obs } from "./settings.js";

const EXPLAINED = new Set(["channel", "login", "hearing", "past_chat"]); // the others explain themselves by their choices

export function open(panel, [wanted] = []) {
  const steps = { channel: channelStep(), model: modelStep(), character: characterStep(), login: loginStep(), mode: modeStep(), hearing: hearingStep(), past_chat: pastChatStep(frame) };
  const all = Object.values(steps);
  const hello = helloCard();
  let chosen = false; // the step that is open was not chosen by hand yet
  panel.addEventListener("next", (event) => { // a step is done: the one after it opens
    const after = all[all.findIndex((step) => step.node === event.target) + 1];
    if (after) after.node.open = true;
  });

  async function refresh() {
    const drawn = panel.querySelector(".step") !== null;
    let answer, settings;
    try {
      [answer, settings] = await Promise.all([get("setup"), drawn || get("settings")]);
    } catch (problem) {
      if (problem.status !== 0 && !drawn) failed(panel, problem, refresh);
      return;
    }
    if (!panel.querySelector(".step")) {
      put(panel, chooseLanguage(settings.languages), all.map((step) => step.node), hello.node,
        h("div", { class: "row" }, h("a", { class: "button", href: "#now" }, t("panel.now")), obs()));
      panel.addEventListener("click", (event) => { if (event.target.closest("summary")) chosen = true; });
    }
    for (const [name, step] of Object.entries(steps)) step.draw(answer[name], answer);
    hello.draw(answer);
    if (!chosen) {
      chosen = true;
      const first = steps[wanted] || all.find((step) => !step.node.classList.contains("done")) || all[0];
      first.node.open = true;
      first.begin?.();
    }
  }

  const look = soon(refresh, 2000);
  refresh();
  return {
    changed: refresh,
    on(what) { if (what === "items") refresh(); },
    tick() {
      for (const step of all) step.tick?.();
      if (!document.hidden) look();
    },
  };
}

// The first thing that somebody may want to change: in which language all this is written.
function chooseLanguage(languages) {
  const node = h("select", { id: "language", "aria-label": t("setup.language"), onchange: async () => { if (!(await ask("set", { table: "bot", key: "language", value: node.value }, node))?.ok) node.value = language; } },
    Object.entries(languages).map(([code, name]) => h("option", { value: code, selected: code === language }, name)));
  return h("div", { class: "row" }, h("label", { for: "language" }, t("setup.language")), node);
}

// The end of it: somebody says hello, and it answers.
function helloCard() {
  const mark = h("span", { class: "mark", "aria-hidden": "true" });
  const line = h("p", { role: "status" });
  const node = h("section", { class: "box step hello", hidden: true }, h("h2", { class: "row" }, mark, t("setup.hello.title")), line);
  const draw = changedOnly(({ connected, offline, name, answer }) => {
    node.hidden = !connected;
    node.classList.toggle("done", Boolean(answer));
    put(mark, answer ? "✓" : "…");
    put(line, sentence(answer ? t("setup.hello.done", { text: answer }) : t(offline ? "setup.hello.model" : "setup.hello.type", { name })));
  });
  return { node, draw({ channel, model, character }) {
    const replies = [...state.items.values()].filter((item) => item.kind === "reply" && item.text && !item.asks && ["sent", "shadow"].includes(item.status));
    draw({ connected: channel.name && channel.phase === "connected", offline: model.provider === "offline", name: character.name, answer: replies.at(-1)?.text ?? "" });
  } };
}

// One step: a heading with its mark, what is asked for, and a line for the result.
function frame(number, name, ...content) {
  const mark = h("span", { class: "mark", "aria-hidden": "true" }, number);
  const brief = h("span", { class: "meta brief" });
  const result = h("p", { class: "outcome", role: "status" });
  const node = h("details", { class: "box step", name: "setup" }, h("summary", {}, mark, h("b", {}, named("group", name, t(`setup.${name}.title`))), brief), h("div", { class: "stack" }, EXPLAINED.has(name) && h("p", { class: "meta" }, t(`setup.${name}.about`)), content, result));
  let refused = false; // why an answer was refused stays to be read until something else is typed
  node.addEventListener("input", () => { refused = false; });
  const stands = (line, kind) => { if (!refused) tell(line, kind); };
  function tell(line, kind = "") {
    result.className = `outcome ${kind}`;
    put(result, line && sentence(line));
  }
  let trouble = ""; // stands for as long as it lasts
  function troubled(line) {
    if (line) stands(line, "bad");
    else if (trouble) tell("");
    trouble = line;
  }
  function done(is, words) {
    node.classList.toggle("done", is);
    if (mark.textContent !== (is ? "✓" : String(number))) mark.textContent = is ? "✓" : number;
    if (brief.textContent !== words) brief.textContent = words;
  }
  async function run(name, body, from) {
    tell(t("moment"));
    const answer = await ask(name, body, from);
    refused = answer?.ok === false;
    if (answer) tell(answer.line || "", answer.ok ? "good" : "bad");
    else tell("");
    return answer?.ok ? answer : null;
  }
  const next = () => node.dispatchEvent(new Event("next", { bubbles: true }));
  return { node, tell, stands, troubled, done, run, next };
}

const field = (label, control, more) => h("label", { class: "field" }, label, control, more && h("span", { class: "meta" }, more));
// A field follows what is saved until somebody types in it.
function follow(control, value) {
  if (!control.dataset.typed && document.activeElement !== control && control.value !== value) control.value = value;
}
const untyped = (...controls) => { for (const control of controls) delete control.dataset.typed; };
const input = (props) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...props, oninput: (event) => { event.target.dataset.typed = "1"; props.oninput?.(event); } });

function channelStep() {
  const name = input({ maxlength: 80, "aria-label": t("setup.channel.name") });
  const save = h("button", { type: "submit", class: "primary" }, t("setup.channel.listen"));
  const seen = h("div", { class: "seen" });
  const form = h("form", { class: "row line-form", onsubmit: send }, h("span", { class: "prefix" }, "twitch.tv/"), name, save);
  const step = frame(1, "channel", form, seen);
  let asked = "";
  async function send(event) {
    event.preventDefault();
    if (!(await step.run("channel", { channel: name.value }, save))) return;
    untyped(name);
    asked = name.value;
  }
  function draw(data) {
    const connected = data.name && data.phase === "connected";
    step.done(Boolean(connected), data.name);
    follow(name, data.name);
    if (data.trouble) step.stands(data.trouble, "bad");
    else if (connected) {
      step.stands(t("frame.reading", { channel: data.name }), "good");
      if (asked) step.next();
      asked = "";
    } else if (data.name && !asked) step.stands(t("frame.connecting"));
    const lines = [...state.items.values()].filter((item) => item.kind === "line").sort((a, b) => a.at - b.at).slice(-3);
    put(seen,
      connected && !lines.length && h("p", { class: "meta" }, t("setup.hearing.waiting")),
      lines.map((item) => h("p", {}, h("b", {}, item.who), " ", item.text)),
      connected && state.now?.unread > 0 && h("p", { class: "meta" }, firstSummary(state.now)));
  }
  return { node: step.node, draw, begin: () => name.focus() };
}

const KINDS = ["gemini", "local", "hosted", "offline"];
const secret = () => h("input", { type: "password", autocomplete: "off", maxlength: 300 });

function modelStep() {
  const choice = {};
  const kinds = h("div", { class: "kinds", role: "radiogroup", "aria-label": t("group.model") }, KINDS.map((kind) => {
    choice[kind] = h("input", { type: "radio", name: "words", value: kind, onchange: () => show(kind) });
    return h("label", { class: "kind", data: { kind } }, choice[kind], h("span", {}, h("b", {}, named("choice", kind, t(`setup.model.${kind}.title`))), h("span", { class: "meta" }, t(`setup.model.${kind}.about`))));
  }));
  const key = secret();
  const hostedKey = secret();
  const terms = h("p", { class: "meta" });
  const page = h("a", { target: "_blank", rel: "noreferrer" }, t("setup.model.get_key"));
  const found = h("div", { class: "stack" });
  const address = { local: input({ maxlength: 200, "aria-label": t("setup.model.address") }), hosted: input({ maxlength: 200, placeholder: "api.example.com/v1" }) };
  const model = { local: h("select"), hosted: h("select") };
  const lister = (kind) => button(t("setup.model.list"), () => list(kind));
  const forms = {
    gemini: h("div", { class: "stack" }, terms, page, field(t("setup.model.key"), key, t("setup.model.key_note"))),
    local: h("div", { class: "stack" }, found, field(t("setup.model.model"), model.local),
      h("details", {}, h("summary", { class: "meta" }, t("setup.model.address")), h("div", { class: "row line-form" }, address.local, lister("local")))),
    hosted: h("div", { class: "stack" }, field(t("setup.model.address"), address.hosted), field(t("setup.model.key"), hostedKey, t("setup.model.key_note")),
      h("div", { class: "row" }, lister("hosted")), field(t("setup.model.model"), model.hosted)),
    offline: h("div"),
  };
  const save = button(t("setup.model.test"), send, { class: "primary" });
  const step = frame(2, "model", kinds, Object.values(forms), h("div", { class: "row" }, save));
  let shown = "";
  let picked = false;
  function show(kind) {
    shown = kind;
    picked = true;
    step.tell("");
    for (const [name, form] of Object.entries(forms)) form.hidden = name !== kind;
    for (const label of kinds.children) label.classList.toggle("chosen", label.dataset.kind === kind);
    put(save, t(kind === "offline" ? "save" : "setup.model.test"));
    if (kind === "local" && !model.local.childElementCount) look();
  }
  async function look() {
    put(found, h("p", { class: "meta" }, t("moment")));
    const answer = await ask("programs");
    const programs = answer?.programs || [];
    put(found, programs.length
      ? programs.map((program) => button(t("setup.model.program", { name: program.name, n: program.models.length }), () => use("local", program.base_url, program.models), { class: "toggle" }))
      : [h("p", { class: "meta" }, t("setup.model.none_found")), button(t("try_again"), look, { class: "small" })]);
    if (programs.length) use("local", programs[0].base_url, programs[0].models);
    return programs.length > 0;
  }
  function use(kind, base, models) {
    address[kind].value = base;
    put(model[kind], models.map((name) => h("option", { value: name }, name)));
  }
  async function list(kind) {
    const answer = await step.run("models", { base_url: address[kind].value, key: kind === "hosted" ? hostedKey.value : "" });
    if (answer) use(kind, answer.base_url, answer.models);
  }
  async function send() {
    const service = { provider: "openai_compatible", base_url: address[shown]?.value, model: model[shown]?.value };
    const body = {
      gemini: { provider: "gemini", key: key.value },
      local: service,
      hosted: { ...service, key: hostedKey.value },
      offline: { provider: "offline" },
    }[shown];
    const began = Date.now();
    const waits = setInterval(() => step.tell(t("setup.model.testing", { model: body.model || t(`choice.${shown}`), n: Math.round((Date.now() - began) / 1000) }), "working"), 1000);
    const answer = await step.run("model", body, save);
    clearInterval(waits);
    if (!answer) return;
    key.value = hostedKey.value = "";
    localStorage.setItem("forgetmenot-model", "1");
    step.next();
  }
  async function first(kind) {
    choice[kind].checked = true;
    show(kind);
    picked = false;
    if (kind === "offline" && (await look()) && shown === "offline" && !picked) first("local"); // one runs here: it is the shortest way
  }
  function draw(data) {
    put(terms, data.terms);
    page.href = data.key_page;
    address.local.placeholder = data.example;
    if (data.key_kept) for (const one of [key, hostedKey]) one.placeholder = "•••";
    const kind = data.provider === "openai_compatible" ? (data.local ? "local" : "hosted") : data.provider;
    if (kind === "local" || kind === "hosted") if (!model[kind].childElementCount) use(kind, data.base_url, [data.model]);
    if (!shown) first(kind);
    const off = kind === "offline";
    step.done(!off || localStorage.getItem("forgetmenot-model") === "1", off ? t("choice.offline") : data.model);
    step.troubled(data.trouble);
  }
  return { node: step.node, draw };
}

function characterStep() {
  let typing = 0;
  const later = () => { clearTimeout(typing); typing = setTimeout(sample, 1200); };
  const name = input({ maxlength: 40, oninput: later });
  const persona = h("textarea", { rows: 4, maxlength: 4000, oninput: () => { persona.dataset.typed = "1"; later(); } });
  const presets = h("div", { class: "row" });
  const text = input({ maxlength: 300, oninput: later });
  const sampled = h("blockquote", { class: "said", "aria-live": "polite" }, "…");
  const save = button(t("save"), send, { class: "primary" });
  const step = frame(3, "character",
    field(t("setup.character.name"), name), presets, field(t("setup.character.persona"), persona), field(t("setup.character.viewer_says"), text), field(t("setup.character.answer"), sampled),
    h("div", { class: "row" }, save, button(t("try_again"), sample)));
  let model = "";
  let run = 0;
  const body = () => ({ name: name.value, persona: persona.value });
  async function sample() {
    const mine = ++run;
    put(sampled, h("span", { class: "meta" }, t("moment")));
    const answer = await ask("sample", { ...body(), text: text.value });
    if (mine === run) put(sampled, answer?.text || h("span", { class: "meta" }, answer?.line || t("silent")));
  }
  async function send() {
    localStorage.setItem("forgetmenot-character", "1");
    if (!(await step.run("character", body(), save))) return;
    untyped(name, persona);
    step.next();
  }
  step.node.addEventListener("toggle", () => { if (step.node.open && sampled.textContent === "…") sample(); });
  function draw(data, all) {
    const chosen = `${all.model.provider} ${all.model.model}`;
    if (chosen !== model) { model = chosen; if (step.node.open) sample(); else put(sampled, "…"); }
    const preset = Object.entries(data.presets).find(([, words]) => words === data.persona);
    step.done(localStorage.getItem("forgetmenot-character") === "1" || data.own || data.name !== "ForgetMeNot", `${data.name}${preset ? `, ${preset[0]}` : ""}`);
    follow(name, data.name);
    follow(persona, data.persona);
    if (!text.value && !text.dataset.typed) text.value = data.sample;
    if (!presets.childElementCount) {
      put(presets, Object.entries(data.presets).map(([title, words]) => button(title, () => { persona.value = words; persona.dataset.typed = "1"; sample(); }, { class: "toggle" })));
    }
  }
  return { node: step.node, draw };
}

function loginStep() {
  const id = input({ maxlength: 64, "aria-label": t("setup.login.client_id"), placeholder: t("setup.login.client_id") });
  const saveId = button(t("save"), async () => { if (await step.run("client", { client_id: id.value }, saveId)) { delete id.dataset.typed; own.open = false; } }, { class: "primary" });
  const consolePage = h("a", { target: "_blank", rel: "noreferrer" }, "dev.twitch.tv/console");
  const redirect = h("code", {});
  const how = h("ol", { class: "how" },
    h("li", {}, parts("setup.login.how_open", { page: consolePage })), h("li", {}, parts("setup.login.how_fill", { address: redirect })));
  const title = h("summary", {});
  const own = h("details", {}, title, h("div", { class: "stack" }, how, h("div", { class: "row line-form" }, id, saveId)));
  const begin = button(t("setup.login.bot"), () => start("bot", begin), { class: "primary" });
  const streamer = button(t("setup.login.streamer"), () => start("broadcaster", streamer), { class: "small" });
  const waiting = h("div", { class: "code" });
  const moderator = h("p", { class: "meta" });
  const step = frame(4, "login", h("div", { class: "row" }, begin, streamer), waiting, moderator, own);
  const drawCode = changedOnly((pending) => put(waiting, pending && codeCard(pending)));
  let account = null;
  const start = (which, from) => step.run("login", { account: which }, from);
  function draw(data) {
    follow(id, data.client_id);
    consolePage.href = data.console;
    put(redirect, data.redirect);
    put(title, t(data.supplied ? "setup.login.own_app" : "setup.login.app"));
    if (!own.dataset.drawn) { own.dataset.drawn = "1"; own.open = !data.client_id; }
    begin.hidden = !data.client_id;
    streamer.hidden = !data.account || !data.streamer;
    begin.className = data.account && !data.trouble ? "small" : "primary";
    step.done(Boolean(data.account) && !data.trouble, data.account || t("setup.login.optional"));
    if (data.trouble) step.stands(data.trouble, "bad");
    put(moderator, data.account && data.streamer && sentence(t("setup.moderator.adds", { name: data.account })));
    if (account === "" && data.account) step.next();
    account = data.account;
    const pending = data.pending;
    if (pending?.line) step.stands(pending.line, pending.ok ? "good" : "bad");
    drawCode(pending && !pending.line ? pending : null);
  }
  return {
    node: step.node, draw,
    tick() { for (const node of waiting.querySelectorAll("[data-until]")) node.textContent = left(Number(node.dataset.until) + clock.ahead); },
  };
}

const codeCard = (pending) => h("div", { class: "row code-card" },
  s("svg", { viewBox: `0 0 ${pending.size} ${pending.size}`, class: "qr", role: "img", "aria-label": pending.address }, s("path", { d: pending.qr })),
  h("div", { class: "stack" },
    h("p", {}, parts("setup.login.open", { page: h("a", { href: pending.address, target: "_blank", rel: "noreferrer" }, "twitch.tv/activate") })),
    h("p", {}, h("b", { class: "user-code" }, pending.code)),
    h("p", { class: "meta" }, parts("setup.login.valid", { left: h("span", { data: { until: pending.until } }) }))));

function modeStep() {
  const choose = (event) => step.run("mode", { mode: event.currentTarget.dataset.mode }, event.currentTarget);
  const buttons = MODES.map((mode) => button(h("span", {}, h("b", {}, t(`mode.${mode}.title`)), h("span", { class: "meta" }, t(`mode.${mode}.about`))), choose, { class: "kind", data: { mode } }));
  const step = frame(5, "mode", h("div", { class: "kinds" }, buttons));
  function draw() {
    const mode = state.now?.mode ?? "shadow";
    for (const node of buttons) node.setAttribute("aria-pressed", String(node.dataset.mode === mode));
    step.done(mode !== "shadow", t(`mode.${mode}.title`));
  }
  return { node: step.node, draw };
}

function hearingStep() {
  const obs = input({ maxlength: 200, placeholder: "ws://127.0.0.1:4455" });
  const password = secret();
  const source = h("select", { onchange: () => { source.dataset.typed = "1"; } });
  const captions = input({ maxlength: 1000, placeholder: "C:/captions.txt" });
  const programs = h("input", { type: "checkbox", onchange: () => { programs.dataset.typed = "1"; } });
  const find = button(t("setup.hearing.find"), look);
  const save = button(t("save"), send, { class: "primary" });
  const last = h("p", { class: "meta", "aria-live": "polite" });
  const step = frame(6, "hearing", h("p", { class: "meta" }, t("setup.hearing.how")),
    field(t("setup.hearing.obs"), obs), field(t("setup.hearing.password"), password, t("setup.model.key_note")),
    h("div", { class: "row" }, find), field(t("setup.hearing.source"), source), field(t("setup.hearing.captions"), captions),
    h("label", { class: "row" }, programs, h("span", {}, t("setup.hearing.programs"))), h("div", { class: "row" }, save), last);
  const offer = (names, chosen) => put(source, ["", ...names].map((name) => h("option", { value: name, selected: name === chosen }, name || t("settings.none"))));
  async function look() {
    const answer = await step.run("sources", { obs: obs.value || obs.placeholder, password: password.value }, find);
    if (!answer) return;
    obs.value ||= obs.placeholder;
    obs.dataset.typed = source.dataset.typed = "1";
    password.value = "";
    offer(answer.sources, answer.sources.includes(source.value) ? source.value : answer.sources[0]);
  }
  async function send() {
    const body = { obs: obs.value, source: source.value, captions: captions.value, programs: programs.checked };
    if (await step.run("hearing", body, save)) untyped(obs, source, captions, programs);
  }
  function draw(data) {
    follow(obs, data.obs);
    follow(captions, data.captions);
    if (!programs.dataset.typed) programs.checked = data.programs;
    if (!source.dataset.typed && source.value !== data.source || !source.childElementCount) offer(data.source ? [data.source] : [], data.source);
    const on = data.source || data.captions || data.programs;
    step.done(Boolean(on), t(on ? "settings.on" : "setup.login.optional"));
    step.troubled(data.now?.trouble);
    put(last, data.now && (data.now.last ? t("setup.hearing.last", { ago: ago(data.now.last_at), text: data.now.last }) : t("setup.hearing.waiting")),
      data.now && !data.offline && state.now?.live === false && [h("br"), t("setup.hearing.off_air")]);
  }
  return { node: step.node, draw };
}
