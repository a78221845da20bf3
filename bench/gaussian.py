"""Standard normals a second on one core, against the bare keystream and what people would use instead.

--before PATH (bench/run gaussian --before PATH): beside another bench_gaussian, taking turns, sotto's own levels only.
"""
import argparse
import json
import pathlib

import common
from common import median

REPETITIONS = 3 if common.QUICK else 9
KEYSTREAM = "libsodium ChaCha20 keystream"
TARGET_MILLION = 150  # with AVX2, grid snapping included
TARGET_FRACTION = 0.65  # of the keystream's byte rate


def beside(before):
    """Both programs in turn; a machine that does other work slows both alike."""
    programs = {"before": before, "now": common.program("gaussian")}
    rates = {name: {} for name in programs}
    for _ in range(3 if common.QUICK else 25):
        for name, path in programs.items():
            text = common.output_of([path, "--benchmark_format=json", "--benchmark_filter=^sotto/",
                                     "--benchmark_min_time=0.05"])
            for entry in json.loads(text)["benchmarks"]:
                rates[name].setdefault(entry["name"], []).append(entry["items_per_second"] / 1e6)
    levels = {}
    for level, now in rates["now"].items():
        earlier = rates["before"][level]
        ratios = [n / e for n, e in zip(now, earlier)]
        levels[level] = {"before": earlier, "now": now, "median_ratio": median(ratios)}
    text = ("100 000 float64 values a call, one core: fill from ChaCha20 and snap to the grid. Two programs in turn.\n"
            "Medians; the ratio is that of runs beside each other.\n\n")
    text += common.table(["", "before, million/s", "now", "ratio"],
                         [[level, f"{median(run['before']):.1f}", f"{median(run['now']):.1f}",
                           f"{run['median_ratio']:.3f}"] for level, run in levels.items()])
    common.write_results("gaussian_before", {"levels": levels}, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=lambda path: pathlib.Path(path).resolve(strict=True))
    before = parser.parse_args().before
    if before:
        beside(before)
        return
    runs = {}
    for name, entries in common.google_benchmark("gaussian", REPETITIONS).items():
        runs[name] = {"million_a_second": [e["items_per_second"] / 1e6 for e in entries]}
    numpy_run = json.loads(common.output_of(
        ["/usr/bin/python3", common.ROOT / "bench" / "gaussian_numpy.py", REPETITIONS],
        OPENBLAS_NUM_THREADS="1"))
    runs["numpy Generator(PCG64).standard_normal"] = numpy_run
    for run in runs.values():
        run["median_million_a_second"] = median(run["million_a_second"])
    keystream = runs[KEYSTREAM]["median_million_a_second"]
    for run in runs.values():
        run["fraction_of_keystream"] = run["median_million_a_second"] / keystream
    text = ("100 000 float64 values a call, one core. sotto/LEVEL: fill from ChaCha20 and snap to the grid.\n"
            f"Targets: {TARGET_MILLION} million a second with AVX2, {TARGET_FRACTION} of the keystream's byte rate.\n"
            "Keystreams: 8 bytes a value. Medians.\n\n")
    text += common.table(["", "million/s", "GB/s", "of keystream"],
                         [[name, f"{run['median_million_a_second']:.1f}",
                           f"{run['median_million_a_second'] * 8e-3:.2f}",
                           f"{run['fraction_of_keystream']:.2f}"] for name, run in runs.items()])
    common.write_results("gaussian", {"target_million_a_second": TARGET_MILLION,
                                      "target_fraction_of_keystream": TARGET_FRACTION, "runs": runs}, text)


main()
