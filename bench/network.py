"""Predicted rounds (sotto train --dry-run --network) beside measured ones, over three hosts with slow links: network
namespaces around bench_slow_switch."""
import json
import pathlib
import statistics
import tempfile

import common
import hosts

LATENCY, BITS = 0.010, 100e6
HOSTS, RANKS = 3, 6
RUNS = 1 if common.QUICK else 3
# Name, options, rounds: a second or more each.
CASES = [
    ("a9a, ring", ["--topology", "ring", "--mechanism", "decor"], 200),
    ("a9a, complete, pairs", ["--topology", "complete"], 200),
    ("a9a, complete, four exchanges a round", ["--topology", "complete", "--gossip-steps", "4"], 60),
    ("mlp, d = 50 890, ring", ["--hidden", "64", "--topology", "ring", "--mechanism", "decor"], 40),
    ("mlp, d = 101 770, complete, pairs", ["--hidden", "128", "--topology", "complete"], 20),
    ("the same, float32", ["--hidden", "128", "--topology", "complete", "--precision", "float32"], 20),
]
if common.QUICK:
    CASES = CASES[:2]


def ping():
    text = hosts.run("ip", "netns", "exec", "host1", "ping", "-q", "-c", "5", "-i", "0.2", f"{hosts.NETWORK}.2")
    return float(text.rsplit("=", 1)[1].split("/")[0])


def case(launcher, folder, name, options, rounds):
    if "--hidden" in options:
        data = ["--task", "mlp", "--data", common.data_file("train-images-idx3-ubyte.gz")]
    else:
        data = ["--data", common.data_file("a9a.gz")]
    result = pathlib.Path(folder) / "result.json"
    command = launcher + ["train", "--quiet", "--json", result, "--rounds", rounds, "--eval-every", rounds,
                          "--optimality-gap", "off", "--final-gossip", "0", "--noise-seed", "5"] + data + options
    environment = {"SOTTO_PROGRAM": str(common.SOTTO)}
    predicted, measured = [], []
    for _ in range(RUNS):
        common.output_of(command + ["--dry-run", "--network", f"{1e3 * LATENCY:g}ms:{1e-6 * BITS:g}Mbit"], **environment)
        predicted.append(json.loads(result.read_text())["network"])
        with tempfile.TemporaryDirectory() as directory:
            common.output_of(command + ["--run-directory", directory + "/run"], **environment)
        seconds = json.loads(result.read_text())["seconds"]
        measured.append(seconds["loop"] / rounds)
    one = {"case": name, "rounds": rounds, "measured": measured, "predicted": predicted}
    ratio = statistics.median(p["seconds_per_round"] for p in predicted) / statistics.median(measured)
    one["ratio"] = ratio
    print(f"{name}: predicted {ratio:.2f} of measured", flush=True)
    return one


def measure():
    switch, _ = hosts.make_switch(HOSTS, LATENCY, BITS)
    try:
        with tempfile.TemporaryDirectory() as folder:
            launcher = hosts.make_launcher(folder, HOSTS, RANKS)
            milliseconds = ping()
            cases = [case(launcher, folder, *one) for one in CASES]
    finally:
        switch.kill()
    text = (f"Rounds of {RANKS} ranks on {HOSTS} hosts with links of {1e3 * LATENCY:g} ms (one way; quickest ping: {milliseconds:.1f} ms) and "
            f"{1e-6 * BITS:g} Mbit/s either way,\nall on this machine: measured (a training's loop divided by its rounds, median of {RUNS}), and "
            "predicted by\n--dry-run --network (median). Milliseconds. Links between agents encrypted.\n\n")
    text += common.table(
        ["", "rounds", "measured", "predicted", "of measured", "computing", "latency", "transfer", "MB a round, busiest link"],
        [[one["case"], one["rounds"], f"{1e3 * statistics.median(one['measured']):.1f}",
          f"{1e3 * statistics.median(p['seconds_per_round'] for p in one['predicted']):.1f}", f"{one['ratio']:.2f}",
          *(f"{1e3 * statistics.median(p['seconds'][part] for p in one['predicted']):.1f}"
            for part in ["compute", "latency", "transfer"]),
          f"{1e-6 * one['predicted'][0]['busiest_bytes_per_round']:.3g}"] for one in cases])
    common.write_results("network", {"latency": LATENCY, "bits": BITS, "ping_ms": milliseconds, "cases": cases}, text)


def main():
    hosts.in_own_namespaces()
    measure()


main()
