"""Supervised trainings over three hosts with disks of their own, into which something happens every 20 seconds: a host is
stopped, cut off, killed, or loses its disk too. Needs root."""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import common
import hosts

HOSTS, AGENTS, ROUNDS, INTERVAL = 3, 12, 100, 5
LOGIN = HOSTS + 1  # where the supervisor runs, and no rank
RUNS = 1 if common.QUICK else 10
AT_ONCE = 3
EVERY = 20.0  # seconds
LATENCY, BITS, EXCHANGES = 0.010, 1e9, 40  # a round takes the network half a second and more
KINDS = ["stopped", "cut off", "killed", "lost its disk"]
PATIENCE = 1800  # seconds for one run


class Host:
    def __init__(self, number, port, folder):
        self.name, self.port, self.folder = f"host{number}", port, pathlib.Path(folder)
        self.disk = self.folder / f"disk{number}"

    def signal(self, number):
        for pid in hosts.run("ip", "netns", "pids", self.name).split():
            try:
                os.kill(int(pid), number)
            except ProcessLookupError:
                pass

    def away(self, seconds, leave, come_back):
        """Not reached for so long."""
        mark = self.folder / f"{self.name}.away"
        mark.touch()
        leave()
        time.sleep(seconds)
        come_back()
        mark.unlink()

    def suffer(self, kind, seconds):
        if kind == "stopped":
            self.away(seconds, lambda: self.signal(signal.SIGSTOP), lambda: self.signal(signal.SIGCONT))
        elif kind == "cut off":
            self.away(seconds, lambda: hosts.run("ip", "link", "set", self.port, "down"),
                      lambda: hosts.run("ip", "link", "set", self.port, "up"))
        elif kind == "killed":
            self.signal(signal.SIGKILL)
        else:
            self.signal(signal.SIGKILL)
            for file in self.disk.iterdir():
                shutil.rmtree(file)


class Marks(threading.Thread):
    """Reads the marks of sent rounds on all disks again and again: what left, phase by phase, or a little more, since a mark
    is set before what it counts leaves."""

    def __init__(self, all_hosts):
        super().__init__(daemon=True)
        self.hosts, self.over = all_hosts, threading.Event()
        self.sent = collections.defaultdict(int)

    def look(self):
        for host in self.hosts:
            for file in host.disk.glob("run/sent/*.now"):
                try:
                    phase, number = struct.unpack("=qq", file.read_bytes())
                except (OSError, struct.error):
                    continue
                self.sent[phase] = max(self.sent[phase], number)

    def run(self):
        while not self.over.wait(0.05):
            self.look()


def make_identities(folder):
    for agent in range(AGENTS):
        common.output_of([common.SOTTO, "keygen", "--identity", f"{folder}/id{agent}", "--roster", f"{folder}/roster"])


def run_once(folder, all_hosts, launcher, chance):
    command = launcher + ["--max-restarts", "1000", "--restart-delay", "1:2", "--host-wait", "300", "train", "--data",
                          common.data_file("a9a.gz"), "--rounds", ROUNDS, "--checkpoint-every", INTERVAL, "--topology",
                          "complete", "--gossip-steps", EXCHANGES, "--mechanism", "ldp", "--optimality-gap", "off", "--eval-every", ROUNDS,
                          "--stall-abort", "6", "--roster", f"{folder}/roster", "--identity",
                          f"{folder}/id%r", "--run-directory", f"{folder}/runs/run"]
    log = open(f"{folder}/log", "w", encoding="utf-8")
    start = time.monotonic()
    job = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log,
                           env=os.environ | {"SOTTO_PROGRAM": str(common.SOTTO)})
    marks = Marks(all_hosts)
    marks.start()
    events = []
    due = start + EVERY
    while job.poll() is None and time.monotonic() < start + PATIENCE:
        time.sleep(0.1)
        if time.monotonic() < due:
            continue
        due += EVERY
        host, kind = chance.choice(all_hosts), chance.choice(KINDS)
        events.append(kind)
        print(f"  {time.monotonic() - start:.0f} s: {host.name} {kind}", file=sys.stderr, flush=True)
        host.suffer(kind, chance.uniform(4, 12))
    if job.poll() is None:
        job.kill()
    seconds = time.monotonic() - start
    marks.over.set()
    marks.join()
    marks.look()
    return judged(folder, job.wait(), seconds, events, marks)


