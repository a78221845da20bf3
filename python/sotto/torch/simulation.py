"""All agents of a training in one process, for notebooks, debuggers and sweeps."""
from __future__ import annotations

import copy
from typing import Any, Callable, Mapping, Optional, Sequence

import torch
from torch.utils.data import DataLoader, Subset

import sotto
from sotto.errors import ConfigError

from .data import Records
from .dropout import seed_of_masks
from .errors import ModelError
from .flat import dimension, parameters
from .loops import Closed, Loop
from .metrics import Evaluation
from .peer import Asked
from .persons import Unit, dealt, name_of, split_off
from .private import Peer, add_rounds, ready, refuse_steps, rows_of, wanted_options
from .threads import default_device


class Simulation(Loop):
    """What `simulate` returns: the peers of all agents, trained in turn.

    `train`, loops over rounds, `stop`, `finish`, `close` and `epsilon` are those of a single peer (docs/torch.md).
    """

    def __init__(self, agents: sotto.Simulation, peers: Sequence[Peer], epoch_rounds: int, seed: Optional[int]) -> None:
        self._agent = agents
        self._epoch_rounds = epoch_rounds
        told = seed is not None and agents.predictable
        self._coins = [torch.Generator().manual_seed(seed_of_masks(told, seed, u)).get_state() for u in range(len(peers))]
        #: Of every agent: `model`, `state_dict()`, `evaluate(dataset)`, ...
        self.peers = list(peers)
        self._watch()

    @property
    def agent(self) -> sotto.Simulation:
        """The `sotto.Simulation`: its ledger, directory, and what docs/python.md says."""
        return self._agent  # type: ignore[no-any-return]

    def step(self) -> bool:
        """One round of all agents.

        :returns: whether rounds are left.
        :raises ModelError: as of a single peer; some agents' gradients are found in another way than others'.
        """
        return self._run_round(lambda agent, find: find)

    def _run_round(self, watch: Callable[[int, Callable[..., Any]], Callable[..., Any]]) -> bool:
        """A round with what watch(agent, function) makes of the functions that find gradients; norms are measured without."""
        asked = [peer._asked() for peer in self.peers]
        self._require_one_way(asked)
        own = [self._with_own_coins(u, one.find) for u, one in enumerate(asked)]
        for start, functions in ((self._agent.tune, own), (self._agent.step, [watch(u, find) for u, find in enumerate(own)])):
            for peer in self.peers:
                peer._row_check.begin_round()
            start(functions, clipped=asked[0].clipped)
        return self.more

    def _require_one_way(self, asked: Sequence[Asked]) -> None:
        if len({one.clipped for one in asked}) > 1:
            ways = ", ".join(f"agent {u}: {peer.gradients}" for u, peer in enumerate(self.peers))
            raise ModelError(f"gradients: {ways}; all must be found in one way here (gradients='one-by-one')")

    def _audited(self) -> AuditedModels:
        """For `sotto.audit`."""
        return AuditedModels(self)

    def _with_own_coins(self, agent: int, find: Callable[..., Any]) -> Callable[..., Any]:
        """The function with torch's generator as in the agent's own process."""
        def found(*arguments: Any) -> Any:
            torch.set_rng_state(self._coins[agent])
            try:
                return find(*arguments)
            finally:
                self._coins[agent] = torch.get_rng_state()

        return found

    def evaluate(self, dataset: Any) -> Evaluation:
        """Means over the agents of their models' loss, accuracy and metrics. Not private outputs.

        :raises ModelError: as of a single peer.
        """
        found = [peer.evaluate(dataset) for peer in self.peers]

        def mean(values: Sequence[Any]) -> float:
            return float(sum(float(value) for value in values) / len(values))

        return found[0]._replace(loss=mean([one.loss for one in found]), accuracy=mean([one.accuracy for one in found]),
                                 metrics={name: mean([one.metrics[name] for one in found]) for name in found[0].metrics})

    def _release(self) -> None:
        for peer in self.peers:
            peer._agent = Closed(peer._agent)
            peer._release()


