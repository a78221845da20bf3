"""Shared by the benchmarks: running programs, statistics, and writing results."""
import contextlib
import datetime
import hashlib
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = (ROOT / os.environ.get("BENCH_BUILD", "build-bench")).resolve()
QUICK = os.environ.get("BENCH_QUICK") == "1"
RESULTS = BUILD / "quick" if QUICK else ROOT / "bench" / "results"
SOTTO = BUILD / "sotto"
THREADS = 2
LOAD = os.getloadavg()[0]  # of the last minute, before anything was measured


def output_of(command, **environment):
    """Standard output of a program that must succeed."""
    command = [str(word) for word in command]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT,
                            env=os.environ | environment)
    if result.returncode != 0:
        raise SystemExit(f"bench: {command[0]} failed with exit code {result.returncode}")
    return result.stdout


class Kept:
    """Parts of a long study that a program has done, kept beside it, so that a study that was interrupted goes on."""

    def __init__(self, program):
        self.folder = BUILD / "kept" / hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()[:16]
        self.folder.mkdir(parents=True, exist_ok=True)

    def part(self, name, compute, complete=lambda result: True):
        """The result kept under this name or, where there is none, of `compute`, kept if `complete` says so."""
        file = self.folder / (hashlib.sha256(name.encode()).hexdigest()[:32] + ".json")
        if file.exists():
            return json.loads(file.read_text())["result"]
        result = compute()
        if complete(result):
            new = file.with_suffix(".part")
            new.write_text(json.dumps({"name": name, "result": result}))
            new.replace(file)
        return result


@contextlib.contextmanager
def busy_loops(count):
    """So many processes that compute without end, while the block runs."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def program(name):
    path = BUILD / "bench" / f"bench_{name}"
    if not path.exists():
        raise SystemExit(f"bench: {path.name} was not built; bench/install brings its packages")
    return path


def mpirun(ranks):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks]


def data_file(name):
    folder = os.environ.get("SOTTO_DATA_DIR")
    if not folder or not (pathlib.Path(folder) / name).exists():
        raise SystemExit(f"bench: set SOTTO_DATA_DIR to the folder that holds {name}")
    return pathlib.Path(folder) / name


def google_benchmark(name, repetitions):
    """Values of every repetition by benchmark name, repetitions of all benchmarks interleaved."""
    text = output_of([program(name), "--benchmark_format=json",
                      "--benchmark_enable_random_interleaving=true",
                      f"--benchmark_min_time={0.02 if QUICK else 0.25}",
                      f"--benchmark_repetitions={repetitions}"])
    runs = {}
    order = lambda entry: (entry["family_index"], entry["per_family_instance_index"])
    for entry in sorted(json.loads(text)["benchmarks"], key=order):
        if entry["run_type"] == "iteration":
            runs.setdefault(entry["run_name"].removesuffix("/real_time"), []).append(entry)
    return runs


median = statistics.median
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262,
       19: 2.093}


def student95(freedom):
    """The 0.975 quantile of Student's t with so many degrees of freedom: of the table, or by Simpson's rule and bisection."""
    if freedom in T95:
        return T95[freedom]
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = lambda t: scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
    low, high = 0.0, 13.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        step = middle / 400
        area = sum((1 if k in (0, 400) else 4 if k % 2 else 2) * density(k * step) for k in range(401)) * step / 3
        low, high = (middle, high) if area < 0.475 else (low, middle)
    return high


def interval95(values):
    """Mean and half width of its 95% interval (Student's t); no width for a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    return mean, student95(len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5


def processor():
    for line in open("/proc/cpuinfo", encoding="ascii"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def commit():
    """The commit that is measured, "-dirty" if files differ from it; results kept since, and pages that show them, do not count."""
    changed = output_of(["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs", ":!README.md", ":!bench/results"])
    return output_of(["git", "describe", "--always"]).strip() + ("-dirty" if changed else "")


def header():
    """What belongs to every result: which code, on what, when."""
    build = output_of([SOTTO, "--version"]).strip()
    cache = (BUILD / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.M).group(1)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "commit": commit(),
        "build": build,
        "compiler": output_of([compiler, "--version"]).splitlines()[0],
        "machine": {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
                    "memory_gib": round(memory, 1)},
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "quick": QUICK,
    }


def replace_file(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(text)
    new.replace(path)


def table(columns, rows):
    """Text table; the first column is left-aligned, numbers are given as text."""
    cells = [list(columns)] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = []
    for row in cells:
        first = row[0].ljust(widths[0])
        lines.append("  ".join([first] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]).rstrip())
    return "\n".join(lines) + "\n"


def write_results(name, results, text):
    """results/NAME.json and NAME.txt, the text on the screen, and its tables in the pages that show them."""
    about = header()
    machine = about["machine"]
    title = (f"# {name}: commit {about['commit']}, {about['compiler']}, {machine['processor']}, "
             f"{machine['cores']} cores, {about['date']}{', QUICK' if QUICK else ''}\n")
    replace_file(RESULTS / f"{name}.json", json.dumps(about | results, indent=1) + "\n")
    replace_file(RESULTS / f"{name}.txt", title + "\n" + text)
    print(title + "\n" + text)
    if not QUICK:
        for ending in ("txt", "md"):
            tables.put_tables(f"bench/results/{name}.{ending}")
