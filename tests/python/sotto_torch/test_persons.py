"""unit: everything that an agent has of one person is protected together."""
import json
import types

import numpy
import pytest
import torch
from per_record import plain_gradients
from stand_in_agent import StandInAgent
from torch import nn
from torch.utils.data import TensorDataset

sotto = pytest.importorskip("sotto")
import sotto.torch  # noqa: E402
from sotto.torch.persons import Persons, dealt, split_off  # noqa: E402

LOSS = nn.CrossEntropyLoss()
WAYS = ["ghost", "vectorised", "one-by-one"]


def model():
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))


def records_of(counts, scale=1.0):
    """A data set, and the unit, in which person p has counts[p] records, in mixed order."""
    generator = torch.Generator().manual_seed(1)
    unit = torch.repeat_interleave(torch.arange(len(counts)) * 7 + 3, torch.tensor(counts))
    unit = unit[torch.randperm(len(unit), generator=generator)]
    inputs = scale * torch.randn(len(unit), 6, generator=generator)
    return TensorDataset(inputs, (inputs.sum(1) > 0).long()), unit


def means_of(net, data, unit):
    """Mean gradients of persons by plain autograd, in the order of their first records."""
    rows = plain_gradients(net, LOSS, data.tensors[:-1], data.tensors[-1]).double()
    order = list(dict.fromkeys(unit.tolist()))
    return torch.stack([rows[unit == person].mean(0) for person in order]).numpy()


def peer_of(net, data, unit, clip_norm=0.3, micro_batch=64, persons=None, **settings):
    count = len(set(unit.tolist())) if persons is None else persons
    agent = StandInAgent(None, sotto.torch.dimension(net), count, initial=sotto.torch.parameters(net), clip_norm=clip_norm,
                         micro_batch=micro_batch, probability=1.0)
    return agent, sotto.torch.PrivatePeer(net, LOSS, data, agent, unit=unit, threads=0, **settings)


def test_persons_are_in_the_order_of_their_first_records():
    persons = Persons(torch.tensor([9, 2, 9, 5, 2, 9]), 6)
    assert len(persons) == 3
    assert [persons.rows(p).tolist() for p in range(3)] == [[0, 2, 5], [1, 4], [3]]
    part = persons.chosen(numpy.array([1, 0]))
    assert part.rows.tolist() == [1, 4, 0, 2, 5] and part.places.tolist() == [0, 0, 1, 1, 1]
    assert part.shares.tolist() == [0.5, 0.5, 1 / 3, 1 / 3, 1 / 3]
    assert Persons(["b", "a", "b"], 3).rows(0).tolist() == [0, 2]


def test_records_of_a_person_are_drawn_anew():
    persons = Persons(numpy.zeros(20, numpy.int64), 20, 3)
    drawn = [tuple(persons.chosen(numpy.array([0])).rows) for _ in range(30)]
    assert all(len(set(rows)) == 3 for rows in drawn) and len(set(drawn)) > 5
    assert persons.chosen(numpy.array([0])).shares.tolist() == [1 / 3] * 3
    assert "at most 3" in persons.statement


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("micro_batch", [64, 7])
def test_the_gradient_of_a_person_is_the_mean_of_its_records(way, micro_batch):
    counts = [1, 20, 3, 8, 2]
    data, unit = records_of(counts)
    wanted = means_of(model(), data, unit)
    agent, peer = peer_of(model(), data, unit, gradients=way, micro_batch=micro_batch)
    found = peer._rows_of_persons(agent.model, numpy.array([3, 0, 4], numpy.int64))
    assert found.shape == (3, agent.dimension)
    assert numpy.abs(found - wanted[[3, 0, 4]]).max() < 1e-6
    assert len(peer) == 1 and peer._rows_of_persons(agent.model, numpy.array([], numpy.int64)).shape == (0, agent.dimension)
    assert "mean of the gradients of its records" in agent.statement


