"""The loss table: a9a with every mechanism at one budget, step size chosen on a validation split.

Plans are `published`, made for the noise that one mixing step leaves as the papers have it, or `ours`, made for the noise of
many rounds; ldp, cdp and none have no such choice. Choosing: a9a is split at random, 80% to train and 20% to validate (other
seeds than below); the step size with the smallest mean validation loss is taken, of steps that go on until the best is at no
edge. Reporting: all of a9a to train, a9a.t to test, five seeds of graph, shares, batches and noise.
"""
import common
import grid

PLANS = {
    "none": {"mechanism": "none"},
    "ldp": {"mechanism": "ldp"},
    "decor, published": {"mechanism": "decor", "utility": "one-step"},
    "decor, ours (200 rounds)": {"mechanism": "decor", "utility": "horizon:200"},
    "corn, published": {"mechanism": "corn", "utility": "one-step"},
    "corn, ours (50 rounds)": {"mechanism": "corn", "utility": "horizon:50"},
    "corn, ours (200 rounds)": {"mechanism": "corn", "utility": "horizon:200"},
    "corn, ours (1000 rounds)": {"mechanism": "corn", "utility": "horizon:1000"},
    "corn, ours (trajectory)": {"mechanism": "corn", "utility": "trajectory"},
    "cdp": {"mechanism": "cdp"},
}
SETTINGS = {
    "agents": 20, "rounds": 5000, "clip_norm": 0.1, "epsilon": 10, "delta": 1e-5, "batch_size": 128,
    "probabilities": [0.2, 0.5, 1.0], "calibrations": ["exact", "paper"],
    "step_sizes": [0.1, 0.05, 0.02, 0.01, 0.005], "widen": 2,
    "validation_seeds": [101, 102, 103], "seeds": [1, 2, 3, 4, 5], "plans": PLANS,
}
if common.QUICK:
    SETTINGS |= {"rounds": 200, "probabilities": [0.2, 0.5], "step_sizes": [0.05, 0.02],
                 "validation_seeds": [101], "seeds": [1, 2],
                 "plans": {name: PLANS[name] for name in ("none", "ldp", "corn, ours (200 rounds)", "cdp")}}


def options_of(cell, step, seed, testing):
    options = {"data": common.data_file("a9a.gz"), "calibration": cell["calibration"], "edge_probability": cell["p"],
               "step_size": step, "seed": seed, "graph_seed": seed, "noise_seed": seed, "eval_every": SETTINGS["rounds"]}
    for name in ["agents", "rounds", "clip_norm", "epsilon", "delta", "batch_size"]:
        options[name] = SETTINGS[name]
    if testing:
        options["test_data"] = common.data_file("a9a.t.gz")
    return options | SETTINGS["plans"][cell["plan"]]


def wanted_cells():
    """Without noise there is nothing to calibrate: one calibration stands for all."""
    return [{"plan": plan, "p": p, "calibration": calibration}
            for calibration in SETTINGS["calibrations"] for p in SETTINGS["probabilities"]
            for plan in SETTINGS["plans"] if plan != "none" or calibration == SETTINGS["calibrations"][0]]


def markdown(table):
    s = SETTINGS
    text = (f"Test loss on a9a.t, mean over the agents' own models, {len(s['seeds'])} seeds with 95% intervals; "
            f"{s['agents']} agents, T = {s['rounds']}, C = {s['clip_norm']},\nepsilon = {s['epsilon']}, "
            f"delta = {s['delta']:g}, Erdos-Renyi graphs, step size chosen for every cell on a validation split. "
            "`none` spends no budget.\n")
    for calibration in s["calibrations"]:
        used = lambda plan, calibration=calibration: s["calibrations"][0] if plan == "none" else calibration
        text += f"\nCalibration `{calibration}`:\n\n" + grid.markdown(
            "", s["plans"], [f"p = {p}" for p in s["probabilities"]],
            lambda plan, p: table.find({"plan": plan, "p": float(p.removeprefix("p = ")),
                                        "calibration": used(plan)}))
    return text


def main():
    table = grid.Grid("loss", SETTINGS, options_of, "test_loss", largest_is_best=False)
    table.measure(wanted_cells())
    common.replace_file(common.RESULTS / "loss.md", markdown(table))
    table.write(markdown(table))


if __name__ == "__main__":
    main()
