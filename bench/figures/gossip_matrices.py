"""The matrices of [G] Theorems 3 and 4 for one pair of agents, and their squared sensitivity for contributions of any sign.

The theorems take the same contribution in every round. Over contributions of norm 1 in every round the squared sensitivity is
max sum_st Gram_st <g_s, g_t>. An ascent bounds it from below, duality from above (docs/equations.md#partial-views).
"""
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small, and other processes run at the same time
import numpy

STARTS, SWEEPS = 6, 300


def max_degree_weights(edges, agents):
    """`--mixing max-degree`: A / (d_max + 1) off the diagonal, rows that sum to 1."""
    weights = numpy.zeros((agents, agents))
    for u, v in edges:
        weights[u, v] = weights[v, u] = 1
    weights /= weights.sum(axis=1).max() + 1
    return weights + numpy.diag(1 - weights.sum(axis=1))


def gram(weights, rounds, target, observer, sums):
    """A^T (B B^T)^+ A, of size rounds: the effect of the target's contributions on what, by the theorem, determines the view. sums:
    Theorem 3, the models of the target's closed neighbourhood; else Theorem 4, the target's own messages. B leaves out the
    observer's noise."""
    agents = len(weights)
    seen = [u for u in range(agents) if u == target or weights[u, target] != 0] if sums else [target]
    powers = [numpy.eye(agents)]
    for _ in range(rounds):
        powers.append(weights @ powers[-1])
    rows = len(seen)
    response = numpy.zeros((rounds * rows, rounds * agents))
    for t in range(rounds):
        for s in range(t + 1):
            response[t * rows:(t + 1) * rows, s * agents:(s + 1) * agents] = powers[t - s + sums][seen]
    of_target = response[:, target::agents]
    hidden = numpy.delete(response, [s * agents + observer for s in range(rounds)], axis=1)
    values, vectors = numpy.linalg.eigh(hidden @ hidden.T)
    kept = values > 1e-10 * values[-1]
    whitened = (vectors[:, kept] / numpy.sqrt(values[kept])).T @ of_target
    return whitened.T @ whitened


def one_sign(matrix):
    """The theorems' squared sensitivity."""
    return float(matrix.sum())


def any_sign(matrix):
    """Lower and upper bound of max sum_st Gram_st <g_s, g_t> over unit vectors."""
    rounds = len(matrix)
    best, upper = 0.0, numpy.inf
    for start in range(STARTS):
        found = ascent(matrix, start_vectors(rounds, start))
        best = max(best, float((matrix * (found @ found.T)).sum()))
        multipliers = (matrix * (found @ found.T)).sum(axis=1)
        lowest = numpy.linalg.eigvalsh(numpy.diag(multipliers) - matrix)[0]
        upper = min(upper, float(multipliers.sum() + rounds * max(0.0, -lowest)))
    return best, upper


def start_vectors(rounds, start):
    """Constant, alternating, and random unit vectors."""
    draw = numpy.random.default_rng(start)
    vectors = draw.normal(size=(rounds, max(2, min(rounds, 12))))
    if start < 2:
        vectors *= 1e-3
        vectors[:, 0] = 1 if start == 0 else (-1.0) ** numpy.arange(rounds)
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def ascent(matrix, vectors):
    """Block coordinate ascent over unit vectors, until a sweep gains less than one part in 10^9."""
    before = 0.0
    for _ in range(SWEEPS):
        reached = float((matrix * (vectors @ vectors.T)).sum())
        if reached < before * (1 + 1e-9):
            break
        before = reached
        for t in range(len(matrix)):
            pull = matrix[t] @ vectors - matrix[t, t] * vectors[t]
            length = numpy.linalg.norm(pull)
            if length > 0:
                vectors[t] = pull / length
    return vectors
