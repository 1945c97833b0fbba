// The server: everything is asked with the token of the address. It stays in this tab's session and nowhere else.

import { language, t } from "./words.js";

const KEY = "forgetmenot-token";
export const build = `${document.querySelector("meta[name=build]").content}-${language}`; // what this page was made from
const given = new URLSearchParams(location.search).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.hash); // a shared screen must not show it
}
const token = () => ({ "X-Dock-Token": sessionStorage.getItem(KEY) || "" });

class Problem extends Error {
  constructor(line, status) {
    super(line);
    this.status = status;
  }
}

let onLost = () => {};
export const whenLockedOut = (call) => { onLost = call; };

async function read(answer) {
  const content = await answer.json().catch(() => ({}));
  if (answer.status === 401) onLost();
  if (!answer.ok) throw new Problem(content.line || t("frame.lost"), answer.status);
  return content;
}

async function fetched(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Problem(t("frame.lost"), 0);
  }
}

export async function get(path, query = {}) {
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== null));
  const text = asked.toString();
  return read(await fetched(`/api/${path}${text ? `?${text}` : ""}`, { headers: token() }));
}

// Events as they come. Read by hand, because a browser's own reader of them sends no header of ours.
export async function* events(signal) {
  const answer = await fetched("/api/events", { headers: token(), signal });
  if (!answer.ok) await read(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
    const whole = (rest + part.value).split("\n\n");
    rest = whole.pop();
    for (const one of whole) {
      const found = /^event: (\w+)\ndata: (.*)$/.exec(one);
      if (found) yield [found[1], JSON.parse(found[2])];
    }
  }
}

async function send(path, type, body) {
  const headers = { "Content-Type": type, ...token() };
  return read(await fetched(`/api/${path}`, { method: "POST", headers, body }));
}
export const post = (path, body = {}) => send(path, "application/json", JSON.stringify(body));
export const download = (name, value) => saveFile(name, new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));

export function saveFile(name, content) {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// A file as it is.
export const upload = (path, file) => send(`${path}?${new URLSearchParams({ name: file.name })}`, "application/octet-stream", file);
