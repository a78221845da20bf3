"use strict";

applyTheme();
showMissing();
showAttack();
showSummary();
let drawing = null;
if (data.graph) {
  showVerdict();
  showGraphWords();
  drawing = new Drawing();
} else {
  document.getElementById("observers").replaceChildren(element("h2", {}, "Who learns what"), element("p", {}, "Not known (see above)."));
}
showPrivacy();
drawLosses();
drawNoise();
drawTimes();
showLedger();
showOptions();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  redrawCharts();
  if (drawing) drawing.update();
});
requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("drawn")));
