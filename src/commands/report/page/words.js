"use strict";
// Sentences and tables.

const surveys = { norms: "norms of gradients", moments: "means and spreads of columns" };

/// What is protected: one record, all records of one person at an agent, or all data of an agent.
function protectedUnit() {
  const most = ledger.unit_agents || 1, where = most > 1 ? `up to ${most} agents` : "one agent";
  const one = ledger.unit_column ? `all records of one ${ledger.unit_column} at ${where}` : most > 1 ? `one record at each of ${where}` : "one record";
  const agents = most > 1 ? where : "one agent";
  return {
    agent: `all data of ${agents} replaced`, "agent-zero-out": `the contribution of ${agents} taken out`, record: `${one} replaced`,
    "record-zero-out": `the contribution of ${one} taken out`, "record-add-remove": `${one} added or removed`,
  }[ledger.adjacency] || ledger.adjacency;
}

function statusWords() {
  const { planned, completed, accounted } = ledger.rounds;
  const counted = `${accounted} rounds of messages are counted`;
  if (isLive && ledger.status === "running") return `The run goes on. All ${planned} planned rounds are counted: an upper bound.`;
  switch (ledger.status) {
    case "completed": return `The run completed all ${planned} rounds; ${counted}.`;
    case "interrupted": return `The run was stopped after ${completed} of ${planned} planned rounds; ${counted}.`;
    case "failed": return `The run failed after ${completed} of ${planned} planned rounds. Messages of a started round may have left, so all planned rounds are counted: an upper bound.`;
    default: return `The run has not ended, or was killed (${completed} of ${planned} rounds were completed when the ledger was last written). All planned rounds are counted: an upper bound.`;
  }
}

function addFact(box, value, text) { box.append(element("div", {}, element("b", {}, value), element("span", {}, text))); }

function showSummary() {
  const run = data.directory.replace(/\/+$/, "").split("/").pop();
  document.getElementById("run-name").textContent = run;
  const badge = document.getElementById("status");
  badge.textContent = ledger.status === "running" && !isLive ? "running or killed" : ledger.status;
  badge.classList.add(ledger.status);
  const box = document.getElementById("facts");
  const summary = data.summary || {};
  addFact(box, ledger.mechanism, "mechanism");
  addFact(box, String(ledger.agents.length), "agents");
  // Of a run that goes on the ledger counts all planned rounds; metrics.csv says how far it is.
  const completed = data.live === null ? ledger.rounds.completed : lastOf("round") || 0;
  addFact(box, `${completed} of ${ledger.rounds.planned}`, "rounds");
  const target = ledger.target.epsilon;
  if (summary.constant_accuracy !== null && summary.constant_accuracy !== undefined) addFact(box, `${shown(100 * summary.constant_accuracy, 4)} %`, "accuracy of a constant prediction");
  const spent = data.live === null || ledger.headline.infinite ? epsilonOf(ledger.headline) : lastOf("epsilon");
  addFact(box, shown(spent, 4), `epsilon spent${target ? `, of ${shown(target)}` : ""} (delta ${tiny(ledger.delta)})`);
  if (summary.test_loss !== null && summary.test_loss !== undefined) addFact(box, shown(summary.test_loss, 4), "test loss (mean over agents)");
  if (summary.test_accuracy !== null && summary.test_accuracy !== undefined) addFact(box, `${shown(100 * summary.test_accuracy, 4)} %`, "test accuracy (mean)");
  if (summary.seconds) addFact(box, seconds(summary.seconds.total), `on ${summary.processes} ${summary.processes === 1 ? "process" : "ranks"}`);
  const task = data.options.flatMap((group) => group.options).find(([option]) => option === "task");
  addFact(box, task ? task[1].split("/").pop() : "task", data.manifest ? data.manifest.task : "task");
}

function showMissing() {
  const missing = document.getElementById("missing");
  const lines = [...data.missing];
  if (data.failure) lines.unshift(`The run failed: ${data.failure.trim()}`);
  for (const view of data.views) if (view.observers === 0 && view.note)
    lines.push(`Observers with ${view.words.gist}: ${view.note}`);
  missing.hidden = lines.length === 0;
  for (const line of lines) missing.append(element("p", {}, line));
}

