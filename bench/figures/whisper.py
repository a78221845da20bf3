"""[W] Whisper D-SGD. Its figures 2 and 3 are the experiments of [C] 3 and 4: C3 and C4 here."""
import corn_plans as plans
from figure import Caption, Claim, Figure, Panel, Told
from verdicts import LOWER, NOT_ABOVE, SAME

CURVES = ["ldp", "decor", "corn one-step", "corn horizon", plans.EXACT, "cdp", plans.CDP_EXACT]


def independent(plan):
    """The private part of every agent's noise: lambda_min(R); for cdp the paper's ldp / n."""
    if plan["mechanism"] == "cdp":
        return plan["objective"] / plan["kappa"]
    return plan["independent_variance"]


def measure_w1(size):
    return plans.plan_rows(size, plans.both_panels(CURVES, size), independent)


def caption_w1(table, size):
    below_one = lambda x: x < 1

    def both(first, second, of_p=None):
        return table.graphs("epsilon", first, second) + table.graphs("p", first, second, of_p)

    return Caption(
        paper="the independent part of every agent's noise against ε (p = 0.5) and p (ε = 10), log scale: σ²_mix (Whisper), σ²_pair "
              "(DECOR), σ²_ldp, and σ²_cdp = σ²_ldp/n.",
        setting=f"the smallest eigenvalue of R, which is the largest σ² in R = σ²I + R_cor, drawn over LDP's; "
                f"{plans.setting_text(size)}. The curve `exact` falls below the CDP of the `paper` calibration.",
        claims=[
            Claim("LDP is the upper bound: DECOR is nowhere above it", both("decor", "ldp"), (LOWER, NOT_ABOVE)),
            Claim("Whisper is below LDP, the upper bound", both("corn one-step", "ldp"), (LOWER,)),
            Claim("CDP, the lower bound, is below Whisper", both("cdp", "corn one-step"), (LOWER, SAME)),
            *plans.effective_claims(table),
            Claim("Whisper is consistently below DECOR (“≪”, of which “<” is compared; p below 1, as section VI-B says equal at 1)", both("corn one-step", "decor", below_one), (LOWER,)),
            Claim(f"at p = 1 Whisper and DECOR are the same (margin: factor {plans.SOLVED:g})",
                  table.graphs("p", "corn one-step", "decor", lambda x: x == 1, plans.SOLVED), (SAME,)),
            plans.gap_claim(table, "p", "the gap between DECOR and Whisper is particularly large on sparse graphs"),
        ],
        notes="σ²_mix is not unique: any smaller σ², with the rest in R_cor, gives the same R. The paper's values depend on its "
              f"solver; ours are the largest. Curves with the `paper` calibration end below ε = {plans.PAPER_LIMIT} (C1).",
        ours=[
            Told("graphs on which DECOR's independent noise equals LDP's", [], table.equal_graphs("p", "decor", "ldp")),
            Told("Whisper is “much closer” to CDP than LDP is (not judged): LDP against CDP", both("ldp", "cdp")),
            Told("Whisper against CDP", both("corn one-step", "cdp")),
            Told("`corn horizon` against `corn one-step`", table.graphs("p", "corn horizon", "corn one-step")),
            Told(f"`{plans.EXACT}` against `corn one-step`", table.graphs("epsilon", plans.EXACT, "corn one-step")),
            Told("`pairs q=1`, counting only noise that one agent does not know, against `ldp`",
                 table.graphs("p", "pairs q=1", "ldp")),
        ])


VARIANCE = ("independent_variance", "independent variance σ²")
W1 = Figure(
    "W1", "independent part of the noise, against ε and p",
    [Panel("epsilon", f"(a) p = {plans.PROBABILITY:g}", plans.EPSILON_PANEL, VARIANCE, "ε", log_x=True,
           ticks=plans.EPSILON_TICKS, **plans.OVER_LDP),
     Panel("p", f"(b) ε = {plans.EPSILON}", plans.PROBABILITY_PANEL, VARIANCE, "p", ticks=plans.PROBABILITIES, **plans.OVER_LDP)],
    measure_w1, caption_w1, sizes=plans.SIZES)

FIGURES = [W1]
