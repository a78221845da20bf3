"""What a round of shared work costs with threads of several kinds, on an idle machine and beside busy loops."""
import json

import common
from common import median

CALLS = 20  # agents of one process
ALONE = 0.1  # of a round's work is the caller's own
CALL_MICROSECONDS = [5, 50] if common.QUICK else [2, 5, 20, 100, 500]
ROUND_SECONDS = 0.02 if common.QUICK else 0.05  # of work, in one process
REPETITIONS = 2 if common.QUICK else 7
# name: (way of bench_threads, environment)
WAYS = {
    "one thread": ("alone", {}),
    "oneTBB": ("pool", {}),
    "own pool": ("own", {}),
    "OpenMP": ("openmp", {}),
    "OpenMP, passive": ("openmp", {"OMP_WAIT_POLICY": "passive"}),
}


def mean_round(way, environment, microseconds):
    rounds = max(20, round(1e6 * ROUND_SECONDS / (CALLS * microseconds)))
    run = json.loads(common.output_of(
        [common.program("threads"), way, CALLS, microseconds, ALONE, rounds, common.THREADS], **environment))
    return sum(run["microseconds"]) / rounds


def measure(loops):
    """Mean microseconds of a round in every process; the ways take turns."""
    cells = {(name, size): [] for size in CALL_MICROSECONDS for name in WAYS}
    with common.busy_loops(loops):
        for _ in range(REPETITIONS):
            for name, size in cells:
                cells[name, size].append(mean_round(*WAYS[name], size))
    return [{"way": name, "call_microseconds": size, "busy_loops": loops, "mean_round_microseconds": values,
             "median_microseconds": median(values)} for (name, size), values in cells.items()]


def main():
    runs = measure(0) + measure(common.THREADS)
    text = (f"Microseconds of a round: {CALLS} calls on {common.THREADS} threads, then {ALONE:g} as much work by the caller alone. Means of\n"
            f"the rounds of a process, medians of {REPETITIONS} processes. Own pool: bench/sleeping_pool.hpp.\n")
    for loops in [0, common.THREADS]:
        text += f"\n{f'Beside {loops} busy loops' if loops else 'Idle machine'}, by the microseconds of a call:\n\n"
        found = {(r["way"], r["call_microseconds"]): r for r in runs if r["busy_loops"] == loops}
        text += common.table(["", *[f"{size} us" for size in CALL_MICROSECONDS]],
                             [[way, *[f"{found[way, size]['median_microseconds']:.0f}" for size in CALL_MICROSECONDS]]
                              for way in WAYS])
    common.write_results("threads", {"load_before": common.LOAD, "runs": runs}, text)


main()