def judged(folder, exit_code, seconds, events, marks):
    run = pathlib.Path(folder) / "disk1/run"
    one = {"exit_code": exit_code, "seconds": seconds, "events": events}
    log = pathlib.Path(f"{folder}/log").read_text()
    if exit_code != 0:
        (common.BUILD / "chaos.log").write_text(log)
        return one
    ledger = json.loads((run / "ledger.json").read_text())
    phases = ledger["phases"]
    counted = {k: phase["first_round"] + phase["rounds"] for k, phase in enumerate(phases)}
    epochs = [phase["key_epoch"] for phase in phases]
    one |= {
        "starts": json.loads((run / "history.json").read_text())["starts"],
        "phases": len(phases),
        "accounted": ledger["rounds"]["accounted"],
        "left": sum(max(0, marks.sent[k] - phase["first_round"]) for k, phase in enumerate(phases)),
        "ledger_counts_all": all(marks.sent[k] <= counted.get(k, -1) for k in marks.sent),
        # Every start has drawn new keys, and every phase has an epoch of its own.
        "no_stream_round_twice": "with the same keys" not in log and len(set(epochs)) == len(epochs),
        "rounds": json.loads((run / "summary.json").read_text())["rounds"],
        "epsilon": ledger["headline"]["epsilon"],
        "models": len(list(pathlib.Path(folder).glob("disk[123]/run/agents/*/model.npy"))),
    }
    return one


def one_run(seed):
    """In namespaces of its own: the result goes to standard output."""
    switch, ports = hosts.make_switch(LOGIN, LATENCY, BITS)
    try:
        with tempfile.TemporaryDirectory() as folder:
            make_identities(folder)
            launcher = hosts.make_launcher(folder, HOSTS, AGENTS, launched_on=LOGIN, disk=f"{folder}/runs")
            all_hosts = [Host(h, ports[h - 1], folder) for h in range(1, HOSTS + 1)]
            print(json.dumps(run_once(folder, all_hosts, launcher, random.Random(seed))))
    finally:
        switch.kill()


def result_of(seed):
    text = common.output_of(["/usr/bin/python3", __file__, "one", seed])
    print(f"seed {seed}: {text}", end="", flush=True)
    return json.loads(text)


def measure():
    seeds = range(1, RUNS + 1)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        runs = list(pool.map(result_of, seeds))
    finished = [one for one in runs if one["exit_code"] == 0]
    text = (f"{AGENTS} agents with identities on {HOSTS} hosts with disks of their own, {ROUNDS} rounds, a checkpoint every {INTERVAL}; the "
            f"supervisor on a fourth host; {AT_ONCE} runs at once.\nEvery {EVERY:g} s a host, drawn at random (seed: the run's number), is stopped or "
            "cut off for 4 to 12 s, killed, or loses its disk too.\nRounds that left, or a few more: by the marks of all processes, read "
            "every 0.05 s. Models: of how many agents. Epsilon: at most 10.\n"
            f"{len(finished)} of {len(runs)} runs finished; the ledger counts all that left in "
            f"{sum(one['ledger_counts_all'] for one in finished)}, every phase has keys of its own in "
            f"{sum(one['no_stream_round_twice'] for one in finished)}.\n\n")
    text += common.table(
        ["run", "exit code", "seconds", *KINDS, "starts", "phases", "rounds of models", "rounds that left", "counted", "epsilon", "models"],
        [[number + 1, one["exit_code"], f"{one['seconds']:.0f}", *(one["events"].count(kind) for kind in KINDS),
          *(([one["starts"], one["phases"], one["rounds"], one["left"], one["accounted"], f"{one['epsilon']:.6g}", one["models"]])
            if "starts" in one else ["-"] * 7)] for number, one in enumerate(runs)])
    common.write_results("chaos", {"every_seconds": EVERY, "runs": runs}, text)
    bad = [one for one in runs if not (one["exit_code"] == 0 and one["ledger_counts_all"] and one["no_stream_round_twice"])]
    if bad:
        raise SystemExit(f"bench: {len(bad)} of {len(runs)} runs did not end as they must")


if len(sys.argv) == 3:
    hosts.in_own_namespaces()
    one_run(int(sys.argv[2]))
else:
    measure()
