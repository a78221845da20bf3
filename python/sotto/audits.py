"""Audits of trainings whose gradients a Python program computes."""

from __future__ import annotations

import json
import os
import pathlib
import time
from typing import Any, Callable, Protocol, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from .agents import Agent, ClippedSumOf, GradientsOf, Simulation, clipped_sum
from .errors import ConfigError

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
#: Makes of an agent's function of gradients another one, which is called in its place.
Watch = Callable[[int, Callable[..., Any]], Callable[..., Any]]

#: What the ledger and manifest.json of an audit say.
STATEMENT = (
    "Audit with canaries (sotto.audit): one process, which knows all data and keys, measured how much records of its agents "
    "change messages. The messages reveal as much about the records as those of a training."
)
#: Where the result is kept in the run directory.
FILE = "peer-audit.json"
#: The most numbers of one kind that are kept: 400 MB.
_MOST_NUMBERS = 50_000_000


class Audited(Protocol):
    """A training of all agents in this process, whose functions of gradients can be watched."""

    clipped: bool

    @property
    def agents(self) -> Simulation:
        """The agents."""

    def run_round(self, watch: Watch) -> bool:
        """One round with what `watch` makes of every agent's function; whether rounds are left."""

    def gradient_alone(self, agent: int, model: Vector, row: int) -> Vector:
        """The gradient of one record by itself, not clipped, d."""

    def end(self) -> dict[str, Any]:
        """Ends the training; its summary."""


class _OfArrays:
    """A `sotto.Simulation`, and the functions that find gradients."""

    def __init__(self, agents: Simulation, gradients: Sequence[GradientsOf | ClippedSumOf], clipped: bool) -> None:
        if len(gradients) != len(agents.members):
            raise ConfigError(f"gradients: {len(gradients)} functions are not allowed ({len(agents.members)}, one for each agent)")
        self.agents = agents
        self.clipped = clipped
        self._gradients = list(gradients)

    def run_round(self, watch: Watch) -> bool:
        """One round."""
        self.agents.tune(self._gradients, clipped=self.clipped)
        return self.agents.step([watch(u, one) for u, one in enumerate(self._gradients)], clipped=self.clipped)

    def gradient_alone(self, agent: int, model: Vector, row: int) -> Vector:
        """The gradient of one record."""
        function: Callable[..., Any] = self._gradients[agent]
        rows = np.array([row], np.int64)
        found = function(model, rows, np.inf)[0] if self.clipped else np.asarray(function(model, rows))[0]
        return np.asarray(found, np.float64)

    def end(self) -> dict[str, Any]:
        """Ends the training."""
        return self.agents.finish()


