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
    """dp_accounting, or None."""
    try:
        import dp_accounting
        import dp_accounting.pld
        return dp_accounting
    except ImportError:
        return None


def timed(work, repetitions=3):
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        result = work()
        times.append(1000 * (time.perf_counter() - begin))
    return result, times


def estimate(dp, row, pessimistic):
    one = dp.pld.privacy_loss_distribution.from_gaussian_mechanism(
        row["noise_multiplier"], sampling_prob=row["sampling_probability"], pessimistic_estimate=pessimistic,
        value_discretization_interval=1e-4, use_connect_dots=pessimistic)
    return one.self_compose(row["rounds"]).get_epsilon_for_delta(DELTA)


def calibrated(dp, row):
    """Its noise multiplier for the epsilon of the row, as close as ours."""
    return dp.calibrate_dp_mechanism(
        lambda: dp.pld.PLDAccountant(dp.NeighboringRelation.ADD_OR_REMOVE_ONE),
        lambda noise: dp.SelfComposedDpEvent(
            dp.PoissonSampledDpEvent(row["sampling_probability"], dp.GaussianDpEvent(noise)), row["rounds"]),
        row["epsilon"], DELTA,
        dp.ExplicitBracketInterval(row["noise_multiplier"] / 2, row["noise_multiplier"] * 2),
        tol=1e-5 * row["noise_multiplier"])


def dp_accounting_of(dp, row):
    """Its upper and lower estimate of epsilon, both directions (its distributions hold both), and what they take."""
    upper, upper_ms = timed(lambda: estimate(dp, row, True))
    lower, lower_ms = timed(lambda: estimate(dp, row, False))
    noise, noise_ms = timed(lambda: calibrated(dp, row), 1)
    return {"epsilon_upper": upper, "epsilon_lower": lower, "noise_multiplier": noise,
            "both_ms": [a + b for a, b in zip(upper_ms, lower_ms)], "noise_multiplier_ms": noise_ms}


def main():
    results = json.loads(common.output_of([common.program("amplification")]))
    dp = accountant()
    rows = []
    for row in results["rows"]:
        ours = [median(row["epsilon_ms"]), median(row["noise_multiplier_ms"])]
        other = ["-"] * 5
        if dp and row["rounds"] <= 5000:
            row["dp_accounting"] = found = dp_accounting_of(dp, row)
            theirs = [median(found["both_ms"]), median(found["noise_multiplier_ms"])]
            other = [f"{found['epsilon_upper']:.5f}", f"{found['epsilon_lower']:.5f}", f"{theirs[0]:.0f}", f"{theirs[1]:.0f}",
                     ", ".join(f"{a / b:.0f}" for a, b in zip(theirs, ours))]
            if not row["epsilon_lower"] <= found["epsilon_upper"] * 1.0005:
                raise SystemExit(f"bench: dp_accounting's upper bound is below our lower one: {row}")
        rows.append([f"s={row['noise_multiplier']} q={row['sampling_probability']} T={row['rounds']}",
                     f"{row['epsilon']:.5f}", f"{row['epsilon_lower']:.5f}", f"{ours[0]:.1f}", f"{ours[1]:.0f}", *other])
    text = ("One core. Epsilon at delta 1e-5 of T rounds with noise multiplier s, each record in a round with probability q.\n"
            f"Wanted for T = 5000: epsilon within {GOALS['epsilon']} ms, a noise multiplier within "
            f"{GOALS['noise multiplier']} ms. Medians.\nms: of both bounds, of ours and of dp_accounting's (discretisation 1e-4); "
             "times: how often ours fit into its, bounds and noise.\n\n")
    text += common.table(["", "epsilon", "lower", "ms", "noise ms", "dp_accounting", "its lower", "its ms", "its noise ms", "times"], rows)
    if not dp:
        text += f"\n{HOW_TO_GET_IT}\n"
    text += (f"\nepsilon after each of {results['so_far']['rounds']} rounds (s=1.3, q=0.02): "
             f"{results['so_far']['ms_a_round']:.1f} ms a round\n\n")
    text += "A real transform there and back, ms:\n\n"
    text += common.table(["length", "Eigen", "FFTW"],
                         [[str(one["length"]), f"{median(one['eigen_ms']):.2f}",
                           f"{median(one['fftw_ms']):.2f}" if one["fftw_ms"] else "-"] for one in results["transforms"]])
    common.write_results("amplification", {"delta": DELTA, "goals_ms": GOALS} | results, text)


main()
