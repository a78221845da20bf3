"""Trainings by other systems for decentralised learning beside sotto's, in turn: the same data, agents, ring, batches, rounds and model.

    bench/run peers --checkout decentralizepy=PATH --checkout gossipy=PATH

It fetches nothing. PATH is a checkout of github.com/sacs-epfl/decentralizepy, commit a5d46be, or of github.com/makgyver/gossipy, commit
ea85ab1; what they import comes from Debian (PACKAGES). A system without a checkout is left out. decentralizepy has a process for each of 16
nodes, which talk over ZeroMQ (peers_decentralizepy.py), beside `mpirun -n 16 sotto train`; gossipy simulates 100 nodes in one process
(peers_gossipy.py), beside `sotto train --agents 100 --threads 1`. Both are torch programs with one thread a process, compute in float32 and
protect nothing. Two modules that they import and do not need here are empty: smallworld and torchvision.

sotto computes in float64. `plain` sends what decentralizepy sends, float32 without encryption; the others encrypt float64. `pairs` hides
an agent's data, `fewer streams` does so with --seed-groups auto, `records` hides single records, whose gradients are clipped one by one.
The clip of the first four is longer than any gradient, so that `plain` and `none` learn what the others learn: accuracies must be close.
What was measured while other programs used more than a tenth of the processors is measured again, at most four times.
With such a clip the noise that hides an agent's data leaves nothing to learn, and only its time counts.
"""
import argparse
import gzip
import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import common

import numpy as np

TURNS = 1 if common.QUICK else 3
OTHERS, TRIES, WAIT = 0.1, 1 if common.QUICK else 5, 1 if common.QUICK else 600  # a share of the processors; at most so many seconds before each try
CORES = os.cpu_count()
BATCH, STEP, CLIP = 32, 0.1, 10
NEAR = 0.2 if common.QUICK else 0.03  # accuracies without noise
PACKAGES = {"torch": "python3-torch", "zmq": "python3-zmq", "networkx": "python3-networkx", "matplotlib": "python3-matplotlib",
            "sklearn": "python3-sklearn", "pandas": "python3-pandas", "rich": "python3-rich", "dill": "python3-dill",
            "pyparsing": "python3-pyparsing"}
#: Repository, commit, a file that it has, and the folder of its modules.
SYSTEMS = {
    "decentralizepy": ("sacs-epfl/decentralizepy", "a5d46be", "src/decentralizepy/node/DPSGDNode.py", "src"),
    "gossipy": ("makgyver/gossipy", "ea85ab1", "gossipy/simul.py", "."),
}
#: System, model and agents.
CASES = [("decentralizepy", "Softmax", 4 if common.QUICK else 16), ("decentralizepy", "Mlp", 4 if common.QUICK else 16),
         ("gossipy", "Softmax", 10 if common.QUICK else 100), ("gossipy", "Mlp", 10 if common.QUICK else 100)]
