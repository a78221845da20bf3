"""simulate: all agents in one process, with the numbers of as many processes."""
import json
import pathlib

import numpy
import pytest
import torch
from small_run import OPTIONS, model, shard

sotto = pytest.importorskip("sotto")
pytest.importorskip("sotto._core")
import sotto.torch  # noqa: E402

TUNED, BY_HAND = {}, {"rounds": 30, "batch_size": 30, "max_grad_norm": 1.0, "step_size": 0.5}


@pytest.mark.parametrize("more", [TUNED, BY_HAND, BY_HAND | {"gradients": "one-by-one", "topology": "ring", "mechanism": "ldp"}])
def test_a_simulation_has_the_bits_of_a_run_over_ranks(launch, tmp_path, more):
    done = launch(3, f'''
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import numpy
import sotto.torch
from small_run import OPTIONS, model, shard
comm = sotto.communicator()
peer = sotto.torch.make_private(model(), data=shard(comm.rank), run_directory="over", **OPTIONS, **{more!r})
result = peer.train()
numpy.save(f"model-{{comm.rank}}.npy", peer.agent.model)
''', seconds=300)
    assert done.returncode == 0, done.stderr
    with sotto.torch.simulate(model(), [shard(agent) for agent in range(3)], run_directory=str(tmp_path / "here"), **OPTIONS,
                              **more) as simulation:
        result = simulation.train()
        assert simulation.evaluate(shard(99)).accuracy > 0.7
    for agent, peer in enumerate(simulation.peers):
        assert (peer.agent.model == numpy.load(tmp_path / f"model-{agent}.npy")).all()
    over, here = (json.loads((tmp_path / name / "ledger.json").read_text()) for name in ("over", "here"))
    assert here["headline"] == over["headline"] and here["agents"] == over["agents"] and here["plan_hash"] == over["plan_hash"]
    assert any("one process" in statement for statement in here["statements"])
    assert result["agents"] == 3 and result["epsilon"] <= 8


def test_one_data_set_is_dealt_to_agents(tmp_path):
    whole = shard(1, 1001)
    first = model()
    before = {name: value.clone() for name, value in first.state_dict().items()}
    simulation = sotto.torch.simulate(first, whole, agents=4, run_directory=str(tmp_path / "run"), **OPTIONS)
    assert sorted(len(peer._records) for peer in simulation.peers) == [250, 250, 250, 251]
    seen = []
    simulation.train(callbacks=[lambda each: seen.append(each.epoch)])
    assert seen and simulation.evaluate(whole).accuracy > 0.8
    assert all((first.state_dict()[name] == value).all() for name, value in before.items())
    simulation.close()
    assert simulation.peers[2].evaluate(whole).accuracy > 0.8 and simulation.summary["epsilon"] <= 8


def test_the_data_set_of_a_loader_is_dealt_to_agents(tmp_path):
    loader = torch.utils.data.DataLoader(shard(1, 1000), batch_size=200, shuffle=True)
    with sotto.torch.simulate(model(), loader, agents=4, run_directory=str(tmp_path / "run"), epochs=2, max_grad_norm=1.0,
                              step_size=0.5, **OPTIONS) as simulation:
        assert [(len(peer._records), peer.agent.batch_size) for peer in simulation.peers] == [(250, 50)] * 4
        assert simulation.agent.rounds == 10


def test_a_simulation_stops_where_it_is_told(tmp_path):
    with sotto.torch.simulate(model(), shard(1), agents=2, run_directory=str(tmp_path / "run"), **OPTIONS, **BY_HAND) as simulation:
        for _ in range(10):
            simulation.step()
        simulation.stop()
        assert not simulation.more
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert ledger["status"] == "interrupted" and ledger["rounds"]["accounted"] == 10


def test_a_simulation_that_was_stopped_goes_on_within_its_budget(tmp_path):
    shards = [shard(agent) for agent in range(3)]
    whole = sotto.torch.simulate(model(), shards, run_directory=str(tmp_path / "whole"), **OPTIONS, **BY_HAND)
    whole.train()
    with sotto.torch.simulate(model(), shards, run_directory=str(tmp_path / "run"), **OPTIONS, **BY_HAND) as first:
        for _ in range(10):
            first.step()
        first.stop()
    again = {"loss": OPTIONS["loss"], "resume": str(tmp_path / "run")}
    with pytest.raises(sotto.Error, match="agents"):
        sotto.torch.simulate(model(), shards[:2], **again)
    with sotto.torch.simulate(model(), shards, **again) as second:
        second.train()
    assert second.epsilon == pytest.approx(whole.epsilon) and second.agent.round == 30
    assert second.evaluate(shard(99)).accuracy > 0.7


@pytest.mark.parametrize("shards, more, words", [
    (shard(1), {}, "agents: None is not allowed for one data set"),
    (shard(1), {"agents": 301}, "agents: 301 is not allowed"),
    ([], {}, "give the records of each agent"),
    ([shard(1)], {"agents": 2}, "agents: 2; leave agents out"),
    ([shard(1), shard(2)], {"epsilon": None}, "epsilon: not given"),
])
def test_shards_that_cannot_be_simulated_are_refused(shards, more, words):
    with pytest.raises(sotto.ConfigError, match=words):
        sotto.torch.simulate(model(), shards, **(OPTIONS | more))


def test_a_simulation_of_arrays_is_that_of_agents():
    data = [numpy.random.default_rng(agent).normal(size=(40, 3)) for agent in range(3)]
    with sotto.Simulation(3, records=[40] * 3, rounds=5, adjacency="record", epsilon=4, batch_size=10, quiet=True, mechanism="pairs",
                          topology="complete") as simulation:
        while simulation.more:
            assert [member.agent for member in simulation.members] == [0, 1, 2]
            simulation.step([rows[member.batch()] - member.model for rows, member in zip(data, simulation.members)])
    assert simulation.summary["rounds"] == 5 and simulation.epsilon <= 4
    for wrong in ([], [3, 0]):
        with pytest.raises(sotto.ConfigError, match="at least 1 for each agent"):
            sotto.Simulation(3, records=wrong, rounds=5)
