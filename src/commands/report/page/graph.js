"use strict";
// The graph: who observes, and what they learn about everybody else as colours.

const paint = d3.interpolateYlOrRd;
const dimmed = (t) => 0.06 + 0.86 * t;  // the palest end would be lost on the page
const legendWidth = 300;

class Drawing {
  /// @param before what choice() said before the page was opened again; null: nothing was chosen.
  constructor(before) {
    // What one curious agent really sees, the worst of them; where that is not known, an outsider.
    this.view = [views.partial, guaranteed].find((view) => view && view.observers > 0) || Object.values(views).pop();
    const worst = this.view && !this.view.guarantee && this.view.worst(1);
    this.members = worst ? worst.members : [];
    if (data.audit) {
      this.members = attackers();
      if (!/^(node|coalition|secure-sum)/.test(data.audit.view) && guaranteed) this.view = guaranteed;
    }
    this.gone = new Set(data.graph.gone);
    this.width = 760;
    this.height = agents > 60 ? 700 : 560;
    this.radius = Math.max(5, Math.min(19, 150 / Math.sqrt(Math.min(agents, large ? mostDrawn : agents))));
    this.chosen = before !== null;
    if (before) this.take(before);
    this.place();
    this.draw();
    this.listen();
    this.update();
  }

  /// What the viewer chose; null: nothing, and the drawing shows the worst.
  choice() {
    return !this.chosen ? null
      : { view: this.view ? this.view.view : null, members: this.members, ownScale: document.getElementById("own-scale").checked };
  }
  take(choice) {
    const view = views[choice.view];
    if (view && view.observers > 0) this.view = view;
    this.members = choice.members.filter((u) => u < agents);
    document.getElementById("own-scale").checked = choice.ownScale;
  }

  /// Force layout, to its end and always the same, then fitted into the drawing. Of many agents with coarser forces and fewer
  /// steps, of which the last move overlapping circles apart: that takes half to two thirds of the time.
  place() {
    const there = large ? around(this.centre(), mostDrawn).map(([agent]) => agent) : [...labels.keys()];
    this.nodes = there.map((agent) => ({ agent, label: labels[agent] }));
    const place = new Map(there.map((agent, at) => [agent, at]));
    const links = (large ? data.graph.edges : drawnEdges).filter(([u, v]) => place.has(u) && place.has(v))
      .map(([u, v]) => ({ source: place.get(u), target: place.get(v) }));
    const many = there.length > 300;
    const simulation = d3.forceSimulation(this.nodes)
      .force("link", d3.forceLink(links).distance(60).strength(there.length > 60 ? 0.5 : 0.3))
      .force("charge", d3.forceManyBody().strength(there.length > 60 ? -170 : -420).theta(many ? 1.5 : 0.9))
      .force("x", d3.forceX().strength(0.06)).force("y", d3.forceY().strength(0.09))
      .stop();
    if (many) simulation.tick(65);
    simulation.force("apart", d3.forceCollide(this.radius * 1.6)).tick(many ? 15 : 260);
    const margin = this.radius + (this.labelsBeside() ? 24 : 10);
    for (const [axis, size] of [["x", this.width], ["y", this.height]]) {
      const scale = d3.scaleLinear().domain(d3.extent(this.nodes, (n) => n[axis])).range([margin, size - margin]);
      for (const node of this.nodes) node[axis] = agents === 1 ? size / 2 : scale(node[axis]);
    }
    this.links = links;
  }
  /// Of very many agents: around whom the drawing is.
  centre() {
    if (this.members.length > 0) return this.members;
    const found = this.answer();
    const epsilon = found ? found.epsilon : new Float32Array(agents);
    return [epsilon.reduce((most, value, u) => (value > epsilon[most] ? u : most), 0)];
  }
  /// Draws again where the observers are not in the drawing.
  follow() {
    if (!large || this.members.every((u) => this.nodes.some((n) => n.agent === u))) return;
    document.getElementById("graph").replaceChildren();
    this.place();
    this.draw();
    this.listenToAgents();
  }
  labelsBeside() { return this.radius >= 13; }

