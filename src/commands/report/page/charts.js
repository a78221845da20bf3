"use strict";
// Curves and bars by Chart.js, heat maps with D3's scales and axes.

const drawn = [];  // Chart objects, drawn again where colours change

function applyTheme() {
  Chart.defaults.color = style("--soft");
  Chart.defaults.borderColor = style("--line");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
}

function addChart(canvas, configuration) {
  const chart = new Chart(canvas, configuration());
  drawn.push({ chart, configuration });
}

function redrawCharts() {
  applyTheme();
  for (const entry of drawn) {
    const canvas = entry.chart.canvas;
    entry.chart.destroy();
    entry.chart = new Chart(canvas, entry.configuration());
  }
}

function axis(title, more = {}) { return { title: { display: true, text: title }, ...more }; }

const ticks = (value) => shown(value);

function lineChart(box, title, unit, series, more = {}) {
  const rounds = data.metrics.round || [];
  const known = series.filter(([column]) => (data.metrics[column] || []).some((value) => value !== null));
  if (known.length === 0) return;
  const canvas = element("canvas", { role: "img", "aria-label": title });
  box.append(element("div", { class: "chart" }, canvas));
  addChart(canvas, () => ({
    type: "line",
    data: {
      datasets: known.map(([column, label], i) => ({
        label, data: rounds.map((x, k) => ({ x, y: data.metrics[column][k] })),
        borderColor: palette[i], backgroundColor: palette[i], borderWidth: 1.8, pointRadius: 0, pointHitRadius: 12,
      })).concat((more.levels || []).map(([level, label]) => ({
        label, data: [{ x: 0, y: level }, { x: rounds[rounds.length - 1] || 1, y: level }],
        borderColor: style("--soft"), backgroundColor: style("--soft"), borderDash: [6, 4], borderWidth: 1.3, pointRadius: 0,
      }))),
    },
    options: {
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: axis("round", { type: "linear", max: rounds[rounds.length - 1], ticks: { maxTicksLimit: 8 } }),
        y: axis(unit, { type: more.logarithmic ? "logarithmic" : "linear", beginAtZero: Boolean(more.zero),
          ticks: { callback: ticks, maxTicksLimit: 7 } }),
      },
      plugins: {
        title: { display: true, text: title, color: style("--ink"), font: { size: 14 } },
        legend: { display: true, labels: { boxWidth: 18, boxHeight: 2 } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${shown(item.parsed.y, 4)}` } },
      },
    },
  }));
}

function drawLosses() {
  const box = document.getElementById("loss-charts");
  const summary = data.summary || {};
  const constant = (key) => (Number.isFinite(summary[key]) ? [[summary[key], "constant prediction"]] : []);
  lineChart(box, "Test loss", "loss", [["test_loss", "agents' own models, mean"], ["test_loss_worst", "worst agent"], ["test_loss_mean_model", "mean model"], ["train_loss_mean_model", "training data, mean model"]],
    { levels: constant("constant_loss") });
  lineChart(box, "Test accuracy", "share of records", [["test_accuracy", "agents' own models, mean"], ["test_accuracy_mean_model", "mean model"]],
    { levels: constant("constant_accuracy") });
  lineChart(box, "Optimality gap", "loss above the lowest", [["optimality_gap", "mean model"], ["optimality_gap_agents", "agents' own models"]], { logarithmic: true });
  lineChart(box, "Consensus distance", "distance from the mean model", [["consensus_distance", "root mean square over agents"]], { zero: true });
  const target = ledger.target && ledger.target.epsilon;
  lineChart(box, "Epsilon spent", "epsilon", [["epsilon", "spent so far"]], { zero: true, levels: target ? [[target, "budget"]] : [] });
  if (box.children.length === 0) box.append(element("p", {}, "There is no metrics.csv with a row in it."));
}

/// Epsilon of every agent against observers that see every message.
function drawAgents() {
  const box = document.getElementById("agents-chart");
  const all = guaranteed;
  if (!all || all.observers === 0) { box.parentElement.hidden = true; return; }
  const single = all.observers > 1 || all.bound ? all.worstOfEvery(1) : null;
  const finite = (values) => [...values].map((value) => (Number.isFinite(value) ? value : null));
  const bars = [["whoever records every message", all.row(0)]];
  if (single) bars.push(["the worst single agent that does", single]);
  if (bars.every(([, values]) => finite(values).every((value) => value === null))) { box.parentElement.hidden = true; return; }
  if (large) { drawAgentsByDegree(bars); return; }
  const targets = ledger.agents.map((entry) => entry.target_epsilon);
  addChart(box, () => ({
    data: {
      labels,
      datasets: [
        ...(targets.some((t) => t !== null) ? [{ type: "line", label: "budget", data: targets, borderColor: style("--ink"),
          backgroundColor: style("--ink"), borderWidth: 1.5, pointRadius: 0, stepped: "middle" }] : []),
        ...bars.map(([label, values], i) => ({ type: "bar", label, data: finite(values), backgroundColor: palette[i],
          categoryPercentage: 0.8, barPercentage: 0.95 })),
      ],
    },
    options: {
      scales: { x: axis("agent", { grid: { display: false } }), y: axis("epsilon", { beginAtZero: true, ticks: { callback: ticks } }) },
      plugins: {
        title: { display: true, text: "What observers with every message learn about each agent", color: style("--ink"), font: { size: 14 } },
        tooltip: { callbacks: { title: (items) => nameOf(items[0].dataIndex), label: (item) => `${item.dataset.label}: ${shown(item.parsed.y, 5)}` } },
      },
    },
  }));
}

/// Of very many agents: mean and largest figure of those with about as many neighbours.
function drawAgentsByDegree(bars) {
  const groups = grouped(degreeOf);
  const sets = bars.flatMap(([label, values]) => [
    [`${label}: mean`, groups.map(([, some]) => d3.mean(some, (u) => values[u]))],
    [`${label}: largest`, groups.map(([, some]) => d3.max(some, (u) => values[u]))]]);
  addChart(document.getElementById("agents-chart"), () => ({
    type: "bar",
    data: { labels: groups.map(([name, some]) => `${name} (${some.length})`),
      datasets: sets.map(([label, values], i) => ({ label, data: values.map((v) => (Number.isFinite(v) ? v : null)), backgroundColor: palette[i] })) },
    options: {
      scales: { x: axis("neighbours (agents)", { grid: { display: false } }), y: axis("epsilon", { beginAtZero: true, ticks: { callback: ticks } }) },
      plugins: { title: { display: true, text: "What observers with every message learn, by number of neighbours", color: style("--ink"), font: { size: 14 } } },
    },
  }));
}

function drawTimes() {
  const summary = data.summary;
  const about = document.getElementById("time-about");
  const box = document.getElementById("time-box");
  if (!summary || !summary.ranks || summary.ranks.length === 0) {
    about.textContent = summary ? "The run was made by a version that did not note the time of every rank." : "Not known: there is no summary.json.";
    box.hidden = true;
    return;
  }
  const s = summary.seconds;
  about.textContent = `${seconds(s.total)} in all: ${seconds(s.plan)} to solve the noise plan, ${seconds(s.loop)} in the rounds, ` +
    `${seconds(s.evaluate)} to evaluate. ${bytes(summary.bytes_sent)} were sent` +
    (summary.peak_memory_mib === null ? "." : `; the largest process took ${shown(summary.peak_memory_mib)} MiB.`) +
    (summary.resumed ? ` Seconds by phase are of the last start, from round ${summary.resumed.round} on.` : "");
  const ranks = summary.ranks;
  const who = (rank) => {
    const some = ranks[rank].agents;
    return some.length > 8 ? `${some.length} agents` : some.length === 1 ? `agent ${some[0]}` : `agents ${some.join(", ")}`;
  };
  addChart(document.getElementById("time-chart"), () => ({
    type: "bar",
    data: {
      labels: ranks.map((r) => r.rank),
      datasets: [["gradient", "gradients"], ["noise", "drawing noise"], ["exchange", "exchanging messages, waiting"], ["mix", "mixing"]]
        .map(([phase, label], i) => ({ label, data: ranks.map((r) => r.seconds[phase]), backgroundColor: palette[i], maxBarThickness: 60 })),
    },
    options: {
      indexAxis: ranks.length === 1 ? "y" : "x",
      scales: ranks.length === 1 ? { x: axis("seconds", { stacked: true }), y: axis("rank", { stacked: true }) }
        : { x: axis("rank", { stacked: true, grid: { display: false } }), y: axis("seconds", { stacked: true, ticks: { callback: ticks } }) },
      plugins: {
        title: { display: true, text: "Seconds of every rank in the rounds", color: style("--ink"), font: { size: 14 } },
        tooltip: { callbacks: {
          title: (items) => { const r = ranks[items[0].dataIndex]; return `rank ${r.rank} on ${r.host} (${who(items[0].dataIndex)})`; },
          label: (item) => `${item.dataset.label}: ${seconds(item.raw)}`,
          footer: (items) => { const r = ranks[items[0].dataIndex]; return `${bytes(r.bytes_sent)} sent` + (r.peak_memory_mib === null ? "" : `, ${shown(r.peak_memory_mib)} MiB`); },
        } },
      },
    },
  }));
  if (ranks.length === 1) box.style.height = "11rem";
}

/// A picture of the values, one pixel each, in the nearest of 512 shades each way.
function pixels(values, size, colour, largest) {
  const canvas = element("canvas", { width: size, height: size });
  const context = canvas.getContext("2d");
  const image = context.createImageData(size, size);
  const shades = d3.range(-512, 513).map((i) => {
    const { r, g, b } = d3.rgb(colour(Math.sign(i) * largest * (i / 512) ** 2));
    return [r, g, b, 255];
  });
  values.forEach((value, i) => {
    const root = Math.sqrt(Math.min(1, Math.abs(value) / largest));
    image.data.set(shades[512 + Math.round(Math.sign(value) * 512 * root)], 4 * i);
  });
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function drawHeatMap(box, map) {
  const size = map.names.length;
  const values = floats(map.values);
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  const negative = values.some((value) => value < 0);
  // Colours go with the square root: what agents share is often far less than what they have alone.
  const colour = negative ? d3.scaleDivergingSqrt((t) => d3.interpolateRdBu(1 - t)).domain([-largest, 0, largest])
    : d3.scaleSequentialSqrt(d3.interpolateBlues).domain([0, largest]);
  const figure = element("figure", { class: "heat" }, element("h3", {}, map.title), element("p", { class: "hint" }, `${map.text} Unit: ${map.unit}.`));
  box.append(figure);

  const side = 440, left = 52, top = 8, gap = 96, length = side - 60;
  const svg = d3.select(figure).append("svg").attr("viewBox", `0 0 ${left + side + gap} ${top + side + 44}`)
    .attr("role", "img").attr("aria-label", map.title);
  const picture = svg.append("image").attr("x", left).attr("y", top).attr("width", side).attr("height", side)
    .attr("preserveAspectRatio", "none").attr("href", pixels(values, size, colour, largest));
  svg.append("rect").attr("class", "frame").attr("x", left).attr("y", top).attr("width", side).attr("height", side);
  const every = Math.ceil(size / 20);
  const band = d3.scaleBand().domain(d3.range(size)).range([0, side]);
  const named = d3.range(0, size, every);
  const write = (made) => made.tickValues(named).tickFormat((i) => map.names[i]).tickSize(3);
  const bare = (g) => g.select(".domain").remove();
  svg.append("g").attr("transform", `translate(${left},${top})`).call(write(d3.axisLeft(band))).call(bare);
  svg.append("g").attr("transform", `translate(${left},${top + side})`).call(write(d3.axisBottom(band))).call(bare);
  svg.append("text").attr("x", left + side / 2).attr("y", top + side + 38).text(map.axes[1]);
  svg.append("text").attr("transform", `translate(14,${top + side / 2}) rotate(-90)`).text(map.axes[0]);

  const scale = negative ? d3.scaleSqrt().domain([-largest, 0, largest]).range([length, length / 2, 0]) : d3.scaleSqrt().domain([0, largest]).range([length, 0]);
  const bar = svg.append("g").attr("transform", `translate(${left + side + 22},${top + 30})`);
  bar.selectAll("rect").data(d3.range(80)).join("rect").attr("y", (i) => (i * length) / 80).attr("width", 13)
    .attr("height", length / 80 + 0.6).attr("fill", (i) => colour(scale.invert(((i + 0.5) * length) / 80)));
  const marks = negative ? [-largest, -largest / 4, -largest / 32, 0, largest / 32, largest / 4, largest] : [0, largest / 32, largest / 4, largest / 2, largest];
  bar.append("g").attr("transform", "translate(13,0)").call(d3.axisRight(scale).tickValues(marks).tickFormat((v) => shown(v, 2)).tickSize(4)).call(bare);

  picture.on("mousemove", () => {
    const frame = picture.node().getBoundingClientRect();
    const place = (at, from, span) => Math.min(size - 1, Math.max(0, Math.floor(((at - from) / span) * size)));
    const row = place(d3.event.clientY, frame.top, frame.height), column = place(d3.event.clientX, frame.left, frame.width);
    showTip(d3.event, `${map.axes[0]} ${map.names[row]}, ${map.axes[1]} ${map.names[column]}: ${shown(values[row * size + column], 4)}\n${map.unit}`);
  }).on("mouseleave", hideTip);
}

/// Of very many agents: the noise of those with about as many neighbours.
function showNoiseByDegree(box, picture) {
  box.append(element("figure", { class: "heat" }, element("h3", {}, picture.title), element("p", { class: "hint" }, `${picture.text} Unit: ${picture.unit}.`),
    table(["neighbours", { number: "agents" }, { number: "variance, mean" }, { number: "least" }, { number: "most" }, { number: "of it private" }, { number: "shared streams" }],
      picture.by_degree.map((row) => [row.degrees[0] === row.degrees[1] ? String(row.degrees[0]) : `${row.degrees[0]} to ${row.degrees[1]}`,
        ...[row.agents, row.variance, row.least, row.most].map((value) => ({ number: shown(value, 4) })),
        { number: `${shown(100 * row.private, 3)} %` }, { number: shown(row.shared_streams) }]))));
}

function drawNoise() {
  const box = document.getElementById("heat-maps");
  for (const picture of data.pictures) (picture.by_degree ? showNoiseByDegree : drawHeatMap)(box, picture);
  if (data.pictures.length > 0) return;
  box.append(element("p", {}, ledger.mechanism === "none" ? "No noise is added in this run." : "The noise plan could not be read (see above)."));
}
