"""Time to solve a corn plan, its growth with the number of agents, and the same SDP with CSDP and CVXOPT."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import common
from common import median

sys.path.append(str(common.ROOT / "bench" / "figures"))
import figure
import pictures
import rows

SIZES = [20, 50] if common.QUICK else [20, 50, 100, 200, 300, 500, 1000]
UTILITIES = ["one-step", "horizon:200"]
SDP_SIZES = [8, 12] if common.QUICK else [20, 40]
FORMS = ["blocks", "joint"]
TIME_LIMIT = 20 if common.QUICK else 300
TARGET_SECONDS = {20: 0.002, 100: 0.060, 300: 1.0, 1000: 30.0}
# CSDP's default parameters but for the number of iterations.
CSDP_ONE_ITERATION = """axtol=1.0e-8
atytol=1.0e-8
objtol=1.0e-8
pinftol=1.0e8
dinftol=1.0e8
maxiter=1
minstepfrac=0.90
maxstepfrac=0.97
minstepp=1.0e-8
minstepd=1.0e-8
usexzgap=1
tweakgap=0
affine=0
printlevel=1
perturbobj=1
fastmode=0
"""
SOLVER_THREADS = {"OPENBLAS_NUM_THREADS": str(common.THREADS), "OMP_NUM_THREADS": str(common.THREADS)}


def solve(agents, utility):
    repetitions = 3 if common.QUICK or agents >= 1000 else 5
    run = json.loads(common.output_of(
        [common.program("plan"), "solve", agents, utility, repetitions]))
    run["median_solve_seconds"] = median(run["solve_seconds"])
    run["median_design_seconds"] = median(run["design_seconds"])
    return run


def timed(command, folder, limit=TIME_LIMIT):
    """Wall time and output of a program, or nothing if it hit the time limit."""
    start = time.monotonic()
    try:
        process = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=folder, timeout=limit,
                                 env=os.environ | SOLVER_THREADS)
    except subprocess.TimeoutExpired:
        return None
    return time.monotonic() - start, process.stdout


def csdp(folder, problem):
    """CSDP's time without starting and reading: a run, minus one that stops after its first iteration."""
    parameters = folder / "param.csdp"
    parameters.unlink(missing_ok=True)
    run = timed(["csdp", problem], folder)
    if run is None:
        return None
    walls = [run[0]] + [timed(["csdp", problem], folder)[0] for _ in range(2 if run[0] < 20 else 0)]
    parameters.write_text(CSDP_ONE_ITERATION)
    starts = [timed(["csdp", problem], folder)[0] for _ in walls]
    return {"wall_seconds": walls, "start_seconds": starts,
            "solve_seconds": median(walls) - median(starts)}, run[1]


def cvxopt(folder, problem):
    run = timed(["/usr/bin/python3", str(common.ROOT / "bench" / "plan_cvxopt.py"), problem], folder)
    if run is None:
        return None
    match = re.search(r"Total time: (\S+)", run[1])
    return {"solve_seconds": float(match.group(1))} if match else {}, run[1]


def other_solver(solve_with, folder, problem, form):
    outcome = solve_with(folder, problem)
    if outcome is None:
        return {"seconds_at_least": TIME_LIMIT}
    run, output = outcome
    match = re.search(r"Primal objective value:\s*(\S+)", output)
    if match is None:
        return {"failed": True}
    value = float(match.group(1))
    return run | {"value": -value if form == "joint" else value}


def compare(agents, utility, ours):
    """CSDP and CVXOPT on the same problem, in both forms."""
    comparisons = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for form in FORMS:
            problem = f"{form}.dat-s"
            (folder / problem).write_text(common.output_of(
                [common.program("plan"), "sdpa", agents, utility, form]))
            for solve_with in [csdp, cvxopt]:
                run = {"agents": agents, "utility": utility, "solver": solve_with.__name__, "form": form}
                run |= other_solver(solve_with, folder, problem, form)
                seconds = run.get("solve_seconds", run.get("seconds_at_least"))
                if seconds is not None:
                    run["times_slower"] = seconds / ours["median_solve_seconds"]
                if "value" in run:
                    run["relative_difference"] = abs(run["value"] - ours["value"]) / ours["value"]
                    run["agrees"] = run["relative_difference"] < 1e-5
                comparisons.append(run)
                print(f"{run['solver']}, {form}, {agents} agents, {utility}: {seconds} s", flush=True)
    return comparisons


def picture(runs):
    """Growth in n on logarithmic axes: a figure and its rows."""
    solved = [rows.Row("growth", r["utility"], r["agents"], r["median_solve_seconds"]) for r in runs]
    last = max((row for row in solved if row.curve == UTILITIES[-1]), key=lambda row: row.x)
    cubic = [rows.Row("growth", "n³", agents, last.y * (agents / last.x) ** 3) for agents in sorted({row.x for row in solved})]
    panel = figure.Panel("growth", "corn plans, relative gap 1e-6", ("n", "agents n"), ("seconds", "seconds to solve"), log_x=True, log_y=True)
    return figure.Figure("plan", "", [panel], None, None), solved + cubic


def main():
    runs = [solve(agents, utility) for agents in SIZES for utility in UTILITIES]
    comparisons = []
    for agents in SDP_SIZES:
        for utility in UTILITIES:
            comparisons += compare(agents, utility, solve(agents, utility))
    common.RESULTS.mkdir(parents=True, exist_ok=True)
    pictures.draw(common.RESULTS / "plan.svg", *picture(runs))
    text = ("Corn plan, Erdos-Renyi p=0.5, relative gap 1e-6, two threads. solve: the covariance; plan: utility\n"
            "matrix, covariance at the default gap, factor and its verification. Medians.\n\n")
    text += common.table(
        ["utility", "agents", "solve s", "target s", "plan s", "iterations", "gap", "status"],
        [[r["utility"], r["agents"], f"{r['median_solve_seconds']:.4f}", TARGET_SECONDS.get(r["agents"], ""),
          f"{r['median_design_seconds']:.4f}", r["iterations"], f"{r['relative_gap']:.1e}", r["status"]]
         for r in runs])
    text += ("\nThe same SDP with interior-point solvers, in two forms: one block [[R, e_u], [e_u', 1]] an agent,\n"
             f"and the dual in one joint block of size 2n. At most {TIME_LIMIT} s; without start and reading.\n\n")
    text += common.table(
        ["solver", "form", "utility", "agents", "solve s", "times slower", "values differ by"],
        [[c["solver"], c["form"], c["utility"], c["agents"],
          "failed" if "failed" in c else f"more than {TIME_LIMIT}" if "seconds_at_least" in c
          else f"{c['solve_seconds']:.3f}",
          f"{'>' if 'seconds_at_least' in c else ''}{c['times_slower']:.0f}" if "times_slower" in c else "",
          f"{c['relative_difference']:.1e}" if "value" in c else ""] for c in comparisons])
    common.write_results("plan", {"target_seconds": TARGET_SECONDS, "runs": runs,
                                  "comparisons": comparisons}, text)


if __name__ == "__main__":
    main()
