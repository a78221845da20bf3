"use strict";
// What the program put into the page, and how numbers are written.

const data = JSON.parse(document.getElementById("data").textContent);
const ledger = data.ledger;
// An agent is called as in the graph's file, or by its own file of data, or by its number alone.
const files = (data.manifest && data.manifest.data && data.manifest.data.agent_files) || [];
const labels = data.graph ? data.graph.labels.map((label, agent) => (label === String(agent) && files[agent]) || label) : [];
const agents = labels.length;
// More lines than this nobody tells apart, and they take seconds: then every k-th edge is drawn.
const mostLines = 6000;
const everyEdge = data.graph ? Math.ceil(data.graph.edges.length / mostLines) : 1;
const drawnEdges = data.graph ? data.graph.edges.filter((_, at) => at % everyEdge === 0) : [];

// Of more agents than this the page shows groups, those with most to lose, and the surroundings of one.
const large = agents > 2000;
const mostDrawn = 150, mostListed = 10;

let adjacency = null;
/// Agents by distance from these, nearest first, ignoring directions: [[agent, distance], ...]; at most so many.
function around(members, most = agents) {
  if (adjacency === null) {
    adjacency = labels.map(() => []);
    for (const [u, v] of data.graph.edges) { adjacency[u].push(v); adjacency[v].push(u); }
  }
  const found = new Map(members.map((u) => [u, 0]));
  for (const [u, distance] of found) {  // a Map is walked in the order in which it grows
    for (const v of adjacency[u]) if (found.size < most && !found.has(v)) found.set(v, distance + 1);
    if (found.size >= most) break;
  }
  return [...found];
}
function degreeOf(agent) { return adjacency === null ? (around([agent], 1), adjacency[agent].length) : adjacency[agent].length; }

/// Agents in groups by number: [[name, agents], ...], each value by itself or, where they are many, ranges of about as many agents.
function grouped(valueOf, some = [...labels.keys()], mostGroups = 12) {
  const byValue = new Map();
  for (const u of some) {
    const value = valueOf(u);
    if (!byValue.has(value)) byValue.set(value, []);
    byValue.get(value).push(u);
  }
  const values = [...byValue.keys()].sort((a, b) => a - b);
  const groups = [];
  const wanted = values.length <= mostGroups ? 1 : some.length / mostGroups;
  for (const value of values) {
    const last = groups[groups.length - 1];
    if (last && last.agents.length < wanted) { last.to = value; last.agents = last.agents.concat(byValue.get(value)); }
    else groups.push({ from: value, to: value, agents: byValue.get(value) });
  }
  return groups.map(({ from, to, agents: there }) => [from === to ? String(from) : `${from} to ${to}`, there]);
}

function floats(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

function shown(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not known";
  if (!Number.isFinite(value)) return "\u221e";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 1);
  return Number(value.toPrecision(Math.max(digits, Math.floor(Math.log10(size || 1)) + 1))).toString();
}

/// A small parameter: 1e-5, not 0.00001.
function tiny(value) { return value > 0 && value < 0.01 ? value.toExponential() : String(value); }

/// Of the ledger: null where it is infinite.
function epsilonOf(entry) { return entry.infinite ? Infinity : entry.epsilon; }

function seconds(value) {
  if (value >= 120) return `${shown(value / 60)} min`;
  return value >= 1 || value === 0 ? `${shown(value)} s` : `${shown(value * 1000)} ms`;
}

function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; ++unit; }
  return `${shown(value)} ${units[unit]}`;
}

function nameOf(agent) {
  return labels[agent] === undefined || labels[agent] === String(agent) ? `agent ${agent}` : `agent ${agent} (${labels[agent]})`;
}

function listed(members) {
  if (members.length === 0) return "nobody";
  const names = members.map((u, i) => (i === 0 || labels[u] !== String(u) ? nameOf(u) : String(u)));
  if (members.length === 1) return names[0];
  names[0] = names[0].replace(/^agent /, "agents ");
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1].replace(/^agent /, "")}`;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/// Rows of cells; a cell is text, an element, or {number: text}.
function table(heads, rows) {
  const cell = (tag, content) => {
    const number = content !== null && typeof content === "object" && "number" in content;
    return element(tag, number ? { class: "number" } : {}, number ? content.number : content);
  };
  const head = element("tr", {}, ...heads.map((h) => cell("th", h)));
  const body = rows.map((row) => element("tr", {}, ...row.map((c) => cell("td", c))));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const tip = document.getElementById("tip");
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const right = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 14 + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 14;
  tip.style.left = `${right}px`;
  tip.style.top = `${below}px`;
}
function hideTip() { tip.hidden = true; }
