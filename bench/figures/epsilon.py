"""Epsilon of a Gaussian mechanism, for means over many pairs of agents. A test compares it with `sotto account --mu`."""
import math


def delta_of(mu, epsilon):
    """Smallest delta of mu-Gaussian differential privacy at epsilon."""
    normal = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
    return normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)


def mu_of(epsilon, delta):
    """The mu of which this epsilon is the smallest, above 0. By bisection."""
    low, high = 0.0, 1.0
    while delta_of(high, epsilon) < delta:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(middle, epsilon) > delta else (middle, high)
    return high


def epsilon_of(mu, delta):
    """Smallest epsilon of mu-Gaussian differential privacy at delta; 0 for a mu of 0. By bisection."""
    if mu <= 0 or delta_of(mu, 0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while delta_of(mu, high) > delta:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(mu, middle) > delta else (low, middle)
    return high
