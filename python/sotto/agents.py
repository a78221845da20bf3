"""Agents whose gradients a Python program computes."""

from __future__ import annotations

import json
import os
import sys
import traceback
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._command import prepare_mpi
from ._options import options_of, takes_options_of, to_arguments
from .errors import ConfigError, Error

if TYPE_CHECKING:
    from mpi4py import MPI

    Communicator = MPI.Intracomm

#: Gradients of records, one row each, or a function that computes those of some rows.
Gradients = Union[
    npt.NDArray[Any],
    Callable[[npt.NDArray[np.float64], npt.NDArray[np.int64]], npt.NDArray[Any]],
]
#: Losses over rows first, first + stride, ...: their sum, how many are classified correctly
#: (None: not a classification), how many records.
Losses = Callable[
    [npt.NDArray[np.float64], int, int], "tuple[float, float | None, int]"
]

_DATA = tuple(option.keyword for option in options_of("train") if option.describes_data)
_NOT_OF_AN_AGENT = (*_DATA, "agents", "dry_run")
#: Bytes of gradients that a function is asked for at once.
_BYTES_AT_ONCE = 64 << 20


def _plain_numbers(name: str, given: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """All of an array as float64. :raises ConfigError: for what numpy would turn into numbers that
    nobody meant: texts, complex numbers, what stands under a mask."""
    array = np.asarray(given)
    if isinstance(given, np.ma.MaskedArray) or array.dtype.kind not in "fiu":
        kind = "a masked array" if isinstance(given, np.ma.MaskedArray) else f"type {array.dtype}"
        raise ConfigError(f"{name}: {kind} is not allowed (an array of real numbers)")
    return array.astype(np.float64).reshape(-1)


class Agent:
    """One agent of a private training: clips, adds noise, exchanges, mixes, accounts.

    Everything but the gradients is the program's: what it sends, counts and writes is what
    ``sotto train`` would, with the same options, files and errors. A wrong gradient can ruin the
    model, never the guarantee: each is clipped here.

    Under ``mpirun -n 8 python3 train.py`` every process makes one agent, with the same options::

        from mpi4py import MPI
        import sotto

        with sotto.Agent(MPI.COMM_WORLD, dimension, records=len(shard), rounds=200,
                         adjacency="record", epsilon=2, mechanism="pairs") as agent:
            while agent.more:
                rows = agent.batch()
                agent.step(gradients_of(agent.model, shard[rows]))
        print(agent.summary["epsilon"])

    An interrupt (Ctrl-C, SIGTERM) stops all agents after the same round, with a checkpoint; `more`
    is then false, and ``sotto.Agent(comm, dimension, records=..., resume=agent.directory)`` goes
    on. An exception of the program within the ``with`` block ends the whole job with its message.
    """

    @takes_options_of("train", refused=_NOT_OF_AN_AGENT)
    def __init__(
        self,
        comm: "Communicator | None",
        dimension: int,
        *,
        records: int | None = None,
        initial: npt.ArrayLike | None = None,
        micro_batch: int | None = None,
        description: str = "a Python program",
        data_digest: bytes | None = None,
        **options: Any,
    ) -> None:
        """Meets the other agents and agrees with them on everything. COLLECTIVE.

        :param comm: of mpi4py, one process an agent; None: this process is the only agent.
        :param dimension: d, parameters of the model, the same for all; at least 1.
        :param records: of this agent's own shard, which no other agent has; at least 1.
        :param initial: d values that all agents begin with, the same on all, which must not depend
            on data; without, zeros.
        :param micro_batch: most records whose gradients a function is asked for at once.
        :param description: of the task, for reports.
        :param data_digest: 32 bytes that say which records these are. With them a run is refused
            that is resumed with others; they are committed to, not shown. Without, only their
            number is compared.
        :raises Error: the same on every rank.
        """
        if records is None or records < 1:
            raise ConfigError(f"records: {records} is not allowed (at least 1: of the own shard)")
        if comm is not None or _core.launched():
            prepare_mpi()
            _require_communicator(comm)
        agents = 1 if comm is None else comm.size
        words = to_arguments("train", options, _NOT_OF_AN_AGENT, agents)
        if options.get("resume") is None:
            words += ["--task", "python"]
        most = max(1, _BYTES_AT_ONCE // (4 * max(1, dimension)))
        start = None if initial is None else _plain_numbers("initial", initial)
        self.micro_batch = micro_batch if micro_batch is not None else most
        _stop_all_on_errors(comm)
        self._core = _core.Agent(
            None if comm is None else comm.py2f(),
            words,
            int(dimension),
            int(records),
            int(self.micro_batch),
            start,
            description,
            data_digest,
        )
        self._summary: dict[str, Any] | None = None
        _agents.add(self)

    @property
    def agent(self) -> int:
        """Its number in the run, from 0."""
        return self._core.agent

    @property
    def agents(self) -> int:
        """How many take part."""
        return self._core.agents

    @property
    def rounds(self) -> int:
        """T, that are planned."""
        return self._core.rounds

    @property
    def round(self) -> int:
        """How many are done."""
        return self._core.round

    @property
    def more(self) -> bool:
        """Whether rounds are left: neither the last one is done, nor have all been stopped."""
        return self._core.more

    @property
    def dimension(self) -> int:
        """d, parameters of the model."""
        return len(self.model)

    @property
    def model(self) -> npt.NDArray[np.float64]:
        """Its current model: d values, read-only, not copied; step() changes them."""
        return self._core.model

    @property
    def clip_norm(self) -> float:
        """C, that gradients are clipped to (L2)."""
        return self._core.clip_norm

    @property
    def adjacency(self) -> str:
        """What is protected: all records of an agent, "agent" (replaced) or "agent-zero-out", or one:
        "record" (replaced), "record-zero-out" or "record-add-remove"."""
        return self._core.adjacency

    @property
    def mechanism(self) -> str:
        """Of the noise."""
        return self._core.mechanism

    @property
    def batch_size(self) -> int:
        """B that sums of records' gradients are divided by."""
        return self._core.batch_size

    @property
    def epsilon(self) -> float:
        """Spent so far, the largest over the agents, at the run's delta."""
        return self._core.epsilon

    @property
    def directory(self) -> str:
        """The run directory."""
        return self._core.directory

    @property
    def ledger(self) -> dict[str, Any]:
        """What the rounds so far have revealed (docs/ledger.md)."""
        said: dict[str, Any] = json.loads(self._core.ledger_json)
        return said

    @property
    def seconds(self) -> dict[str, float]:
        """Time this process spent on gradient, noise, exchange and mix [s]."""
        return dict(self._core.phases)

    def batch(self) -> npt.NDArray[np.int64]:
        """Rows of the own shard that the next round uses, from 0, ascending with Poisson sampling.

        With ``participation="poisson"`` secret coins choose them, and nobody else learns how many;
        there may be none. LOCAL; the same whenever it is asked for in one round, but not while step()
        runs, whose function is given them.
        """
        return self._core.batch()

    def step(self, gradients: Gradients) -> bool:
        """One round: clips, adds noise, sends, mixes, counts, keeps checkpoints. COLLECTIVE.

        :param gradients: with a record adjacency those of the records of batch(), len(batch()) x d,
            or a function f(model, rows) of such, which is asked for at most micro_batch rows at a
            time; with an adjacency of agents one gradient, d, or f(model, rows) of it. float32 or
            float64; rows that follow each other in memory are not copied. Whatever they are, each
            is clipped to clip_norm, and one that is not finite counts as zero.
        :returns: whether rounds are left.
        :raises ConfigError: for gradients of another shape.
        :raises PrivacyError: while a step is under way, also where its own function or another thread
            asks for one, and in a process that was forked. Nothing is drawn or sent then.
        :raises Error: what the rounds meet, in a process that is alone; of several, one that fails
            ends all.
        """
        return self._core.step(gradients)

    def evaluate_by(
        self, *, train: Losses | None = None, test: Losses | None = None, test_records: int = 0
    ) -> None:
        """Says how losses are computed, for metrics.csv and the summary, from the next evaluation.

        They are for the experimenter: not private, and sent to rank 0 in sums. Every agent gives
        the same kinds. LOCAL.

        :param train, test: f(model, first, stride) over rows first, first + stride, ...
        :param test_records: in this agent's test set, which all may share.
        """
        self._core.set_losses(train, test, test_records)

    def declare(self, statement: str) -> None:
        """Says in one sentence how this agent finds gradients, for the ledger's statements. LOCAL.

        Before the first step(), which tells the others; it must not depend on data. The ledger names
        the agents where not all say the same. `sotto.torch` does it itself.

        :raises ConfigError: after the first step, for another sentence.
        """
        self._core.declare(statement)

    def finish(self) -> dict[str, Any]:
        """Ends the training: models, last evaluation, ledger. COLLECTIVE, once `more` is false.

        :returns: the summary, the JSON of ``sotto train``, on every rank.
        """
        if self.more:
            raise ConfigError(
                f"finish: {self.rounds - self.round} rounds are left (step() them, or interrupt)"
            )
        self._summary = json.loads(self._core.finish())
        return self.summary

    @property
    def summary(self) -> dict[str, Any]:
        """What finish() returned. :raises ConfigError: before."""
        if self._summary is None:
            raise ConfigError("summary: the training is not finished")
        return self._summary

    def __enter__(self) -> "Agent":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if failure is not None:
            if not self._met_by_all(failure):
                self._end_all(failure)
        elif self._summary is None and not self.more:
            self.finish()

    def _end_all(self, failure: BaseException) -> None:
        """Ends the job, if others wait for this process."""
        if self._core.processes > 1:
            traceback.print_exception(failure)
            sys.stderr.flush()
            self._core.end_all(f"{type(failure).__name__}: {failure}", _exit_code(failure))

    def _met_by_all(self, failure: BaseException) -> bool:
        """Whether all ranks have this error, so that each may end by itself."""
        return isinstance(failure, Error) and self._core.failed_together

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Neither copied nor pickled: a copy would send the same noise with other gradients."""
        raise TypeError("sotto.Agent cannot be copied or pickled: its noise is drawn once, in one process")

    def __repr__(self) -> str:
        if not hasattr(self, "_core"):
            return "<sotto.Agent that did not begin>"
        return f"<sotto.Agent {self.agent} of {self.agents}: round {self.round} of {self.rounds}>"


def communicator() -> "Communicator | None":
    """All processes of the job that mpirun started; None for a process that is alone."""
    if not _core.launched():
        return None
    prepare_mpi()
    from mpi4py import MPI

    return MPI.COMM_WORLD if MPI.COMM_WORLD.Get_size() > 1 else None


def _exit_code(failure: BaseException) -> int:
    return failure.exit_code if isinstance(failure, Error) else 1


_agents: "weakref.WeakSet[Agent]" = weakref.WeakSet()
_hook_is_set = False


def _require_communicator(comm: "Communicator | None") -> None:
    """Several processes of a job that each train alone is not what anybody wants."""
    from mpi4py import MPI

    if comm is None and MPI.COMM_WORLD.Get_size() > 1:
        raise ConfigError("comm: None is not allowed under mpirun (MPI.COMM_WORLD: one process an agent)")


def _stop_all_on_errors(comm: "Communicator | None") -> None:
    """A program that ends by an exception ends the job: nobody waits for it.

    What all ranks meet together is told by rank 0 alone, and ends each with the program's code.
    """
    global _hook_is_set
    if _hook_is_set or comm is None or comm.Get_size() == 1:
        return
    _hook_is_set = True
    usual, rank, process = sys.excepthook, comm.Get_rank(), os.getpid()

    def hook(
        kind: type[BaseException], failure: BaseException, trace: TracebackType | None
    ) -> None:
        if os.getpid() != process:  # a fork, to which neither MPI nor the job belongs
            usual(kind, failure, trace)
            sys.stderr.flush()
            os._exit(_exit_code(failure))
        under_way = [agent for agent in _agents if agent._summary is None]
        if isinstance(failure, Error) and all(agent._met_by_all(failure) for agent in under_way):
            if rank == 0:
                usual(kind, failure, trace)
            sys.stderr.flush()
            sys.stdout.flush()
            from mpi4py import MPI

            MPI.Finalize()
            os._exit(failure.exit_code)
        usual(kind, failure, trace)
        for agent in list(_agents):
            agent._core.end_all(f"{kind.__name__}: {failure}", _exit_code(failure))

    sys.excepthook = hook
