"""Epsilon and noise of secretly sampled rounds: time, and beside dp_accounting where it is installed."""
import json
import time

import common
from common import median

DELTA = 1e-5
GOALS = {"epsilon": 100, "noise multiplier": 1000}  # ms, for 5000 rounds
HOW_TO_GET_IT = ("dp_accounting is not installed: apt-get install python3-absl python3-attr python3-scipy, "
                 "then pip install dp-accounting")


def accountant():
    """dp_accounting's privacy loss distributions, or None."""
    try:
        from dp_accounting.pld import privacy_loss_distribution
        return privacy_loss_distribution
    except ImportError:
        return None


def one_of(pld, row, pessimistic):
    return pld.from_gaussian_mechanism(
        row["noise_multiplier"], sampling_prob=row["sampling_probability"], pessimistic_estimate=pessimistic,
        value_discretization_interval=1e-4, use_connect_dots=pessimistic)


def dp_accounting_of(pld, row):
    """Its upper and lower estimate of epsilon, both directions (its distributions hold both), and the time of the upper."""
    begin = time.perf_counter()
    upper = one_of(pld, row, True).self_compose(row["rounds"]).get_epsilon_for_delta(DELTA)
    spent = 1000 * (time.perf_counter() - begin)
    lower = one_of(pld, row, False).self_compose(row["rounds"]).get_epsilon_for_delta(DELTA)
    return {"epsilon_upper": upper, "epsilon_lower": lower, "ms": spent}


def main():
    results = json.loads(common.output_of([common.program("amplification")]))
    pld = accountant()
    rows = []
    for row in results["rows"]:
        times = [f"{median(row['epsilon_ms']):.1f}", f"{median(row['noise_multiplier_ms']):.0f}"]
        other = ["-"] * 3
        if pld and row["rounds"] <= 5000:
            row["dp_accounting"] = found = dp_accounting_of(pld, row)
            other = [f"{found['epsilon_upper']:.5f}", f"{found['epsilon_lower']:.5f}", f"{found['ms']:.0f}"]
            if not row["epsilon_lower"] <= found["epsilon_upper"] * 1.0005:
                raise SystemExit(f"bench: dp_accounting's upper bound is below our lower one: {row}")
        rows.append([f"s={row['noise_multiplier']} q={row['sampling_probability']} T={row['rounds']}",
                     f"{row['epsilon']:.5f}", f"{row['epsilon_lower']:.5f}", *times, *other])
    text = ("One core. Epsilon at delta 1e-5 of T rounds with noise multiplier s, each record in a round with probability q.\n"
            f"Wanted for T = 5000: epsilon within {GOALS['epsilon']} ms, a noise multiplier within "
            f"{GOALS['noise multiplier']} ms. Medians.\n\n")
    text += common.table(["", "epsilon", "lower", "ms", "noise ms", "dp_accounting", "its lower", "its ms"], rows)
    if not pld:
        text += f"\n{HOW_TO_GET_IT}\n"
    text += (f"\nepsilon after each of {results['so_far']['rounds']} rounds (s=1.3, q=0.02): "
             f"{results['so_far']['ms_a_round']:.1f} ms a round\n\n")
    text += "A real transform there and back, ms:\n\n"
    text += common.table(["length", "Eigen", "FFTW"],
                         [[str(one["length"]), f"{median(one['eigen_ms']):.2f}",
                           f"{median(one['fftw_ms']):.2f}" if one["fftw_ms"] else "-"] for one in results["transforms"]])
    common.write_results("amplification", {"delta": DELTA, "goals_ms": GOALS} | results, text)


main()