/// What the worst observer of every kind learns, as bars from 0: first of all one agent that sees what its neighbours send.
function showVerdict() {
  const rows = [];
  const add = (view, size, who) => {
    const worst = view && view.worst(size);
    if (worst) rows.push({ who, epsilon: worst.epsilon, mean: worst.mean, sound: view.sound,
      about: worst.members.length === 0 ? `about ${nameOf(worst.target)}` : `${listed(worst.members)} about ${nameOf(worst.target)}` });
  };
  add(views.partial, 1, "One curious agent, from what its neighbours send");
  add(guaranteed, 0, "An outsider who records every message");
  add(guaranteed, 1, "One curious agent that has every message");
  const box = document.getElementById("verdict");
  if (rows.length === 0) { box.hidden = true; return; }
  const largest = Math.max(...rows.map((row) => row.epsilon).filter(Number.isFinite), ledger.target.epsilon || 0) || 1;
  for (const row of rows)
    box.append(barRow(row.who, row.epsilon, largest, `${row.about}; mean over all ${shown(row.mean)}${row.sound ? "" : "; no guarantee"}`));
  if (ledger.target.epsilon) box.append(barRow("Budget", ledger.target.epsilon, largest, ledger.headline.observer, "budget"));
  box.append(element("p", { class: "hint" }, `Epsilon: the most they learn of one protected unit (${protectedUnit()}), on a scale from 0.`),
    ...data.left_out.map((line) => element("p", { class: "hint left-out" }, `Left out: ${line}.`)));
}

/// Agents that attack, as the view of an audit names them.
function attackers() { return data.audit ? (data.audit.view.match(/\d+/g) || []).map(Number) : []; }
function attacked(agent) {
  return data.audit !== null && (data.audit.target === agent || (data.audit.person || []).includes(agent) ||
    (data.audit.targets || []).some((row) => row.target === agent));
}

/// What an audit's attackers found out, beside what the accountant allows.
function showAttack() {
  const audit = data.audit;
  if (!audit) return;
  document.getElementById("attack").hidden = false;
  const who = attackers();
  const words = document.getElementById("attack-words");
  const about = audit.person ? `about a person at ${listed(audit.person)}`
    : audit.target === undefined ? "about the others" : `about ${nameOf(audit.target)}`;
  words.append(element("p", {}, `${who.length > 0 ? listed(who).replace(/^a/, "A") : "An outsider"} attacked ${about} (${audit.view}, ${audit.attack}, confidence ${audit.confidence}).`));
  words.append(element("p", { class: audit.consistent ? "" : "warning" }, audit.consistent
    ? "What they found out agrees with the accountant." : `They found out more than the accountant allows: ${audit.findings.join("; ")}`));
  const bars = [];
  if (audit.epsilon_theory !== undefined) {
    const accounted = audit.infinite ? Infinity : audit.epsilon_theory;
    bars.push(["Accounted: epsilon", accounted, "at most", ""], ["Measured: epsilon", audit.epsilon_lower, "at least, by this attack", "budget"]);
  }
  const box = document.getElementById("attack-bars");
  const add = (rows) => {
    const largest = Math.max(...rows.map((row) => row[1]).filter(Number.isFinite)) || 1;
    for (const [name, value, text, kind] of rows) box.append(barRow(name, value, largest, text, kind));
  };
  if (bars.length > 0) add(bars);
  if (Number.isFinite(audit.mu_empirical))
    add([["Accounted: mu", audit.mu_theory, "distance of the two cases in standard deviations of the noise", ""],
      ["Measured: mu", audit.mu_empirical, `between ${shown(audit.mu_lower)} and ${shown(audit.mu_upper)}`, "budget"]]);
  const rows = (audit.targets || []).slice(0, 20);
  if (rows.length === 0) return;
  const plain = (value) => (typeof value === "number" ? { number: shown(value, 4) } : String(value === null ? "-" : value));
  const columns = Object.keys(rows[0]).filter((key) => typeof rows[0][key] !== "object" || rows[0][key] === null);
  document.getElementById("attack-targets").append(table(columns.map((key) => key.replaceAll("_", " ")),
    rows.map((row) => columns.map((key) => plain(row[key])))));
}

/// A bar of a scale that begins at 0, and what it is.
function barRow(name, epsilon, largest, about, kind = "") {
  const share = Number.isFinite(epsilon) ? Math.min(1, epsilon / largest) : 1;
  const bar = element("span", { class: `bar ${Number.isFinite(epsilon) ? kind : "broken"}`, style: `width:${(100 * share).toFixed(2)}%` });
  return element("div", { class: "bar-row", "data-epsilon": String(epsilon) },
    element("span", { class: "bar-name" }, name, " ", element("small", {}, about)),
    element("span", { class: "bar-track" }, bar), element("b", {}, shown(epsilon)));
}

