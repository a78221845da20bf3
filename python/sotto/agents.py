"""Agents whose gradients a Python program computes."""

from __future__ import annotations

import functools
import json
import os
import sys
import traceback
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._command import prepare_mpi
from ._options import options_of, takes_options_of, to_arguments
from .errors import ConfigError, Error

if TYPE_CHECKING:
    from mpi4py import MPI

    Communicator = MPI.Intracomm

#: A function of (model, rows): the gradients of these records, one row each.
GradientsOf = Callable[[npt.NDArray[np.float64], npt.NDArray[np.int64]], npt.NDArray[Any]]
#: Gradients of records, or a function that computes those of some rows.
Gradients = Union[npt.NDArray[Any], GradientsOf]
#: The sum of gradients that the program has clipped, d (None where only norms are asked for), and the
#: norm of each before: not finite for a gradient that counts as zero.
ClippedSum = tuple[Union[npt.NDArray[Any], None], npt.NDArray[Any]]
#: A function of (model, rows, clip_norm): the sum of these records' gradients, each clipped to
#: clip_norm (NaN: only norms are asked for), and their norms.
ClippedSumOf = Callable[[npt.NDArray[np.float64], npt.NDArray[np.int64], float], ClippedSum]
#: A function of (model, first, stride): the sum of losses over rows first, first + stride, ..., the
#: number classified correctly (None: not a classification), the number of records.
Losses = Callable[
    [npt.NDArray[np.float64], int, int], "tuple[float, float | None, int]"
]

_DATA = tuple(option.keyword for option in options_of("train") if option.describes_data)
_NOT_OF_AN_AGENT = (*_DATA, "agents", "dry_run")
#: The most bytes of gradients that a function returns at once.
_BYTES_AT_ONCE = 64 << 20
#: The most records of one sum of clipped gradients.
_SUMMED_AT_ONCE = 256


