"""Correlated noise for other trainers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._command import prepare_mpi
from .plans import Plan

if TYPE_CHECKING:
    from mpi4py import MPI


class NoiseSource:
    """The noise of a plan, each round drawn once, with the ledger that counts the rounds.

    For training loops that exchange and mix messages themselves (decentralizepy, BlueFog, your
    own). Agents agree on keys as in a training, every agent checks that the plan protects it, and
    noise is drawn from the same streams. With ``comm`` this process is one agent; without, it is
    all of them, and rows of arrays are agents::

        plan = sotto.plan(mechanism="pairs", topology="ring", agents=comm.Get_size(), rounds=100)
        noise = sotto.NoiseSource(plan, comm, dimension)
        for t in range(plan.rounds):
            message = model - step * noise.noisy(gradient(model))
            model = mix(message, neighbours)
        print(noise.epsilon)

    The ledger holds only if messages are made from what :meth:`noisy` returns and earlier messages,
    mixed as planned. Plans with Poisson sampling need :class:`sotto.Agent`.
    """

    def __init__(
        self,
        plan: Plan,
        comm: "MPI.Intracomm | None",
        dimension: int,
        *,
        noise_seed: int | None = None,
    ) -> None:
        """COLLECTIVE.

        :param plan: made by all with the same options; all use rank 0's plan.
        :param dimension: d of a message.
        :param noise_seed: makes noise reproducible, which protects nobody; the ledger says so.
        :raises Error: the same on every rank.
        """
        if comm is not None:
            prepare_mpi()
        self._core = _core.NoiseSource(
            plan._core, None if comm is None else comm.py2f(), dimension, noise_seed
        )
        #: The plan of the noise.
        self.plan = plan

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuses copies and pickles: a copy would draw the same noise."""
        raise TypeError("sotto.NoiseSource cannot be copied or pickled: its noise is drawn once, in one process")

    @property
    def round(self) -> int:
        """The number of rounds drawn, which is the next round."""
        return self._core.round

    @property
    def outputs(self) -> list[tuple[int, int]]:
        """(agent, receiver) for every row of draw(); receiver -1 means everybody."""
        return list(self._core.outputs)

    def draw(self) -> npt.NDArray[np.float64]:
        """Noise of the next round: d values, or outputs x d if there are several outputs. LOCAL.

        :raises PrivacyError: after the plan's last round, while another thread draws, and in a
            forked process.
        """
        return self._core.draw()

    def noisy(self, gradients: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Gradients clipped to the plan's clip_norm, with the noise of the next round. LOCAL.

        Both are multiples of the plan's grid, so their sum is exact and its low bits reveal nothing
        about the gradient. A gradient that is not finite counts as zero.

        :param gradients: with an adjacency of agents d, or agents of this process x d. With a record
            adjacency one row per record, and one agent per process; the result is the sum of the
            clipped rows divided by the plan's batch_size, with noise.
        :raises ConfigError: for another shape.
        """
        return self._core.noisy(np.asarray(gradients))

    @property
    def epsilon(self) -> float:
        """Epsilon spent so far, the largest over the agents."""
        return self._core.epsilon

    @property
    def mu(self) -> float:
        """The same as Gaussian differential privacy; NaN for Laplace noise."""
        return self._core.mu

    @property
    def statements(self) -> list[str]:
        """What a reader of the guarantee must know."""
        return list(self._core.statements)

    @property
    def ledger(self) -> dict[str, Any]:
        """What the rounds so far have revealed (docs/ledger.md)."""
        said: dict[str, Any] = json.loads(self._core.ledger_json)
        return said
