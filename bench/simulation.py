"""Schedules of the whole system under faults, from seeds: how ranks ended, and what was violated (docs/simulation.md).

bench/run simulation [COUNT]: so many, from seed 1 on. What a program has done is kept beside it, so that a study that was
interrupted goes on.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import common

PART = 1000  # schedules of one process


def part(program, first, last):
    """Figures of the schedules of these seeds, and what was violated; and the exit code."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        ended = subprocess.run(["nice", program, "--seed", str(first), "--count", str(last - first + 1),
                                "--keep-going", "--json", file.name],
                               stdout=subprocess.PIPE, text=True, check=False)
        figures = json.load(open(file.name, encoding="utf-8"))
    found = re.findall("^seed .*", ended.stdout, re.MULTILINE)
    print(f"seeds {first} to {last}: {figures['seconds']:.0f} s", *found, sep="\n", file=sys.stderr, flush=True)
    return {**figures, "found": found}, ended.returncode


def run(count):
    """Figures of all parts; and whether all schedules held. An interrupt ends it with the parts before."""
    program = common.BUILD / "tests" / "simulation" / "sotto_simulation"
    if not program.exists():
        program = common.BUILD / "bench" / "simulation" / "sotto_simulation"
    kept = common.Kept(program)

    def kept_part(first, last):
        return kept.part(f"seeds {first} to {last}", lambda: part(program, first, last), lambda result: result[1] in (0, 1))

    # One thread of a schedule runs at a time: handing over is fastest on one processor.
    free = sorted(os.sched_getaffinity(0))
    ranges = [(first, min(first + PART - 1, count)) for first in range(1, count + 1, PART)]
    parts = []
    with concurrent.futures.ThreadPoolExecutor(
            len(free), initializer=lambda: os.sched_setaffinity(0, {free.pop()})) as threads:
        running = [threads.submit(kept_part, *seeds) for seeds in ranges]
        try:
            for one in running:
                parts.append(one.result())
        except (KeyboardInterrupt, json.JSONDecodeError):
            for one in running:
                one.cancel()
    return [figures for figures, _ in parts], len(parts) == len(ranges) and all(code == 0 for _, code in parts)


def added(values):
    """Counts of all processes, name by name."""
    if isinstance(values[0], dict):
        return {name: added([value[name] for value in values]) for name in values[0]}
    return sum(values)


def write(parts):
    """Results of all processes together."""
    total = added([{name: value for name, value in part.items() if name not in ("first_seed", "seconds", "found")}
                   for part in parts])
    total["seeds"] = [parts[0]["first_seed"], parts[-1]["first_seed"] + parts[-1]["schedules"] - 1]
    total["found"] = [line for part in parts for line in part["found"]]
    total["seconds"] = sum(part["seconds"] for part in parts)
    rows = [[name.replace("_", " "), value] for name, value in total.items() if not isinstance(value, (dict, list))]
    first, last = total["seeds"]
    text = common.table([f"seeds {first} to {last}", ""], rows)
    text += "\n" + common.table(["fault", "starts in which it struck"], total["faults"].items())
    text += "\n" + common.table(["how ranks ended", "ranks"], total["ranks"].items())
    text += "\n" + "".join(line + "\n" for line in total["found"])
    common.write_results("simulation", total, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", type=int, default=200 if common.QUICK else 10_000)
    figures, all_held = run(parser.parse_args().count)
    write(figures)
    raise SystemExit(0 if all_held else 1)
