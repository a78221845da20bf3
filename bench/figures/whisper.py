"""[W] Whisper D-SGD. Its figures 2 and 3 are the experiments of [C] 3 and 4: C3 and C4 here."""
import corn
from shared import Caption, Figure, Panel, at, compare, ratios, span

CURVES = ["ldp", "decor", "corn one-step", "corn horizon", corn.EXACT, "cdp"]


def measure_w1(size):
    """The private part of every agent's noise: lambda_min(R); for cdp the paper's ldp / n."""
    def independent(plan):
        if plan["mechanism"] == "cdp":
            return plan["objective"] / plan["kappa"]
        return plan["independent_variance"]

    return corn.plan_rows(size, corn.both_panels(CURVES, size), independent)


def caption_w1(rows, size):
    decor = ratios(rows, "p", "decor", "corn one-step")
    sparse, dense = min(decor), max(decor)
    horizon = ratios(rows, "p", "corn one-step", "corn horizon")
    above = ratios(rows, "p", "corn one-step", "cdp")
    exact = ratios(rows, "epsilon", "corn one-step", corn.EXACT)
    return Caption(
        paper="the independent part of every agent's noise, σ²_mix (Whisper), σ²_pair (DECOR), σ²_ldp, σ²_cdp = σ²_ldp/n, against ε (p = "
              "0.5) and p (ε = 10), log scale. LDP is highest, CDP the floor; Whisper is far below DECOR (“≪”), most on sparse graphs, "
              "and comes close to CDP. No numbers in the text.",
        setting=f"smallest eigenvalue of R, which is the largest σ² that R = σ²I + R_cor allows; {corn.AGENTS} agents, C = 0.1, δ = "
                f"1e-5, T = 5000, Metropolis weights, mean of {len(corn.graphs(size))} Erdős–Rényi graphs, "
                "`sotto plan`; calibration `paper` unless a curve says exact.",
        claims=[
            ("LDP is highest and CDP lowest everywhere",
             all(compare(rows, k, c, "ldp") and compare(rows, k, "cdp", c)
                 for k in ("epsilon", "p") for c in ("decor", "corn one-step"))),
            (f"Whisper (`corn one-step`) is below DECOR at every p below 1, {decor[sparse]:.1f} times at p = {sparse:g}",
             all(ratio > 1 for x, ratio in decor.items() if x < 1)),
            (f"at p = 1 both are at the same level ({decor[dense]:.2f} times)", abs(decor[dense] - 1) < 0.1),
        ],
        differs="σ²_mix is not unique: any smaller σ² with the rest in R_cor is the same R and the same optimum, so the paper's values "
                "depend on its solver; ours is the largest. It is also not what is left after mixing (C1 shows that). "
                f"Whisper stays {span(above.values(), '{:.1f}')} times above CDP. With the `paper` calibration curves end below ε = "
                f"{corn.PAPER_LIMIT} (see C1).",
        extra=f"The plan for 200 rounds (`corn horizon`) needs {span(horizon.values(), '{:.1f}')} times less independent noise than the "
              f"one-step plan; exact calibration saves a factor {span(exact.values())} at the same ε. `pairs q=1` withstands any curious "
              "agent; its noise without what one agent knows is what protects.")


W1 = Figure(
    "W1", "independent part of the noise, against ε and p",
    [Panel("epsilon", "(a) p = 0.5", corn.EPSILON_PANEL, ("independent_variance", "independent variance σ²"), log_x=True,
           log_y=True, ticks=corn.EPSILON_TICKS),
     Panel("p", "(b) ε = 10", corn.PROBABILITY_PANEL, ("independent_variance", "independent variance σ²"), log_y=True,
           ticks=corn.PROBABILITIES)],
    measure_w1, caption_w1)

FIGURES = [W1]
