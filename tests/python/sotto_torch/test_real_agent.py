"""A PyTorch model with sotto.Agent itself."""
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

sotto = pytest.importorskip("sotto")
import sotto.torch  # noqa: E402
from sotto.torch.sums import with_room  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "torch_mnist.py"
LAUNCHER = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]


def model():
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))


def records(count=40):
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(count, 6, generator=generator)
    return TensorDataset(inputs, (inputs.sum(1) > 0).long())


def agent_of(net, folder, **options):
    given = dict(records=40, rounds=4, mechanism="none", adjacency="record", batch_size=40, step_size=0.5, clip_norm=0.3,
                 initial=sotto.torch.parameters(net), run_directory=str(folder), quiet=True, eval_every=1)
    return sotto.Agent(None, sotto.torch.dimension(net), **(given | options))


@pytest.mark.parametrize("way", ["ghost", "vectorised", "one-by-one"])
def test_rounds_without_noise_are_clipped_gradient_steps(tmp_path, way):
    net, data = model(), records()
    agent = agent_of(net, tmp_path / "run")
    peer = sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent, test=data, gradients=way)
    clip = with_room(0.3, torch.float32) if way == "ghost" else 0.3
    wanted = sotto.torch.parameters(model())
    other = model()
    for _ in range(4):
        torch.nn.utils.vector_to_parameters(torch.tensor(wanted, dtype=torch.float32), other.parameters())
        total = numpy.zeros(len(wanted))
        for inputs, target in data:
            other.zero_grad()
            nn.CrossEntropyLoss()(other(inputs[None]), target[None]).backward()
            gradient = torch.cat([p.grad.reshape(-1) for p in other.parameters()]).numpy().astype(float)
            total += gradient * min(1, clip / numpy.linalg.norm(gradient))
        wanted = wanted - 0.5 * total / 40
    said = peer.train()
    assert numpy.abs(agent.model - wanted).max() < 1e-5
    assert said["test_accuracy"] == pytest.approx(peer.evaluate(data).accuracy)
    assert said["test_loss"] == pytest.approx(peer.evaluate(data).loss, rel=1e-6)


@pytest.mark.parametrize("options, said", [
    ({}, "ghost; the model is a sequence of known layers"), ({"gradients": "vectorised"}, "vectorised; every record")])
def test_the_ledger_says_how_gradients_were_found(tmp_path, options, said):
    net, data = model(), records()
    agent = agent_of(net, tmp_path / "run")
    sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent, **options).train()
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert any(said in statement for statement in ledger["statements"])


def test_a_peer_tunes_itself(tmp_path, monkeypatch):
    net, data = model(), records(3000)
    given = dict(records=3000, tune="auto", adjacency="record-add-remove", epsilon=4, mechanism="ldp", rounds=None, batch_size=None,
                 step_size=None, clip_norm=None, micro_batch=700)
    agent = agent_of(net, tmp_path / "run", **given)
    peer = sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent)
    asked, clips = [], []
    find, compare = peer._way.find, peer._row_check.compare
    monkeypatch.setattr(peer._way, "find", lambda batch: (asked.append(batch.records), find(batch))[1])
    monkeypatch.setattr(peer._row_check, "compare", lambda *given: (clips.append(given[3]), compare(*given)))
    peer.step()
    assert asked[:5] == [700] * 4 + [200]
    assert numpy.isnan(clips[:5]).all() and clips[5] == agent.clip_norm
    said = peer.train()
    assert said["tuning"]["clip_norm"] == agent.clip_norm and said["epsilon"] <= 4
    assert peer.evaluate(data).accuracy > 0.9
    assert json.loads((tmp_path / "run" / "ledger.json").read_text())["phases"][0]["rounds"] == 1


def test_rows_that_mix_end_the_measuring_of_norms(tmp_path):
    net, data = Sorted(), records(3000)
    checked = data.tensors[0][[0, 1000, 2000]]
    data.tensors[0][[0, 1000, 2000]] = checked[torch.argsort(checked[:, 0])]
    agent = agent_of(net, tmp_path / "run", records=3000, tune="auto", adjacency="record-add-remove", epsilon=4, mechanism="ldp",
                     rounds=None, batch_size=None, step_size=None, clip_norm=None)
    peer = sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent, gradients="ghost")
    with pytest.raises(sotto.torch.ModelError, match="by ghost a record's clipped gradient"):
        peer.step()
    assert numpy.isnan(agent.clip_norm) and not agent.more
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert any("by the user's opt-in" in statement for statement in ledger["statements"])


class Sorted(nn.Module):
    """Sorts its batch by the first number; the order of the first three records of `records` is not that of all."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 5), nn.Linear(5, 2)

    def forward(self, x):
        order = torch.argsort(x[:, 0])
        return self.second(torch.tanh(self.first(x))[order])[torch.argsort(order)]


def test_rows_that_mix_end_the_training_before_anything_is_sent(tmp_path):
    net, data = Sorted(), records()
    checked = data.tensors[0][[0, 13, 26]]
    data.tensors[0][[0, 13, 26]] = checked[torch.argsort(checked[:, 0])]  # three that show nothing
    agent = agent_of(net, tmp_path / "run")
    peer = sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent, gradients="ghost")
    before = agent.model.copy()
    with pytest.raises(sotto.torch.ModelError, match="by ghost a record's clipped gradient"):
        peer.step()
    assert agent.round == 0 and not agent.more and numpy.array_equal(agent.model, before)
    ledger = json.loads((tmp_path / "run" / "ledger.json").read_text())
    assert ledger["status"] == "failed"
    assert any("by the user's opt-in" in statement for statement in ledger["statements"])


def test_a_layer_that_mixes_is_refused_before_anything_is_sent(tmp_path):
    net = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Linear(5, 2))
    agent = agent_of(net, tmp_path / "run")
    with pytest.raises(sotto.torch.ModelError, match="GroupNorm"):
        sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), records(), agent)
    assert agent.round == 0


@pytest.mark.skipif("SOTTO_DATA_DIR" not in os.environ, reason="SOTTO_DATA_DIR is not set")
def test_the_example_trains_over_ranks(tmp_path):
    done = subprocess.run([*LAUNCHER, "-n", "3", sys.executable, str(EXAMPLE), "--rounds", "25", "--epsilon", "8",
                           "--run-directory", str(tmp_path / "run")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["agents"] == 3 and summary["epsilon"] <= 8 * (1 + 1e-9)
    assert summary["test_accuracy"] > 0.5


@pytest.mark.parametrize("options", [{}, {"epsilon": 8, "mechanism": "ldp", "noise_seed": 3}])
def test_ghost_norms_train_the_same_model_as_one_by_one(tmp_path, options):
    models = []
    for way in ("ghost", "one-by-one"):
        net, data = model().double(), records()
        data = TensorDataset(data.tensors[0].double(), data.tensors[1])
        agent = agent_of(net, tmp_path / way, micro_batch=16, **options)
        sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent, gradients=way).train()
        models.append(agent.model.copy())
    # With noise, sums and single gradients are rounded to the grid at different places.
    assert numpy.abs(models[0] - models[1]).max() < (1e-5 if options else 1e-7)


def test_the_ledger_says_who_clips(tmp_path):
    for way, said in (("ghost", True), ("one-by-one", False)):
        net, data = model(), records()
        agent = agent_of(net, tmp_path / way)
        sotto.torch.PrivatePeer(net, nn.CrossEntropyLoss(), data, agent, gradients=way).train()
        assert any("clipped and added up by the user's program" in statement for statement in agent.ledger["statements"]) == said
