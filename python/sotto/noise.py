"""Correlated noise for trainers of other people."""

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
    """Rounds of a plan's noise, each once, with the ledger that counts them.

    For loops that exchange and mix messages themselves (decentralizepy, BlueFog, one of your own):
    keys are agreed on as in a training, every agent checks that the plan protects it, and noise is
    drawn from the same streams. With ``comm`` this process is one agent; without, it is all of them,
    and rows of arrays are agents::

        plan = sotto.plan(mechanism="pairs", topology="ring", agents=comm.Get_size(), rounds=100)
        noise = sotto.NoiseSource(plan, comm, dimension)
        for t in range(plan.rounds):
            message = model - step * noise.noisy(gradient(model))
            model = mix(message, neighbours)
        print(noise.epsilon)

    What is counted holds for messages that are made of what :meth:`noisy` returns and earlier
    messages, mixed as planned. Plans of Poisson sampling need :class:`sotto.Agent`.
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

        :param plan: made by all with the same options; rank 0's numbers count for all.
        :param dimension: d of a message.
        :param noise_seed: reproducible noise, which protects nobody; the ledger says so.
        :raises Error: the same on every rank.
        """
        if comm is not None:
            prepare_mpi()
        self._core = _core.NoiseSource(
            plan._core, None if comm is None else comm.py2f(), dimension, noise_seed
        )
        #: What noise it is.
        self.plan = plan

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Neither copied nor pickled: a copy would draw the same noise."""
        raise TypeError("sotto.NoiseSource cannot be copied or pickled: its noise is drawn once, in one process")

    @property
    def round(self) -> int:
        """Rounds drawn so far: the next one."""
        return self._core.round

    @property
    def outputs(self) -> list[tuple[int, int]]:
        """(agent, receiver) of every row of draw(); receiver -1 is everybody."""
        return list(self._core.outputs)

    def draw(self) -> npt.NDArray[np.float64]:
        """Noise of the next round: d values, or outputs x d where there are several. LOCAL.

        :raises PrivacyError: after the plan's last round, while another thread draws, and in a process
            that was forked.
        """
        return self._core.draw()

    def noisy(self, gradients: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Gradients clipped to the plan's clip_norm, with the noise of the next round. LOCAL.

        Both lie on the plan's grid, so their sum is exact, and its low bits say nothing of the
        gradient. One that is not finite counts as zero.

        :param gradients: with an adjacency of agents d, or agents of this process x d; with a record
            adjacency, one agent a process, one row a record: the sum of the clipped ones over the
            plan's batch_size, with noise.
        :raises ConfigError: for another shape.
        """
        return self._core.noisy(np.asarray(gradients))

    @property
    def epsilon(self) -> float:
        """Spent so far, the largest over the agents."""
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
