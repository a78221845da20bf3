"""The price of having no server: what a model is worth at the same epsilon for one record, by who may see what.

central: one agent has all data (DP-SGD with the same sampling). cdp: a trusted aggregator adds the noise. pairs: no
server, any one (two) of the agents may be curious. corn: seeds shared by all. ldp: no shared seeds. alone: an agent
trains on its own shard and tells nobody: all of them without knobs (--tune auto), their measurement in their epsilon. cyclic: pairs
where every record counts in the rounds that are its turn, for which there is no such rule: with rounds, batches and clip of the task
and a step size chosen on held-out training records, which no epsilon counts; so are all of the slow CNN. none: pairs at an epsilon of
100, where noise hardly matters (the CNN: without any). 20 agents whose data are alike; hospitals: four sites, of whose records a fifth, drawn
anew for every seed, tests all ways, and alone is one hospital after the other.

bench/run price, or python3 bench/price.py a9a ...: only these tasks.
"""
import csv
import gzip
import pathlib
import random
import struct
import sys

import common
import grid
import tune

AGENTS = 20
WAYS = {
    "none": {"mechanism": "pairs"},
    "central": {"mechanism": "ldp"},
    "cdp": {"mechanism": "cdp"},
    "pairs, q = 1": {"mechanism": "pairs"},
    "pairs, q = 2": {"mechanism": "pairs", "coalition_size": 2},
    "corn": {"mechanism": "corn"},
    "ldp": {"mechanism": "ldp"},
    "alone": {"mechanism": "ldp"},
    "pairs, cyclic": {"mechanism": "pairs"},
}
OURS = "pairs, q = 1"
SHOWN = ["none", "central", "cdp", "pairs, q = 1", "ldp", "alone"]
TASKS = {
    "a9a": {"task": "logistic", "data": "a9a.gz", "test_data": "a9a.t.gz", "records": 32561, "rounds": 200,
            "batch_size": 64, "clip_norm": 0.5, "step_sizes": [0.5, 1, 2], "metric": "test_accuracy"},
    "mlp": {"task": "mlp", "hidden": 128, "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz",
            "records": 60000, "rounds": 200, "batch_size": 128, "clip_norm": 1.0, "step_sizes": [2, 4, 8],
            "metric": "test_accuracy", "validation_seeds": [101], "epsilons": [1]},
    "cnn": {"task": "cnn", "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz",
            "records": 60000, "rounds": 60, "batch_size": 32, "clip_norm": 1.0, "step_sizes": [1, 2, 4],
            "metric": "test_accuracy", "validation_seeds": [101], "epsilons": [2], "by_hand": list(WAYS), "final_gossip": 0},
    "housing": {"task": "mlp", "hidden": 64, "data": "cal_housing.data.gz", "test_data": None, "records": 20640,
                "rounds": 200, "batch_size": 32, "clip_norm": 1.0, "step_sizes": [0.02, 0.05, 0.1], "metric": "test_loss"},
    "softmax": {"task": "softmax", "data": "train-images-idx3-ubyte.gz", "test_data": "t10k-images-idx3-ubyte.gz",
                "metric": "test_accuracy", "step_sizes": [None], "ways": SHOWN},
    "hospitals": {"task": "logistic", "metric": "test_accuracy", "step_sizes": [None], "seeds": list(range(1, 21)), "ways": SHOWN},
}
SITES = ["cleveland", "hungarian", "switzerland", "va"]
# All columns count as numbers: some categories occur in one hospital only.
BOUNDS = ("age=0:110,sex=0:1,cp=1:4,trestbps=50:250,chol=0:600,fbs=0:1,restecg=0:2,thalach=50:220,exang=0:1,oldpeak=-3:7,slope=1:3,ca=0:3,"
          "thal=3:7")
EPSILONS = [0.5, 1, 2, 4, 8]
SEEDS, VALIDATION = [1, 2, 3, 4, 5], [101, 102, 103]
BY_HAND, NO_LIMIT = ["pairs, cyclic"], 100


