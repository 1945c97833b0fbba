// A long list: the next rows are fetched when its end comes near the screen.

import { h, put, empty, keeping } from "./dom.js";
import { failed } from "./ask.js";

const PAGE = 50, MOST = 200; // rows at a time; the bot gives no more than 200

export function longList({ fetchPage, row, nothing, label }) {
  const list = h("div", { class: "list", role: "group", "aria-label": label });
  const end = h("div", {});
  const root = h("div", { class: "stack" }, list, end);
  const watcher = new IntersectionObserver(([{ isIntersecting }]) => { if (isIntersecting) more(); }, { rootMargin: "600px 0px" });
  let rows = [];
  let total = 0;
  let drawn = "";
  let coming = false;
  let run = 0; // an answer to an older question is not shown

  const item = (one) => {
    const node = row(one);
    if (node.tagName === "A") return h("div", { role: "listitem" }, node); // and stays a link
    node.setAttribute("role", "listitem");
    return node;
  };

  // As many rows as are wanted, from the start; null if they could not be had, or are not wanted any more.
  async function fetched(wanted, complain) {
    const mine = ++run;
    const found = [];
    try {
      do {
        const page = await fetchPage(found.length, Math.min(MOST, wanted - found.length));
        found.push(...page.rows);
        total = page.total;
      } while (mine === run && found.length < Math.min(wanted, total));
    } catch (problem) {
      if (mine === run && complain) failed(list, problem, reload);
      return null;
    }
    return mine === run ? found : null;
  }

  function show(found) {
    const text = JSON.stringify(found);
    if (text === drawn && list.childElementCount) return;
    [rows, drawn] = [found, text];
    list.setAttribute("role", rows.length ? "list" : "group"); // an empty list is none
    keeping(list, () => put(list, rows.length ? rows.map(item) : empty(nothing())));
  }

  async function reload() {
    const found = await fetched(PAGE, true);
    if (!found) return;
    drawn = "";
    show(found);
    watcher.observe(end);
  }

  // What is shown as it is now: whoever is writing goes on.
  async function refresh() {
    if (!drawn) return reload();
    if (list.querySelector("form")) return null;
    const found = await fetched(Math.max(PAGE, rows.length), false);
    if (found && !list.querySelector("form")) show(found);
    return null;
  }

  async function more() {
    if (coming || !rows.length || rows.length >= total) return;
    coming = true;
    const mine = run;
    const page = await fetchPage(rows.length, PAGE).catch(() => null); // asked for again when the end comes near again
    coming = false;
    if (!page || mine !== run) return;
    rows = [...rows, ...page.rows];
    drawn = JSON.stringify(rows);
    list.append(...page.rows.map(item));
    watcher.unobserve(end);
    watcher.observe(end); // it may be near still
  }

  return { root, reload, refresh, close: () => { run += 1; watcher.disconnect(); } };
}
