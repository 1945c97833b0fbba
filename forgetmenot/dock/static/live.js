// What happens, as it happens. After a lost connection it begins anew; an update reloads the page.

import { build, events } from "./api.js";
import { clock } from "./words.js";

export const state = { now: null, items: new Map(), connection: "connecting", restarting: 0, fresh: true, lostAt: 0 };
let tell = () => {};
let source = null;
let pause = 1000;
export const listen = (call) => { tell = call; };

function connected(how) {
  if (state.connection === how) return;
  const before = state.connection;
  state.connection = how;
  state.lostAt = how === "lost" ? Date.now() : 0;
  tell("connection", before);
}

const handlers = {
  hello(data) {
    clock.set(data.at);
    if (data.build !== build) return location.reload();
    if (data.fresh) handlers.gone([...state.items.keys()]);
    state.fresh = data.fresh; // what comes now was there before
    pause = 1000;
    connected("live");
  },
  now(data) {
    if (data.at) clock.set(data.at);
    state.now = data;
    tell("now", data);
  },
  items(data) {
    const newest = Math.max(0, ...data.map((item) => item.at));
    if (newest > clock.now()) clock.set(newest); // a replay's time goes in leaps
    for (const item of data) state.items.set(item.key, item);
    tell("items", data);
    state.fresh = false;
  },
  gone(keys) {
    for (const key of keys) state.items.delete(key);
    tell("gone", keys);
  },
  changed() { tell("changed"); },
};

// Chat that is too old to be kept is not kept here either: a dock stays open for days.
export function age() {
  if (!state.now) return;
  const oldest = clock.now() - state.now.raw_h * 3_600_000;
  const keys = [...state.items.values()].filter((item) => item.kind === "line" && item.at < oldest).map((item) => item.key);
  if (keys.length) handlers.gone(keys);
}

export function disconnect() {
  source?.abort();
  source = null;
}

export async function connect() {
  disconnect();
  const mine = source = new AbortController();
  let refused = false;
  try {
    for await (const [name, data] of events(mine.signal)) handlers[name]?.(data);
  } catch (problem) {
    refused = problem.status === 401;
  }
  if (source !== mine) return; // another one has begun
  connected("lost");
  if (refused) return;
  setTimeout(() => { if (source === mine) connect(); }, pause);
  pause = Math.min(pause * 1.6, 15_000);
}
