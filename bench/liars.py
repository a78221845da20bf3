"""Attack x defence x mechanism: 3 of 20 agents lie (--faults lie), MNIST, softmax, one record protected at epsilon 1; accuracy of honest
agents' own models. Names of graphs and of partitions as arguments: those alone. `off` trains as by default, the rules with the plan that they have by default (--variance-cap 1.5)."""
import json
import pathlib
import sys
import tempfile

import common

AGENTS, LIARS = 20, "2+9+16"
ROUNDS = 30 if common.QUICK else 300
LIES = ["none", "sign-flip", "noise", "little", "inner-product", "label-flip", "label-flip x 10", "no-pair-noise", "wrong-sign"]
GRAPHS = {"p = .5": ["--edge-probability", "0.5"], "p = .2": ["--edge-probability", "0.2"], "ring": ["--topology", "ring"]}
PARTITIONS = {"iid": "iid", "two labels an agent": "by-label:2"}
# The rule trimmed needs more than twice as many neighbours as it leaves out on either side.
COLUMNS = [("pairs", "off"), ("pairs", "clip"), ("pairs", "trimmed:3"), ("ldp", "off"), ("ldp", "clip")]


def faults_of(lie):
    kind, _, strength = lie.partition(" x ")
    return [] if lie == "none" else ["--faults", f"lie:{kind}:{LIARS}" + (f":{strength}" if strength else "")]


def training(folder, graph, partition, lie, mechanism, rule):
    result = pathlib.Path(folder) / "result.json"
    common.output_of(
        [common.SOTTO, "train", "--quiet", "--json", result, "--task", "softmax", "--data", common.data_file("train-images-idx3-ubyte.gz"),
         "--test-data", common.data_file("t10k-images-idx3-ubyte.gz"), "--partition", PARTITIONS[partition], "--mechanism", mechanism,
         "--adjacency", "record-add-remove", "--epsilon", 1, "--agents", AGENTS, "--graph-seed", 3, "--rounds", ROUNDS, "--gossip-steps", 1,
         "--precision", "float32", "--correction", "none", "--eval-every", ROUNDS, "--optimality-gap", "off", "--noise-seed", 1,
         "--robust", rule, "--run-directory", pathlib.Path(folder) / "run"] + GRAPHS[graph] + faults_of(lie))
    summary = json.loads(result.read_text())
    liars = {int(number) for number in LIARS.split("+")}
    suspected = {one["agent"]: one for one in summary.get("suspected", [])}
    return {"accuracy": summary["test_accuracy"], "epsilon": summary["epsilon"],
            "without_noise": sum(one["lacks_noise"] > 0 for agent, one in suspected.items() if agent in liars),
            "falsely": sum(one["lacks_noise"] > 0 for agent, one in suspected.items() if agent not in liars)}


def cell(run):
    if run is None:
        return ""
    return f"{run['accuracy']:.3f}" + (f" ({run['without_noise']})" if run["without_noise"] else "")


def report(results):
    text = (f"MNIST, softmax, epsilon 1 for one record, {AGENTS} agents in one process, {ROUNDS} rounds, one run each; agents "
            f"{LIARS.replace('+', ', ')} lie.\nAccuracy of honest agents' own models; in brackets, of how many liars a neighbour found that "
            "their messages lack the noise that both share.\n")
    for name, table in results.items():
        falsely = sum(run["falsely"] for runs in table.values() for run in runs.values() if run)
        columns = list(next(iter(table.values())))
        text += f"\n{name} (honest agents said to lack noise in all these runs: {falsely})\n\n"
        text += "| lie | " + " | ".join(f"{one.replace(', ', ', `')}`" for one in columns) + " |\n"
        text += "|---|" + "---|" * len(columns) + "\n"
        for lie, runs in table.items():
            text += f"| {lie} | " + " | ".join(cell(run) for run in runs.values()) + " |\n"
    common.write_results("liars", {"rounds": ROUNDS, "liars": LIARS, "results": results}, text)


def measure(wanted):
    graphs = [graph for graph in GRAPHS if graph in wanted] or list(GRAPHS)
    partitions = [partition for partition in PARTITIONS if partition in wanted] or list(PARTITIONS)
    results = {}
    kept = common.Kept(common.SOTTO)

    def kept_training(*what):
        def compute():
            with tempfile.TemporaryDirectory() as folder:
                return training(folder, *what)
        return kept.part(f"liars, {ROUNDS} rounds: {', '.join(what)}", compute)

    for graph in graphs:
        columns = [(mechanism, rule) for mechanism, rule in COLUMNS if rule != "trimmed:3" or graph == "p = .5"]
        for partition in partitions:
            name = f"{graph}, {partition}"
            results[name] = {}
            for lie in LIES:
                runs = results[name][lie] = {}
                for mechanism, rule in columns:
                    shares = mechanism == "pairs" or lie not in ("no-pair-noise", "wrong-sign")
                    runs[f"{mechanism}, {rule}"] = kept_training(graph, partition, lie, mechanism, rule) if shares else None
                print(name, lie, *map(cell, runs.values()), flush=True)
    report(results)


if __name__ == "__main__":
    measure(sys.argv[1:])