  draw() {
    const svg = d3.select("#graph").attr("viewBox", `0 0 ${this.width} ${this.height}`);
    const lines = svg.append("g").selectAll("line").data(this.links).join("line")
      .attr("x1", (l) => l.source.x).attr("y1", (l) => l.source.y)
      .attr("x2", (l) => l.target.x).attr("y2", (l) => l.target.y);
    if (data.graph.directed) this.drawArrows(svg, lines);
    this.circles = svg.append("g").selectAll("g").data(this.nodes).join("g")
      .attr("class", (n) => (this.gone.has(n.agent) ? "agent gone" : attacked(n.agent) ? "agent target" : "agent"))
      .attr("data-agent", (n) => n.agent)
      .attr("transform", (n) => `translate(${n.x},${n.y})`)
      .attr("tabindex", 0).attr("role", "button");
    this.circles.append("circle").attr("class", "body").attr("r", this.radius);
    this.circles.append("circle").attr("class", "ring").attr("r", this.radius + 4).attr("fill", "none");
    this.circles.append("text").attr("class", "inside").attr("dy", "0.35em");
    if (this.labelsBeside())
      this.circles.append("text").attr("class", "name").attr("y", this.radius + 15).style("font-size", "12px").text((n) => n.label);
  }

  /// Lines end before the circle of who hears, with a head.
  drawArrows(svg, lines) {
    const head = Math.max(4, this.radius * 0.55);
    svg.append("defs").append("marker").attr("id", "head").attr("orient", "auto").attr("markerUnits", "userSpaceOnUse")
      .attr("viewBox", "0 0 10 10").attr("refX", 10).attr("refY", 5).attr("markerWidth", head).attr("markerHeight", head)
      .append("path").attr("d", "M0,0 L10,5 L0,10 z").attr("class", "head");
    const short = (l, axis) => {
      const length = Math.hypot(l.target.x - l.source.x, l.target.y - l.source.y) || 1;
      return l.target[axis] - (l.target[axis] - l.source[axis]) * Math.min(1, (this.radius + 1) / length);
    };
    lines.attr("x2", (l) => short(l, "x")).attr("y2", (l) => short(l, "y")).attr("marker-end", "url(#head)");
  }

  listenToAgents() {
    this.circles.on("click", (n) => this.choose(n.agent, d3.event.shiftKey))
      .on("keydown", (n) => {
        if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
        d3.event.preventDefault();
        this.choose(n.agent, d3.event.shiftKey);
      })
      .on("mousemove", (n) => showTip(d3.event, this.tipOf(n.agent)))
      .on("mouseleave", hideTip);
  }

  listen() {
    const drawing = this;
    this.listenToAgents();
    for (const view of Object.values(views)) this.offer(view);
    for (const kind of ["click", "change", "keydown"])
      document.getElementById("observers").addEventListener(kind, () => { this.chosen = true; });
    document.getElementById("nobody").addEventListener("click", () => { this.members = []; this.update(); });
    document.getElementById("own-scale").addEventListener("change", () => this.update());
    document.getElementById("members").addEventListener("change", function () {
      const numbers = (this.value.match(/\d+/g) || []).map(Number).filter((u) => u < agents);
      drawing.members = [...new Set(numbers)].sort((a, b) => a - b);
      drawing.update();
    });
  }

  /// A button that chooses what the observers see.
  offer(view) {
    const known = view.observers > 0;
    const radio = element("input", { type: "radio", name: "view", value: view.view });
    radio.disabled = !known;
    radio.checked = view === this.view;
    radio.addEventListener("change", () => { this.view = view; this.update(); });
    const label = element("label", {}, radio, ` ${view.words.sees}`);
    if (view.guarantee) label.append(" ", element("em", {}, "(the guarantee)"));
    if (!known) label.append(" - not known");
    document.getElementById("sees").append(label);
  }

  /// One agent instead of those before; with `more` it joins them, or leaves.
  choose(agent, more) {
    hideTip();
    const there = this.members.includes(agent);
    if (more) this.members = there ? this.members.filter((u) => u !== agent) : [...this.members, agent].sort((a, b) => a - b);
    else this.members = there && this.members.length === 1 ? [] : [agent];
    this.update();
  }

  /// What the observers chosen learn: null where the page has no figure at all.
  answer() {
    const view = this.view;
    return view && (this.members.length > 0 || view.smallest === 0) ? view.against(this.members) : null;
  }

  colour(epsilon) {
    if (epsilon === Infinity) return style("--broken");
    return Number.isNaN(epsilon) ? style("--unknown") : paint(dimmed(this.scale(epsilon)));
  }

