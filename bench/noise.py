"""Milliseconds for the noise of one round under corn: one agent alone, and all agents of one process."""
import re

import common
from common import median

REPETITIONS = 3 if common.QUICK else 5


def main():
    runs = []
    for name, entries in common.google_benchmark("noise", REPETITIONS).items():
        who, agents, dimension = re.fullmatch(r"(.*)/n=(\d+)/d=(\d+)", name).groups()
        scale = {"ms": 1, "us": 1e-3, "s": 1e3}[entries[0]["time_unit"]]
        run = {"who": who, "agents": int(agents), "dimension": int(dimension),
               "streams": int(entries[0]["streams"]), "milliseconds": [e["real_time"] * scale for e in entries]}
        run["median_milliseconds"] = median(run["milliseconds"])
        run["million_normals_a_second"] = run["streams"] * run["dimension"] / run["median_milliseconds"] / 1e3
        runs.append(run)
    text = ("Noise of one round, corn with utility horizon:200, Erdos-Renyi p=0.5. One agent: one thread, as an MPI\n"
            "rank; all agents: one process with two threads, shared streams drawn once. Medians.\n\n")
    text += common.table(
        ["", "n", "d", "streams", "ms a round", "ms an agent", "million normals/s"],
        [[r["who"], r["agents"], r["dimension"], r["streams"], f"{r['median_milliseconds']:.3f}",
          f"{r['median_milliseconds'] / (r['agents'] if r['who'] == 'all agents' else 1):.4f}",
          f"{r['million_normals_a_second']:.0f}"] for r in runs])
    common.write_results("noise", {"runs": runs}, text)


main()
