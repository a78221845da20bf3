"""Encrypted links and secure sums on one core, against bare libsodium on the same bytes."""
import common
from common import median

REPETITIONS = 3 if common.QUICK else 9
TARGET = 1.3  # times the time of bare libsodium


def main():
    entries = common.google_benchmark("crypto", REPETITIONS)
    runs = {}
    for name, own in entries.items():
        if name.endswith(" raw"):
            continue
        raw = entries[name + " raw"]
        run = {"bytes": int(own[0]["bytes"]),
               "nanoseconds": [e["real_time"] for e in own],
               "raw_nanoseconds": [e["real_time"] for e in raw]}
        run["median_gb_a_second"] = run["bytes"] / median(run["nanoseconds"])
        run["raw_median_gb_a_second"] = run["bytes"] / median(run["raw_nanoseconds"])
        run["times_raw"] = median(run["nanoseconds"]) / median(run["raw_nanoseconds"])
        runs[name] = run
    text = ("One core. link D: a message of D values sealed and opened by ChaCha20-Poly1305 (aes: by AES-256-GCM), in the\n"
            "pieces the network sends; bytes count both ends. sum D of M: one share for a receiver with M neighbours; bytes\n"
            f"are those of its M-1 masks. raw: libsodium alone on the same bytes. Target: at most {TARGET} times raw from 1000\n"
            "values on. Medians.\n\n")
    text += common.table(["", "bytes", "GB/s", "raw GB/s", "times raw"],
                         [[name, str(run["bytes"]), f"{run['median_gb_a_second']:.2f}",
                           f"{run['raw_median_gb_a_second']:.2f}", f"{run['times_raw']:.2f}"]
                          for name, run in runs.items()])
    common.write_results("crypto", {"target_times_raw": TARGET, "runs": runs}, text)


main()
