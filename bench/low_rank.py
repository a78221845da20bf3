"""What a plan with fewer streams costs: corn's optimal covariance cut to s2 I plus low rank."""
import json

import common

SIZES = [20] if common.QUICK else [20, 100]


def main():
    runs = []
    for agents in SIZES:
        for utility in ["one-step", "horizon:200"]:
            for share in [0.1, 0.25, 0.5, 0.75, 0.9]:
                runs.append(json.loads(common.output_of(
                    [common.program("plan"), "low_rank", agents, utility, round(share * agents)])))
    text = ("R = s2 I + the largest eigenvectors of corn's optimal R, best s2, scaled to feasibility; Erdos-Renyi\n"
            "p=0.5. Noise that is left after mixing, as a multiple of the optimum's. An agent draws rank + 1 streams\n"
            "(with the triangular factor: half the agents on average).\n\n")
    text += common.table(["agents", "utility", "rank", "times optimum", "ldp"],
                         [[r["agents"], r["utility"], r["rank"], f"{r['times_optimum']:.2f}",
                           f"{r['ldp_times_optimum']:.2f}"] for r in runs])
    common.write_results("low_rank", {"runs": runs}, text)


main()
