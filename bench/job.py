"""Trainings end to end: rounds a second and where the time goes, against the same in numpy; many agents."""
import csv
import json
import pathlib
import random
import tempfile

import common
from common import median

PHASES = ["gradient", "noise", "exchange", "mix"]
ROUNDS = 200 if common.QUICK else 5000
REPETITIONS = 2 if common.QUICK else 5
TARGET_SECONDS = {"sotto, 20 ranks": 4.0, "sotto, one process": 1.5}
BLAS_THREADS = {"OPENBLAS_NUM_THREADS": str(common.THREADS)}
# Many agents: (name, ranks or None for one process, agents, rounds)
LARGE = [("100 ranks", 100, 100, 200), ("1000 agents, one process", None, 1000, 200)]
if common.QUICK:
    LARGE = [("10 ranks", 10, 10, 200), ("50 agents, one process", None, 50, 200)]
STEP_SIZE_LARGE = "0.1"
GROWTH_GRAPHS = [["--topology", "ring"]] + [["--edge-probability", p] for p in ["0.05", "0.1", "0.2", "0.4", "0.8"]]
GROWTH_AGENTS = 60 if common.QUICK else 200
GROWTH_GRAPHS_MPI = [["--topology", "ring"], ["--edge-probability", "0.2"], ["--edge-probability", "0.5"],
                     ["--topology", "complete"]]


def write_wide_data(path, records=32_000, groups=27, categories=37):
    """LIBSVM text of 999 one-hot features (d = 1000 with the bias); labels by a noisy linear rule."""
    rng = random.Random(1)
    weight = [rng.gauss(0, 1) for _ in range(groups * categories)]
    with open(path, "w", encoding="ascii") as out:
        for _ in range(records):
            columns = [group * categories + int(categories * rng.random() ** 2) for group in range(groups)]
            score = sum(weight[column] for column in columns) + rng.gauss(0, 1)
            label = 1 if score > 0 else -1
            out.write(f"{label} " + " ".join(f"{column + 1}:1" for column in columns) + "\n")


def train(folder, ranks, options, name="run"):
    """One training; its summary without what identifies this machine, and its losses over time."""
    directory = folder / name
    summary = folder / f"{name}.json"
    launch = common.mpirun(ranks) if ranks else []
    common.output_of(launch + [common.SOTTO, "train", "--quiet", "--json", summary,
                               "--run-directory", directory] + options)
    result = json.loads(summary.read_text())
    with open(directory / "metrics.csv", encoding="ascii") as rows:
        losses = [(int(row["round"]), float(row["test_loss"])) for row in csv.DictReader(rows)]
    keep = ["agents", "processes", "rounds", "mechanism", "epsilon", "test_loss", "seconds", "bytes_sent",
            "peak_memory_mib"]
    return {key: result[key] for key in keep} | {"losses": losses}


def a9a(folder):
    """The a9a job in three ways, taking turns."""
    data = common.data_file("a9a.gz")
    edges = folder / "edges"
    common.output_of([common.SOTTO, "graph", "--out", edges, "--quiet"])
    options = ["--data", data, "--rounds", ROUNDS, "--eval-every", ROUNDS, "--step-size", "0.01",
               "--mechanism", "corn"]
    runs = {"sotto, 20 ranks": [], "sotto, 20 ranks, links not encrypted": [], "sotto, one process": [], "sotto, one thread": [], "numpy": []}
    for i in range(REPETITIONS):
        runs["sotto, 20 ranks"].append(train(folder, 20, options, f"ranks{i}"))
        runs["sotto, 20 ranks, links not encrypted"].append(
            train(folder, 20, options + ["--link-encryption", "off"], f"clear{i}"))
        runs["sotto, one process"].append(train(folder, None, options, f"process{i}"))
        runs["sotto, one thread"].append(train(folder, None, options + ["--threads", 1], f"thread{i}"))
        runs["numpy"].append(json.loads(common.output_of(
            ["/usr/bin/python3", common.ROOT / "bench" / "numpy_dsgd.py", data,
             folder / f"process{i}" / "plan.json", edges, ROUNDS, "0.01"], **BLAS_THREADS)))
    results = {}
    for name, values in runs.items():
        loops = [v["loop_seconds"] if name == "numpy" else v["seconds"]["loop"] for v in values]
        results[name] = {"loop_seconds": loops, "median_loop_seconds": median(loops),
                         "median_rounds_a_second": ROUNDS / median(loops),
                         "median_test_loss": median([v["test_loss"] for v in values]), "runs": values}
        if name != "numpy":
            results[name]["median_phase_seconds"] = {
                phase: median([v["seconds"][phase] for v in values]) for phase in PHASES}
            results[name]["median_peak_memory_mib"] = median([v["peak_memory_mib"] for v in values])
    for result in results.values():
        result["times_numpy"] = results["numpy"]["median_loop_seconds"] / result["median_loop_seconds"]
    return results


def a9a_text(results):
    rows = []
    for name, r in results.items():
        phases = [f"{r['median_phase_seconds'][phase]:.2f}" if name != "numpy" else "" for phase in PHASES]
        memory = f"{r['median_peak_memory_mib']:.0f}" if name != "numpy" else ""
        rows.append([name, f"{r['median_rounds_a_second']:.0f}", f"{r['median_loop_seconds']:.2f}",
                     TARGET_SECONDS.get(name, "") if not common.QUICK else "", *phases, memory,
                     f"{r['times_numpy']:.2f}", f"{r['median_test_loss']:.3f}"])
    return (f"a9a, 20 agents, corn horizon:200, {ROUNDS} rounds: seconds of the loop and its phases (average over the\n"
            "processes), memory of the largest process, speed as a multiple of numpy's. Medians.\n\n"
            + common.table(["", "rounds/s", "loop s", "target s", *PHASES, "MiB", "x numpy", "test loss"], rows))


