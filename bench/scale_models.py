"""Large models over MPI: where time and memory of 8 ranks go at d = 1e6 and 1e7, on this machine and on hosts with slow links.

--before PATH (bench/run scale --before PATH): the same of another sotto, taking turns.
"""
import argparse
import gzip
import json
import pathlib
import struct
import tempfile

import common
import hosts
from common import median

RANKS = 8
RECORDS = 1280  # 128 to train on for every agent: evaluation is not what is measured
SMALL_HIDDEN = 8
# Name, hidden units, options, rounds, repetitions, bits a second of every host's link (none: ranks share this machine).
CASES = [("1.0e6, 7 partners", 1258, ["--topology", "complete"], 10, 3, None),
         ("1.0e6, ring", 1258, ["--topology", "ring"], 10, 3, None),
         ("1.0e6, 7 partners, float32", 1258, ["--topology", "complete", "--precision", "float32"], 10, 3, None),
         ("1.0e7, 7 partners", 12580, ["--topology", "complete"], 3, 1, None),
         ("1.0e6, 7 partners, 1 Gbit/s", 1258, ["--topology", "complete"], 5, 3, 1e9)]
if common.QUICK:
    CASES = [("1.0e5, 7 partners", 126, ["--topology", "complete"], 2, 1, None),
             ("1.0e5, 7 partners, 1 Gbit/s", 126, ["--topology", "complete"], 2, 1, 1e9)]
PHASES = ["gradient", "noise", "exchange", "mix"]


def write_images(folder):
    """The first records of MNIST's test files, under their names."""
    for kind, head, size in [("images-idx3", 16, 784), ("labels-idx1", 8, 1)]:
        name = f"t10k-{kind}-ubyte.gz"
        content = gzip.decompress(common.data_file(name).read_bytes())
        (folder / name).write_bytes(gzip.compress(
            content[:4] + struct.pack(">I", RECORDS) + content[8:head + RECORDS * size]))
    return folder / "t10k-images-idx3-ubyte.gz"


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.data = write_images(folder)
        self.local = [common.ROOT / "deploy/mpirun", "-n", RANKS]
        self.bits = None

    def launcher(self, bits):
        if bits is None:
            return self.local
        if self.bits is None:  # the hosts, and what joins them
            self.bits = bits
            hosts.run("ip", "link", "add", "switch", "type", "bridge")
            hosts.run("ip", "link", "set", "switch", "up")
            for port in hosts.make_hosts(RANKS, bits, burst="256kb"):
                hosts.run("ip", "link", "set", port, "master", "switch")
                # Towards the host as fast as from it.
                hosts.run("tc", "qdisc", "add", "dev", port, "root", "tbf", "rate", f"{bits:.0f}bit", "burst", "256kb", "limit", "4mb")
            self.slow = hosts.make_launcher(self.folder, RANKS, RANKS)
        return self.slow

    def train(self, program, hidden, options, rounds, bits):
        """Seconds by phase, mean over ranks, and the largest peak memory of a rank."""
        with tempfile.TemporaryDirectory(dir=self.folder) as directory:
            result = pathlib.Path(directory) / "result.json"
            common.output_of(
                self.launcher(bits) +
                ["train", "--quiet", "--json", result, "--task", "mlp", "--hidden", hidden, "--data", self.data, "--partition",
                 "iid", "--rounds", rounds, "--eval-every", rounds, "--final-gossip", 0, "--optimality-gap", "off", "--noise-seed", 5,
                 "--run-directory", directory + "/run"] + options, SOTTO_PROGRAM=str(program))
            summary = json.loads(result.read_text())
        return summary["seconds"] | {"mib": summary["peak_memory_mib"], "loss": summary["test_loss"]}


def measure(bench, programs, name, hidden, options, rounds, repetitions, bits):
    """Of every program, in turn."""
    parameters = hidden * 785 + 10 * (hidden + 1)
    one = {"case": name, "parameters": parameters, "rounds": rounds, "runs": {p: [] for p in programs}, "small_mib": {}}
    for p, program in programs.items():
        one["small_mib"][p] = bench.train(program, SMALL_HIDDEN, options, rounds, bits)["mib"]
    for _ in range(repetitions):
        for p, program in programs.items():
            one["runs"][p].append(bench.train(program, hidden, options, rounds, bits))
    if len({run["loss"] for runs in one["runs"].values() for run in runs}) != 1:
        raise SystemExit(f"bench: {name}: the trainings differ")
    print(f"{name}: " + ", ".join(f"{p} {median([r['loop'] for r in runs]):.2f} s" for p, runs in one["runs"].items()), flush=True)
    return one


def row(one, p):
    seconds = {part: median([run[part] for run in one["runs"][p]]) for part in PHASES + ["loop"]}
    ratio = median([run["loop"] / max(run["gradient"], run["exchange"]) for run in one["runs"][p]])
    vectors = (max(run["mib"] for run in one["runs"][p]) - one["small_mib"][p]) * 2**20 / (8 * one["parameters"])
    return [one["case"], p, one["rounds"], f"{seconds['loop']:.2f}", *(f"{seconds[part]:.2f}" for part in PHASES),
            f"{ratio:.2f}", f"{max(run['mib'] for run in one['runs'][p]):.0f}", f"{vectors:.1f}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=lambda path: pathlib.Path(path).resolve(strict=True))
    before = parser.parse_args().before
    hosts.in_own_namespaces()
    hosts.run("ip", "link", "set", "lo", "up")
    programs = ({"before": before} if before else {}) | {"sotto": common.SOTTO}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder))
        cases = [measure(bench, programs, *case) for case in CASES]
    text = (f"{RANKS} ranks train mlp on MNIST images, pairs, batches of 128 records, messages encrypted. Seconds of all rounds: the loop, and\n"
            "its parts as means over ranks, with what a rank waits for the core; medians of the runs. Noise drawn while messages travel\n"
            "counts as noise. Ratio: loop to the larger of gradient and exchange. MiB: peak of a rank. Vectors: that beyond the peak\n"
            f"with {SMALL_HIDDEN} hidden units, in vectors of d doubles. 1 Gbit/s: every rank on a host of its own with such a link.\n\n")
    text += common.table(["d", "", "rounds", "loop"] + PHASES + ["ratio", "MiB", "vectors"],
                         [row(one, p) for one in cases for p in programs])
    common.write_results("scale_models", {"before": before is not None, "cases": cases}, text)


main()
