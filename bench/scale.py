"""Plans against curious agents for 20 to 4039 agents: time, peak memory, certified gap, noise, streams.
Accounts of saved plans of 4039 agents: time, peak memory (python3 bench/scale.py accounts: these alone).
Plans, trainings, accounts and reports of up to 100 000 agents (python3 bench/scale.py large: these alone).
--before PATH: another sotto's accounts beside them, each stopped after LONGEST seconds. --plans DIR: where the plans are
saved, and taken from where they are there; they take minutes.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import common
from common import median

REPETITIONS = 1 if common.QUICK else 3
# Seconds that are still few: longer plans are measured once.
SHORT = 10
# (name, options, wanted seconds, wanted gap)
PLANS = [
    ("20, all pairs", ["--agents", "20"], None, None),
    ("20, all pairs, two agents", ["--agents", "20", "--coalition-size", "2"], None, None),
    ("40, all pairs", ["--agents", "40"], None, None),
    ("60, all pairs, p .1", ["--agents", "60", "--edge-probability", "0.1", "--plan-gap", "0.01"], 3, 0.01),
    ("100, all pairs, p .1", ["--agents", "100", "--edge-probability", "0.1", "--seed-groups", "all-pairs",
                              "--plan-gap", "0.01"], 10, 0.01),
    ("100, p .1", ["--agents", "100", "--edge-probability", "0.1"], None, None),
    ("200, circulant:10, p .05", ["--agents", "200", "--edge-probability", "0.05", "--seed-groups", "circulant:10",
                                  "--plan-gap", "0.05"], 5, 0.05),
    ("200, edges, p .05", ["--agents", "200", "--edge-probability", "0.05", "--seed-groups", "edges",
                           "--plan-gap", "0.05"], 5, 0.05),
    ("1000, circulant:10, p .01", ["--agents", "1000", "--edge-probability", "0.01", "--seed-groups", "circulant:10",
                                   "--plan-gap", "0.05"], 60, 0.05),
    ("1000, edges, p .01", ["--agents", "1000", "--edge-probability", "0.01", "--seed-groups", "edges",
                            "--plan-gap", "0.05"], 60, 0.05),
    ("1000, p .01", ["--agents", "1000", "--edge-probability", "0.01"], None, None),
    ("1000, p .5", ["--agents", "1000"], 60, 0.05),
    ("100, corn-hbc, p .1", ["--agents", "100", "--edge-probability", "0.1", "--mechanism", "corn-hbc",
                             "--plan-gap", "0.05"], None, None),
]
if not common.QUICK:
    PLANS += [
        ("148, ego 414, space-time, T 380",
         ["--graph", str(common.data_file("facebook_ego_414.edges")), "--mechanism", "space-time",
          "--spatial-mechanism", "pairs", "--rounds", "380", "--adjacency", "record", "--participation", "cyclic:10"],
         60, None),
        ("4039, facebook, edges",
         ["--graph", str(common.data_file("facebook_combined.txt.gz")), "--seed-groups", "edges"], 600, None)]
# Who may share a seed, on graphs from sparse to dense; all pairs only where they take seconds.
GRAPHS = [("ring, 100", ["--agents", "100", "--topology", "ring"]),
          ("100, p .05", ["--agents", "100", "--edge-probability", "0.05"]),
          ("100, p .1", ["--agents", "100", "--edge-probability", "0.1"]),
          ("150, p .5", ["--agents", "150", "--edge-probability", "0.5"]),
          ("200, p .2", ["--agents", "200", "--edge-probability", "0.2"])]
GROUPS = ["edges", "nearest:6", "nearest:10", "nearest:16", "nearest:24", "circulant:10", "all-pairs"]
MOST_FOR_ALL_PAIRS = 100
if common.QUICK:
    PLANS, GRAPHS, GROUPS = PLANS[:2], GRAPHS[:1], GROUPS[:2]
# Plans of decor against coalitions decompose a matrix for every agent.
MOST_AGENTS = {"decor": 200, "ldp": 100_000}
# One observer and all targets, T = 50: (observer, gossip steps). Agent 107 has 1045 neighbours, of whom 46 hear agents
# it does not; agent 40 has 44, the average, of whom 43 do.
ACCOUNTS = [(observer, steps) for observer in [107, 40] for steps in [1, 2]]
ACCOUNT_PLANS = {"decor": ["--mechanism", "decor"],
                 "pairs": ["--mechanism", "pairs", "--seed-groups", "edges", "--plan-gap", "0.5"]}
LONGEST = 300
# (name, options, wanted seconds, wanted MiB, wanted gap)
LARGE_PLANS = [
    ("10 000, pairs along edges, mean degree 10",
     ["--agents", "10000", "--edge-probability", "0.001", "--seed-groups", "edges"], 10, None, None),
    ("100 000, pairs along edges, mean degree 12",
     ["--agents", "100000", "--edge-probability", "0.00012", "--seed-groups", "edges"], 90, 4096, None),
    ("100 000, ldp, mean degree 12", ["--agents", "100000", "--edge-probability", "0.00012", "--mechanism", "ldp"], 5, None, None),
]
# (agents, edge probability, copies of a9a, rounds, processes, wanted seconds, wanted seconds a round)
LARGE_TRAININGS = [(10_000, 0.0012, 1, 100, 1, 120, 0.3), (10_000, 0.0012, 1, 100, 8, None, None), (100_000, 0.00012, 10, 20, 1, None, 3)]
if common.QUICK:
    LARGE_PLANS = [("2500, pairs along edges", ["--agents", "2500", "--edge-probability", "0.004", "--seed-groups", "edges"], None, None, None)]
    LARGE_TRAININGS = [(2500, 0.004, 1, 3, 1, None, None)]
else:
    LARGE_PLANS.append(("4039, facebook, pairs along edges",
                        ["--graph", str(common.data_file("facebook_combined.txt.gz")), "--seed-groups", "edges"], 20, None, 0.1))


def timed(command, longest=None):
    """Seconds, those of all threads together, and peak memory; nothing where it was stopped after so many seconds."""
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=common.ROOT, stdout=subprocess.DEVNULL)
    finished = 0
    while not finished:
        finished, status, usage = os.wait4(process.pid, os.WNOHANG if longest else 0)
        if not finished:
            if time.monotonic() - start > longest:
                process.kill()
                process.wait()
                return None
            time.sleep(0.02)
    if status != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed")
    return {"seconds": time.monotonic() - start, "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "mib": usage.ru_maxrss / 1024}


def measured(options):
    """One plan: seconds, peak memory of the process, and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "plan.json"
        run = timed([str(common.SOTTO), "plan", "--quiet", "--json", str(result)] + options)
        plan = json.loads(result.read_text())
    return {"seconds": run["seconds"], "mib": run["mib"], "objective": plan["objective"],
            "lower_bound": plan["lower_bound"], "relative_gap": plan["relative_gap"]}


