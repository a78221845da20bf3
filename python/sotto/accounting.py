"""What observers learn, and what noise a budget asks for."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from ._command import run_for_json
from ._options import takes_options_of, to_arguments
from .errors import ConfigError


@takes_options_of("account", refused=("quiet",))
def account(**options: Any) -> dict[str, Any]:
    """What every observer of a view learns about every agent: the JSON of ``sotto account``.

    Under mpirun every rank calls it and the ranks share the work; rank 0 gets the answer, others
    {}.

    >>> sotto.account(mechanism="pairs", topology="ring", agents=8, view="coalition:2,5")["mean_epsilon"]

    :raises ConfigError: for options that are not allowed.
    """
    return run_for_json("account", ["--quiet", *to_arguments("account", options, ("quiet",))])[1]


@takes_options_of("audit", refused=("quiet",))
def audit(
    *,
    peer: Any = None,
    gradients: Sequence[Callable[..., Any]] | None = None,
    clipped: bool = False,
    canaries: int = 100,
    **options: Any,
) -> dict[str, Any]:
    """Attacks the messages of a run and compares with the ledger: the JSON of ``sotto audit``.

    ``consistent`` says whether they agree. All agents run in this process; under mpirun every rank
    calls it and the agents are spread over the ranks.

    With `peer` it trains this peer, a simulation of your own model that has not begun and records
    what the observer sees, and measures how much records of its agents change the messages
    (docs/python.md#audit)::

        simulation = sotto.torch.simulate(model, shards, loss=loss, epsilon=2, record_view="eavesdropper")
        sotto.audit(peer=simulation)["verdict"]

    :param peer: what `sotto.torch.simulate` returned, or a `sotto.Simulation`; of the options only view
        and confidence then have a meaning.
    :param gradients: with a `sotto.Simulation` the function of each agent, as of its step().
    :param clipped: as of its step().
    :param canaries: how many records of each agent are canaries, at most all; with `peer` alone.
    :raises ConfigError: for options that are not allowed.
    """
    if peer is not None:
        from .audits import audit_peer

        wanted = {key: value for key, value in options.items() if value is not None}
        if wanted.keys() - {"view", "confidence"}:
            raise ConfigError(f"{min(wanted.keys() - {'view', 'confidence'})}: has no meaning with peer (allowed: view, confidence)")
        return audit_peer(peer, gradients, clipped, canaries, wanted.get("view"), wanted.get("confidence"))
    if gradients is not None or clipped:
        raise ConfigError("gradients: has no meaning without peer")
    return run_for_json("audit", ["--quiet", *to_arguments("audit", options, ("quiet",))])[1]


def _converted(**options: Any) -> dict[str, Any]:
    return run_for_json("account", ["--quiet", *to_arguments("account", options)])[1]


def epsilon(mu: float, delta: float = 1e-5) -> float:
    """Epsilon at `delta` of a mechanism that is mu-Gaussian differentially private.

    Certified from above. :raises ConfigError: unless mu > 0 and 0 < delta < 1.
    """
    return float(_converted(mu=mu, delta=delta)["epsilon"])


def mu(epsilon: float, delta: float = 1e-5) -> float:
    """The largest mu whose Gaussian mechanism is (epsilon, delta)-differentially private.

    :raises ConfigError: unless epsilon > 0 and 0 < delta < 1.
    """
    return float(_converted(epsilon=epsilon, delta=delta)["mu"])


def sampled_epsilon(
    noise_multiplier: float, sampling_probability: float, rounds: int, delta: float = 1e-5
) -> float:
    """An upper bound on epsilon of Poisson-sampled Gaussian rounds whose coins stay secret.

    :param noise_multiplier: standard deviation of the noise on a sum, in units of the clip; > 0.
    :param sampling_probability: of a record in a round, in (0, 1].
    """
    return float(
        _converted(
            noise_multiplier=noise_multiplier,
            sampling_probability=sampling_probability,
            rounds=rounds,
            delta=delta,
        )["epsilon"]
    )


def noise_multiplier(
    epsilon: float, sampling_probability: float, rounds: int, delta: float = 1e-5
) -> float:
    """The least noise, in units of the clip, that keeps sampled rounds within epsilon.

    :param sampling_probability: of a record in a round, in (0, 1].
    """
    return float(
        _converted(
            epsilon=epsilon,
            sampling_probability=sampling_probability,
            rounds=rounds,
            delta=delta,
        )["noise_multiplier"]
    )