function showGraphWords() {
  const edges = data.graph.edges.length;
  document.getElementById("graph-about").textContent =
    `${agents} agents and ${edges} edges: ${data.graph.description}. ${data.graph.directed ? "Agents send models along the arrows only" : "Agents send models to their neighbours only"}. ` +
    (large ? `The drawing has ${mostDrawn} agents around the observer, or around whom most is learnt about. ` :
      everyEdge > 1 ? `The drawing has ${drawnEdges.length} of the edges, spread over all. ` : "") +
    `Colours say how much the chosen observers can learn about each agent (${protectedUnit()}), over the whole run.` +
    (data.graph.notes.length > 0 ? ` Note: ${data.graph.notes.join("; ")}.` : "");
}

/// What was chosen for options that nobody gave, and what was spent on measuring for it.
function tuningWords() {
  const tuning = data.summary && data.summary.tuning;
  const measured = ledger.phases.filter((phase) => phase.survey).map((phase) => surveys[phase.survey]);
  const paid = measured.length > 0 ? ` Before it, agents measured ${measured.join(" and ")} together, with noise; every epsilon here counts that.` : "";
  if (!tuning) return paid.trim();
  const batch = tuning.batch < 1 ? `${shown(100 * tuning.batch)} % of an agent's records` : `${tuning.batch} records`;
  return `Chosen without knobs: ${tuning.rounds} rounds, batches of ${batch}, clip ${shown(tuning.clip_norm)} and a mean step of ${shown(tuning.step_size)}.` +
    `${paid} ${tuning.mu_share > 0 ? `The norms took ${shown(100 * tuning.mu_share)} % of the budget.` : ""}`;
}

function guaranteeWords() {
  const headline = ledger.headline;
  if (headline.infinite) return `Against ${headline.observer} there is no guarantee: epsilon is infinite.`;
  const target = ledger.target.epsilon;
  return `Against ${headline.observer}, epsilon is ${shown(headline.epsilon, 4)} at delta ${tiny(ledger.delta)}` +
    `${headline.mu !== null ? ` (mu ${shown(headline.mu, 4)} of Gaussian differential privacy)` : ""}, for the agent that is exposed most` +
    `${target ? `; the budget asked for is ${shown(target)}` : ""}.`;
}

/// Observers of one size in words.
function observersOf(view, size) {
  if (size === 0) return `${view.words.nobody} (${view.words.names[0]})`;
  return size === 1 ? view.words.one : `${size} ${view.words.several}`;
}

function worstRow(view, size) {
  const worst = view.worst(size);
  if (!worst) return null;
  const all = worst.observers === worst.of;
  const name = observersOf(view, size);
  return [all || size === 0 ? name : `${name} (${worst.observers} of ${worst.of} looked at)`,
    { number: shown(worst.epsilon, 4) }, { number: shown(worst.mean, 4) },
    worst.members.length === 0 ? nameOf(worst.target) : `${listed(worst.members)} about ${nameOf(worst.target)}`, view.argument];
}

function showPrivacy() {
  document.getElementById("privacy-about").textContent =
    `Protected: ${protectedUnit()}; participation ${ledger.participation}. ${guaranteeWords()}`;
  document.getElementById("tuning").textContent = tuningWords();
  drawAgents();
  const rows = [];
  for (const view of Object.values(views))
    for (let size = view.smallest; view.placeOf([...Array(size).keys()]) >= 0 && size < agents; ++size)
      rows.push(worstRow(view, size));
  if (guaranteed && guaranteed.bound) rows.push(worstRow(guaranteed, guaranteed.bound.size));
  for (const view of ledger.views || [])
    rows.push([`Asked for: ${view.view} (after ${view.rounds} rounds)`, { number: shown(epsilonOf(view), 4) },
      { number: view.mean_epsilon === null ? "\u221e" : shown(view.mean_epsilon, 4) },
      `${view.observers.length > 0 ? listed(view.observers) + " about " : ""}${nameOf(view.target)}`, view.argument]);
  const box = document.getElementById("views-table");
  const known = rows.filter((row) => row !== null);
  if (known.length === 0) box.append(element("p", {}, "The accountant gave no figures (see above)."));
  else box.append(table(["observer", { number: "largest epsilon" }, { number: "mean" }, "who learns most about whom", "why it holds"], known));
  if (known.some((row) => row[4].startsWith("non-adaptive")))
    box.append(element("p", { class: "hint" }, "Non-adaptive: exact for gradients fixed in advance; in a training others' gradients carry data on, so such a figure is no guarantee. [U]: unified guarantees for decentralized learning by matrix factorization."));
  showAgents();
}

