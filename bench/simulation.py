"""Schedules of the whole system under faults, from seeds: how ranks ended, and what was violated (docs/simulation.md).

bench/run simulation [COUNT]: so many, from seed 1 on.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import common



def run(count):
    """Figures of every process; and whether all schedules held."""
    program = common.BUILD / "tests" / "simulation" / "sotto_simulation"
    if not program.exists():
        program = common.BUILD / "bench" / "simulation" / "sotto_simulation"
    processes = min(len(os.sched_getaffinity(0)), count)
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for part in range(processes):
            first, last = (1 + count * i // processes for i in (part, part + 1))
            file = pathlib.Path(folder) / f"{part}.json"
            running.append((file, subprocess.Popen(
                ["nice", program, "--seed", str(first), "--count", str(last - first), "--keep-going", "--json", file])))
        held = all([process.wait() == 0 for _, process in running])
        return [json.loads(file.read_text()) for file, _ in running], held


def added(values):
    """Counts of all processes, name by name."""
    if isinstance(values[0], dict):
        return {name: added([value[name] for value in values]) for name in values[0]}
    return sum(values)


def write(parts):
    """Results of all processes together."""
    total = added([{name: value for name, value in part.items() if name not in ("first_seed", "seconds")}
                   for part in parts])
    total["seeds"] = [[part["first_seed"], part["first_seed"] + part["schedules"] - 1] for part in parts]
    total["seconds"] = max(part["seconds"] for part in parts)
    rows = [[name.replace("_", " "), value] for name, value in total.items() if not isinstance(value, (dict, list))]
    seeds = ", ".join(f"{first} to {last}" for first, last in total["seeds"])
    text = common.table([f"seeds {seeds}", ""], rows)
    text += "\n" + common.table(["fault", "starts in which it struck"], total["faults"].items())
    text += "\n" + common.table(["how ranks ended", "ranks"], total["ranks"].items())
    common.write_results("simulation", total, text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", type=int, default=200 if common.QUICK else 10_000)
    figures, all_held = run(parser.parse_args().count)
    write(figures)
    raise SystemExit(0 if all_held else 1)
