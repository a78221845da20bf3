"""How much colluding agents learn, by distance and by their number: mechanisms at one epsilon."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import common
from common import median

sys.path.append(str(common.ROOT / "bench" / "figures"))
import figure
import pictures
import rows

GRAPH, AGENTS = "florentine_families.edges", 15
ROUNDS, CYCLE, EPSILON, CLIP = (24, 8, 10, 0.1) if common.QUICK else (64, 8, 10, 0.1)
COALITIONS = 2 if common.QUICK else 8  # of every size
SIZES = [1, 2, 3]
RUN = ["--adjacency", "record", "--participation", f"cyclic:{CYCLE}", "--batch-size", 1, "--rounds", ROUNDS,
       "--epsilon", EPSILON, "--clip-norm", CLIP]
MECHANISMS = [("ldp", []), ("muffliato, 4 gossip steps", ["--gossip-steps", 4]), ("decor", []), ("corn", []),
              ("pairs, q=1", []), ("pairs, q=3", ["--coalition-size", 3]), ("mafalda", []), ("space-time", [])]
SHOWN_SIZE = 2  # in the picture by distance


def sotto(command, options, folder, allowed=(0,)):
    """The JSON object of a command. 6: an audit that is not consistent."""
    summary = pathlib.Path(folder) / "summary.json"
    words = [str(w) for w in [common.SOTTO, command, "--quiet", "--json", summary, "--threads", common.THREADS,
                              "--graph", common.data_file(GRAPH)] + RUN + options]
    if command != "audit":
        del words[5:7]
    code = subprocess.run(words, stdout=subprocess.DEVNULL).returncode
    if code not in allowed:
        raise SystemExit(f"bench: {' '.join(words)} failed with exit code {code}")
    return json.loads(summary.read_text())


def audit(options, view, kind):
    with tempfile.TemporaryDirectory() as folder:
        return sotto("audit", options + ["--attack", kind, "--view", view, "--run-directory",
                                         pathlib.Path(folder) / "run"], folder, allowed=(0, 6))


def coalitions(size):
    draw = random.Random(size)
    return [sorted(draw.sample(range(AGENTS), size)) for _ in range(COALITIONS)]


def view_of(members):
    return "coalition:" + ",".join(map(str, members))


def measure(name, options, folder):
    """Every target of every coalition: what is reconstructed, and mu of the accountant."""
    plan = pathlib.Path(folder) / "plan.json"
    options = ["--mechanism", name.split(",")[0]] + options
    sotto("plan", options + ["--out", plan], folder)
    options += ["--plan", plan]
    eavesdropper = sotto("account", options + ["--view", "eavesdropper"], folder)
    targets, strongest = [], []
    for size in SIZES:
        worst = None
        for members in coalitions(size):
            view = view_of(members)
            found = audit(options, view, "reconstruction")
            pairs = {p["target"]: p for p in sotto("account", options + ["--view", view], folder)["pairs"]}
            for row in found["targets"]:
                pair = pairs[row["target"]]
                targets.append({"size": size, "members": members, "mu": pair["mu"], "infinite": pair["infinite"],
                                "consistent": found["consistent"]} |
                               {key: row[key] for key in ("target", "distance", "identifiable", "exact", "error",
                                                          "cramer_rao", "relative_error", "recovered")})
                if not pair["infinite"] and (worst is None or pair["mu"] > worst["mu"]):
                    worst = targets[-1]
        if worst is None:
            worst = targets[-1]
        attack = audit(options + ["--targets", worst["target"]], view_of(worst["members"]), "likelihood")
        strongest.append({"size": size} | {key: attack[key] for key in (
            "view", "target", "infinite", "mu_theory", "mu_empirical", "mu_lower", "mu_upper", "epsilon_theory",
            "epsilon_lower", "consistent")})
    return {"mechanism": name, "epsilon_eavesdropper": max(p["epsilon"] for p in eavesdropper["pairs"]),
            "targets": targets, "likelihood": strongest}


def cell(targets):
    """Summary of some targets."""
    mus = [float("inf") if t["infinite"] else t["mu"] for t in targets]
    errors = [t["relative_error"] for t in targets]
    return {"targets": len(targets), "exact": sum(t["exact"] for t in targets),
            "hidden": sum(not t["identifiable"] for t in targets), "recovered": sum(t["recovered"] for t in targets),
            "error": median(errors), "best_error": min(errors),
            "mu": max(mus), "mu_mean": sum(mus) / len(mus)}


def number(value):
    return "-" if value is None else "infinite" if value == float("inf") else f"{value:.3g}"


def picture(runs):
    """Error by distance, and mu of the worst target by size: a figure and its rows."""
    distances = sorted({t["distance"] for run in runs for t in run["targets"] if t["size"] == SHOWN_SIZE})
    found = [rows.Row("error", "no better than zero", distance, 1) for distance in distances]
    infinite = []
    for run in runs:
        curve = run["mechanism"].replace(", q=", " q=")
        shown = [t for t in run["targets"] if t["size"] == SHOWN_SIZE]
        found += [rows.Row("error", curve, distance, cell([t for t in shown if t["distance"] == distance])["error"])
                  for distance in sorted({t["distance"] for t in shown})]
        mus = {size: cell([t for t in run["targets"] if t["size"] == size])["mu"] for size in SIZES}
        found += [rows.Row("mu", curve, size, mu) for size, mu in mus.items() if mu < float("inf")]
        infinite += [curve] if min(mus.values()) == float("inf") else []
    worst = "(b) the target exposed most" + (f" ({', '.join(infinite)}: infinite)" if infinite else "")
    panels = [figure.Panel("error", f"(a) rows reconstructed by {SHOWN_SIZE} agents", ("distance", "distance from them"),
                           ("error", "relative error, median"), log_y=True, ticks=distances),
              figure.Panel("mu", worst, ("size", "agents that collude"), ("mu", "mu"), ticks=SIZES)]
    return figure.Figure("attacks", "", panels, None, None), found


def main():
    runs = []
    for name, options in MECHANISMS:
        with tempfile.TemporaryDirectory() as folder:
            runs.append(measure(name, options, folder))
        print(f"{name}: done", flush=True)
    common.RESULTS.mkdir(parents=True, exist_ok=True)
    pictures.draw(common.RESULTS / "attacks.svg", *picture(runs))
    text = (f"Florentine families ({AGENTS} agents), {ROUNDS} rounds, one record an agent in every {CYCLE}th of them, "
            f"record adjacency,\nepsilon {EPSILON} against an eavesdropper, {COALITIONS} coalitions of every size drawn "
            "at random, who see what their neighbours\nsend them. Reconstruction: rows of 8 numbers, relative error "
            "|estimate - row| / |row| (1: no better than zero); hidden: rows\nthat many others would have looked like. "
            "mu: of the accountant, inputs fixed in advance, the largest and the mean over targets.\n\n")
    lines = []
    for run in runs:
        for size in SIZES:
            of_size = [t for t in run["targets"] if t["size"] == size]
            for distance in sorted({t["distance"] for t in of_size}):
                at = cell([t for t in of_size if t["distance"] == distance])
                lines.append([run["mechanism"], size, distance, at["targets"], at["hidden"], at["exact"],
                             at["recovered"], number(at["error"]), number(at["best_error"]), number(at["mu"]), number(at["mu_mean"])])
    text += common.table(["mechanism", "colluders", "distance", "rows", "hidden", "exact", "recovered", "median error",
                          "least error", "mu", "mean mu"], lines)
    text += ("\nThe likelihood-ratio attack on the target with the largest mu (any, where all are infinite); interval at "
             "99%.\n\n")
    text += common.table(
        ["mechanism", "colluders", "target", "mu", "measured", "interval", "epsilon", "epsilon at least", "consistent"],
        [[run["mechanism"], a["size"], a["target"], "infinite" if a["infinite"] else number(a["mu_theory"]),
          "all told apart" if a["infinite"] else number(a["mu_empirical"]),
          "" if a["infinite"] else f"{number(a['mu_lower'])} to {number(a['mu_upper'])}",
          "infinite" if a["infinite"] else number(a["epsilon_theory"]), number(a["epsilon_lower"]),
          "yes" if a["consistent"] else "NO"] for run in runs for a in run["likelihood"]])
    audits = len(MECHANISMS) * len(SIZES) * COALITIONS
    inconsistent = len({(run["mechanism"], t["size"], tuple(t["members"])) for run in runs for t in run["targets"]
                        if not t["consistent"]})
    text += (f"\nAudits with a row better known than the Cramer-Rao bound has it: {inconsistent} of {audits} (chance alone: "
             "at most 1 in 100).\n")
    common.write_results("attacks", {"graph": GRAPH, "rounds": ROUNDS, "cycle": CYCLE, "epsilon": EPSILON,
                                     "runs": runs}, text)


if __name__ == "__main__":
    main()