def saved_plan(folder, graph, mechanism, options):
    path = folder / f"{mechanism}.json"
    if not path.exists():
        common.output_of([common.SOTTO, "plan", "--quiet", *graph, *options, "--out", path])
    return str(path)


def accounts(before, plans_folder):
    """What one agent of the Facebook graph learns about every other, from saved plans."""
    graph = ["--graph", str(common.data_file("facebook_combined.txt.gz")), "--rounds", "50"]
    programs = {"now": (common.SOTTO, None)} | ({"before": (before, LONGEST)} if before else {})
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for mechanism, plan_options in ACCOUNT_PLANS.items():
            plan = saved_plan(plans_folder or pathlib.Path(folder), graph, mechanism, plan_options)
            for observer, steps in ACCOUNTS:
                options = ["account", "--quiet", *graph, *plan_options, "--plan", plan, "--view", f"node:{observer}",
                           "--gossip-steps", str(steps)]
                row = {"mechanism": mechanism, "observer": observer, "gossip_steps": steps} | {
                    name: timed([str(program)] + options, longest) for name, (program, longest) in programs.items()}
                print(row, flush=True)
                rows.append(row)
    write_accounts(rows, list(programs))


def write_accounts(rows, programs):
    text = ("sotto account --plan FILE --view node:A about all 4039 agents of the Facebook graph, 50 rounds, whole program:\n"
            "graph, plan read and verified, filter, tight sensitivities. cpu: seconds of all threads together; seconds: by the\n"
            f"clock, with whatever else ran. Load of the machine before: {common.LOAD:.1f}.\n\n")
    columns = [f"{figure}{suffix}" for suffix in ["", " before"][:len(programs)] for figure in ["cpu", "seconds", "MiB"]]

    def cells(run):
        return [f"{run['cpu_seconds']:.0f}", f"{run['seconds']:.0f}", f"{run['mib']:.0f}"] if run else ["", f"> {LONGEST}", ""]
    text += common.table(["plan, observer, gossip steps"] + columns,
                         [[f"{r['mechanism']}, node:{r['observer']}, K = {r['gossip_steps']}",
                           *(cell for name in programs for cell in cells(r[name]))] for r in rows])
    common.write_results("scale_accounts", {"load_before": common.LOAD, "longest": LONGEST, "rows": rows}, text)


