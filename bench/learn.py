"""Milliseconds for the gradient of a batch of 128 images: plain, and clipped record by record with ghost norms."""
import common
from common import median

REPETITIONS = 3 if common.QUICK else 9


def main():
    medians = {}
    runs = []
    for name, entries in common.google_benchmark("learn", REPETITIONS).items():
        model, kind = name.split("/")
        scale = {"ms": 1, "us": 1e-3, "ns": 1e-6, "s": 1e3}[entries[0]["time_unit"]]
        run = {"model": model, "kind": kind, "milliseconds": [e["real_time"] * scale for e in entries]}
        run["median_milliseconds"] = medians[model, kind] = median(run["milliseconds"])
        runs.append(run)
    text = ("Gradient of a batch of 128 images of 28 x 28 pixels, ten classes, one thread. plain: the mean gradient;\n"
            "clipped: every record clipped, by ghost norms; record by record: the same without them. Medians.\n\n")
    text += common.table(
        ["", "plain, ms", "clipped, ms", "ratio", "record by record, ms"],
        [[m, f"{medians[m, 'plain']:.3f}", f"{medians[m, 'clipped']:.3f}",
          f"{medians[m, 'clipped'] / medians[m, 'plain']:.2f}", f"{medians[m, 'record by record']:.2f}"]
         for m in ("softmax", "mlp", "cnn")])
    common.write_results("learn", {"runs": runs}, text)


main()
