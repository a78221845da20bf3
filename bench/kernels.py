"""What OpenBLAS's kernels for several generations of processors make of a training, an evaluation and a plan."""
import json
import pathlib
import tempfile

import common
from common import median

REPETITIONS = 1 if common.QUICK else 3
HIDDEN, AGENTS, ROUNDS = 512, 4, 20
PLAN_AGENTS = 100 if common.QUICK else 1000
CHOSEN = "chosen by sotto"
# With what the processor must have.
NEEDS = {"Prescott": "pni", "Haswell": "avx2", "SkylakeX": "avx512vl"}
FLAGS = pathlib.Path("/proc/cpuinfo").read_text().split("flags", 1)[1].splitlines()[0].split()
KERNELS = [name for name, flag in NEEDS.items() if flag in FLAGS] + [CHOSEN]


def of_kernels(name, command):
    """The JSON object of a command with these kernels."""
    command = [str(word) for word in command]
    unset = ["env", "-u", "OPENBLAS_CORETYPE"] if name == CHOSEN else ["env", f"OPENBLAS_CORETYPE={name}"]
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        extra = ["--run-directory", pathlib.Path(folder) / "run"] if command[1] == "train" else []
        common.output_of(unset + command + ["--quiet", "--json", result] + extra)
        return json.loads(result.read_text())


def measured(name):
    train = of_kernels(name, [common.SOTTO, "train", "--task", "mlp", "--hidden", HIDDEN, "--data",
                              common.data_file("train-images-idx3-ubyte.gz"), "--agents", AGENTS, "--topology", "ring", "--rounds", ROUNDS,
                              "--eval-every", ROUNDS, "--eval-records", "all", "--final-gossip", 0, "--optimality-gap", "off"])["seconds"]
    plan = of_kernels(name, [common.SOTTO, "plan", "--mechanism", "corn", "--agents", PLAN_AGENTS, "--plan-gap", "1e-6"])
    return {"gradient": train["gradient"], "evaluate": train["evaluate"], "plan": plan["seconds"]}


def main():
    doctor = of_kernels(CHOSEN, [common.SOTTO, "doctor"])
    found = next(check["found"] for check in doctor["checks"] if check["name"] == "blas-kernels")
    runs = {name: [] for name in KERNELS}
    for _ in range(REPETITIONS):
        for name in KERNELS:
            runs[name].append(measured(name))
    rows = [[name if name != CHOSEN else f"{name}: {found}"] +
            [f"{median([run[key] for run in of]):.2f}" for key in ("gradient", "evaluate", "plan")] for name, of in runs.items()]
    text = (f"MNIST, mlp with {HIDDEN} hidden units, {AGENTS} agents in one process: seconds of the gradients of {ROUNDS} rounds and of two\n"
            f"evaluations on all records; a corn plan of {PLAN_AGENTS} agents. OPENBLAS_CORETYPE names the kernels. Medians of {REPETITIONS},\n"
            f"in turn; load of the machine before: {common.LOAD:.1f}.\n\n")
    text += common.table(["kernels", "gradient", "evaluate", "plan"], rows)
    common.write_results("kernels", {"found": found, "load": common.LOAD, "runs": runs}, text)


main()