def row(name, options, wanted, wanted_gap):
    runs = [measured(options)]
    while len(runs) < REPETITIONS and runs[0]["seconds"] < SHORT:
        runs.append(measured(options))
    entry = {"name": name, "options": [pathlib.Path(o).name for o in options], "wanted_seconds": wanted, "wanted_gap": wanted_gap, "runs": runs,
             "median_seconds": median([run["seconds"] for run in runs])}
    others = list(options)
    for drop in ["--seed-groups", "--plan-gap", "--mechanism"]:
        if drop in others:
            place = others.index(drop)
            del others[place:place + 2]
    coalition = [] if "--coalition-size" in others else ["--coalition-size", "1"]
    entry["others"] = {
        mechanism: measured(others + (coalition if mechanism == "decor" else []) + ["--mechanism", mechanism])["objective"]
        for mechanism, most in MOST_AGENTS.items()
        if int(name.split(",")[0]) <= most and "space-time" not in name and not (mechanism == "ldp" and "--coalition-size" in others)}
    print(f"{name}: {entry['median_seconds']:.2f} s", flush=True)
    return entry


def noise_by_groups(graph, agents):
    """Tr(M R) by who shares a seed."""
    return {groups: measured(graph + ["--seed-groups", groups])["objective"]
            for groups in GROUPS if groups != "all-pairs" or agents <= MOST_FOR_ALL_PAIRS}


def plans():
    rows = [row(*plan) for plan in PLANS]
    groups = {name: noise_by_groups(graph, int(graph[1])) for name, graph in GRAPHS}
    text = ("sotto plan --mechanism pairs (where nothing else is said), against one curious agent, whole program: graph,\n"
            "utility horizon:200, plan, verification. Erdos-Renyi, p .5 where nothing is said. Noise: Tr(M R) at kappa 1.\n\n")
    text += common.table(
        ["agents, groups", "seconds", "wanted", "MiB", "gap", "wanted", "noise", "decor", "ldp"],
        [[r["name"], f"{r['median_seconds']:.2f}", r["wanted_seconds"] or "", f"{r['runs'][0]['mib']:.0f}",
          "" if r["runs"][0]["relative_gap"] is None else f"{r['runs'][0]['relative_gap']:.2g}", r["wanted_gap"] or "", "" if r["runs"][0]["objective"] is None else f"{r['runs'][0]['objective']:.4g}",
          *(f"{r['others'][name]:.4g}" if name in r["others"] else "" for name in MOST_AGENTS)] for r in rows])
    text += "\nNoise by who may share a seed (certified to 0.01):\n\n"
    text += common.table(["graph"] + GROUPS,
                         [[name] + [f"{noise[g]:.4g}" if g in noise else "" for g in GROUPS]
                          for name, noise in groups.items()])
    common.write_results("scale", {"rows": rows, "groups": groups}, text)


def large_plan(name, options, wanted, wanted_mib, wanted_gap):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "plan.json"
        run = timed([str(common.SOTTO), "plan", "--quiet", "--rounds", "100", "--json", str(result), *options])
        plan = json.loads(result.read_text())
    print(f"{name}: {run['seconds']:.1f} s", flush=True)
    return {"name": name, **run, "objective": plan["objective"], "relative_gap": plan["relative_gap"],
            "objective_error": plan.get("objective_error"), "wanted_seconds": wanted, "wanted_mib": wanted_mib, "wanted_gap": wanted_gap}