def _plain_numbers(name: str, given: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """An array as float64. :raises ConfigError: for values that numpy would convert to unintended
    numbers: texts, complex numbers, masked values."""
    array = np.asarray(given)
    if isinstance(given, np.ma.MaskedArray) or array.dtype.kind not in "fiu":
        kind = "a masked array" if isinstance(given, np.ma.MaskedArray) else f"type {array.dtype}"
        raise ConfigError(f"{name}: {kind} is not allowed (an array of real numbers)")
    return array.astype(np.float64).reshape(-1)


class _Training:
    """A training that this process takes part in, with one agent or with all."""

    _core: _core.Agents
    _comm: "Communicator | None" = None
    _summary: dict[str, Any] | None = None

    @property
    def agents(self) -> int:
        """How many take part."""
        return self._core.agents

    @property
    def rounds(self) -> int:
        """T, the number of planned rounds."""
        return self._core.rounds

    @property
    def round(self) -> int:
        """The number of rounds done."""
        return self._core.round

    @property
    def more(self) -> bool:
        """Whether rounds are left: false after the last round, or after a stop of all agents."""
        return self._core.more

    @property
    def clip_norm(self) -> float:
        """C, that gradients are clipped to (L2); NaN until tune() has chosen it."""
        return self._core.clip_norm

    @property
    def adjacency(self) -> str:
        """What is protected: all records of an agent, "agent" (replaced) or "agent-zero-out", or one:
        "record" (replaced), "record-zero-out" or "record-add-remove"."""
        return self._core.adjacency

    @property
    def mechanism(self) -> str:
        """The name of the noise mechanism."""
        return self._core.mechanism

    @property
    def epsilon(self) -> float:
        """Epsilon spent so far at the run's delta, the largest over the agents. With tune="auto" the
        round that measures norms counts from the start."""
        return self._core.epsilon

    @functools.cached_property
    def predictable(self) -> bool:
        """Whether whoever knows its options knows all that is drawn: there is no noise, or `noise_seed` makes it."""
        return self.mechanism == "none" or bool(self.ledger["noise"]["insecure"])

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

    def declare(self, statement: str) -> None:
        """Adds a sentence about how this agent finds gradients to the ledger's statements. LOCAL.

        Call it before tune() or the first step(), which tell the other agents. The sentence must not depend
        on data. If agents say different things, the ledger names them. `sotto.torch` calls it
        itself.

        :raises ConfigError: after that, for another sentence.
        """
        self._core.declare(statement)

    def stop(self) -> None:
        """Asks all agents to stop after the same round, with a checkpoint, as an interrupt does. LOCAL.

        One rank is enough; go on with step() until `more` is false. A single process stops at once;
        several agree within two rounds, or about 0.1 s where rounds are shorter. When to stop is
        seen by others and must not depend on private data.

        :raises ConfigError: with tune="auto" in a single process, before norms are measured.
        """
        self._core.stop()

    def finish(self) -> dict[str, Any]:
        """Ends the training, once `more` is false: models, last evaluation, ledger. COLLECTIVE.

        :returns: the summary, the JSON of ``sotto train``, on every rank.
        """
        if self.more:
            raise ConfigError(
                f"finish: {self.rounds - self.round} rounds are left (step() them, or stop())"
            )
        self._summary = json.loads(self._core.finish())
        return self.summary

    @property
    def summary(self) -> dict[str, Any]:
        """What finish() returned. :raises ConfigError: before."""
        if self._summary is None:
            raise ConfigError("summary: the training is not finished")
        return self._summary

    def __enter__(self) -> Any:
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
        """Ends the job if other processes wait for this one."""
        if self._core.processes > 1:
            traceback.print_exception(failure)
            sys.stderr.flush()
            self._core.end_all(f"{type(failure).__name__}: {failure}", _exit_code(failure))

    def _met_by_all(self, failure: BaseException) -> bool:
        """Whether all ranks have this error, so that each may end alone."""
        return isinstance(failure, Error) and self._core.failed_together

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuses copies and pickles: a copy would send the same noise with other gradients."""
        raise TypeError(f"sotto.{type(self).__name__} cannot be copied or pickled: its noise is drawn once, in one process")


class _OfOneAgent:
    """What concerns one agent of this process."""

    _core: _core.Agents
    _place = 0

    @property
    def agent(self) -> int:
        """Its number in the run, from 0."""
        return self._core.number(self._place)

    @property
    def dimension(self) -> int:
        """d, parameters of the model."""
        return len(self.model)

    @property
    def model(self) -> npt.NDArray[np.float64]:
        """The current model: d values, read-only, not copied; step() changes them."""
        return self._core.model(self._place)

    @property
    def batch_size(self) -> int:
        """B, the divisor of the sum of records' gradients."""
        return self._core.batch_size(self._place)

    def batch(self) -> npt.NDArray[np.int64]:
        """Rows of the own shard for the next round, from 0, ascending where they are secret. LOCAL.

        With ``participation="poisson"`` secret coins choose them; with ``"allocation:t"`` every row
        is in one secret round of every t. Nobody else learns how many they are, and there may be
        none. Calls in the same round return the same rows. Not available while step()
        runs, which passes them to its function.
        """
        return self._core.batch(self._place)

    def evaluate_by(
        self, *, train: Losses | None = None, test: Losses | None = None, test_records: int = 0
    ) -> None:
        """Sets functions for losses in metrics.csv and the summary, from the next evaluation. LOCAL.

        Losses are for the experimenter: they are not private, and rank 0 gets their sums. Every
        agent must give the same kinds.

        :param train, test: f(model, first, stride) over rows first, first + stride, ...
        :param test_records: number of records in this agent's test set, which all may share.
        """
        self._core.set_losses(self._place, train, test, test_records)


class Agent(_OfOneAgent, _Training):
    """One agent of a private training: clips, adds noise, exchanges, mixes, accounts.

    Your program computes the gradients. Everything else works as in ``sotto train``, with the same
    options, messages, files and errors. A wrong gradient can ruin the model, never the guarantee:
    each is clipped here.

    Under ``mpirun -n 8 python3 train.py`` every process makes one agent, with the same options::

        from mpi4py import MPI
        import sotto

        with sotto.Agent(MPI.COMM_WORLD, dimension, records=len(shard), rounds=200,
                         adjacency="record", epsilon=2, mechanism="pairs") as agent:
            while agent.more:
                rows = agent.batch()
                agent.step(gradients_of(agent.model, shard[rows]))
        print(agent.summary["epsilon"])

    ``tune="auto"`` chooses what is not given of rounds, batch_size, clip_norm and step_size, where a
    single record is protected. Clip and step follow from norms of gradients, which a paid round
    measures before the first one: give step() a function, or call tune() first.

    An interrupt (Ctrl-C, SIGTERM) stops all agents after the same round, with a checkpoint, and
    `more` becomes false. ``sotto.Agent(comm, dimension, records=..., resume=agent.directory)``
    resumes the run. An exception within the ``with`` block ends the whole job with its message.
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
        person: str | None = None,
        **options: Any,
    ) -> None:
        """Connects to the other agents and agrees with them on options and plan. COLLECTIVE.

        :param comm: communicator of mpi4py, one process per agent; None: the only agent.
        :param dimension: d, parameters of the model, the same for all; at least 1.
        :param records: number of records in this agent's own shard, which no other agent has; at
            least 1.
        :param initial: d values, the same on all agents, that must not depend on data; default:
            zeros.
        :param micro_batch: most records whose gradients, or sum, a function computes at once; default:
            64 MiB of gradients, and 256 records of a sum.
        :param description: of the task, for reports.
        :param data_digest: 32 bytes that identify the records. Resuming a run with other records is
            then refused; only a commitment to the digest is published. Without it, only the number
            of records is compared.
        :param person: where each of the `records` is everything that this agent has of one person: the
            name of such ("patient"), for the ledger's unit_column, the same on every rank. A row's
            gradient is then of all of a person's records, such as their mean.
        :raises Error: the same on every rank.
        """
        if records is None or records < 1:
            raise ConfigError(f"records: {records} is not allowed (at least 1: of the own shard)")
        if comm is not None or _core.launched():
            prepare_mpi()
            _require_communicator(comm)
        _stop_all_on_errors(comm)
        self._core = _begun(
            comm,
            dimension,
            [int(records)],
            initial,
            micro_batch,
            description,
            [] if data_digest is None else [data_digest],
            person,
            options,
        )
        self.micro_batch = _rows_at_once(dimension, micro_batch)
        self._comm = comm
        _agents.add(self)

    def tune(self, gradients: GradientsOf | ClippedSumOf, *, clipped: bool = False) -> None:
        """Measures norms of gradients at the first model, and chooses clip and step. COLLECTIVE.

        With ``tune="auto"``, before the first batch(). It spends 2% of mu^2 in a round of its own,
        which is in the ledger; clip_norm is known afterwards. Does nothing where nothing is to be
        measured, as when a run is resumed. step() calls it with its own function.

        :param gradients: f(model, rows), which returns the gradients of at most micro_batch rows; it
            is asked for those of all records.
        :param clipped: as in step(); the function is then asked for norms only, with clip_norm NaN.
        :raises ConfigError, PrivacyError, Error: as step().
        """
        self._core.tune([gradients], clipped)

    def step(self, gradients: Gradients | ClippedSum | ClippedSumOf, *, clipped: bool = False) -> bool:
        """One round: clips, adds noise, sends, mixes, counts, writes checkpoints. COLLECTIVE.

        :param gradients: with a record adjacency len(batch()) x d, the gradients of the records of
            batch(), or a function f(model, rows) that returns them for at most micro_batch rows;
            with an adjacency of agents one gradient, d, or f(model, rows) that returns it. float32
            or float64; contiguous rows are not copied. Each gradient is clipped to clip_norm; one
            that is not finite counts as zero.
        :param clipped: True, with a record adjacency: the program clips itself, and `gradients` is the
            tuple (sum, norms): the sum of the gradients of batch(), each clipped to clip_norm, d
            numbers, float32 or float64, and their norms before, one a record; not finite for a
            gradient that is left out as one that is not finite. Or f(model, rows, clip_norm) that
            returns this for at most micro_batch rows. **The guarantee then rests on your clipping**,
            as the ledger says: sotto refuses only a sum that is not finite, or longer than the norms
            allow. All steps of a run have the same value.
        :returns: whether rounds are left.
        :raises ConfigError: for gradients, sums or norms of another shape.
        :raises PrivacyError: for a sum that these norms do not allow; while a step is under way, in its own function or another thread, and
            in a forked process. Nothing is drawn or sent then.
        :raises Error: if the round fails in a single process; with several processes a failure ends
            the job.
        """
        return self._core.step([gradients], clipped)

    def __repr__(self) -> str:
        if not hasattr(self, "_core"):
            return "<sotto.Agent that did not begin>"
        return f"<sotto.Agent {self.agent} of {self.agents}: round {self.round} of {self.rounds}>"


class Simulation(_Training):
    """All agents of a training in this process, one after the other: for notebooks, debuggers, sweeps.

    Plan, noise, ledger, files and numbers are those of as many processes with `Agent`; with the same keys of the noise
    (noise_seed, for tests) the models are equal to the last bit. **One process then sees everything**: no agent is
    protected from it, as the ledger says::

        with sotto.Simulation(dimension, records=[len(shard) for shard in shards], rounds=200,
                              adjacency="record", epsilon=2) as simulation:
            while simulation.more:
                simulation.step([gradients_of(agent.model, shard[agent.batch()])
                                 for agent, shard in zip(simulation.members, shards)])
        print(simulation.summary["epsilon"])
    """

    @takes_options_of("train", refused=_NOT_OF_AN_AGENT)
    def __init__(
        self,
        dimension: int,
        *,
        records: Sequence[int],
        initial: npt.ArrayLike | None = None,
        micro_batch: int | None = None,
        description: str = "a Python program",
        data_digests: Sequence[bytes] = (),
        person: str | None = None,
        **options: Any,
    ) -> None:
        """Agrees on options and plan.

        :param records: the number of records of each agent, at least 1; as many as there are agents.
        :param data_digests: 32 bytes for each agent, or none.
        :param dimension, initial, micro_batch, description, person, options: as of Agent.
        """
        counts = [int(count) for count in records]
        if not counts or min(counts) < 1:
            raise ConfigError(f"records: {list(records)} is not allowed (at least 1 for each agent)")
        if len(data_digests) not in (0, len(counts)):
            raise ConfigError(f"data_digests: {len(data_digests)} are not allowed ({len(counts)}, or none)")
        if _core.launched():
            from mpi4py import MPI

            if MPI.COMM_WORLD.Get_size() > 1:
                raise ConfigError("simulation: it is one process; under mpirun make a sotto.Agent on every rank")
        options.setdefault("threads", 1)
        self._core = _begun(
            None, dimension, counts, initial, micro_batch, description, list(data_digests), person, options
        )
        self.micro_batch = _rows_at_once(dimension, micro_batch)
        #: The number of records of each agent.
        self.records = counts
        self.members = [Member(self, place) for place in range(len(counts))]

    @property
    def model(self) -> npt.NDArray[np.float64]:
        """The mean of the agents' models: d values."""
        models = [self._core.model(place) for place in range(len(self.members))]
        mean: npt.NDArray[np.float64] = np.mean(models, axis=0)
        return mean

    def tune(self, gradients: Sequence[GradientsOf | ClippedSumOf], *, clipped: bool = False) -> None:
        """As Agent.tune, with a function for each agent."""
        self._core.tune(list(gradients), clipped)

    def step(
        self, gradients: Sequence[Gradients | ClippedSum | ClippedSumOf], *, clipped: bool = False
    ) -> bool:
        """One round of all agents, as Agent.step, with what each of them gives."""
        return self._core.step(list(gradients), clipped)

    def __repr__(self) -> str:
        return f"<sotto.Simulation of {self.agents} agents: round {self.round} of {self.rounds}>"


class Member(_OfOneAgent, _Training):
    """One agent of a Simulation: its model, batch and losses. Rounds are the simulation's."""

    def __init__(self, simulation: Simulation, place: int) -> None:
        self._core = simulation._core
        self._place = place
        self._simulation = simulation
        self.micro_batch = simulation.micro_batch

    @property
    def predictable(self) -> bool:
        """As of the simulation."""
        return self._simulation.predictable


def _rows_at_once(dimension: int, micro_batch: int | None) -> int:
    """The most gradients that a function returns."""
    return max(1, _BYTES_AT_ONCE // (4 * max(1, dimension))) if micro_batch is None else micro_batch


def _begun(
    comm: "Communicator | None",
    dimension: int,
    records: list[int],
    initial: npt.ArrayLike | None,
    micro_batch: int | None,
    description: str,
    data_digests: list[bytes],
    person: str | None,
    options: dict[str, Any],
) -> _core.Agents:
    """The agents of this process. COLLECTIVE. :param records: of each of them."""
    if person is not None and not person.strip():
        raise ConfigError("person: an empty name is not allowed (a name such as \"patient\", or None)")
    if person is not None and str(options.get("adjacency", "agent")).startswith("agent") and options.get("resume") is None:
        raise ConfigError(
            f"person: {person} is not possible with adjacency {options.get('adjacency', 'agent')}, which protects all data of an agent "
            "together (allowed: record, record-zero-out, record-add-remove)"
        )
    agents = len(records) if comm is None else comm.size
    words = to_arguments("train", options, _NOT_OF_AN_AGENT, agents)
    if options.get("resume") is None:
        words += ["--task", "python", *(["--agents", str(agents)] if comm is None else [])]
    return _core.Agents(
        None if comm is None else comm.py2f(),
        words,
        int(dimension),
        records,
        int(_rows_at_once(dimension, micro_batch)),
        int(_SUMMED_AT_ONCE if micro_batch is None else micro_batch),
        None if initial is None else _plain_numbers("initial", initial),
        description,
        data_digests,
        person or "",
    )


def clipped_sum(
    gradients: npt.NDArray[Any], clip_norm: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The sum of gradients (B x d), each clipped as an Agent clips it, and their B norms before. LOCAL.

    To compare a clipping of your own with. The sum is rounded toward zero to B clip_norm 2^-52. A
    gradient that is not finite counts as zero; its norm is NaN.

    :raises ConfigError: for a clip norm that is not positive, or values that are no numbers.
    """
    return _core.clipped_sum(gradients, clip_norm)


def clipped_difference(
    found: npt.NDArray[Any], gradient: list[npt.NDArray[Any]], clip_norm: float
) -> tuple[float, float, float]:
    """How far `found`, d numbers, is from a gradient clipped as an Agent clips it. LOCAL.

    :param gradient: d numbers in parts that follow each other, of the type of `found`.
    :param clip_norm: NaN: the gradient is not clipped.
    :returns: length of the difference, of the clipped gradient, and of the gradient before; NaN for
        one that is not finite, which counts as zero.
    :raises ConfigError: for arrays of other types or lengths.
    """
    return _core.clipped_difference(found, gradient, clip_norm)


def communicator() -> "Communicator | None":
    """The communicator of all processes that mpirun started; None for a single process."""
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
    """Refuses None in a job of several processes: each would train alone."""
    from mpi4py import MPI

    if comm is None and MPI.COMM_WORLD.Get_size() > 1:
        raise ConfigError("comm: None is not allowed under mpirun (MPI.COMM_WORLD: one process an agent)")


def _stop_all_on_errors(comm: "Communicator | None") -> None:
    """Makes an uncaught exception end the whole job, so that no process waits for this one.

    Rank 0 alone prints an error that all ranks have; each rank then ends with its exit code.
    """
    global _hook_is_set
    if _hook_is_set or comm is None or comm.Get_size() == 1:
        return
    _hook_is_set = True
    usual, rank, process = sys.excepthook, comm.Get_rank(), os.getpid()

    def hook(
        kind: type[BaseException], failure: BaseException, trace: TracebackType | None
    ) -> None:
        if os.getpid() != process:  # a forked process owns neither MPI nor the job
            usual(kind, failure, trace)
            sys.stderr.flush()
            os._exit(_exit_code(failure))
        under_way = [agent for agent in _agents if agent._summary is None]
        told = getattr(failure, "met_by_all", False)
        if told or isinstance(failure, Error) and all(agent._met_by_all(failure) for agent in under_way):
            if rank == 0 and told:
                print(f"{kind.__name__}: {failure}", file=sys.stderr)
            elif rank == 0:
                usual(kind, failure, trace)
            sys.stderr.flush()
            sys.stdout.flush()
            from mpi4py import MPI

            MPI.Finalize()
            os._exit(_exit_code(failure))
        usual(kind, failure, trace)
        for agent in list(_agents):
            agent._core.end_all(f"{kind.__name__}: {failure}", _exit_code(failure))

    sys.excepthook = hook
