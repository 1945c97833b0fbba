// Doing something: one call, one sentence afterwards, and a question before what cannot be undone.

import { h, put, button } from "./dom.js";
import { post } from "./api.js";

let hiding = 0;

export function say(line, ok = true) {
  const toast = document.getElementById("toast");
  if (!toast) return;
  put(toast, h("p", { class: ok ? "good" : "bad" }, line));
  toast.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => toast.classList.remove("shown"), 6000);
}

export async function act(name, body = {}, from = null) {
  if (from) from.disabled = true;
  try {
    const told = await post(`do/${name}`, body);
    say(told.line, told.ok);
    return told.ok;
  } catch (problem) {
    say(problem.message, false);
    return false;
  } finally {
    if (from) from.disabled = false;
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
  dialog.addEventListener("close", () => { dialog.remove(); back?.isConnected && back.focus(); });
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
