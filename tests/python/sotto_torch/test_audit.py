"""sotto.audit of models: honest peers, and peers that contribute more than they say."""
import json
import pathlib

import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

sotto = pytest.importorskip("sotto")
pytest.importorskip("sotto._core")
import sotto.torch  # noqa: E402

OPTIONS = dict(loss=nn.CrossEntropyLoss(), epsilon=6, quiet=True, noise_seed=4, rounds=40, batch_size=30, max_grad_norm=0.5,
               step_size=0.5, topology="complete", record_view="eavesdropper")


def shard(agent, records=300):
    own = torch.Generator().manual_seed(agent)
    return TensorDataset(torch.randn(records, 12, generator=own), torch.randint(8, (records,), generator=own))


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 8))


def simulation(first=None, **more):
    return sotto.torch.simulate(model() if first is None else first, [shard(agent) for agent in range(3)], **(OPTIONS | more))


@pytest.mark.parametrize("gradients", ["ghost", "vectorised", "one-by-one"])
def test_an_honest_model_shows_what_is_accounted_for(gradients):
    if gradients == "vectorised":
        try:
            sotto.torch.vectorised.vectorisation()
        except sotto.torch.ModelError:
            pytest.skip("this torch has neither torch.func nor functorch")
    audited = simulation(gradients=gradients)
    assert audited.peers[0].gradients == gradients
    said = sotto.audit(peer=audited, confidence=1 - 1e-6)
    assert said["verdict"] == "passed" and said["findings"] == [] and len(said["agents"]) == 3
    assert 0.5 * said["epsilon"] < said["epsilon_lower"] < said["epsilon"] < said["ledger_epsilon"] <= 6
    for agent in said["agents"]:
        assert abs(agent["ratio"] - 1) < 0.3 and abs(agent["noise_ratio"] - 1) < 0.1
    ledger = json.loads((pathlib.Path(said["run_directory"]) / "ledger.json").read_text())
    statements = " ".join(ledger["statements"])
    assert "Audit with canaries" in statements and "one process" in statements


def test_momentum_and_a_chosen_clip_are_audited():
    first = model()
    momentum = simulation(first, optimizer=torch.optim.SGD(first.parameters(), lr=0.1, momentum=0.5), step_size=None)
    assert sotto.audit(peer=momentum, confidence=1 - 1e-6)["verdict"] == "passed"
    said = sotto.audit(peer=simulation(max_grad_norm=None, step_size=None), confidence=1 - 1e-6)
    assert said["verdict"] == "passed" and 0.5 * said["epsilon"] < said["epsilon_lower"] < said["epsilon"]


class Scaled(sotto.torch.Peer):
    """A peer that scales its sums after they were clipped."""

    def _sum_of_records(self, values, rows, clip_norm):
        total, norms = super()._sum_of_records(values, rows, clip_norm)
        return 3 * total, norms


class WronglyClipped(sotto.torch.Peer):
    """A peer that clips to another norm."""

    def _sum_of_records(self, values, rows, clip_norm):
        return super()._sum_of_records(values, rows, 2 * clip_norm)


class CountedTwice(sotto.torch.Peer):
    """A peer that counts every record twice."""

    def _sum_of_records(self, values, rows, clip_norm):
        total, norms = super()._sum_of_records(values, rows, clip_norm)
        again, _ = super()._sum_of_records(values, rows, clip_norm)
        return total + again, norms


@pytest.mark.parametrize("broken, least", [(Scaled, 2.2), (WronglyClipped, 1.3), (CountedTwice, 1.5)])
def test_a_model_that_contributes_more_than_it_says_is_found(broken, least):
    audited = simulation(gradients="ghost")
    audited.peers[1].__class__ = broken
    said = sotto.audit(peer=audited)
    assert said["verdict"] == "failed" and not said["consistent"]
    assert [finding.split(" at least")[0] for finding in said["findings"]] == ["agent 1: a canary shows"]
    assert said["epsilon_lower"] > said["epsilon"] and said["agents"][1]["ratio"] > least
    assert said["agents"][0]["epsilon_lower"] < said["agents"][0]["epsilon"]


def test_a_peer_alone_or_over_ranks_is_refused(launch):
    options = {key: value for key, value in OPTIONS.items() if key != "record_view"}
    peer = sotto.torch.make_private(model(), data=shard(0), **options)
    with pytest.raises(sotto.ConfigError, match="peer: one agent of a training cannot be audited.*sotto.torch.simulate"):
        sotto.audit(peer=peer)
    peer.close()
    with pytest.raises(sotto.ConfigError, match="gradients: not possible with a PyTorch model"):
        sotto.audit(peer=simulation(), gradients=[])
    done = launch(2, '''
import torch, sotto.torch
from torch.utils.data import TensorDataset
comm = sotto.communicator()
data = TensorDataset(torch.randn(50, 3), torch.zeros(50).long())
torch.manual_seed(1)
peer = sotto.torch.make_private(torch.nn.Linear(3, 2), loss=torch.nn.CrossEntropyLoss(), data=data, epsilon=2, rounds=4, batch_size=10,
                                max_grad_norm=1.0, step_size=0.1, quiet=True)
try:
    sotto.audit(peer=peer)
except sotto.ConfigError as refusal:
    print("refused: " + str(refusal) + "\\n", end="", flush=True)
peer.train()
''')
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("peer: one agent of a training cannot be audited") == 2
