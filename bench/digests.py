"""Digests of what sotto computes, of every mechanism: changes of the code's structure must leave them as they are.

    bench/digests.py build/sotto --keep FILE        before a change
    bench/digests.py build/sotto --compare FILE     after it

Each run has a noise seed. Of a training the models, the plan and the ledger (without session identifiers, which are
random, and without sentences) are taken, in one process and with one MPI rank an agent; of `plan` and `account` the
JSON without times and sentences. A command that is refused counts by its exit code. Digests are those of one machine's mathematics library: keep them and
compare them on the same machine. About 35 seconds on two idle cores, with TMPDIR on a disk that answers at once (/dev/shm).
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

COMMON = {"topology": "ring", "agents": 4}
OF_MECHANISMS = {
    "covariance": {"covariance": "R.npy"},
    "muffliato": {"gossip-steps": 3},
    "dp-fedavg": {"local-steps": 2, "topology": "complete"},
    "cdp": {"topology": "complete"},
}
TASKS = {
    "agent": {"task": "quadratic", "adjacency": "agent"},
    "record": {"task": "logistic", "adjacency": "record-add-remove", "batch-size": 8},
    "cyclic": {"task": "logistic", "adjacency": "record", "batch-size": 50, "participation": "cyclic:4"},
    "averaging": {"task": "averaging", "adjacency": "record", "participation": "cyclic:20"},
}
MORE_TRAININGS = {
    "sums": {"mechanism": "ldp", "secure-sum": "on", "topology": "complete"},
    "correlated rounds": {"mechanism": "pairs", "temporal": "banded:3", "participation": "cyclic:4", "adjacency": "record",
                          "task": "logistic", "batch-size": 50},
    "momentum and gossip": {"mechanism": "pairs", "momentum": 0.5, "gossip-steps": 2, "final-gossip": 3},
    "directed": {"mechanism": "ldp", "directed": None, "topology": "erdos-renyi", "edge-probability": 0.6},
    "mlp": {"mechanism": "pairs", "task": "mlp", "hidden": 5},
}
ACCOUNTED = {
    "agent": {"adjacency": "agent"},
    "record": {"adjacency": "record", "batch-size": 10, "participation": "cyclic:5"},
    "sampled": {"adjacency": "record-add-remove", "batch-size": 10, "sampling-probability": 0.05},
}
VIEWS = ["eavesdropper", "node:1", "coalition:1,2", "all-messages:1"]


def without(value, keys):
    """A JSON value without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without(inner, keys) for key, inner in value.items() if key not in keys}
    return [without(inner, keys) for inner in value] if isinstance(value, list) else value


def digest(*parts):
    hasher = hashlib.sha256()
    for part in parts:
        hasher.update(part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode())
    return hasher.hexdigest()[:16]


def words(options):
    """Options as words of a command line; None stands for a flag."""
    return [word for name, value in {**COMMON, **options}.items() for word in (f"--{name}", *([] if value is None else [str(value)]))]


class Program:
    def __init__(self, path, folder):
        self.path, self.folder, self.runs = str(path.resolve()), folder, 0

    def call(self, arguments, ranks=0):
        launcher = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run([*(launcher if ranks else []), self.path, *arguments], cwd=self.folder, env=environment,
                              capture_output=True, text=True, check=False, timeout=600)

    def training(self, options, ranks=0):
        """Digest of models, plan and ledger, or the exit code."""
        self.runs += 1
        name = f"run{self.runs}"
        given = {**TASKS["agent"], **options, "rounds": 12, "noise-seed": 7, "run-directory": name}
        done = self.call(["train", "--quiet", *words(given)], ranks)
        if done.returncode != 0:
            return f"exit code {done.returncode}"
        run = self.folder / name
        models = [path.read_bytes() for path in sorted(run.glob("agents/*/model.npy"))]
        ledger = without(json.loads((run / "ledger.json").read_text()), {"sessions", "statement", "statements"})
        return digest(*models, json.loads((run / "plan.json").read_text()), ledger)

    def said(self, command, options):
        """Digest of a command's JSON, or the exit code."""
        done = self.call([command, "--quiet", "--json", "-", *words({"rounds": 30, **options})])
        if done.returncode != 0:
            return f"exit code {done.returncode}"
        return digest(without(json.loads(done.stdout), {"seconds", "solve_seconds", "plan_seconds", "says"}))


def mechanisms(program):
    said = program.call(["plan", "--mechanism", "?"]).stderr
    return re.search(r"allowed: ([^)]*)", said)[1].split(", ")


def digests(program):
    numpy.save(program.folder / "R.npy", 2 * numpy.eye(4) - 0.4 * numpy.ones((4, 4)))
    found = {}
    for name in mechanisms(program):
        own = {"mechanism": name, **OF_MECHANISMS.get(name, {})}
        for task, options in TASKS.items():
            found[f"train {name}, {task}"] = program.training({**own, **options})
        found[f"train {name}, 4 ranks"] = program.training({**own, **TASKS["cyclic"]}, ranks=4)
        for adjacency, options in ACCOUNTED.items():
            asked = {**own, **options}
            found[f"plan {name}, {adjacency}"] = program.said("plan", asked)
            for view in VIEWS:
                found[f"account {name}, {adjacency}, {view}"] = program.said("account", {**asked, "view": view})
    for name, options in MORE_TRAININGS.items():
        found[f"train {name}"] = program.training(options)
        found[f"train {name}, 4 ranks"] = program.training(options, ranks=4)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--keep", type=pathlib.Path)
    what.add_argument("--compare", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sotto-digests-") as folder:
        found = digests(Program(given.program, pathlib.Path(folder)))
    if given.keep:
        given.keep.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(found)} digests, {sum(text.startswith('exit') for text in found.values())} of them refusals: {given.keep}")
        return 0
    kept = json.loads(given.compare.read_text())
    differ = [name for name in {**kept, **found} if kept.get(name) != found.get(name)]
    for name in differ:
        print(f"{name}: was {kept.get(name)}, is {found.get(name)}")
    print(f"{len(found)} digests, {len(differ)} differ")
    return 1 if differ else 0


sys.exit(main())
