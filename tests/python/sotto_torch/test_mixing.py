"""Models whose forward pass looks at the whole batch: rows are of their own record all the same, or the job ends."""
import re

import numpy
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from per_record import assert_close, plain_gradients
from stand_in_agent import StandInAgent
from sotto.torch import ModelError, PrivatePeer, dimension, parameters

LOSS = nn.CrossEntropyLoss()
CLIP = 0.05
SHARDS = 30


class SortsByLength(nn.Module):
    """A text model that sorts its batch by length, and gives the outputs in the old order."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.words, self.hidden, self.out = nn.Embedding(9, 6, padding_idx=0), nn.Linear(6, 6), nn.Linear(6, 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words):
        lengths = (words != 0).sum(1)
        order = torch.argsort(-lengths)
        mean = self.words(words).sum(1) / lengths.clamp(min=1).unsqueeze(1)
        return self.out(torch.tanh(self.hidden(self.dropout(mean[order]))))[torch.argsort(order)]


class Layers(nn.Module):
    """Two layers around something that a class does with them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(5, 6), nn.Linear(6, 2)


class ScaledByTheLargest(Layers):
    def forward(self, x):
        return self.second(torch.tanh(self.first(x / x.abs().max().clamp(min=4))))


class Branches(Layers):
    def forward(self, x):
        y = self.first(x)
        return self.second(torch.tanh(y) if y.sum() > 0 else torch.relu(-y))


