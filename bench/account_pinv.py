"""One target's Gram matrix as the papers state it: the Moore-Penrose pseudo-inverse of B, in numpy.

    account_pinv.py EDGES OBSERVER TARGET ROUNDS REPETITIONS

Private noise of variance 1, Metropolis weights, the view of the observer's neighbours. One JSON object.
"""
import json
import sys
import time

import numpy


def gram(edges, observer, target, rounds):
    n = max(max(edge) for edge in edges) + 1
    neighbours = [set() for _ in range(n)]
    for u, v in edges:
        neighbours[u].add(v)
        neighbours[v].add(u)
    mixing = numpy.zeros((n, n))
    for u, v in edges:
        mixing[u, v] = mixing[v, u] = 1 / (1 + max(len(neighbours[u]), len(neighbours[v])))
    mixing += numpy.diag(1 - mixing.sum(1))
    seen = sorted(neighbours[observer])
    unknown = [u for u in range(n) if u != observer]
    powers = [numpy.eye(n)]
    for _ in range(rounds - 1):
        powers.append(mixing @ powers[-1])
    b = numpy.zeros((rounds * len(seen), rounds * len(unknown)))
    a = numpy.zeros((rounds * len(seen), rounds))
    for t in range(rounds):
        for s in range(t + 1):
            reached = powers[t - s][seen]
            b[t * len(seen):(t + 1) * len(seen), s * len(unknown):(s + 1) * len(unknown)] = reached[:, unknown]
            a[t * len(seen):(t + 1) * len(seen), s] = reached[:, target]
    whitened = numpy.linalg.pinv(b) @ a
    return whitened.T @ whitened


def main():
    edges = [tuple(map(int, line.split()[:2])) for line in open(sys.argv[1]) if not line.startswith("#")]
    observer, target, rounds, repetitions = map(int, sys.argv[2:])
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        result = gram(edges, observer, target, rounds)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "sum": result.sum()}))


main()