def large(folder, data):
    results = {}
    for name, ranks, agents, rounds in LARGE:
        options = ["--data", data, "--rounds", rounds, "--eval-every", rounds // 4,
                   "--step-size", STEP_SIZE_LARGE, "--mechanism", "corn"]
        if not ranks:
            options += ["--agents", agents]
        run = train(folder, ranks, options, f"large{agents}")
        losses = [loss for _, loss in run["losses"]]
        run["loss_decreased"] = all(a > b for a, b in zip(losses, losses[1:]))
        run["milliseconds_a_round"] = 1e3 * run["seconds"]["loop"] / rounds
        run["milliseconds_a_round_and_agent"] = run["milliseconds_a_round"] / agents
        results[name] = run
        print(f"{name}: {run['seconds']['loop']:.1f} s", flush=True)
    return results


def large_text(results):
    rows = []
    for name, r in results.items():
        rows.append([name, r["rounds"], f"{r['seconds']['plan']:.1f}", f"{r['seconds']['loop']:.1f}",
                     f"{r['milliseconds_a_round']:.1f}",
                     *[f"{1e3 * r['seconds'][phase] / r['rounds']:.1f}" for phase in PHASES],
                     f"{r['milliseconds_a_round_and_agent']:.3f}", f"{r['peak_memory_mib']:.0f}",
                     ", ".join(f"{loss:.3f}" for _, loss in r["losses"]),
                     "yes" if r["loss_decreased"] else "NO"])
    return ("Many agents, d = 1000, corn horizon:200, Erdos-Renyi p=0.5: milliseconds a round, with phases (average\n"
            "over the processes); MiB of the largest process; test loss at the start and after each quarter.\n\n"
            + common.table(["", "rounds", "plan s", "loop s", "ms", *PHASES, "ms an agent", "MiB", "test loss",
                            "decreased"], rows))


def line_through(xs, ys):
    """Least squares y = intercept + slope x, and the share of the variance it explains."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
             / sum((x - mean_x) ** 2 for x in xs))
    intercept = mean_y - slope * mean_x
    rest = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys))
    return {"intercept": intercept, "slope": slope,
            "explained": 1 - rest / sum((y - mean_y) ** 2 for y in ys)}


def growth(folder, data, name, ranks, graphs, mechanism):
    """Milliseconds a round and memory for graphs of more and more edges."""
    rounds = 20 if common.QUICK else 200
    agents = ranks or GROWTH_AGENTS
    points = []
    for i, graph in enumerate(graphs):
        size = [] if ranks else ["--agents", agents]
        options = graph + ["--data", data, "--rounds", rounds, "--eval-every", rounds, "--step-size", "0.01",
                           "--mechanism", mechanism] + size
        runs = [train(folder, ranks, options, f"{name}{mechanism}{i}-{j}") for j in range(1 if common.QUICK else 3)]
        sent = runs[0]["bytes_sent"] / rounds
        points.append({
            "graph": " ".join(graph).replace("--", ""), "edges": round(sent / (2 * 8 * 1000)),
            "milliseconds_a_round": median([1e3 * r["seconds"]["loop"] / rounds for r in runs]),
            "peak_memory_mib": median([r["peak_memory_mib"] for r in runs]), "runs": runs})
    edges = [p["edges"] for p in points]
    return {"name": name, "agents": agents, "mechanism": mechanism, "points": points,
            "time_fit": line_through(edges, [p["milliseconds_a_round"] for p in points]),
            "memory_fit": line_through(edges, [p["peak_memory_mib"] for p in points])}


def growth_text(studies):
    rows = []
    for study in studies:
        for point in study["points"]:
            rows.append([f"{study['name']}, {study['agents']} agents, {study['mechanism']}", point["graph"],
                         point["edges"], f"{point['milliseconds_a_round']:.3f}",
                         f"{point['milliseconds_a_round'] / study['agents']:.4f}",
                         f"{point['peak_memory_mib']:.0f}"])
        time, memory = study["time_fit"], study["memory_fit"]
        rows.append(["  straight line", "", "", f"{time['intercept']:.2f} + {1e3 * time['slope']:.3f} us/edge",
                     f"{100 * time['explained']:.1f}%",
                     f"{memory['intercept']:.0f} + {1024 * memory['slope']:.1f} KiB/edge"])
    return ("Growth in edges, d = 1000: time and memory of a round (ldp: exchange and mixing grow with the edges;\n"
            "decor: also one noise stream an edge). Straight line: least squares, and the variance it explains.\n\n"
            + common.table(["", "graph", "edges", "ms a round", "ms an agent", "MiB"], rows))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "wide.libsvm"
        write_wide_data(data)
        jobs = a9a(folder)
        many = large(folder, data)
        studies = [growth(folder, data, "one process", None, GROWTH_GRAPHS, mechanism)
                   for mechanism in ["ldp", "decor"]]
        studies.append(growth(folder, data, "MPI", 20, GROWTH_GRAPHS_MPI, "ldp"))
    common.write_results("job", {"target_loop_seconds": TARGET_SECONDS, "a9a": jobs, "many_agents": many,
                                 "growth_in_edges": studies},
                         "\n".join([a9a_text(jobs), large_text(many), growth_text(studies)]))


main()
