"""Standard normals a second on one core, against the bare keystream and what people would use instead."""
import json

import common
from common import median

REPETITIONS = 3 if common.QUICK else 9
KEYSTREAM = "libsodium ChaCha20 keystream"
TARGET_MILLION = 150  # with AVX2, grid snapping included
TARGET_FRACTION = 0.65  # of the keystream's byte rate


def main():
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
