"""A thousand agents on few ranks: whole trainings in one process and on ranks that host several agents each."""
import json
import pathlib
import tempfile
import time

import common

AGENTS, ROUNDS = ("40", "20") if common.QUICK else ("1000", "100")
SPARSE = ["--edge-probability", "0.02"]
# (ranks, options, busy loops beside it); 0 ranks are one process.
TRAININGS = [(0, [], 0), (8, [], 0), (0, SPARSE, 0), (8, SPARSE, 0), (64, SPARSE, 0), (8, [], 2)]
if common.QUICK:
    TRAININGS = TRAININGS[:2]


def training(ranks, options, loops):
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "train.json"
        command = (common.mpirun(ranks) if ranks else []) + [
            common.SOTTO, "train", "--quiet", "--json", result, "--run-directory", folder + "/run", "--data",
            common.data_file("a9a.gz"), "--agents", AGENTS, "--rounds", ROUNDS, "--noise-seed", "3"] + options
        with common.busy_loops(loops):
            start = time.monotonic()
            common.output_of(command)
            whole = time.monotonic() - start
        summary = json.loads(result.read_text())
    print(f"{ranks or 1} processes, {loops} busy loops: {whole:.1f} s", flush=True)
    return {"ranks": ranks, "options": options, "busy_loops": loops, "seconds": whole, "phases": summary["seconds"],
            "mib": max(rank["peak_memory_mib"] for rank in summary["ranks"]), "bytes_sent": summary["bytes_sent"],
            "test_loss": summary["test_loss"]}


def require_same_loss(trainings):
    """Ranks must not change a bit."""
    losses = {}
    for one in trainings:
        losses.setdefault(tuple(one["options"]), set()).add(one["test_loss"])
    if any(len(same) > 1 for same in losses.values()):
        raise SystemExit(f"bench: ranks change the loss: {losses}")


def main():
    trainings = [training(*one) for one in TRAININGS]
    require_same_loss(trainings)
    text = (f"sotto train, {AGENTS} agents, a9a, {ROUNDS} rounds, pairs, links encrypted: whole program once, its plan and its\n"
            "rounds in seconds (phases: average over the processes). Erdos-Renyi. The test losses of one graph are equal to the\n"
            "last bit.\n\n")
    text += common.table(
        ["", "edges", "busy loops", "whole", "plan", "rounds", "noise", "exchange", "mix", "evaluate", "MiB a process", "sent, MB"],
        [[f"{one['ranks']} ranks" if one["ranks"] else "one process", "p " + (one["options"] or ["", "0.5"])[1],
          one["busy_loops"], f"{one['seconds']:.1f}",
          *(f"{one['phases'][phase]:.2f}" for phase in ["plan", "loop", "noise", "exchange", "mix", "evaluate"]),
          f"{one['mib']:.0f}", f"{one['bytes_sent'] / 1e6:.0f}"] for one in trainings])
    common.write_results("hosting", {"trainings": trainings}, text)


main()