@pytest.mark.parametrize("way", WAYS)
def test_a_person_moves_the_sum_by_at_most_the_clip_however_many_records_it_has(way):
    """What is handed over, clipped by sotto's own code: with and without a person of 1 to 20 records."""
    for count in (1, 2, 5, 20):
        data, unit = records_of([4, count, 1, 6], scale=30.0)  # gradients far beyond the clip
        agent, peer = peer_of(model(), data, unit, gradients=way)
        order = list(dict.fromkeys(unit.tolist()))
        person = order.index(1 * 7 + 3)
        rows = numpy.arange(4, dtype=numpy.int64)
        everybody, norms = sotto.agents.clipped_sum(peer._rows_of_persons(agent.model, rows), 0.01)
        assert norms[person] > 0.01 and len(norms) == 4
        others, _ = sotto.agents.clipped_sum(peer._rows_of_persons(agent.model, rows[rows != person]), 0.01)
        moved = numpy.linalg.norm(everybody - others)
        assert moved <= 0.01 * (1 + 1e-4)
        assert moved > 0.01 * (1 - 1e-3)  # and it is not nothing: this person reaches the clip
        # As single records the same person moves it further.
        alone = plain_gradients(model(), LOSS, data.tensors[:-1], data.tensors[-1])[unit == order[person]].numpy()
        if count == 20:
            assert numpy.linalg.norm(sotto.agents.clipped_sum(alone, 0.01)[0]) > 0.05


def test_a_record_that_is_not_finite_takes_its_person_out_alone():
    data, unit = records_of([3, 4, 2])
    order = list(dict.fromkeys(unit.tolist()))
    bad = int((unit == order[1]).nonzero()[0])
    data.tensors[0][bad, 0] = float("inf")
    agent, peer = peer_of(model(), data, unit, gradients="one-by-one")
    total, norms = sotto.agents.clipped_sum(peer._rows_of_persons(agent.model, numpy.arange(3, dtype=numpy.int64)), 1.0)
    assert numpy.isnan(norms[1]) and numpy.isfinite(norms[[0, 2]]).all() and numpy.isfinite(total).all()


@pytest.mark.parametrize("wrong, said", [
    (dict(unit=torch.zeros(5, dtype=torch.int64)), "5 values for 12 records"),
    (dict(unit=torch.zeros(12)), "float32 of shape"),
    (dict(unit=torch.zeros(12, 2, dtype=torch.int64)), "shape"),
    (dict(unit=torch.zeros(12, dtype=torch.int64), unit_records=-1), "unit_records: -1"),
    (dict(unit=None, unit_records=2), "no meaning without unit")])
def test_what_does_not_fit_is_refused(wrong, said):
    data, _ = records_of([12])
    net = model()
    agent = StandInAgent(None, sotto.torch.dimension(net), 1, initial=sotto.torch.parameters(net))
    with pytest.raises(sotto.torch.ModelError, match=said):
        sotto.torch.PrivatePeer(net, LOSS, data, agent, threads=0, **wrong)


def test_agents_that_are_protected_as_a_whole_have_no_persons():
    data, unit = records_of([2, 3])
    net = model()
    agent = StandInAgent(None, sotto.torch.dimension(net), 2, initial=sotto.torch.parameters(net), adjacency="agent")
    with pytest.raises(sotto.torch.ModelError, match="adjacency agent"):
        sotto.torch.PrivatePeer(net, LOSS, data, agent, threads=0, unit=unit)


def test_rows_beyond_the_persons_are_refused():
    data, unit = records_of([2, 3])
    agent, peer = peer_of(model(), data, unit, persons=5)
    with pytest.raises(sotto.torch.ModelError, match="2 persons"):
        peer._rows_of_persons(agent.model, numpy.array([2], numpy.int64))


