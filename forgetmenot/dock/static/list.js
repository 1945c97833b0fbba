// A long list of which only what is near the screen exists: pages of rows, each fetched when it comes near, and emptied
// (its height kept) when it is far away again, unless somebody writes in it.

import { h, put, empty, keeping } from "./dom.js";
import { failed } from "./ask.js";

const PAGE = 50;

export function windowed({ fetchPage, row, nothing, rowHeight = 64, label }) {
  const root = h("div", { class: "list", role: "list", "aria-label": label });
  const drawn = new WeakMap();
  let watcher = null;
  let run = 0;

  // From the start; what was fetched first, or null if it could not be.
  async function reload() {
    const mine = ++run;
    let first;
    try {
      first = await fetchPage(0, PAGE);
    } catch (problem) {
      if (mine === run) failed(root, problem, reload);
      return null;
    }
    if (mine !== run) return first;
    watcher?.disconnect();
    watcher = new IntersectionObserver(near, { rootMargin: "600px 0px" });
    const pages = Math.max(1, Math.ceil(first.total / PAGE));
    const blocks = Array.from({ length: pages }, (_, number) => {
      const rows = Math.min(PAGE, first.total - number * PAGE);
      const block = h("div", { class: "page", role: "presentation", data: { page: number } });
      block.style.minHeight = number ? `${rows * rowHeight}px` : "";
      return block;
    });
    keeping(root, () => {
      if (first.total === 0) return put(root, empty(typeof nothing === "function" ? nothing() : nothing));
      fill(blocks[0], first.rows);
      root.replaceChildren(...blocks);
    });
    if (first.total > 0) for (const block of blocks) watcher.observe(block);
    root.dataset.total = first.total;
    return first;
  }

  // What is shown as it is now: the place stays, and whoever is writing goes on.
  async function refresh() {
    const full = [...root.querySelectorAll(".page[data-full]")];
    if (!full.length) return reload();
    if (root.querySelector("form")) return null;
    const mine = run;
    for (const block of full) {
      let found;
      try {
        found = await fetchPage(Number(block.dataset.page) * PAGE, PAGE);
      } catch {
        return null; // it is shown as it was
      }
      if (mine !== run || root.querySelector("form")) return null;
      if (String(found.total) !== root.dataset.total) return reload();
      if (drawn.get(block) !== JSON.stringify(found.rows)) fill(block, found.rows);
    }
    return null;
  }

  function fill(block, rows) {
    keeping(block, () => put(block, rows.map((one) => {
      const node = row(one);
      if (node.tagName === "A") return h("div", { role: "listitem" }, node); // and stays a link
      node.setAttribute("role", "listitem");
      return node;
    })));
    drawn.set(block, JSON.stringify(rows));
    block.style.minHeight = "";
    block.dataset.full = "1";
  }

  function near(entries) {
    for (const entry of entries) {
      const block = entry.target;
      if (entry.isIntersecting) bring(block);
      else if (block.dataset.full && !block.contains(document.activeElement) && !block.querySelector("form")) {
        block.style.minHeight = `${block.offsetHeight}px`;
        block.replaceChildren();
        delete block.dataset.full;
      }
    }
  }

  async function bring(block) {
    if (block.dataset.full || block.dataset.coming) return;
    block.dataset.coming = "1";
    const mine = run;
    try {
      const found = await fetchPage(Number(block.dataset.page) * PAGE, PAGE);
      if (mine === run) fill(block, found.rows);
    } catch { /* tried again when it comes near the next time */ }
    delete block.dataset.coming;
  }

  return { root, reload, refresh, close: () => { run += 1; watcher?.disconnect(); } };
}
