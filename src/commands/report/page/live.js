"use strict";
// A page that `sotto watch` writes again and again: how far the run is, and what was chosen before it was opened again.

/// Whether the page is still written.
const isLive = data.live !== null && data.live.every > 0;

/// The last value that was measured.
function lastOf(column) {
  const values = (data.metrics[column] || []).filter((value) => value !== null);
  return values.length > 0 ? values[values.length - 1] : null;
}

function showLive() {
  if (data.live === null) return;
  const at = (time) => (time === null ? "an unknown time" : new Date(time).toLocaleTimeString());
  const round = lastOf("round");
  const far = round === null ? `no round of ${ledger.rounds.planned} was evaluated yet`
    : `round ${round} of ${ledger.rounds.planned}, evaluated at ${at(data.live.evaluated)}`;
  const box = document.getElementById("live");
  box.hidden = false;
  box.append(element("b", {}, isLive ? "Live" : "No longer live"), isLive
    ? `: ${far}. This page is of ${at(data.live.written)}; it opens itself again every ${data.live.every} s.`
    : `: sotto watch was stopped at ${at(data.live.written)}; the run was then at ${far}.`);
}

const keptAs = `sotto watch ${location.pathname}`;

/// What keepChoice kept; null where it kept nothing, or the browser lets pages keep nothing.
function choiceBefore() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keptAs));
    if (!isLive) sessionStorage.removeItem(keptAs);
    return kept;
  } catch {
    return null;
  }
}

/// Keeps what the viewer chose, and where the page stands, for when it is opened again.
/// @param observers what Drawing.choice() says; null: nothing was chosen.
function keepChoice(observers) {
  if (!isLive) return;
  const open = [...document.querySelectorAll("details")].map((details) => details.open);
  try {
    sessionStorage.setItem(keptAs, JSON.stringify({ observers, open, top: window.scrollY }));
  } catch {
    // It opens as it did first.
  }
}

function restorePlace(kept) {
  document.querySelectorAll("details").forEach((details, at) => { details.open = Boolean(kept.open[at]); });
  window.scrollTo({ top: kept.top, behavior: "instant" });
}