  update() {
    const drawing = this;
    this.follow();
    const view = this.view;
    this.found = this.answer();
    const epsilon = this.found ? this.found.epsilon : new Float32Array(agents).fill(NaN);
    const asked = data.audit ? data.audit.person || [data.audit.target] : [];
    if (!view) for (const agent of asked)
      if (agent !== undefined) epsilon[agent] = data.audit.infinite ? Infinity : data.audit.epsilon_theory;
    this.epsilon = epsilon;
    const finite = [...epsilon].filter(Number.isFinite);
    const own = document.getElementById("own-scale").checked && finite.length > 0;
    let [low, high] = own ? d3.extent(finite) : [0, d3.max([view ? view.largest() : 0, ...finite])];
    if (high <= low) { low = Math.min(0, low); high = high <= low ? low + 1 : high; }
    this.scale = d3.scaleLinear().domain([low, high]).range([0, 1]).clamp(true);
    const least = this.found && !this.found.exact ? "\u2265" : "";
    const digits = this.labelsBeside() ? 3 : 2;
    const isObserver = (n) => this.members.includes(n.agent);
    this.circles.classed("observer", isObserver)
      .attr("aria-pressed", (n) => String(isObserver(n)))
      .attr("data-epsilon", (n) => (Number.isNaN(epsilon[n.agent]) ? "" : String(epsilon[n.agent])))
      .attr("data-exact", this.found ? String(this.found.exact) : "")
      .attr("aria-label", (n) => this.tipOf(n.agent).replace(/\n/g, ". "));
    this.circles.select("circle.ring").style("display", (n) => (isObserver(n) ? null : "none"));
    this.circles.select("circle.body").attr("fill", (n) => (isObserver(n) ? style("--card") : this.colour(epsilon[n.agent])));
    this.circles.select("text.inside")
      .text((n) => (isObserver(n) ? "sees" : !this.labelsBeside() ? n.label
        : Number.isNaN(epsilon[n.agent]) ? "" : least + shown(epsilon[n.agent], digits)))
      .style("font-size", function () {
        return `${Math.min(drawing.labelsBeside() ? 13 : 11, drawing.radius * (drawing.labelsBeside() ? 0.68 : 0.85) * Math.min(1, 4 / this.textContent.length))}px`;
      })
      .attr("fill", (n) => {
        const fill = d3.lab(isObserver(n) ? style("--card") : this.colour(epsilon[n.agent]));
        return fill.l > 60 ? "#14181b" : "#ffffff";
      });
    document.getElementById("members").value = this.members.join(",");
    this.showLegend(low, high);
    this.showAnswer(high);
  }

  tipOf(agent) {
    const name = nameOf(agent) + (this.gone.has(agent) ? " (has left)" : "");
    if (this.members.includes(agent)) return `${name}\nis an observer`;
    const epsilon = this.epsilon[agent];
    const least = this.found && !this.found.exact ? "at least " : "";
    const says = Number.isNaN(epsilon) ? "not known" : `${least}${shown(epsilon, 5)}`;
    return `${name}\nepsilon ${says}${epsilon === Infinity ? " (not protected)" : ""}`;
  }

  showLegend(low, high) {
    const box = document.getElementById("legend");
    box.replaceChildren();
    const svg = d3.select(box).append("svg").attr("width", legendWidth + 20).attr("height", 34)
      .attr("data-low", low).attr("data-high", high);
    const steps = d3.range(60);
    svg.append("g").selectAll("rect").data(steps).join("rect")
      .attr("x", (i) => 8 + (i * legendWidth) / steps.length).attr("width", legendWidth / steps.length + 0.6).attr("height", 12)
      .attr("fill", (i) => paint(dimmed((i + 0.5) / steps.length)));
    svg.append("g").attr("transform", "translate(0,12)")
      .call(d3.axisBottom(d3.scaleLinear().domain([low, high]).range([8, 8 + legendWidth])).ticks(5).tickSize(5))
      .call((axis) => axis.select(".domain").remove());
    const keys = element("div", { class: "keys" });
    const key = (colour, text, kind = "") =>
      keys.append(element("span", {}, element("i", { class: kind, style: colour ? `background:${colour}` : "" }), text));
    keys.append(element("span", {}, "Colour: epsilon, what the observers learn about the agent at most (pale: little, dark: much)."));
    if ([...this.epsilon].includes(Infinity)) key(style("--broken"), "infinite: not protected from them");
    if (this.members.length > 0) key("", "observer", "observer");
    if ([...this.epsilon].some((value, u) => Number.isNaN(value) && !this.members.includes(u))) key(style("--unknown"), "no figure");
    if (data.audit) keys.append(element("span", {}, "Thick outline: whom they attacked."));
    if (this.gone.size > 0) keys.append(element("span", {}, "Dashed outline: has left the run."));
    box.append(keys);
  }

