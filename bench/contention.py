"""What other work on the machine costs: the program on an idle machine and beside as many busy loops as cores.

--before PATH (bench/run contention --before PATH): the same of another sotto, taking turns.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time

import common
from common import median

REPETITIONS = 1 if common.QUICK else 5
TARGET_RATIO = 4
TIME_LIMIT = 20 if common.QUICK else 120  # s of one run
ROUNDS = 100 if common.QUICK else 1000
LARGE = 40 if common.QUICK else 100
JOBS = {f"plan, {mechanism}, {agents} agents": ["plan", "--mechanism", mechanism, "--agents", agents, "--out", "plan.json"]
        for mechanism in ["corn", "pairs"] for agents in [20, LARGE]}
JOBS |= {
    f"train, 20 agents in one process, {ROUNDS} rounds":
        ["train", "--agents", 20, "--rounds", ROUNDS, "--run-directory", "run"],
    f"account, coalition 0,1 of 20 agents, {ROUNDS} rounds":
        ["account", "--agents", 20, "--rounds", ROUNDS, "--view", "coalition:0,1"],
}


def seconds_of(program, job):
    """Wall time of one run; the limit if it takes longer."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        try:
            subprocess.run([str(program), *map(str, job), "--quiet"], cwd=folder, timeout=TIME_LIMIT,
                           check=True, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return float(TIME_LIMIT)
        return time.monotonic() - start


def measure(programs, loops):
    """{(program, job): seconds of every run}; jobs and programs take turns."""
    seconds = {(name, job): [] for job in JOBS for name in programs}
    with common.busy_loops(loops):
        for _ in range(REPETITIONS):
            for name, job in seconds:
                if seconds[name, job][-1:] != [float(TIME_LIMIT)]:  # once is enough to know
                    seconds[name, job].append(seconds_of(programs[name], JOBS[job]))
    return seconds


def text_of(value):
    return f"> {TIME_LIMIT}" if value >= TIME_LIMIT else f"{value:.3f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=lambda path: pathlib.Path(path).resolve(strict=True))
    before = parser.parse_args().before
    programs = {"sotto": common.SOTTO} | ({"before": before} if before else {})
    idle, busy = measure(programs, 0), measure(programs, common.THREADS)
    runs = [{"program": name, "job": job, "idle_seconds": idle[name, job], "busy_seconds": busy[name, job],
             "median_idle_seconds": median(idle[name, job]), "median_busy_seconds": median(busy[name, job]),
             "ratio": median(busy[name, job]) / median(idle[name, job])} for name, job in idle]
    columns = ["", "idle s", f"beside {common.THREADS} loops s", "ratio"]
    text = (f"Wall time of the program on an idle machine and beside {common.THREADS} processes that compute without end, "
            f"medians of {REPETITIONS}.\nTarget: a ratio of at most {TARGET_RATIO}.\n")
    for name in programs:
        text += f"\n{'This sotto' if name == 'sotto' else 'The sotto before'}:\n\n" + common.table(
            columns, [[r["job"], text_of(r["median_idle_seconds"]), text_of(r["median_busy_seconds"]),
                       f"{'> ' if r['median_busy_seconds'] >= TIME_LIMIT else ''}{r['ratio']:.1f}"]
                      for r in runs if r["program"] == name])
    common.write_results("contention", {"target_ratio": TARGET_RATIO, "load_before": common.LOAD, "runs": runs}, text)


main()