class _Watched:
    """What agents hand over in every round, with and without their canaries, and what these may add."""

    def __init__(self, audited: Audited, canaries: int) -> None:
        agents = audited.agents
        self._audited = audited
        shape = (agents.agents, agents.rounds, agents.members[0].dimension)
        if np.prod(shape) > _MOST_NUMBERS:
            raise ConfigError(
                f"audit: {shape[0]} agents with {shape[1]} rounds of {shape[2]} parameters are {np.prod(shape)} numbers "
                f"(allowed: {_MOST_NUMBERS}; audit fewer rounds or a smaller model of the same layers)"
            )
        self.initial = np.array(agents.members[0].model)
        self.sent, self.without, self.allowed = (np.zeros(shape) for _ in range(3))
        counts = agents.records
        self._canaries = [set((np.arange(min(canaries, n)) * n // min(canaries, n)).tolist()) for n in counts]
        #: How many canaries were drawn with a gradient of full length, and all canaries that were drawn.
        self.full = self.drawn = 0

    def watch(self, agent: int, find: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which adds to the figures of this round."""

        def watched(model: Vector, rows: Rows, *clip_norm: float) -> Any:
            said = find(model, rows, *clip_norm)
            # A copy: the function may use the memory again when it is asked for the others.
            said = (np.array(said[0]), *said[1:]) if self._audited.clipped else np.array(said)
            place = (agent, self._audited.agents.round)
            canaries = self._full_canaries(agent, model, rows)
            others = rows[~np.isin(rows, canaries)]
            mine = self._sum_of(agent, said)
            self.sent[place] += mine
            if len(others) == len(rows):
                self.without[place] += mine
            elif len(others) > 0:
                self.without[place] += self._sum_of(agent, find(model, others, *clip_norm))
            return said

        return watched

    def _sum_of(self, agent: int, said: Any) -> Vector:
        """The sum of clipped gradients over the batch size."""
        agents = self._audited.agents
        total = said[0] if self._audited.clipped else clipped_sum(np.asarray(said), agents.clip_norm)[0]
        return np.asarray(total, np.float64) / agents.members[agent].batch_size

    def _full_canaries(self, agent: int, model: Vector, rows: Rows) -> list[int]:
        """Those of the rows that are canaries with gradients at least as long as the clip, which are counted."""
        agents = self._audited.agents
        length = agents.clip_norm / agents.members[agent].batch_size
        full = []
        for row in rows.tolist():
            if row not in self._canaries[agent]:
                continue
            self.drawn += 1
            gradient = self._audited.gradient_alone(agent, model, row)
            norm = float(np.linalg.norm(gradient))
            if norm >= agents.clip_norm and np.isfinite(norm):
                self.allowed[agent, agents.round] += length / norm * gradient
                full.append(row)
        self.full += len(full)
        return full


def _audited(peer: Any, gradients: Sequence[GradientsOf | ClippedSumOf] | None, clipped: bool) -> Audited:
    """:raises ConfigError: for what is no training of all agents in this process."""
    if isinstance(peer, Simulation):
        if gradients is None:
            raise ConfigError("gradients: not given; with a sotto.Simulation give a function of model and rows for each agent")
        return _OfArrays(peer, gradients, clipped)
    if gradients is not None or clipped:
        raise ConfigError("gradients: not possible with a PyTorch model, which has its own (leave gradients and clipped out)")
    if hasattr(peer, "_audited"):
        made: Audited = peer._audited()
        return made
    if isinstance(peer, Agent) or isinstance(getattr(peer, "agent", None), Agent):
        raise ConfigError(
            "peer: one agent of a training cannot be audited: its messages to the others would reveal as much as a training "
            "(allowed: all agents in one process, by sotto.torch.simulate(model, shards, ...) with the same options, or sotto.Simulation)"
        )
    raise ConfigError(
        f"peer: {type(peer).__name__} is not allowed (what sotto.torch.simulate returns, or a sotto.Simulation with gradients=)"
    )


def audit_peer(
    peer: Any,
    gradients: Sequence[GradientsOf | ClippedSumOf] | None,
    clipped: bool,
    canaries: int,
    view: str | None,
    confidence: float | None,
) -> dict[str, Any]:
    """What sotto.audit does with a peer."""
    start = time.monotonic()
    audited = _audited(peer, gradients, clipped)
    agents = audited.agents
    seen, level = view or "eavesdropper", 0.99 if confidence is None else float(confidence)
    if canaries < 1:
        raise ConfigError(f"canaries: {canaries} is not allowed (at least 1 an agent)")
    if not 0.5 < level < 1:
        raise ConfigError(f"confidence: {level} is not allowed (above 0.5, below 1)")
    if agents.round > 0 or not agents.more:
        raise ConfigError(f"peer: {agents.round} of its {agents.rounds} rounds are done (allowed: one that has not begun; an audit trains it)")
    if agents.agents < 2:
        raise ConfigError("peer: 1 agent sends no messages (at least 2)")
    agents._core.require_auditable(seen)
    watched = _Watched(audited, canaries)
    agents.declare(STATEMENT)
    while agents.more:
        audited.run_round(watched.watch)
    audited.end()
    said: dict[str, Any] = json.loads(
        _core.audit_canaries(agents.directory, seen, watched.initial, watched.sent, watched.without, watched.allowed, level)
    )
    result = _result(said, watched, agents, time.monotonic() - start)
    path = pathlib.Path(agents.directory) / FILE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(result, indent=1) + "\n")
    return result


def _largest(agents: list[dict[str, Any]], key: str) -> float | None:
    values = [agent[key] for agent in agents]
    return None if None in values else max(values)


def _result(said: dict[str, Any], watched: _Watched, agents: Simulation, seconds: float) -> dict[str, Any]:
    return {
        "verdict": said["verdict"],
        "consistent": said["verdict"] != "failed",
        "findings": said["findings"],
        "observer": said["observer"],
        **{key: _largest(said["agents"], key) for key in ("epsilon", "epsilon_lower", "mu", "mu_lower")},
        "ledger_epsilon": agents.ledger["headline"]["epsilon"],
        "delta": said["delta"],
        "confidence": said["confidence"],
        "runs": 1,
        "rounds": said["rounds"],
        "canaries_drawn": watched.drawn,
        "canaries_counted": watched.full,
        "width": said["width"],
        "agents": said["agents"],
        "run_directory": agents.directory,
        "seconds": seconds,
    }