class AuditedModels:
    """A simulation as `sotto.audits.Audited`."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self.clipped = simulation.peers[0]._asked().clipped

    @property
    def agents(self) -> sotto.Simulation:
        """The agents."""
        return self._simulation.agent

    def run_round(self, watch: Callable[[int, Callable[..., Any]], Callable[..., Any]]) -> bool:
        """One round."""
        return self._simulation._run_round(watch)

    def gradient_alone(self, agent: int, model: Any, row: int) -> Any:
        """The gradient of one record, by a pass of its own, not clipped, d."""
        return self._simulation.peers[agent]._gradient_alone(model, row)

    def end(self) -> dict[str, Any]:
        """Ends the training."""
        return self._simulation.finish()


def simulate(model: torch.nn.Module, shards: Any, *, agents: Optional[int] = None, loss: Any = None, forward: Any = None,
             epochs: Optional[int] = None, optimizer: Optional[torch.optim.Optimizer] = None, lr_scheduler: Any = None,
             test: Any = None, metrics: Optional[Mapping[str, Callable[[Any, Any], Any]]] = None, adjacency: str = "record-add-remove",
             micro_batch: Optional[int] = None, device: Optional[torch.device | str] = None, gradients: str = "auto",
             seed: Optional[int] = None, unit: Any = None, unit_name: Optional[str] = None, unit_records: int = 0,
             **options: Any) -> Simulation:
    """All agents in this process: what `make_private` does under mpirun, with the same plan, noise, ledger and numbers.

        simulation = sotto.torch.simulate(model, shards, loss=torch.nn.CrossEntropyLoss(), epsilon=2)
        simulation.train()
        simulation.evaluate(test).accuracy

    **This process sees all data**: it protects nobody from whoever runs it, but shows what a run over hosts would do.

    :param model: of every agent at the start; each gets a copy, and this one stays as it is.
    :param shards: the records of each agent, a list of what make_private takes as `data`; or with `agents` one data set, which
        is dealt to them at random (`seed`), in parts that differ by one record at most. So is a DataLoader's, whose batch_size
        is then that of all agents together.
    :param unit: as of make_private: one for each shard, or the name of a column; of one data set that is dealt, a person's records all
        go to one agent.
    :param others: as of make_private, `resume` too; `seed` makes each agent's dropout that of its process.
    :raises ModelError, ConfigError: as make_private; ConfigError for shards that are no list without `agents`.
    """
    place = default_device() if device is None else torch.device(device)
    own, units = _dealt_by_persons(shards, agents, seed, unit)
    if options.get("batch_size") is None and epochs is not None and isinstance(own[0], DataLoader):
        options["batch_size"] = own[0].batch_size
    models = [copy.deepcopy(model) for _ in own]
    prepared = [ready(each, loss, shard, forward, None, place) for each, shard in zip(models, own)]
    wanted = wanted_options(options, optimizer, adjacency, model)
    counts = [rows_of(one, own_unit, unit_records, adjacency, place) for one, own_unit in zip(prepared, units)]
    mean_count = sum(counts) / len(counts)
    add_rounds(wanted, epochs, mean_count, optimizer, lr_scheduler)
    simulation = sotto.Simulation(dimension(model), records=counts, initial=parameters(model), micro_batch=micro_batch,
                                  person=name_of(unit, unit_name), **wanted)
    if optimizer is not None:
        refuse_steps(optimizer)
    batch = sum(member.batch_size for member in simulation.members) / len(counts)
    peers = [Peer(each, one, member, metrics or {}, None, test, device=place, gradients=gradients, threads=0, seed=seed, unit=own_unit,
                  unit_records=unit_records)
             for each, one, member, own_unit in zip(models, prepared, simulation.members, units)]
    return Simulation(simulation, peers, max(1, round(mean_count / batch)), seed)


def _dealt_by_persons(shards: Any, agents: Optional[int], seed: Optional[int], unit: Any) -> tuple[list[Any], list[Optional[Unit]]]:
    """The shards, and whose their records are."""
    if unit is None:
        own = _dealt(shards, agents, seed)
        return own, [None] * len(own)
    if isinstance(shards, (list, tuple)):
        own = _dealt(shards, agents, seed)
        named = [unit] * len(own) if isinstance(unit, str) else list(unit)
        if len(named) != len(own):
            raise ConfigError(f"unit: {len(named)} are given for {len(own)} shards; give one for each, or the name of a column")
        pairs = [split_off(one, shard) for one, shard in zip(named, own)]
        return [shard for _, shard in pairs], [one for one, _ in pairs]
    if isinstance(shards, DataLoader):
        raise ConfigError("unit: not possible with one DataLoader that is dealt to agents; give its data set, or a list of shards")
    if agents is None or agents < 1:
        raise ConfigError(f"agents: {agents} is not allowed for one data set (1 to its persons; or give a list of shards)")
    values, data = split_off(unit, shards)
    assert values is not None
    return dealt(values, data, agents, 0 if seed is None else seed)


def _dealt(shards: Any, agents: Optional[int], seed: Optional[int]) -> list[Any]:
    """A list of shards."""
    if isinstance(shards, (list, tuple)):
        if not shards or agents not in (None, len(shards)):
            raise ConfigError(f"shards: {len(shards)} are given" + (f", and agents: {agents}; leave agents out" if shards else
                              "; give the records of each agent"))
        return list(shards)
    records = len(shards.dataset if isinstance(shards, DataLoader) else shards)
    if agents is None or agents < 1 or agents > records:
        raise ConfigError(f"agents: {agents} is not allowed for one data set (1 to {records}, its records; or give a list of shards)")
    if isinstance(shards, DataLoader):
        batch = None if shards.batch_size is None else max(1, round(shards.batch_size / agents))
        return [DataLoader(part, batch_size=batch, collate_fn=shards.collate_fn, num_workers=shards.num_workers)
                for part in _dealt(shards.dataset, agents, seed)]
    order = torch.randperm(len(shards), generator=torch.Generator().manual_seed(0 if seed is None else seed)).tolist()
    return [Subset(shards, order[agent::agents]) for agent in range(agents)]
