"""Audits: what is measured against what the accountant says, and how often an honest run raises an alarm.

Every run has keys from the operating system. Long: three hundred audits.
"""
import json
import pathlib
import subprocess
import tempfile
import time

import common

FLORENTINE = "florentine_families.edges"
MECHANISMS = ["ldp", "decor", "corn", "pairs", "mafalda", "space-time", "muffliato"]
HONEST = 5 if common.QUICK else 300


def audit(options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        start = time.perf_counter()
        process = subprocess.run([str(word) for word in
                                  [common.SOTTO, "audit", "--quiet", "--json", path / "audit.json",
                                   "--run-directory", path / "run", *options]], stderr=subprocess.PIPE, text=True)
        if process.returncode not in (0, 6):
            raise SystemExit(f"bench: sotto audit failed: {process.stderr.strip()}")
        return json.loads((path / "audit.json").read_text()) | {"wall": time.perf_counter() - start}


def options_of(mechanism, graph, view, confidence=0.99):
    options = ["--mechanism", mechanism, "--view", view, "--rounds", 20, "--confidence", confidence]
    options += ["--graph", common.data_file(FLORENTINE)] if graph == "florentine" else ["--agents", 20]
    if mechanism in ("mafalda", "space-time"):
        options += ["--adjacency", "record", "--participation", "cyclic:5", "--batch-size", 8]
    if mechanism == "muffliato":
        options += ["--gossip-steps", 3]
    return options


def main():
    cases = [(mechanism, graph, view) for mechanism in MECHANISMS for graph in ("florentine", "ER n=20")
             for view in ("eavesdropper", "coalition:2,5") if (mechanism, view) != ("corn", "coalition:2,5")]
    confidence = 1 - 0.01 / len(cases)
    rows, kept = [], []
    for case in cases:
        result = audit(options_of(*case, confidence))
        for entry in result["hypotheses"]:
            rows.append([*case, entry["hypothesis"], entry["trials"], f"{entry['mu_theory']:.3f}",
                         f"{entry['mu_empirical']:.3f}", f"{entry['mu_lower']:.3f} to {entry['mu_upper']:.3f}",
                         "yes" if entry["mu_lower"] <= entry["mu_theory"] <= entry["mu_upper"] else "NO",
                         f"{result['wall']:.1f}"])
        kept.append({"case": case, "result": result})
    inside = sum(row[-2] == "yes" for row in rows)
    alarms = []
    for i in range(HONEST):
        mechanism, graph, view = cases[i % len(cases)]
        result = audit(options_of(mechanism, graph, view))
        alarms.append({"case": [mechanism, graph, view], "consistent": result["consistent"],
                       "findings": result["findings"], "p_value": result["whiteness"]["p_value"]})
    false = sum(not alarm["consistent"] for alarm in alarms)
    header = ["mechanism", "graph", "view", "hypothesis", "trials", "mu theory", "measured",
              f"{100 * confidence:.2f}% interval", "inside", "seconds"]
    text = (f"What the optimal attack measures, T = 20, epsilon = 10, delta = 1e-5; intervals hold for all {len(cases)} "
            f"audits together with 99%.\nTheory inside: {inside} of {len(rows)}.\n\n" + common.table(header, rows) +
            f"\nFalse alarms of honest runs at confidence 99%: {false} of {HONEST}.\n")
    for alarm in alarms:
        if not alarm["consistent"]:
            text += f"  {' '.join(alarm['case'])}: {'; '.join(alarm['findings'])}\n"
    common.write_results("audit", {"cases": kept, "honest": alarms}, text)


main()
