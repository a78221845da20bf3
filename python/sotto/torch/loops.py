"""The rounds of a peer as a loop, and its end: after the last round, after a stop that all agree on, or left too early."""
from __future__ import annotations

import atexit
import time
import weakref
from types import TracebackType
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

import numpy

import sotto
from sotto.agents import Member

from .errors import ModelError

_MEETING_SECONDS = 30.0
_PLACES = ("agent", "agents", "round", "rounds", "dimension", "adjacency", "micro_batch", "batch_size", "clip_norm", "epsilon",
           "directory", "ledger")

#: Agents that have not ended, in the order of their beginning. With several processes others still need them when their peers
#: are dropped, so these are kept with them. And channels on which all processes of an agent's run meet.
_unfinished: "dict[sotto.Agent, Optional[Loop]]" = {}
_meeting_places: "weakref.WeakKeyDictionary[sotto.Agent, Any]" = weakref.WeakKeyDictionary()


class Round(NamedTuple):
    """A round of a loop: its number and that of its epoch, from 0."""

    number: int
    epoch: int


class Closed:
    """What is left of an agent whose peer is closed: its last model, and figures."""

    more = False

    def __init__(self, agent: Any) -> None:
        for name in _PLACES:
            if hasattr(agent, name):
                setattr(self, name, getattr(agent, name))
        self.model = agent.model.copy()
        self._summary: Optional[dict[str, Any]] = getattr(agent, "_summary", None)

    @property
    def summary(self) -> dict[str, Any]:
        """What finish() returned. :raises ModelError: it was closed before the first round."""
        if self._summary is None:
            raise ModelError("summary: the peer was closed before its first round")
        return self._summary

    def __getattr__(self, name: str) -> Any:
        raise ModelError(f"{name}: the peer is closed; make another one")


