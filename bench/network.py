"""Predicted rounds (sotto train --dry-run --network) beside measured ones, over three hosts with slow links: network
namespaces around bench_slow_switch."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import common

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


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def make_hosts():
    """One link from every host to this namespace, and the switch between them."""
    ports = []
    run("ip", "link", "set", "lo", "up")
    for host in range(1, HOSTS + 1):
        name = f"host{host}"
        ports.append(f"port{host}")
        run("ip", "netns", "add", name)
        run("ip", "link", "add", ports[-1], "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", ports[-1], "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "address", "add", f"10.78.0.{host}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        # Frames as they are on a wire: with their checksums, and no longer than a segment.
        run("ip", "netns", "exec", name, "ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off", "gro", "off")
        # The link's own queue is the host's, as with a real one: a flow puts little into it at a time.
        run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", f"{BITS:.0f}bit", "burst", "16kb",
            "limit", "4mb")
    # A switch does not wait for a core until ranks leave it one.
    switch = subprocess.Popen(["chrt", "--fifo", "10", common.program("slow_switch"), str(LATENCY), str(BITS)] + ports, stdout=subprocess.PIPE)
    if switch.stdout.readline() != b"ready\n":
        raise SystemExit("bench: the switch did not start")
    return switch


def make_launcher(folder):
    """mpirun's file of hosts, and what it starts instead of ssh."""
    hosts = pathlib.Path(folder) / "hosts"
    hosts.write_text("".join(f"10.78.0.{h} slots={RANKS // HOSTS}\n" for h in range(1, HOSTS + 1)))
    agent = pathlib.Path(folder) / "agent"
    agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=host${1##*.}; shift\n'
                     'exec ip netns exec $host unshare --uts sh -c "hostname $host; $*" >/dev/null 2>&1\n')
    agent.chmod(0o700)
    return ["ip", "netns", "exec", "host1", "unshare", "--uts", "sh", "-c", 'hostname host1; exec "$@"', "sh",
            common.ROOT / "deploy/mpirun", "-n", RANKS, "--hostfile", hosts, "--network", "10.78.0.0/24", "--mca",
            "plm_rsh_agent", agent]


def ping():
    text = run("ip", "netns", "exec", "host1", "ping", "-q", "-c", "5", "-i", "0.2", "10.78.0.2")
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
    switch = make_hosts()
    try:
        with tempfile.TemporaryDirectory() as folder:
            launcher = make_launcher(folder)
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
    if os.geteuid() != 0:
        raise SystemExit("bench: hosts of one's own need root")
    if os.environ.get("BENCH_NAMESPACES") != "own":
        os.environ["BENCH_NAMESPACES"] = "own"
        os.execvp("unshare", ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                              'mkdir -p /run/netns && mount -t tmpfs none /run/netns && exec "$@"', "sh",
                              sys.executable, __file__])
    measure()


main()
