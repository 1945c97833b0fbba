// Doing something: one call, one sentence afterwards, and a question before what cannot be undone.

import { h, put, button, empty } from "./dom.js";
import { post } from "./api.js";

let hiding = 0;

export function say(line, ok = true, undo = null) {
  const toast = document.getElementById("toast");
  if (!toast) return;
  const back = () => { toast.classList.remove("shown"); act(undo.name, undo.body); };
  put(toast, h("p", { class: ok ? "good" : "bad" }, line, ok && undo && button("Undo", back, { class: "small" })));
  toast.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => toast.classList.remove("shown"), undo ? 10_000 : 6000);
}

// What could not be read is told in its place, with a way to try again. What is shown already stays.
export function failed(room, problem, again) {
  if (problem.status === 401) return;
  if (room.querySelector(".item, .chart, fieldset, table, svg")) return say(problem.message, false);
  put(room, empty(problem.message), h("div", { class: "row center" }, button("Try again", again, { class: "small" })));
}

// `undo`: what takes it back, offered with the sentence.
export async function act(name, body = {}, from = null, undo = null) {
  const held = from !== null && document.activeElement === from;
  if (from) from.disabled = true;
  try {
    const told = await post(`do/${name}`, body);
    say(told.line, told.ok, undo);
    return told.ok;
  } catch (problem) {
    say(problem.message, false);
    return false;
  } finally {
    if (from) from.disabled = false;
    if (held && from.isConnected && document.activeElement === document.body) from.focus({ preventScroll: true });
  }
}

export function sheet(title, ...content) {
  const back = document.activeElement;
  const close = () => dialog.close();
  const dialog = h(
    "dialog", { class: "sheet", "aria-label": title },
    h("div", { class: "sheet-head" }, h("h2", {}, title), button("Close", close, { class: "ghost" })),
    h("div", { class: "sheet-body" }, ...content),
  );
  dialog.addEventListener("click", (event) => { if (event.target === dialog) close(); });
  dialog.addEventListener("close", () => {
    dialog.remove();
    const again = back?.isConnected ? back : back?.dataset.key && document.querySelector(`[data-key="${CSS.escape(back.dataset.key)}"]`);
    again?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function confirmed({ title, text, type, yes }) {
  return new Promise((done) => {
    const field = type && h("input", { type: "text", autocomplete: "off", "aria-label": `Type ${type} to confirm`, oninput: check });
    const go = button(yes, () => { dialog.returnValue = "yes"; dialog.close("yes"); }, { class: "danger" });
    function check() { go.disabled = field.value.trim().toLowerCase() !== type.toLowerCase(); }
    const dialog = sheet(
      title, h("p", {}, text),
      type && h("label", { class: "field" }, `Type “${type}” to confirm`, field),
      h("div", { class: "row end" }, button("Cancel", () => dialog.close(), { class: "ghost" }), go),
    );
    if (type) { go.disabled = true; field.focus(); }
    dialog.addEventListener("close", () => done(dialog.returnValue === "yes"));
  });
}
