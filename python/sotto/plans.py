"""Graphs and noise plans."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._options import takes_options_of, to_arguments

_NOT_OF_A_FUNCTION = ("quiet", "out")


class Graph:
    """A graph of agents with its mixing matrix; see :func:`graph`."""

    def __init__(self, core: _core.Graph) -> None:
        self._core = core

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self._core.agents

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Pairs of neighbours, m x 2; in a directed graph (sender, receiver)."""
        return self._core.edges

    @property
    def mixing(self) -> npt.NDArray[np.float64]:
        """W, agents x agents, x_u <- sum_v W[u, v] m_v: rows sum to one, columns with push-sum."""
        return self._core.mixing

    @property
    def description(self) -> str:
        """A description in words."""
        return self._core.description

    @property
    def report(self) -> dict[str, Any]:
        """The JSON of ``sotto graph``: degrees, diameter, spectral gap, ..."""
        said: dict[str, Any] = json.loads(self._core.report_json)
        return said

    def __repr__(self) -> str:
        return f"<sotto.Graph: {self.description}, {len(self.edges)} edges>"


@takes_options_of("graph", refused=_NOT_OF_A_FUNCTION)
def graph(**options: Any) -> Graph:
    """A graph and its mixing matrix: a named topology, or an edge list.

    >>> sotto.graph(topology="ring", agents=16).report["spectral_gap"]

    :raises ConfigError: for options that are not allowed.
    :raises DataError: for a file that is not an edge list.
    """
    return Graph(_core.Graph(to_arguments("graph", options, _NOT_OF_A_FUNCTION)))


class Plan:
    """Noise of all agents and rounds, solved and checked; see :func:`plan`.

    v_u(t) = scale * sum_s (C_time^-1)_ts sum_k F[u, k] z_k(s), z standard normal
    (docs/equations.md#noise-plans).
    """

    def __init__(self, core: _core.Plan) -> None:
        self._core = core

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self._core.agents

    @property
    def mechanism(self) -> str:
        """The name of the mechanism."""
        return self._core.mechanism

    @property
    def rounds(self) -> int:
        """T, the number of rounds."""
        return self._core.rounds

    @property
    def clip_norm(self) -> float:
        """C, the norm that gradients are clipped to [gradient unit]."""
        return self._core.clip_norm

    @property
    def scale(self) -> float:
        """The scale of all noise [gradient unit]; 0 without noise."""
        return self._core.scale

    @property
    def coefficients(self) -> npt.NDArray[np.float64]:
        """F, agents x streams, without scale."""
        return self._core.coefficients

    @property
    def covariance(self) -> npt.NDArray[np.float64]:
        """R = scale^2 F F^T, agents x agents [gradient unit^2]."""
        return self._core.covariance

    @property
    def temporal_kind(self) -> str:
        """identity, dense, banded or one_lag: what `temporal` holds."""
        return self._core.temporal_kind

    @property
    def temporal(self) -> npt.NDArray[np.float64]:
        """C_time: T x T (dense), T x (band + 1) (banded), T x 2 (one_lag); empty (identity)."""
        return self._core.temporal

    @property
    def mixing(self) -> npt.NDArray[np.float64]:
        """W, agents x agents."""
        return self._core.mixing

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Pairs of neighbours, m x 2."""
        return self._core.edges

    @property
    def report(self) -> dict[str, Any]:
        """The JSON of ``sotto plan``: objective, noise, and every agent's guarantee."""
        said: dict[str, Any] = json.loads(self._core.report_json)
        return said

    @property
    def statements(self) -> list[str]:
        """What a reader of the guarantee must know."""
        return list(self._core.statements)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan file, for ``plan=`` of trainings. :raises Error: if it cannot."""
        self._core.save(os.fspath(path))

    def __repr__(self) -> str:
        return f"<sotto.Plan: {self.mechanism}, {self.agents} agents, {self.rounds} rounds>"


@takes_options_of("plan", refused=_NOT_OF_A_FUNCTION)
def plan(**options: Any) -> Plan:
    """Solves a noise plan and computes its guarantees. LOCAL, also under mpirun.

    >>> sotto.plan(mechanism="corn", agents=20, epsilon=10, rounds=200).report["objective"]

    :raises ConfigError: for options that are not allowed.
    :raises PrivacyError: if no plan meets the budget.
    """
    return Plan(_core.Plan(to_arguments("plan", options, _NOT_OF_A_FUNCTION)))