/// Figures of every agent or, of very many, of those with the largest and of one that is looked for.
function showAgents() {
  const box = document.getElementById("agents-table");
  const rows = (some) => table(
    ["agent", { number: "epsilon" }, { number: "budget" }, { number: "mu" }, { number: "sensitivity" }, ""],
    some.map((a) => [nameOf(a.agent), { number: shown(epsilonOf(a), 6) },
      { number: a.target_epsilon === null ? "none" : shown(a.target_epsilon) }, { number: a.mu === null ? (a.infinite ? "\u221e" : "-") : shown(a.mu, 6) },
      { number: shown(a.sensitivity, 4) }, a.left_after !== undefined ? `left after round ${a.left_after}` : ""]));
  if (!large) { box.append(rows(ledger.agents)); return; }
  const input = element("input", { id: "find-agent", type: "text", size: "8" });
  const found = element("div", {});
  input.addEventListener("input", () => {
    const one = ledger.agents.find((a) => String(a.agent) === input.value.trim() || labels[a.agent] === input.value.trim());
    found.replaceChildren(...(one ? [rows([one])] : []));
  });
  const most = [...ledger.agents].sort((a, b) => epsilonOf(b) - epsilonOf(a) || a.agent - b.agent).slice(0, mostListed);
  box.append(element("p", { class: "choice" }, element("label", {}, "Agent ", input)), found,
    element("p", { class: "hint" }, `The ${most.length} with the largest figures of ${ledger.agents.length}; ledger.json has all:`), rows(most));
}

function showLedger() {
  const box = document.getElementById("ledger-words");
  const noise = ledger.noise;
  box.append(element("p", {}, `${statusWords()} ${guaranteeWords()}`));
  const lines = [...ledger.statements];
  for (const other of ledger.observers)
    lines.push(other.infinite ? `Against ${other.observer}: not protected, epsilon is infinite${other.agent !== undefined ? ` (agent ${other.agent} about agent ${other.target})` : ""}.`
      : `Against ${other.observer}: epsilon ${shown(other.epsilon, 4)}${other.agent !== undefined ? ` (agent ${other.agent} about agent ${other.target})` : ""}.`);
  if (!noise.insecure && ledger.mechanism !== "none") lines.push(`Keys of the noise came from: ${noise.keys}. Every agent draws from up to ${noise.streams_per_agent} streams a round.`);
  if (ledger.authentication && ledger.authentication !== "unauthenticated") lines.push(`Every agent proved to be one of the ${ledger.authentication}.`);
  box.append(element("ul", {}, ...lines.map((line) => element("li", {}, line))));
  if (ledger.phases.length > 1) {
    box.append(element("h3", {}, "Phases"), table(["what", "from round", "rounds sent", "key epoch", "agents gone", "plan"],
      ledger.phases.map((p) => [p.survey ? `measured ${surveys[p.survey]}` : "training", String(p.first_round), String(p.rounds), String(p.key_epoch), p.agents_gone.length > 0 ? p.agents_gone.join(", ") : "nobody", element("code", {}, p.plan_hash.slice(0, 16))])));
  }
  if (ledger.views && ledger.views.length > 0) {
    box.append(element("h3", {}, "Additional views"), element("ul", {}, ...ledger.views.map((view) =>
      element("li", {}, `${view.view}, after ${view.rounds} rounds: epsilon ${shown(epsilonOf(view), 4)}. ${view.statement}`))));
  }
}

function showOptions() {
  const box = document.getElementById("option-tables");
  for (const group of data.options)
    box.append(element("div", {}, element("h3", {}, group.title), table(["option", "value"], group.options.map(([option, value]) => [option, value]))));
  const made = data.manifest;
  document.getElementById("footer").textContent =
    `${made ? `The run was made by sotto ${made.version} (commit ${made.commit}, ${made.compiler}), run id ${made.run_id.slice(0, 16)}, ${made.network}. ` : ""}` +
    `This page was made by ${data.program}; every figure is the accountant's. It fetches nothing. ` +
    `Curves and bars: Chart.js ${Chart.version} (MIT licence); graph, scales and colours: D3 ${d3.version} (BSD licence).`;
}