class Routes(nn.Module):
    """Each record through one of two layers."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(5, 2), nn.Linear(5, 2)

    def forward(self, x):
        left = x[:, 0] > 0
        result = x.new_zeros(len(x), 2)
        result[left] = self.left(x[left])
        result[~left] = self.right(x[~left])
        return result


def texts(records=12):
    words = torch.randint(1, 9, (records, 12))
    lengths = torch.randint(1, 13, (records, 1))
    return TensorDataset(words * (torch.arange(12) < lengths), torch.randint(2, (records,)))


def vectors(records=12):
    """Three in a hundred numbers are large, so that most shards do not show it on three records."""
    x = torch.randn(records, 5, dtype=torch.float64)
    return TensorDataset(x * torch.where(torch.rand(records, 5) < 0.03, 8.0, 1.0), torch.randint(2, (records,)))


CASES = {"sorted by length": (SortsByLength, texts), "scaled by the largest": (ScaledByTheLargest, vectors),
         "a branch on the batch": (Branches, vectors), "routed by masks": (Routes, vectors)}


def peer_of(model, data, batches=None, clip_norm=CLIP, **options):
    agent = StandInAgent(None, dimension(model), records=len(data), initial=parameters(model), clip_norm=clip_norm, batches=batches,
                         rounds=len(batches or [1, 1, 1]))
    return PrivatePeer(model, LOSS, data, agent, **options), agent


def clipped_sum(peer, agent, rows):
    found = peer._rows_of_records(agent.model, numpy.array(rows, numpy.int64)).astype(numpy.float64)
    norms = numpy.linalg.norm(found, axis=1, keepdims=True)
    return (found * numpy.minimum(1, CLIP / numpy.maximum(norms, 1e-300))).sum(0)


@pytest.mark.parametrize("case", CASES)
def test_rows_are_of_their_own_record_or_the_model_is_refused(case):
    make, data_of = CASES[case]
    trained = 0
    for shard in range(SHARDS):
        torch.manual_seed(shard)
        model, data = make().double(), data_of()
        everybody = list(range(len(data)))
        try:
            peer, agent = peer_of(model, data, [everybody])
            peer.step()
        except ModelError:
            continue
        trained += 1
        assert peer.gradients in ("vectorised", "one-by-one")
        wanted = plain_gradients(peer.model, LOSS, data.tensors[:1], data.tensors[1])
        found = torch.from_numpy(peer._rows_of_records(agent.model, numpy.arange(len(data))))
        assert_close(found, wanted, 1e-9)
        with_all = clipped_sum(peer, agent, everybody)
        for left_out in everybody:
            without = clipped_sum(peer, agent, [row for row in everybody if row != left_out])
            assert numpy.linalg.norm(with_all - without) <= CLIP * (1 + 1e-6)
    assert trained >= 1


def test_ghost_norms_of_a_model_that_mixes_end_the_job_before_anything_is_sent():
    refused_at_once, ended = 0, 0
    for shard in range(SHARDS):
        torch.manual_seed(shard)
        data = texts()
        try:
            peer, agent = peer_of(SortsByLength(), data, [range(len(data))], gradients="ghost")
        except ModelError:
            refused_at_once += 1
            continue
        before = agent.model.copy()
        # The rows that are checked are drawn: one may be a record that sorting leaves in its place.
        try:
            peer.step()
        except ModelError as error:
            assert re.search("by ghost a record's clipped gradient.*of the clip norm.*nothing of this round was sent",
                             str(error))
            assert agent.round == 0 and numpy.array_equal(agent.model, before) and agent.calls == []
            ended += 1
    assert ended >= 1 and refused_at_once >= 1


def test_ghost_norms_with_dropout_are_compared_without_it():
    ended = 0
    for shard in range(SHARDS):
        torch.manual_seed(shard)
        data = texts()
        try:
            peer, _ = peer_of(SortsByLength(dropout=0.3), data, [range(len(data))], gradients="ghost")
        except ModelError:
            continue
        try:
            peer.step()
        except ModelError as error:
            assert "by ghost a record's clipped gradient" in str(error)
            ended += 1
    assert ended >= 1


def test_a_loss_that_divides_by_the_records_ends_the_job_with_ghost_norms():
    class Averages(nn.Module):  # by a number that is right for three records
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(5, 2)

        def forward(self, x):
            return self.linear(x) * (1.0 if len(x) <= 3 else 3 / len(x))

    peer, agent = peer_of(Averages().double(), vectors(), [range(12)], clip_norm=100, gradients="ghost")
    with pytest.raises(ModelError, match="by ghost"):
        peer.step()
    assert agent.round == 0


def test_opting_in_to_ghost_norms_is_stated():
    torch.manual_seed(0)
    model = Routes().double()
    model.forward = lambda x: model.left(x) + model.right(x)
    peer, agent = peer_of(model, vectors(), gradients="ghost")
    assert peer.step()
    assert "ghost; by the user's opt-in, and the guarantee rests on the model not mixing records" in agent.statement
    assert "Routes" in agent.statement


@pytest.mark.parametrize("make, data, way, why", [
    (lambda: nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2)).double(), vectors, "ghost", "a sequence of known layers"),
    (lambda: ScaledByTheLargest().double(), lambda: TensorDataset(torch.rand(9, 5).double(), torch.randint(2, (9,))), "vectorised",
     "every record by itself, all at once .ghost norms are chosen for torch.nn.Sequential of known layers only, and the model itself "
     ".ScaledByTheLargest..*; gradients='ghost' takes this model too"),
    (lambda: Routes().double(), vectors, "one-by-one", "torch cannot vectorise the model"),
])
def test_the_way_and_its_reason_are_always_said(make, data, way, why, capsys):
    peer, agent = peer_of(make(), data())
    assert peer.gradients == way
    said = capsys.readouterr().err
    assert f"agent 0: gradients of single records: {way}; " in said
    for text in (said, agent.statement):
        assert pytest.importorskip("re").search(why, text), text


@pytest.mark.parametrize("change", [
    lambda model: model[0].register_forward_hook(lambda layer, inputs, output: output - output.mean(0)),
    lambda model: model[0].register_forward_pre_hook(lambda layer, inputs: (inputs[0] - inputs[0].mean(0),)),
    lambda model: setattr(model[1], "forward", lambda x: x - x.mean(0)),
    lambda model: model.add_module("3", SortsByLength()),
])
def test_a_sequence_that_is_changed_later_is_refused(change):
    peer, agent = peer_of(nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2)).double(), vectors())
    assert peer.gradients == "ghost" and peer.step()
    change(peer.model)
    with pytest.raises(ModelError, match="and did not when training began"):
        peer.step()
    assert agent.round == 1


@pytest.mark.parametrize("layers, shape", [
    ((nn.Softmax(dim=0),), (4,)), ((nn.Softmax2d(), nn.Flatten()), (2, 3)), ((nn.ConstantPad2d((0, 0, 1, -1), 0.0),), (4,)),
    ((nn.LayerNorm((8, 4)),), (4,)), ((nn.LogSoftmax(dim=-2),), (4,)),
])
def test_layers_that_work_along_the_records_axis_are_not_taken_by_ghost_norms(layers, shape):
    width = int(numpy.prod(shape))
    data = TensorDataset(torch.randn(8, *shape).double(), torch.randint(2, (8,)))
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(width, 2)).double()
    try:
        peer, _ = peer_of(model, data, [range(8)])
    except (ModelError, RuntimeError):
        return
    assert peer.gradients != "ghost"


def test_layers_that_write_into_their_input_are_compared_with_what_they_got():
    model = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    peer, agent = peer_of(model, vectors(), [range(12)] * 20)
    while peer.step():
        pass
    assert agent.round == 20


def test_rounding_ends_nothing():
    torch.manual_seed(3)
    data = TensorDataset(torch.randn(64, 1, 12, 12), torch.randint(4, (64,)))
    layers = [nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 8), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten()]
    for model, way in ((nn.Sequential(*layers, nn.Dropout(0.2), nn.Linear(256, 4)), "ghost"), (nn.Sequential(*layers, nn.Linear(256, 4)), "auto"),
                       (nn.Sequential(*layers, nn.Linear(256, 4)), "vectorised")):
        peer, agent = peer_of(model, data, [range(64)] * 15, gradients=way)
        peer.train()
        assert agent.round == 15


def test_a_batch_that_torch_cannot_vectorise_is_taken_one_by_one(capsys):
    class LaterBranch(Layers):
        later = False

        def forward(self, x):
            if self.later and x.sum() > 0:
                x = -x
            return self.second(torch.tanh(self.first(x)))

    data = vectors()
    model = LaterBranch().double()
    peer, agent = peer_of(model, data)
    assert peer.gradients == "vectorised"
    model.later = True
    found = torch.from_numpy(peer._rows_of_records(agent.model, numpy.arange(len(data))))
    assert_close(found, plain_gradients(model, LOSS, data.tensors[:1], data.tensors[1]), 1e-9)
    assert "taken one by one" in capsys.readouterr().err


def test_local_steps_have_gradients_at_their_own_models():
    data, model = vectors(), ScaledByTheLargest().double()
    agent = StandInAgent(None, dimension(model), records=12, initial=parameters(model), adjacency="agent")
    peer = PrivatePeer(model, LOSS, TensorDataset(data.tensors[0].clamp(-3, 3), data.tensors[1]), agent)
    rows = numpy.arange(12)
    first = peer._mean_of_records(agent.model, rows)
    second = peer._mean_of_records(agent.model + 0.5, rows)
    assert not numpy.allclose(first, second)
