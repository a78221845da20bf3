"use strict";

applyTheme();
showLive();
showMissing();
showAttack();
showSummary();
const kept = choiceBefore();
let drawing = null;
if (data.graph) {
  showVerdict();
  showGraphWords();
  drawing = new Drawing(kept ? kept.observers : null);
} else {
  document.getElementById("observers").replaceChildren(element("h2", {}, "Who learns what"), element("p", {}, "Not known (see above)."));
}
showPrivacy();
drawLosses();
drawNoise();
drawTimes();
showLedger();
showOptions();
if (kept) restorePlace(kept);
window.addEventListener("pagehide", () => keepChoice(drawing ? drawing.choice() : kept && kept.observers));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  redrawCharts();
  if (drawing) drawing.update();
});
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("drawn")));