class Loop:
    """What PrivatePeer can do beside single steps; `_agent`, `step` and `_load` are PrivatePeer's."""

    _agent: Any
    _stopping = False
    _epoch_rounds: Optional[int] = None
    _guard: Any = None

    def step(self) -> bool:  # PrivatePeer has it
        raise NotImplementedError

    def _watch(self) -> None:
        """Sees to an agent whose peer is dropped, or whose program ends, before the last round. COLLECTIVE."""
        if isinstance(self._agent, Member) or not hasattr(self._agent, "_core"):
            return  # one of a simulation, which ends for all; or a stand-in for tests of the user's own
        alone = self._agent._core.processes == 1
        _unfinished[self._agent] = None if alone else self
        if alone:
            self._guard = weakref.finalize(self, _dropped, self._agent)
            self._guard.atexit = False
        else:
            assert self._agent._comm is not None
            _meeting_places[self._agent] = self._agent._comm.Dup()

    def __len__(self) -> int:
        """Rounds of an epoch: records over the expected batch, the mean over agents where `make_private` knows it; at least 1."""
        return self._epoch_rounds or max(1, round(self._records_given() / max(1, self._agent.batch_size)))

    def _records_given(self) -> int:
        raise NotImplementedError

    @property
    def more(self) -> bool:
        """Whether rounds are left; the same on every rank."""
        return bool(self._agent.more)

    @property
    def epoch(self) -> int:
        """Number of whole epochs done."""
        return int(self._agent.round) // len(self)

    @property
    def epsilon(self) -> float:
        """Epsilon spent so far at the run's delta, the largest over all agents."""
        return float(self._agent.epsilon)

    def __iter__(self) -> Iterator[Round]:
        """The rounds of one epoch (the rest of one that has begun), or fewer where no more are left. Call `step()` once for each:

            while peer.more:
                for batch in peer:
                    peer.step()

        The records of a round are secret, so a round has a number only.

        :raises ModelError: `step` was not called.
        """
        length = len(self)
        for number in range(self._agent.round, (self._agent.round // length + 1) * length):
            if not self._agent.more:
                return
            yield Round(number, number // length)
            if self._agent.round != number + 1:
                raise ModelError(f"loop: {self._agent.round - number} rounds were done in one turn; call peer.step() once in the loop's body")

    def train(self, callbacks: Sequence[Callable[[Any], Any]] = ()) -> dict[str, Any]:
        """All rounds that are left, then `finish`. COLLECTIVE over all agents.

        :param callbacks: each is called with this peer after every epoch, on every rank, but not after the rounds of an epoch that
            a stop has cut short; `peer.stop()` ends the training.
        :returns: the JSON of `sotto train`.
        """
        while self._agent.more:
            for _ in self:
                self.step()
            if self._agent.round < self._agent.rounds and self._agent.round % len(self) != 0:
                break
            for callback in callbacks:
                callback(self)
        return self.finish()

    def stop(self) -> None:
        """Asks all agents to stop, with a checkpoint, after the same round; the ledger then counts the rounds done. LOCAL.

        One rank is enough. A single process stops at once; several need two rounds more, or about 0.1 s where rounds are
        shorter, which the loop, `finish` or `close` run. `more` becomes False. Others see when the training stops: do not let
        that depend on private data, but on what is public anyway, such as the loss on public validation data.
        """
        self._agent.stop()
        self._stopping = True

    def finish(self) -> dict[str, Any]:
        """Ends the training once no rounds are left, or `stop()` was called: models, last evaluation, ledger. COLLECTIVE.

        :returns: the summary, the JSON of `sotto train`.
        """
        while self._stopping and self._agent.more:
            self.step()
        said: dict[str, Any] = self._agent.finish()
        self._forget()
        return said

    def _forget(self) -> None:
        if self._agent not in _unfinished:
            return
        del _unfinished[self._agent]
        if self._guard is not None:
            self._guard.detach()
        meeting = _meeting_places.pop(self._agent, None)
        if meeting is not None:
            meeting.Free()
        _drop_losses(self._agent)

    def close(self) -> None:
        """Ends the training and frees its memory; the model, `evaluate`, `epsilon` and `summary` stay. COLLECTIVE.

        Where rounds are left and nobody has called `stop()`, all ranks must close the peer after the same round: it is then
        stopped there. If others do not within 30 s, the job ends with a message, and the ledger counts all rounds.
        """
        if isinstance(self._agent, Closed):
            return
        agent = self._agent
        if self._stopping:
            self.finish()
        elif agent in _unfinished:
            _end(agent)
        self._forget()
        self._agent = Closed(agent)
        self._release()

    def _release(self) -> None:
        """Drops what only training needs."""

    @property
    def summary(self) -> dict[str, Any]:
        """What `finish` returned. :raises sotto.ConfigError, ModelError: before."""
        said: dict[str, Any] = self._agent.summary
        return said

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], failure: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if failure is None:
            self.close()
        elif not isinstance(self._agent, Closed):
            self._agent.__exit__(kind, failure, trace)


def _drop_losses(agent: Any) -> None:
    for one in getattr(agent, "members", (agent,)):
        one.evaluate_by(train=None, test=None, test_records=0)


def _said(agent: Any) -> str:
    return (f"agent {agent.agent} left its training after round {agent.round} of {agent.rounds} without peer.stop(), and ledger.json "
            f"counts all {agent.rounds} rounds")


def _end(agent: Any) -> None:
    """Stops an agent after this round if all agents are here, and finishes it; otherwise ends the job."""
    core = agent._core
    if agent.ledger["status"] in ("completed", "interrupted", "failed"):
        return
    if core.more and core.processes > 1 and not _all_here(agent):
        core.end_all(f"{_said(agent)}; call peer.stop() on any rank: all then stop after the same round", 1)
    if core.to_measure:
        return  # nothing was sent
    if core.more:
        core.stop_here()
    agent.finish()


def _all_here(agent: Any) -> bool:
    """Whether all processes come here after the same round, within half a minute."""
    from mpi4py import MPI

    mine, most = numpy.array([agent.round, -agent.round], numpy.int64), numpy.empty(2, numpy.int64)
    request = _meeting_places[agent].Iallreduce(mine, most, op=MPI.MAX)
    until = time.monotonic() + _MEETING_SECONDS
    while not request.Test():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return bool(most[0] == -most[1])


def _dropped(agent: Any) -> None:
    """The peer of a process that trains alone was dropped: its training stops here."""
    if agent in _unfinished:
        del _unfinished[agent]
        _drop_losses(agent)  # these were the peer's
        _end(agent)


def _end_all_left() -> None:
    for agent, peer in list(_unfinished.items()):
        if peer is not None and peer._stopping:
            peer.finish()
        else:
            _end(agent)


atexit.register(_end_all_left)
