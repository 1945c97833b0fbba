// A long list of which only what is near the screen exists: pages of rows, each fetched when it comes near, and emptied
// (its height kept) when it is far away again.

import { h, put, empty } from "./dom.js";

const PAGE = 50;

export function windowed({ fetchPage, row, nothing, rowHeight = 64, label }) {
  const root = h("div", { class: "list", role: "list", "aria-label": label });
  let watcher = null;
  let run = 0;

  async function reload() {
    const mine = ++run;
    const first = await fetchPage(0, PAGE);
    if (mine !== run) return first;
    watcher?.disconnect();
    watcher = new IntersectionObserver(near, { rootMargin: "600px 0px" });
    const pages = Math.max(1, Math.ceil(first.total / PAGE));
    const blocks = Array.from({ length: pages }, (_, number) => {
      const rows = Math.min(PAGE, first.total - number * PAGE);
      const block = h("div", { class: "page", data: { page: number } });
      block.style.minHeight = number ? `${rows * rowHeight}px` : "";
      return block;
    });
    if (first.total === 0) put(root, empty(nothing));
    else {
      fill(blocks[0], first.rows);
      root.replaceChildren(...blocks);
      for (const block of blocks) watcher.observe(block);
    }
    root.dataset.total = first.total;
    return first;
  }

  function fill(block, rows) {
    put(block, rows.map((one) => {
      const node = row(one);
      node.setAttribute("role", "listitem");
      return node;
    }));
    block.style.minHeight = "";
    block.dataset.full = "1";
  }

  function near(entries) {
    for (const entry of entries) {
      const block = entry.target;
      if (entry.isIntersecting) bring(block);
      else if (block.dataset.full && !block.contains(document.activeElement)) {
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

  return { root, reload, close: () => watcher?.disconnect() };
}