def large_training(agents, probability, copies, rounds, processes, wanted, wanted_round):
    """A whole run, and its account and report."""
    with tempfile.TemporaryDirectory() as folder:
        data, run = pathlib.Path(folder) / "a9a.gz", pathlib.Path(folder) / "run"
        data.write_bytes(common.data_file("a9a.gz").read_bytes() * copies)
        launch = [] if processes == 1 else [str(word) for word in common.mpirun(processes)]
        whole = timed(launch + [
            str(common.SOTTO), "train", "--quiet", "--data", str(data), "--test-data", str(common.data_file("a9a.t.gz")), "--agents", str(agents),
            "--edge-probability", str(probability), "--mechanism", "ldp", "--rounds", str(rounds), "--run-directory", str(run)])
        summary = json.loads((run / "summary.json").read_text())
        looks = {name: timed([str(common.SOTTO), *command, "--quiet"])
                 for name, command in {"account": ["account", "--run", str(run)], "report": ["report", str(run)]}.items()}
        page = (run / "report.html").stat().st_size
    seconds = summary["seconds"]
    print(f"{agents} agents, {processes} processes: {whole['seconds']:.1f} s", flush=True)
    return {"agents": agents, "rounds": rounds, "processes": processes, "whole": whole, "seconds": seconds, "mib": summary["peak_memory_mib"],
            "round": seconds["loop"] / rounds, "wanted_seconds": wanted, "wanted_round": wanted_round, "looks": looks, "page_bytes": page}


def large():
    plans_found = [large_plan(*plan) for plan in LARGE_PLANS]
    runs = [large_training(*training) for training in LARGE_TRAININGS]
    text = "sotto plan --rounds 100, whole program. Gaps are estimated above 2000 agents; every agent's limit is certified.\n\n"
    text += common.table(["agents, noise", "seconds", "wanted", "MiB", "wanted", "gap", "wanted", "noise", "+-"], [
        [r["name"], f"{r['seconds']:.1f}", r["wanted_seconds"] or "", f"{r['mib']:.0f}", r["wanted_mib"] or "",
         "" if r["relative_gap"] is None else f"{r['relative_gap']:.2g}", r["wanted_gap"] or "", f"{r['objective']:.5g}",
         "" if r["objective_error"] is None else f"{r['objective_error']:.2g}"] for r in plans_found])
    text += ("\nsotto train on a9a (100 000 agents: ten copies) with ldp, whole program; seconds a round in the loop; then sotto account --run and\n"
             "sotto report of it. Times of the whole depend on the disk: every agent has its own files.\n\n")
    text += common.table(["agents, processes, rounds", "seconds", "wanted", "processor", "a round", "wanted", "MiB", "evaluation", "account", "report", "page MB"], [
        [f"{r['agents']}, {r['processes']}, {r['rounds']}", f"{r['whole']['seconds']:.1f}", r["wanted_seconds"] or "", f"{r['whole']['cpu_seconds']:.1f}",
         f"{r['round']:.3g}", r["wanted_round"] or "", f"{r['mib']:.0f}", f"{r['seconds']['evaluate']:.1f}", f"{r['looks']['account']['seconds']:.1f}",
         f"{r['looks']['report']['seconds']:.1f}", f"{r['page_bytes'] / 1e6:.1f}"] for r in runs])
    common.write_results("scale_large", {"load_before": common.LOAD, "plans": plans_found, "trainings": runs}, text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["plans", "accounts", "large"], help="all, and scale_models, if not given")
    parser.add_argument("--before", type=lambda path: pathlib.Path(path).resolve(strict=True))
    parser.add_argument("--plans", type=lambda path: pathlib.Path(path).resolve(strict=True))
    arguments = parser.parse_args()
    if arguments.what in (None, "plans"):
        plans()
    if arguments.what in (None, "large"):
        large()
    if arguments.what in (None, "accounts") and not common.QUICK:
        accounts(arguments.before, arguments.plans)
    if not arguments.what:
        before = ["--before", arguments.before] if arguments.before else []
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("scale_models.py"), *before], check=True)


main()