ROUNDS = {"decentralizepy": 20 if common.QUICK else 100, "gossipy": 10 if common.QUICK else 30}
TASKS = {"Softmax": ["--task", "softmax"], "Mlp": ["--task", "mlp", "--hidden", 128]}
WHOLE = ["--adjacency", "agent", "--clip-norm", CLIP]
WAYS = {
    "plain": ["--mechanism", "none", "--link-encryption", "off", "--precision", "float32"] + WHOLE,
    "none": ["--mechanism", "none"] + WHOLE,
    "pairs": ["--mechanism", "pairs"] + WHOLE,
    "fewer streams": ["--mechanism", "pairs", "--seed-groups", "auto"] + WHOLE,
    "records": ["--mechanism", "pairs", "--seed-groups", "auto", "--adjacency", "record-add-remove", "--clip-norm", 1],
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # of the other systems
UNPROTECTED = ("plain", "none")


def how_to_get(name):
    repository, commit, _, _ = SYSTEMS[name]
    return f"git clone https://github.com/{repository} PATH && git -C PATH checkout {commit}"


def checkouts(words):
    """Folders of the systems that are given as NAME=PATH."""
    given = {}
    for word in words:
        name, _, path = word.partition("=")
        if name not in SYSTEMS:
            raise SystemExit(f"bench: --checkout '{word}' must be NAME=PATH, and NAME one of {', '.join(SYSTEMS)}")
        if not (pathlib.Path(path) / SYSTEMS[name][2]).exists():
            raise SystemExit(f"bench: --checkout '{word}': there is no {SYSTEMS[name][2]} in '{path}'; get it by {how_to_get(name)}")
        given[name] = pathlib.Path(path).resolve()
    for name in SYSTEMS:
        if name not in given:
            print(f"bench: {name} is left out, because there is no --checkout {name}=PATH; get it by {how_to_get(name)}", flush=True)
    if not given:
        raise SystemExit("bench: peers needs a checkout of another system: --checkout NAME=PATH, as said above")
    missing = [package for module, package in PACKAGES.items() if not importlib.util.find_spec(module)]
    if missing:
        raise SystemExit(f"bench: the other systems need these packages: apt-get install {' '.join(missing)}")
    return given


def read_idx(name):
    content = gzip.decompress(common.data_file(name).read_bytes())
    sizes = np.frombuffer(content, ">i4", content[3], 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(sizes[0], -1).squeeze()


def write_mnist(path):
    """The images that the other systems read."""
    parts = {"": "train", "test_": "t10k"}
    np.savez(path, **{key + kind: read_idx(f"{part}-{kind}-idx{1 if kind == 'labels' else 3}-ubyte.gz")
                      for key, part in parts.items() for kind in ("images", "labels")})


def by_other(case, folder, mnist):
    """ms a round, accuracy, parameters and torch of the other system."""
    system, model, agents = case
    with tempfile.TemporaryDirectory() as logs:
        words = [sys.executable, common.ROOT / "bench" / f"peers_{system}.py", mnist] + ([logs] if system == "decentralizepy" else [])
        lines = common.output_of(words + [model, agents, ROUNDS[system], BATCH, STEP],
                                 PYTHONPATH=str(folder / SYSTEMS[system][3]), MPLBACKEND="Agg", **ONE_THREAD)
    return json.loads(lines.splitlines()[-1])


def by_sotto(case, way):
    """ms a round and accuracy."""
    system, model, agents = case
    launcher = common.mpirun(agents) + [common.SOTTO, "train"] if system == "decentralizepy" else [
        common.SOTTO, "train", "--agents", agents, "--threads", 1]
    rounds = ROUNDS[system]
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        common.output_of(launcher + TASKS[model] + WAYS[way] + [
            "--quiet", "--json", result, "--run-directory", folder + "/run", "--data", common.data_file("train-images-idx3-ubyte.gz"),
            "--test-data", common.data_file("t10k-images-idx3-ubyte.gz"), "--partition", "iid", "--topology", "ring", "--rounds", rounds,
            "--batch-size", BATCH, "--step-size", STEP, "--gossip-steps", 1, "--final-gossip", 0, "--eval-every", rounds,
            "--optimality-gap", "off"])
        summary = json.loads(result.read_text())
    return {"ms": 1e3 * summary["seconds"]["loop"] / rounds, "accuracy": summary["test_accuracy"],
            "phases": {phase: summary["seconds"][phase] for phase in ("gradient", "noise", "exchange", "mix")}}  # none of secret batches


def processor_seconds():
    """Of all programs that have ended here, and of all programs of the machine."""
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, nice, system, _, _, interrupts, soft = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    return own.ru_utime + own.ru_stime, (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def undisturbed(measure):
    """The one of at most TRIES results during which other programs used least of the processors: the first with at most OTHERS of them."""
    kept = None
    for _ in range(TRIES):
        for _ in range(WAIT):
            before = processor_seconds()[1]
            time.sleep(1)
            if processor_seconds()[1] - before < OTHERS * CORES:
                break
        start, (own, all_used) = time.monotonic(), processor_seconds()
        result = measure()
        seconds, (own_after, all_after) = time.monotonic() - start, processor_seconds()
        result |= {"seconds": seconds, "processor": own_after - own, "others": (all_after - all_used - own_after + own) / seconds / CORES}
        kept = min(kept or result, result, key=lambda one: one["others"])
        if result["others"] <= OTHERS:
            break
    return kept


def measured(case, folder, mnist):
    """All turns of a case: of each way what it says, and the seconds of the whole program, by the clock and of all processors."""
    turns = []
    for _ in range(TURNS):
        turn = {way: undisturbed(lambda: by_other(case, folder, mnist) if way == case[0] else by_sotto(case, way)) for way in (case[0], *WAYS)}
        for way, of in turn.items():
            print(*case, f"{way}: {of['ms']:.1f} ms a round, accuracy {of['accuracy']:.3f}, whole {of['seconds']:.1f} s, of processors "
                  f"{of['processor']:.1f} s, others {100 * of['others']:.0f}%", flush=True)
        turns.append(turn)
    return turns


def require_near(case, turns):
    """Without noise all must learn the same."""
    for turn in turns:
        accuracies = [turn[way]["accuracy"] for way in (case[0], *UNPROTECTED)]
        if max(accuracies) - min(accuracies) > NEAR:
            raise SystemExit(f"bench: {case}: the accuracies {accuracies} of {case[0]} and of sotto without noise differ by more than {NEAR}")


def digits(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def row(case, turns, key):
    """Medians of all ways; of sotto's times with the median of their ratios within the turns."""
    system, model, agents = case
    middle = lambda way: common.median([turn[way][key] for turn in turns])
    ratio = lambda way: "" if key == "accuracy" else f" ({common.median([turn[way][key] / turn[system][key] for turn in turns]):.2f})"
    name = f"{model.lower()}, {turns[0][system]['parameters']} parameters, {agents} {'processes' if system == 'decentralizepy' else 'agents in one process'}"
    return [name, f"{system} {digits(middle(system))}", *(digits(middle(way)) + ratio(way) for way in WAYS)]


def markdown(lines):
    lines = [["", "the other", *WAYS], ["---"] * (2 + len(WAYS)), *lines]
    return "".join(f"| {' | '.join(line)} |\n".replace("| --- ", "|---").replace("|--- |", "|---|").replace("|  |", "| |", 1) for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", action="append", default=[], metavar="NAME=PATH")
    given = checkouts(parser.parse_args().checkout)
    commits = {name: subprocess.run(["git", "-C", path, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
               or "no repository" for name, path in given.items()}
    cases = [case for case in CASES if case[0] in given]
    with tempfile.TemporaryDirectory() as folder:
        mnist = pathlib.Path(folder) / "mnist.npz"
        write_mnist(mnist)
        results = [(case, measured(case, given[case[0]], mnist)) for case in cases]
    for case, turns in results:
        require_near(case, turns)
    others = max(of["others"] for _, turns in results for turn in turns for of in turn.values())
    torch = results[0][1][0][cases[0][0]]["torch"]
    text = (f"MNIST, ring, batches of {BATCH}, {' and '.join(f'{ROUNDS[name]} rounds beside {name} {commits[name]}' for name in given)}, torch {torch} "
            f"with one thread a process;\nmedians of {TURNS} in turn. sotto: times the other in brackets, within the turn. "
            f"Other programs used at most {100 * max(others, 0):.0f}% of the {CORES} cores.\n")
    for title, key in (("Milliseconds a round", "ms"), ("Seconds of the whole program", "seconds"),
                       ("Processor seconds of the whole program, of all processes and in waiting", "processor"), ("Accuracy of agents' own models", "accuracy")):
        text += f"\n{title}:\n\n" + markdown([row(case, turns, key) for case, turns in results])
    common.write_results("peers", {"load": common.LOAD, "commits": commits, "torch": torch, "results": [
        {"system": case[0], "model": case[1], "agents": case[2], "rounds": ROUNDS[case[0]], "turns": turns} for case, turns in results]}, text)


main()
