"""Runs sotto for figures: single commands, many at a time, sweeps, and one training of a sweep by itself."""
import concurrent.futures
import contextlib
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import common
import grid
import rows

CORES = len(os.sched_getaffinity(0))
HERE = pathlib.Path(__file__).resolve().parent
# Options of `sotto sweep` that `sotto train` lacks.
OF_SWEEPS = ("choose", "choose-by", "choose-further", "validation-seeds", "validation-fraction", "plot", "keep-runs", "threads", "output")


def sotto_json(command, options):
    """The JSON output of one command of sotto."""
    return json.loads(common.output_of([common.SOTTO, command, "--json", "-", "--quiet", *grid.arguments(options)]))


def parallel(function, jobs):
    """Results of function for every job, in order; runs as many at a time as there are cores."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=CORES) as pool:
        return list(pool.map(function, jobs))


def sotto_many(command, list_of_options, keep):
    """keep(JSON output) of many runs."""
    return parallel(lambda options: keep(sotto_json(command, options)), list_of_options)


def data_path(name):
    return os.path.join(os.environ.get("SOTTO_DATA_DIR", ""), name)


def words(values):
    """Values of an option, as a sweep takes them."""
    return " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)


# --- sweeps ----------------------------------------------------------------------------------------------------------

def sweep_folder(name, size, settings):
    """Runs a sweep file of this folder, with these options in place of the file's. Returns its output folder. Trainings that an
    interrupted run finished are kept."""
    folder = size.work / name
    launch = common.mpirun(CORES) if CORES > 1 else []
    silent = [] if sys.stderr.isatty() else ["--quiet"]
    command = [str(word) for word in [*launch, common.SOTTO, "sweep", HERE / f"{name}.ini", "--output", folder, *silent,
                                      *grid.arguments(settings)]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=common.ROOT)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        stop(process)
        raise
    if code != 0:
        raise SystemExit(f"figures: sotto sweep of {name}.ini failed with exit code {code}")
    return folder


def stop(process):
    """Waits for a process to end; at a terminal it received the signal too."""
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(30)


def table_of(path):
    """A CSV file as dictionaries. Of columns with the same name the first counts."""
    with open(path, encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    return [dict(reversed(list(zip(names, line)))) for line in lines]


def tested(folder):
    """The test trainings of a finished sweep: runs.csv without validation."""
    return [run for run in table_of(folder / "runs.csv") if run["purpose"] == "test"]


def trainings(name, size, settings):
    return tested(sweep_folder(name, size, settings))


def training_rows(panel, runs, x, metric, row=rows.mean_row):
    """A row for every variant and value of option x (a number if it does not vary), with the value of every seed. Where a training
    diverged there is no row."""
    cells = {}
    for run in runs:
        cells.setdefault((run["variant"], float(run[x]) if isinstance(x, str) else x), []).append(run)
    return [row(panel, variant, value, {run["seed"]: float(run[metric]) for run in found})
            for (variant, value), found in cells.items() if all(run["status"] == "done" for run in found)]


def varied(option, values):
    """The column of an option in runs.csv, or its only value: options that do not vary have no column."""
    return option.replace("-", "_") if len(values) > 1 else values[0]


# --- one training ----------------------------------------------------------------------------------------------------

def one_training(name, variant, settings):
    """Options of `sotto train` for one training of a sweep file: the variant's, with the first value of every list."""
    options, section = {}, None
    for line in (HERE / f"{name}.ini").read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif line and section in (None, variant):
            key, value = (part.strip() for part in line.split("=", 1))
            options[key] = value
    options |= {key.replace("_", "-"): str(value) for key, value in settings.items()}
    options = {key: value if key in ("data", "test-data") else value.split()[0] for key, value in options.items() if key not in OF_SWEEPS}
    seed = options["seed"]
    return {key: seed if value == "seed" else value for key, value in options.items()}


@contextlib.contextmanager
def group_file(groups):
    """A file for --seed-groups."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="ascii") as file:
        file.write("\n".join(" ".join(map(str, group)) for group in groups) + "\n")
        file.flush()
        yield file.name
