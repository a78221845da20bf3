"""Epsilons of secretly sampled rounds in 10 000 random settings, against bounds in closed form that share no code with
the program: no figure may contradict them."""
import json
import math
import random
import subprocess

import common

SETTINGS = 200 if common.QUICK else 10000
SEED = 46


def settings():
    """S in [.01, 1e3], q in [1e-9, 1], T in [1, 1e7], delta in [1e-30, .5], uniform in their logarithms."""
    chance = random.Random(SEED)

    def drawn(low, high):
        return math.exp(chance.uniform(math.log(low), math.log(high)))

    return [(drawn(.01, 1e3), drawn(1e-9, 1), int(drawn(1, 1e7)), drawn(1e-30, .5)) for _ in range(SETTINGS)]


def log_above(z):
    """log(1 - Phi(z))."""
    if z < 25:
        return math.log(.5 * math.erfc(z / math.sqrt(2)))
    return -z * z / 2 - math.log(z * math.sqrt(2 * math.pi)) + math.log1p(-1 / z**2 + 3 / z**4 - 15 / z**6)


def log_add(a, b):
    top = max(a, b)
    return top + math.log1p(math.exp(min(a, b) - top)) if top > -math.inf else top


def renyi_bound(noise, probability, count, delta):
    """From above, by Renyi divergences of whole orders (Mironov, Talwar, Zhang 2019) and their best conversion (Canonne,
    Kamath, Steinke 2020), of the record being there; the other direction costs no more at any order (the same, Theorem 5)."""
    best = math.inf
    order = 2
    while order < 3000:
        total = -math.inf
        for k in range(order + 1):
            total = log_add(total, math.lgamma(order + 1) - math.lgamma(k + 1) - math.lgamma(order - k + 1)
                            + k * math.log(probability) + (order - k) * math.log1p(-probability)
                            + k * (k - 1) / (2 * noise**2))
        tilt = order - 1
        best = min(best, (count * total - math.log(delta) + tilt * math.log(tilt) - order * math.log(order)) / tilt)
        order = order + 1 if order < 12 else order * 5 // 4
    return max(best, 0)


def told_bound(noise, probability, count, delta):
    """From above: whoever is told how often the record was in sees a Gaussian mechanism. Without more than k times but for
    delta / 2, epsilon is at most that of k rounds at delta / 2."""
    expected = count * probability
    k = expected
    for _ in range(200):  # Chernoff: P(K >= k) <= exp(-expected + k - k log(k / expected))
        if k > expected and -expected + k - k * math.log(k / expected) <= math.log(delta / 2):
            break
        k += max(math.sqrt(expected) / 4, .5 if k < 30 else k / 50)
    k = min(math.ceil(k), count)
    mu = math.sqrt(k) / noise
    return mu * mu / 2 + mu * math.sqrt(2 * math.log(2 / delta))


def test_bound(noise, probability, count, delta):
    """From below: the test that some round is above c."""
    best = 0
    for step in range(400):
        c = -6 + (1 / noise + 18) * step / 399
        log_without = log_above(c)
        single = (1 - probability) * math.exp(log_without) + probability * math.exp(log_above(c - 1 / noise))
        within = 1 if single >= 1 else -math.expm1(count * math.log1p(-single))
        if within * (1 - 1e-9) <= delta:
            continue
        without = math.exp(log_without)
        if without * count < 1e-12:
            log_some = log_without + math.log(count)
        elif without < 1:
            log_some = math.log(-math.expm1(count * math.log1p(-without)))
        else:
            log_some = 0
        best = max(best, math.log(within * (1 - 1e-9) - delta) - log_some - 1e-9 * abs(log_some))
    return best


def main():
    drawn = settings()
    text = "".join("%.17g %.17g %d %.17g\n" % one for one in drawn)
    found = subprocess.run([common.program("sampled_edges")], input=text, stdout=subprocess.PIPE, text=True, check=True)
    answers = [json.loads(line.replace("inf", "Infinity")) for line in found.stdout.splitlines()]
    assert len(answers) == len(drawn)
    false, gaps, errors = [], [], []
    for (noise, probability, count, delta), answer in zip(drawn, answers):
        if "error" in answer:
            errors.append([noise, probability, count, delta, answer["error"]])
            continue
        upper, lower = answer["upper"], answer["lower"]
        above = min(renyi_bound(noise, probability, count, delta), told_bound(noise, probability, count, delta))
        below = test_bound(noise, probability, count, delta)
        if not (math.isfinite(upper) and lower <= upper and below <= upper * (1 + 1e-6) + 1e-12
                and lower <= above * (1 + 1e-6)):
            false.append([noise, probability, count, delta, upper, lower, above, below])
        gaps.append((upper - lower) / upper if upper > 0 else 0)
    seconds = sorted(answer["seconds"] for answer in answers if "error" not in answer)
    result = {"settings": len(drawn), "false": false, "errors": errors, "nothing": sum(a.get("upper") == 0 for a in answers),
              "within": {str(gap): sum(one <= gap for one in gaps) / len(gaps) for gap in (1e-3, 1e-2, .1)},
              "seconds": {"median": seconds[len(seconds) // 2], "p99": seconds[len(seconds) * 99 // 100],
                          "most": seconds[-1]}}
    lines = ["%d settings, seed %d: %d false, %d refused" % (len(drawn), SEED, len(false), len(errors)),
             "upper bound above the lower one by at most 0.1%%: %.1f%%, 1%%: %.1f%%, 10%%: %.1f%% of settings"
             % tuple(100 * result["within"][gap] for gap in ("0.001", "0.01", "0.1")),
             "processor seconds: median %.4f, 99%% %.3f, most %.3f" % tuple(result["seconds"].values())]
    common.write_results("sampled_edges", result, "\n".join(lines) + "\n")
    if false or errors:
        raise SystemExit("bench: figures that contradict bounds in closed form: %s" % (false + errors)[:5])


main()