def test_a_named_column_is_split_off():
    data = [{"x": torch.ones(2), "patient": i // 3, "labels": torch.tensor(1)} for i in range(9)]
    values, without = split_off("patient", data)
    assert values == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert sorted(without[4]) == ["labels", "x"] and len(without) == 9
    loader = torch.utils.data.DataLoader(data, batch_size=5)
    values, without = split_off("patient", loader)
    assert len(values) == 9 and without.batch_size == 5 and "patient" not in without.dataset[0]
    with pytest.raises(sotto.torch.ModelError, match="'nurse' is no column"):
        split_off("nurse", data)
    tensors, unit = records_of([3])
    with pytest.raises(sotto.torch.ModelError, match="'patient' is no column"):
        split_off("patient", tensors)


def test_persons_are_dealt_whole():
    data, unit = records_of([5, 1, 7, 2, 3, 4])
    shards, units = dealt(unit, data, 3, 1)
    assert sum(len(shard) for shard in shards) == 22 and all(len(set(own.tolist())) == 2 for own in units)
    owners = [set(own.tolist()) for own in units]
    assert not (owners[0] & owners[1] or owners[0] & owners[2] or owners[1] & owners[2])
    with pytest.raises(sotto.torch.ModelError, match="6 persons"):
        dealt(unit, data, 7, 1)


def trained(tmp_path, **options):
    pytest.importorskip("sotto._core")
    data, unit = records_of([1, 20, 3, 8, 2, 6, 1, 1, 12, 4] * 4)
    unit = unit.clone()
    peer = sotto.torch.make_private(model(), loss=LOSS, data=data, unit=unit, mechanism="ldp", epsilon=4, rounds=5, batch_size=8,
                                    max_grad_norm=0.1, step_size=0.5, run_directory=str(tmp_path / "run"), quiet=True, **options)
    return peer, data


def test_a_training_samples_persons_and_the_ledger_names_them(tmp_path):
    peer, data = trained(tmp_path, unit_name="patient")
    assert peer._records_given() == 40 and len(peer) == 5
    asked = []
    find = peer._rows_of_persons
    peer._rows_of_persons = types.MethodType(lambda self, values, rows: (asked.append(rows), find(values, rows))[1], peer)
    result = peer.train()
    assert result["epsilon"] <= 4
    assert all(len(rows) == 0 or int(rows.max()) < 40 for rows in asked) and asked
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert ledger["unit_column"] == "patient" and ledger["adjacency"] == "record-add-remove"
    assert any("mean of the gradients of its records" in one for one in ledger["statements"])
    assert any("everything that an agent has of one patient" in one for one in ledger["statements"])
    # q = 8 of 40 persons, not of 232 records.
    assert ledger["headline"]["loss"]["sampled_rounds"][0]["sampling_probability"] == pytest.approx(0.2)
    assert peer.evaluate(data).loss > 0


def test_a_training_with_a_cap_and_without_knobs_holds_its_budget(tmp_path):
    pytest.importorskip("sotto._core")
    data, unit = records_of([1, 20, 3, 8, 2, 6, 1, 1, 12, 4] * 30)
    peer = sotto.torch.make_private(model(), loss=LOSS, data=data, unit=unit, unit_records=4, mechanism="ldp", epsilon=4,
                                    run_directory=str(tmp_path / "run"), quiet=True)
    assert peer.train()["epsilon"] <= 4 + 1e-9
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert ledger["unit_column"] == "person" and any("at most 4 of its records" in one for one in ledger["statements"])


def test_a_simulation_of_persons(tmp_path):
    pytest.importorskip("sotto._core")
    data, unit = records_of([1, 20, 3, 8, 2, 6, 1, 1, 12, 4] * 4)
    options = dict(loss=LOSS, mechanism="ldp", epsilon=4, rounds=3, batch_size=4, max_grad_norm=0.1, step_size=0.5, quiet=True)
    with sotto.torch.simulate(model(), data, agents=4, unit=unit, run_directory=str(tmp_path / "dealt"), **options) as simulation:
        simulation.train()
        assert simulation.agent.records == [10] * 4
    ledger = json.loads((tmp_path / "dealt" / "ledger.json").read_text())
    assert ledger["unit_column"] == "person"
    shards = [records_of([2, 3, 4]), records_of([5, 1])]
    with sotto.torch.simulate(model(), [one for one, _ in shards], unit=[own for _, own in shards], unit_agents=2,
                              run_directory=str(tmp_path / "shards"), **(options | {"batch_size": 2, "participation": "every"})) as both:
        both.train()
        assert both.agent.records == [3, 2]
    ledger = json.loads((tmp_path / "shards" / "ledger.json").read_text())
    assert ledger["unit_agents"] == 2
    assert ledger["headline"]["epsilon"] == pytest.approx(4, rel=1e-5)
    with pytest.raises(sotto.ConfigError, match="2 are given for 3 shards"):
        sotto.torch.simulate(model(), [data] * 3, unit=[unit] * 2, run_directory=str(tmp_path / "no"), **options)


def test_a_person_needs_a_record_adjacency(tmp_path):
    pytest.importorskip("sotto._core")
    with pytest.raises(sotto.ConfigError, match="person: patient is not possible with adjacency agent"):
        sotto.Agent(None, 3, records=4, person="patient", adjacency="agent", mechanism="none", run_directory=str(tmp_path / "run"))
    with pytest.raises(sotto.ConfigError, match="empty name"):
        sotto.Agent(None, 3, records=4, person=" ", adjacency="record", mechanism="none", run_directory=str(tmp_path / "run"))
