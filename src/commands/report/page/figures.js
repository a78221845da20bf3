"use strict";
// The accountant's figures by observer. Nothing here computes privacy: figures are looked up.

function binomial(n, k) {
  if (k < 0 || k > n) return 0;
  let product = 1;
  for (let i = 1; i <= k; ++i) product = (product * (n - k + i)) / i;
  return Math.round(product);
}

/// Calls f with every subset of `members` of that size.
function forSubsets(members, size, f, chosen = [], from = 0) {
  if (chosen.length === size) { f(chosen); return; }
  for (let i = from; i <= members.length - (size - chosen.length); ++i)
    forSubsets(members, size, f, [...chosen, members[i]], i + 1);
}

class View {
  constructor(json) {
    Object.assign(this, json);
    this.packed = json.epsilon;
    this.figures = null;
  }
  get values() {
    if (this.figures === null) this.figures = floats(this.packed);
    return this.figures;
  }
  /// Place of an observer: by size, then lexicographic.
  placeOf(members) {
    if (members.length < this.smallest) return -1;
    let place = 0;
    for (let size = this.smallest; size < members.length; ++size) place += binomial(agents, size);
    let before = -1;
    members.forEach((member, i) => {
      for (let v = before + 1; v < member; ++v) place += binomial(agents - 1 - v, members.length - 1 - i);
      before = member;
    });
    return place < this.observers ? place : -1;
  }
  row(place) { return this.values.subarray(place * agents, (place + 1) * agents); }
  /// What these observers learn: {epsilon: one an agent, exact, from: the subsets it is taken from}.
  /// Observers that are not in the page learn at least what any part of them does.
  against(members) {
    const place = this.placeOf(members);
    if (place >= 0) return { epsilon: this.row(place), exact: true };
    for (let size = members.length - 1; size >= this.smallest; --size) {
      let best = null, largest = -1, found = 0;
      const floor = new Float32Array(agents).fill(NaN);
      forSubsets(members, size, (part) => {
        const at = this.placeOf(part);
        if (at < 0) return;
        ++found;
        const row = this.row(at);
        let most = -1;
        for (let u = 0; u < agents; ++u) {
          if (members.includes(u) || Number.isNaN(row[u])) continue;
          if (!(floor[u] >= row[u])) floor[u] = row[u];
          most = Math.max(most, row[u]);
        }
        if (most > largest) { largest = most; best = part; }
      });
      if (found > 0) return { epsilon: floor, exact: false, from: best };
    }
    return null;
  }
  /// Of very many agents: bounds of what any observer of that size learns about each; null: none.
  boundOf(size) {
    if (!this.bound || this.bound.size !== size) return null;
    if (!this.bound.values) this.bound.values = floats(this.bound.epsilon);
    return this.bound.values;
  }
  /// The pair of an observer of that size and a target that leaks most, and how many observers it is of.
  worst(size) {
    const bounds = this.boundOf(size);
    if (bounds) {
      const target = bounds.reduce((most, value, u) => (value > bounds[most] ? u : most), 0);
      return { epsilon: bounds[target], target, members: [], mean: d3.mean(bounds), observers: binomial(agents, size), of: binomial(agents, size) };
    }
    const first = size === 0 ? 0 : this.placeOf([...Array(size).keys()]);
    if (first < 0) return null;
    const last = Math.min(this.observers, first + binomial(agents, size));
    let worst = -1, place = -1, target = -1, sum = 0, pairs = 0;
    for (let at = first; at < last; ++at) {
      const row = this.row(at);
      for (let u = 0; u < agents; ++u) {
        if (Number.isNaN(row[u])) continue;
        sum += row[u];
        ++pairs;
        if (row[u] > worst) { worst = row[u]; place = at; target = u; }
      }
    }
    return place < 0 ? null
      : { epsilon: worst, target, members: this.membersAt(place, size), mean: sum / pairs,
          observers: last - first, of: binomial(agents, size) };
  }
  membersAt(place, size) {
    for (let s = this.smallest; s < size; ++s) place -= binomial(agents, s);
    const members = [];
    for (let v = 0; members.length < size; ++v) {
      const block = binomial(agents - 1 - v, size - 1 - members.length);
      if (place < block) members.push(v); else place -= block;
    }
    return members;
  }
  /// Largest figure about every agent over all observers of that size.
  worstOfEvery(size) {
    if (this.boundOf(size)) return this.boundOf(size);
    const result = new Float32Array(agents).fill(NaN);
    const first = size === 0 ? 0 : this.placeOf([...Array(size).keys()]);
    if (first < 0) return null;
    const last = Math.min(this.observers, first + binomial(agents, size));
    for (let at = first; at < last; ++at) {
      const row = this.row(at);
      for (let u = 0; u < agents; ++u) if (!Number.isNaN(row[u]) && !(result[u] >= row[u])) result[u] = row[u];
    }
    return last - first === binomial(agents, size) ? result : null;
  }
  /// Largest finite figure of the eavesdropper and of single agents.
  largest() {
    let high = 0;
    const end = Math.min(this.observers, (this.smallest === 0 ? 1 : 0) + agents) * agents;
    for (let i = 0; i < end; ++i) if (Number.isFinite(this.values[i])) high = Math.max(high, this.values[i]);
    return high || 1;
  }
}

const views = Object.fromEntries(data.views.map((json) => [json.view, new View(json)]));
/// The view that a training's guarantee is of.
const guaranteed = Object.values(views).find((view) => view.guarantee);

/// How `sotto account` is asked about these observers.
function accountView(view, members) {
  const name = view.words.names[Math.min(members.length, 2)];
  return members.length === 0 ? name : `${name}:${members.join(",")}`;
}
function accountCommand(view, members) {
  const quoted = /^[\w./-]+$/.test(data.directory) ? data.directory : `'${data.directory.replace(/'/g, "'\\''")}'`;
  return `sotto account --run ${quoted} --view ${accountView(view, members)}`;
}