  /// The observers chosen, and what they know.
  who() {
    const words = this.view.words;
    if (this.members.length === 0) return words.nobody;
    return `${listed(this.members).replace(/^a/, "A")}${this.members.length > 1 ? words.several_know : words.one_knows}`;
  }

  /// Figures by distance from the observers, or by number of neighbours where nobody observes.
  byDistance(order) {
    const distance = new Map(around(this.members));
    const alone = this.members.length === 0;
    const groups = grouped(alone ? degreeOf : (u) => (distance.has(u) ? distance.get(u) : Infinity), order);
    return table([alone ? "neighbours" : "distance", { number: "agents" }, { number: "least" }, { number: "mean" }, { number: "most" }],
      groups.map(([name, some]) => [name, { number: String(some.length) },
        ...[d3.min, d3.mean, d3.max].map((of) => ({ number: shown(of(some, (u) => this.epsilon[u]), 4) }))]));
  }

  /// @param high end of the scale of the bars.
  showAnswer(high) {
    const view = this.view;
    const box = document.getElementById("answer");
    const rows = document.getElementById("targets");
    box.replaceChildren();
    rows.replaceChildren();
    if (!this.found) {
      const why = view && view.observers > 0
        ? this.members.length === 0 ? "Click an agent: this view needs somebody who observes." : "The page has no figure of these observers."
        : view ? view.note : "The accountant gave no figures.";
      box.append(element("p", {}, why));
    } else {
      const order = [...this.epsilon.keys()].filter((u) => !Number.isNaN(this.epsilon[u]))
        .sort((a, b) => this.epsilon[b] - this.epsilon[a] || a - b);
      if (order.length > 0) {
        const worst = this.epsilon[order[0]];
        const least = this.found.exact ? "" : "at least ";
        const all = order.every((u) => this.epsilon[u] === worst);
        const who = this.who();
        const learn = this.members.length > 1 ? "learn" : "learns";
        box.append(element("p", { class: "headline" }, all
          ? `${who} ${learn} ${least}epsilon ${shown(worst)} about every other agent.`
          : `${who} ${learn} ${this.found.exact ? "at most" : "at least"} epsilon ${shown(worst)}, about ${nameOf(order[0])}.`));
      }
      box.append(element("p", { class: "hint" },
        `Why it holds: ${view.argument}. ${view.sound ? "Delta is " + (ledger.delta ? tiny(ledger.delta) : "0 (pure epsilon)") + "."
          : "For gradients fixed in advance only: in a training other agents' gradients carry data on, so this figure is no guarantee; the one with every message is."}`));
      const words = (u) => element("span", {}, element("span", { class: "swatch", style: `background:${this.colour(this.epsilon[u])}` }), nameOf(u));
      const bar = (u) => element("span", { class: "bar-track" }, element("span", { class: "bar",
        style: `width:${(100 * Math.min(1, this.epsilon[u] / high)).toFixed(2)}%;background:${this.colour(this.epsilon[u])}` }));
      if (large) rows.append(this.byDistance(order), element("p", { class: "hint" }, `The ${mostListed} about whom most is learnt:`));
      rows.append(table(["about", "from 0", { number: "epsilon" }], order.slice(0, large ? mostListed : agents).map((u) => [words(u), bar(u), { number: (this.found.exact ? "" : "\u2265 ") + shown(this.epsilon[u], 4) }])));
    }
    if (view && this.members.length > 0 && !(this.found && this.found.exact)) {
      if (this.found) box.append(element("p", {}, `${this.members.length === 1 ? "This observer is" : `These ${this.members.length} are`} not in the page; a lower bound is what ${this.found.from.length === 0 ? "an outsider learns" : `parts of them learn, most of all ${listed(this.found.from)}`}. The accountant says it exactly:`));
      const command = accountCommand(this.view, this.members);
      const copy = element("button", { type: "button" }, "copy");
      copy.addEventListener("click", () => navigator.clipboard && navigator.clipboard.writeText(command));
      box.append(element("pre", {}, element("code", {}, command)), copy);
    } else if (view && view.note && this.found) {
      box.append(element("p", { class: "hint" }, `Of this view ${view.note}.`));
    }
  }
}
