// Doing something: one call, one sentence afterwards, and a question before what cannot be undone.

import { h, put, button, empty, sentence } from "./dom.js";
import { get, post, saveFile } from "./api.js";
import { state } from "./live.js";
import { named, t } from "./words.js";

const RESTARTS_WITHIN = 8_000;
const operations = await get("operations").catch(() => ({})); // what can be done, with its words: the bot's own table
let hiding = 0;
export const label = (name) => operations[name]?.label ?? name;
export const does = (name) => named("does", name, operations[name]?.does ?? ""); // without what only chat can type

export function say(line, ok = true, undo = null) {
  const toast = document.getElementById("toast");
  if (!toast) return;
  const back = async () => { toast.classList.remove("shown"); if (await act(undo.name, undo.body)) undo.then?.(); };
  put(toast, h("p", { class: ok ? "good" : "bad" }, h("span", {}, sentence(line)), ok && undo && button(label(undo.name), back, { class: "small" })));
  toast.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => toast.classList.remove("shown"), undo ? 10_000 : 6000);
}

// What could not be read is said in its place, with a way to try again. What is already shown stays.
export function failed(panel, problem, again) {
  if (problem.status === 401) return;
  if (panel.querySelector(".item, .chart, fieldset, table, svg")) return say(problem.message, false);
  put(panel, empty(problem.message), h("div", { class: "row center" }, button(t("try_again"), again, { class: "small" })));
}

export const back = () => h("a", { href: "#memory", class: "back" }, `← ${t("memory.people")}`);

// Reads and draws, now and at each call. An answer to an older call is not shown. `page`: all of it goes when what it
// shows is gone.
export function reading(panel, read, draw, page = null) {
  let calls = 0;
  async function refresh() {
    const call = ++calls;
    try {
      const data = await read();
      if (call === calls) await draw(data);
    } catch (problem) {
      if (page && problem.status === 404) put(page, back(), empty(problem.message));
      else failed(panel, problem, refresh);
    }
  }
  refresh();
  return refresh;
}

// `undo`: what takes it back, offered with the sentence; its `then` is called when it did.
export const act = async (...call) => (await result(...call)).ok;

// A button for one operation; `then` is called when it was done, and `undo` is offered.
export function doing(name, body, then, { undo = null, ...props } = {}) {
  const press = async (event) => { if (await act(name, body, event.currentTarget, undo)) then(); };
  return button(label(name), press, { class: "ghost small", title: does(name), ...props });
}

// A text that the bot writes, to be saved as a file.
export async function saveText(from, name, path, query = {}) {
  const file = await atWork(from, () => get(path, query).catch((problem) => say(problem.message, false)));
  if (file) saveFile(file.name ?? name, new Blob([file.text], { type: "text/plain" }));
}

// A field to search with: `call` is made when somebody stops typing.
export function searchField(call) {
  let timer = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(call, 200); };
  return h("input", { type: "search", "aria-label": t("find"), placeholder: t("find"), maxlength: 80, oninput: later });
}

// The same for whoever wants to know what came of it: `ok`, `line`, and what the operation gives.
export async function result(name, body = {}, from = null, undo = null) {
  const refused = (line) => ({ ok: false, line });
  const answer = await atWork(from, () => post(`do/${name}`, body).catch((problem) => refused(problem.message)));
  if (!answer) return refused("");
  say(answer.ok ? named("did", name, answer.line) : answer.line, answer.ok, undo);
  return answer;
}

// A button that is at work keeps the keyboard's place, which a disabled one loses, and is not pressed twice.
async function atWork(from, work) {
  if (from?.getAttribute("aria-disabled") === "true") return null;
  from?.setAttribute("aria-disabled", "true");
  try {
    return await work();
  } finally {
    from?.removeAttribute("aria-disabled");
  }
}

// A step of the set-up. A question that comes back is asked, and with a yes the step is done after all. Null: it failed.
export const step = (name, body = {}, from = null) => atWork(from, () => asked(name, body));

async function asked(name, body) {
  try {
    const answer = await post(`setup/${name}`, body);
    if (answer.restarting) state.restarting = Date.now() + RESTARTS_WITHIN;
    if (!answer.ask) return answer;
    const agreed = await confirmed({ title: answer.yes, text: answer.ask, yes: answer.yes, kind: "primary" });
    return agreed ? await asked(name, { ...body, sure: true }) : null;
  } catch (problem) {
    if (problem.status === 401) return null;
    if (problem.status !== 0 || state.restarting < Date.now()) return { ok: false, line: problem.message };
    await new Promise((go) => { setTimeout(go, 500); });
    return asked(name, body);
  }
}

// The same, and what came of it is said: its answer, or null if it was refused or failed.
export async function change(name, body = {}, from = null) {
  const answer = await step(name, body, from);
  if (answer?.line) say(answer.line, answer.ok);
  return answer?.ok ? answer : null;
}

// Something to take elsewhere: a field that cannot be changed, and the button that copies it.
export function copying(field, title) {
  const node = button(title, async () => {
    field.select();
    await navigator.clipboard.writeText(field.value).catch(() => document.execCommand("copy"));
    put(node, "✓");
  }, { class: "primary" });
  return node;
}

export function sheet(title, ...content) {
  const back = document.activeElement;
  const close = () => dialog.close();
  const dialog = h(
    "dialog", { class: "sheet", "aria-label": title },
    h("div", { class: "sheet-head" }, h("h2", {}, title), button(t("close"), close, { class: "ghost" })),
    h("div", { class: "sheet-body" }, ...content),
  );
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  const voice = document.getElementById("voice");
  const outside = voice?.parentNode;
  dialog.addEventListener("close", () => {
    if (voice) (outside.isConnected ? outside : document.body).append(voice);
    dialog.remove();
    const again = back?.isConnected ? back : back?.dataset.key && document.querySelector(`[data-key="${CSS.escape(back.dataset.key)}"]`);
    again?.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  if (voice) dialog.append(voice); // what lies outside an open sheet is neither seen above it nor heard
  dialog.showModal();
  return dialog;
}

export function confirmed({ title, text, type, yes, kind = "danger" }) {
  return new Promise((done) => {
    const go = h("button", { type: "submit", value: "yes", class: kind, disabled: Boolean(type) }, yes);
    const check = () => { go.disabled = field.value.trim().toLowerCase() !== type.toLowerCase(); };
    const field = type && h("input", { type: "text", autocomplete: "off", oninput: check });
    const form = h(
      "form", { class: "stack", method: "dialog" }, h("p", {}, text),
      type && h("label", { class: "field" }, t("type_to_confirm", { name: type }), field),
      h("div", { class: "row end" }, button(t("cancel"), () => dialog.close(), { class: "ghost" }), go),
    );
    const dialog = sheet(title, form);
    field?.focus();
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"));
  });
}
