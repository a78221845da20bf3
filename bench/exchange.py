"""One round of exchange and mixing, against raw MPI calls, an all-reduce, and the machine's read limit."""
import json

import common
from common import median

DIMENSIONS = [100, 10_000] if common.QUICK else [100, 1_000, 10_000, 100_000, 1_000_000]
JOBS = [(4, "complete"), (20, "erdos-renyi")]
REPETITIONS = 3 if common.QUICK else 7
OWN = "sotto exchange"
RAW = ["MPI_Neighbor_allgather", "Isend/Irecv"]


def exchange(ranks, graph):
    job = json.loads(common.output_of(
        common.mpirun(ranks) + [common.program("exchange"), graph, REPETITIONS, *DIMENSIONS]))
    job["mpi"] = job["mpi"].split(",")[0]
    for size in job["sizes"]:
        medians = {way: median(values) for way, values in size["seconds"].items()}
        best_raw = min(medians[way] for way in RAW)
        size["median_seconds"] = medians
        size["ratios"] = {
            "exchange to best raw call": medians[OWN] / best_raw,
            "exchange and mix to raw call, then mix":
                medians["sotto exchange and mix"] / medians["MPI_Neighbor_allgather, then mix"],
            "exchange to all-reduce": medians[OWN] / medians["MPI_Allreduce"]}
    return job


def mixing():
    runs = {name: {"gigabytes_a_second": [e["bytes_per_second"] / 1e9 for e in entries]}
            for name, entries in common.google_benchmark("mixing", REPETITIONS).items()}
    for run in runs.values():
        run["median_gigabytes_a_second"] = median(run["gigabytes_a_second"])
    limit = runs["plain_read"]["median_gigabytes_a_second"]
    for run in runs.values():
        run["fraction_of_read"] = run["median_gigabytes_a_second"] / limit
    return runs


def main():
    mixing_runs = mixing()
    jobs = [exchange(ranks, graph) for ranks, graph in JOBS]
    text = ""
    for job in jobs:
        ways = list(job["sizes"][0]["median_seconds"])
        text += (f"{job['ranks']} ranks, {job['graph']} graph, {job['edges']} edges, {job['mpi']}: microseconds a "
                 "round of the slowest rank, medians.\n\n")
        text += common.table(
            ["d"] + [str(s["dimension"]) for s in job["sizes"]],
            [[way] + [f"{1e6 * s['median_seconds'][way]:.1f}" for s in job["sizes"]] for way in ways]
            + [[name] + [f"{s['ratios'][name]:.2f}" for s in job["sizes"]] for name in job["sizes"][0]["ratios"]])
        text += "\n"
    text += ("Mixing alone, one core, 10 columns (80 MB of d = 1e6; quick: 8 MB); target: 0.8 of the plain read.\n"
             "Bytes are those of the columns; writing the result comes on top.\n\n")
    text += common.table(["", "GB/s", "of plain read"],
                         [[name, f"{run['median_gigabytes_a_second']:.2f}", f"{run['fraction_of_read']:.2f}"]
                          for name, run in mixing_runs.items()])
    common.write_results("exchange", {"target_exchange_to_best_raw_call": 1.10,
                                      "target_mixing_fraction_of_read": 0.8,
                                      "jobs": jobs, "mixing": mixing_runs}, text)


main()