def shard(task, seed):
    """A file with the records of one agent of AGENTS, chosen at random; made once."""
    source = common.data_file(task["data"])
    path = common.BUILD / "shards" / f"{seed}-{source.name}"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    choose = lambda count: sorted(random.Random(seed).sample(range(count), count // AGENTS))
    if "idx" not in source.name:
        lines = gzip.open(source).read().splitlines()
        own = [lines[i] for i in choose(len(lines))]
        if b":" in own[0]:  # LIBSVM: with as many features as all have
            features = max(int(line.split()[-1].split(b":")[0]) for line in lines)
            if not own[0].split()[-1].startswith(b"%d:" % features):
                own[0] = own[0].rstrip() + b" %d:0" % features
        write_compressed(path, b"\n".join(own) + b"\n")
        return path
    for name in (source.name, source.name.replace("images-idx3", "labels-idx1")):
        content = gzip.open(source.with_name(name)).read()
        head = 16 if "images" in name else 8
        count = struct.unpack(">I", content[4:8])[0]
        size = (len(content) - head) // count
        rows = choose(count)
        write_compressed(path.with_name(f"{seed}-{name}"),
                     content[:4] + struct.pack(">I", len(rows)) + content[8:head] +
                     b"".join(content[head + size * i:head + size * (i + 1)] for i in rows))
    return path


def hospitals(way, seed):
    """Tables of a way's training, and of the fifth of all records that tests it; made once."""
    folder = common.BUILD / "shards" / f"hospitals-{seed}"
    together, test = folder / "central" / "all.csv", folder / "test" / "all.csv"
    if not test.exists():
        dice, trained, tested = random.Random(seed), [], []
        for site in SITES:
            with open(common.ROOT / "examples" / "heart" / f"{site}.csv", encoding="utf-8") as file:
                head, *rows = csv.reader(file)
            dice.shuffle(rows)
            own, others = rows[len(rows) // 5:], rows[:len(rows) // 5]
            trained, tested = trained + own, tested + others
            write_table(folder / f"{site}.csv", [head, *own])
        write_table(together, [head, *trained])
        write_table(test, [head, *tested])
    data = {"central": together, "alone": folder / f"{SITES[seed % len(SITES)]}.csv"}.get(way, folder / "*.csv")
    return {"data": data, "test_data": test}


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def write_compressed(path, content):
    new = path.with_name(path.name + ".new")
    new.write_bytes(gzip.compress(content, 1))
    new.replace(path)


def options_of(task, cell, step, seed, testing):
    way = cell["way"]
    alone, central = way == "alone", way == "central"
    options = {
        "task": task["task"], "adjacency": "record-add-remove", "delta": 1e-5, "seed": seed, "graph_seed": seed, "noise_seed": seed,
        "eval_every": 100000, "final_gossip": task.get("final_gossip", "auto")} | WAYS[way]
    if "data" in task:
        options |= {"data": shard(task, seed) if alone else common.data_file(task["data"]), "partition": "iid",
                    "agents": 1 if alone or central else AGENTS}
    else:
        options |= {name: tune.HEART[name] for name in ("label", "missing")} | {"bounds": BOUNDS} | hospitals(way, seed)
    if way in task.get("by_hand", BY_HAND):
        options |= {"batch_size": task["batch_size"], "rounds": task["rounds"], "clip_norm": task["clip_norm"], "step_size": step}
    if task["metric"] == "test_loss":  # as [U] does: in variances of the target
        options["standardise"] = "public"
    if "hidden" in task:
        options["hidden"] = task["hidden"]
    if way == "pairs, cyclic":
        options |= {"participation": f"cyclic:{round(task['records'] / (AGENTS * task['batch_size']))}"}
    if way != "none":
        options["epsilon"] = cell["epsilon"]
    elif "by_hand" in task:
        options["mechanism"] = "none"
    else:
        options["epsilon"] = NO_LIMIT
    if "data" not in task:
        return options
    if testing and task["test_data"]:
        options["test_data"] = common.data_file(task["test_data"])
    else:
        options["test_fraction"] = 0.1
    return options


def table_of(name, folder=None, small=common.QUICK):
    """Every way at every epsilon; what is in the results file is not measured again.
    small: only see that everything works. folder: of the results file, if it is not kept with the others."""
    task = TASKS[name] | ({"rounds": 20, "step_sizes": [1, 2, 4]} if small else {})
    seeds = task.get("seeds", SEEDS)
    epsilons = [1] if small else task.get("epsilons", EPSILONS)
    by_hand = task.get("by_hand", BY_HAND)
    settings = {"task": task, "by_hand": by_hand, "epsilons": epsilons, "step_sizes": task["step_sizes"], "widen": 2,
                "validation_seeds": VALIDATION[:1] if small else task.get("validation_seeds", VALIDATION),
                "seeds": seeds[:2] if small else seeds, "agents": AGENTS}
    table = grid.Grid(f"price_{name}", settings, lambda *cell: options_of(task, *cell), task["metric"],
                      largest_is_best=task["metric"] == "test_accuracy", folder=folder, searched=lambda cell: cell["way"] in by_hand)
    table.measure([{"way": "none", "epsilon": 0}] +
                  [{"way": way, "epsilon": epsilon} for epsilon in epsilons for way in noisy_ways(task)])
    return table


def noisy_ways(task):
    return [way for way in task.get("ways", WAYS) if way != "none"]


def write(name):
    table = table_of(name)
    task, epsilons, seeds = (table.settings[key] for key in ("task", "epsilons", "seeds"))
    protocol = "each way's first run without knobs"
    if "rounds" in task:
        by_hand = f"T = {task['rounds']}, batches of {task['batch_size']} an agent, step size chosen for every cell on held-out training records"
        protocol = f"{by_hand},\nat no edge" if "by_hand" in task else f"{protocol}, cyclic:\n{by_hand},\nat no edge"
    table.write(
        f"{name}: {task['metric'].replace('_', ' ')} of the agents' own models, {len(seeds)} seeds with 95% intervals; "
        f"{AGENTS if 'data' in task else len(SITES)} agents,\nrecord-add-remove, delta = 1e-5, {protocol}. Without a limit of epsilon: "
        f"{grid.text_of(table.find({'way': 'none'}))}.\n\n{name}, every cell:\n\n" +
        grid.markdown("epsilon", epsilons, noisy_ways(task), lambda epsilon, way: table.find({"way": way, "epsilon": epsilon})) +
        paired(table, task, epsilons))


def paired(table, task, epsilons):
    """What pairs have more than every other way, seed by seed."""
    others = [way for way in noisy_ways(task) if way != OURS]
    text = f"\n{OURS} less the others, seed by seed:\n\n| epsilon | " + " | ".join(others) + " |\n|---|"
    text += "---|" * len(others) + "\n"
    for epsilon in epsilons:
        found = [table.difference({"way": OURS, "epsilon": epsilon}, {"way": way, "epsilon": epsilon}) for way in others]
        text += f"| {epsilon} | " + " | ".join(f"{mean:+.4f} ± {width:.4f}" for mean, width in found) + " |\n"
    return text


if __name__ == "__main__":
    for chosen in sys.argv[1:] or (["a9a"] if common.QUICK else TASKS):
        write(chosen)
