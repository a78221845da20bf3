"""Clipped sums without gradients: what they are for odd records and models, and what the check of every round sees."""
import functools
import math

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import TensorDataset

import sotto
from per_record import CPU, assert_close, assert_same_sums, plain_gradients
from stand_in_agent import StandInAgent
from test_models import LOSS, Tied, TwoInputs, in_place, vectors, words
from sotto.torch import ModelError, PrivatePeer, dimension, parameters
from sotto.torch.checks import Modes
from sotto.torch.data import Batch
from sotto.torch.flat import FlatParameters
from sotto.torch.ghost import GhostGradients
from sotto.torch.losses import RecordLoss
from sotto.torch.rows import RowCheck
from sotto.torch.sums import RecordSum, with_room
from sotto.torch.terms import ParameterGradients, Places, Products, Rows


def found_of(model, loss, inputs, targets):
    return GhostGradients(model, RecordLoss(loss, CPU), FlatParameters(model)).find(Batch(tuple(inputs), targets))


def peer_of(model, data, gradients="auto", loss=LOSS, **options):
    agent = StandInAgent(None, dimension(model), records=len(data), initial=parameters(model), batches=[range(len(data))] * 3, **options)
    return PrivatePeer(model, loss, data, agent, gradients=gradients), agent


class TwiceAndPlaces(nn.Module):
    """An embedding whose table is also the matrix of two calls of a layer."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(6, 9), nn.Linear(9, 6, bias=False)
        self.out.weight = self.words.weight

    def forward(self, words):
        x = self.words(words)
        return (self.out(x).tanh() + self.out(torch.sin(x))).sum(1)


def frozen():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False))
    model[0].weight.requires_grad_(False)
    return model


@pytest.mark.parametrize("make, data", [
    (Tied, words), (TwiceAndPlaces, words), (in_place, vectors), (frozen, vectors),
    (TwoInputs, lambda n: ([torch.randint(5, (n,)), torch.randn(n, 3)], torch.randint(2, (n,))))])
@pytest.mark.parametrize("records", [1, 2, 7])
def test_sums_of_whole_models_are_those_of_single_records(make, data, records):
    model = make().double()
    inputs, targets = data(records)
    inputs = [x.double() if x.is_floating_point() else x for x in inputs]
    wanted = plain_gradients(model, LOSS, inputs, targets)
    assert_same_sums(model, LOSS, inputs, targets, wanted, 1e-10)


@pytest.mark.parametrize("loss", [
    nn.CrossEntropyLoss(reduction="sum"), nn.CrossEntropyLoss(reduction="none"), nn.CrossEntropyLoss(label_smoothing=0.1),
    functools.partial(functional.cross_entropy, ignore_index=1), lambda outputs, targets: (outputs[0, targets[0]] - 1) ** 2])
def test_sums_are_those_of_every_loss(loss):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    inputs, targets = [torch.randn(5, 3).double()], torch.tensor([0, 0, 0, 0, 0])
    alone = loss if not isinstance(loss, nn.CrossEntropyLoss) or loss.reduction != "none" else nn.CrossEntropyLoss()
    assert_same_sums(model, loss, inputs, targets, plain_gradients(model, alone, inputs, targets), 1e-10)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e30])
def test_records_that_are_not_finite_count_as_zero_as_in_sotto(bad):
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    inputs, targets = torch.randn(6, 3), torch.randint(2, (6,))
    inputs[2, 0], inputs[4] = bad, 0
    model[0].weight.data[:, 0] = 1.0
    rows = plain_gradients(model, nn.CrossEntropyLoss(), [inputs], targets)
    found = found_of(model, LOSS, [inputs], targets)
    wanted, norms = sotto.clipped_sum(rows.numpy(), with_room(0.5, torch.float32))
    if bad != 1e30:  # whose square is beyond single precision: it counts as zero too
        assert numpy.array_equal(numpy.isnan(norms), [i == 2 for i in range(6)])
        assert_close(found.clipped_sum(0.5), torch.from_numpy(wanted).float())
    assert torch.isfinite(found.clipped_sum(0.5)).all()
    kept = [0, 1, 3, 4, 5]
    assert_close(found.norms()[kept], torch.from_numpy(norms)[kept])


def test_a_record_without_gradient_adds_nothing():
    model = nn.Linear(3, 2)
    inputs, targets = torch.randn(3, 3), torch.tensor([0, -100, 1])
    found = found_of(model, LOSS, [inputs], targets)
    assert found.norms()[1] == 0 and not found.clipped(1, 0.1).any()


def test_positions_that_cancel_have_no_norm_below_the_true_one():
    """Two positions with opposite slopes, whose products are a million times their sum."""
    values = 1000 * torch.randn(4, 1, 1, 40)
    values = torch.cat([values, values + 1e-3 * torch.randn(4, 1, 1, 40)], 2)
    slopes = torch.randn(4, 1, 1, 30)
    term = Products(torch.cat([slopes, -slopes], 2), values)
    norms = term.rows().double().norm(dim=1)
    assert bool((ParameterGradients([term]).squared_norms().sqrt() >= norms * (1 - 1e-4)).all())


def test_terms_of_all_kinds_add_up():
    product = Products(torch.randn(3, 1, 4, 6).double(), torch.randn(3, 1, 4, 9).double())
    place = Places(6, torch.randint(6, (3, 5)), torch.randn(3, 5, 9).double())
    row = Rows(torch.randn(3, 54).double())
    for terms in ([product, place], [product, place, row], [row, row], [product, product], [place, place]):
        gradients, rows = ParameterGradients(terms), sum(term.rows() for term in terms)
        assert_close(gradients.squared_norms(), rows.square().sum(1), 1e-12)
        total, weights = torch.full((54,), math.nan).double(), torch.rand(3).double()
        gradients.weigh(weights, total)
        assert_close(total, weights @ rows, 1e-12)


def encoder(dropout):
    layer = nn.TransformerEncoderLayer(6, 2, 8, dropout, batch_first=True)
    return nn.Sequential(nn.Linear(4, 6), nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Dropout(dropout), nn.Linear(30, 2))


class Wrapped(nn.Module):
    """A model of the user's own."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)


SEQUENCES = TensorDataset(torch.randn(8, 5, 4), torch.arange(8) % 2)


def test_masks_of_dropout_are_given_again_to_single_passes(monkeypatch):
    again = []
    monkeypatch.setattr(RowCheck, "_without_randomness", lambda *given: again.append(given))
    for model in (encoder(0.3), nn.Sequential(nn.Linear(4, 3), nn.Flatten(), nn.Dropout(0.5), nn.Linear(15, 2))):
        peer, agent = peer_of(model, SEQUENCES)
        assert peer.gradients == "ghost"
        peer.train()
        assert agent.round == 3 and not again
    found = peer._way.find(Batch((SEQUENCES.tensors[0],), SEQUENCES.tensors[1]))
    assert len(found.masks._drawn) == 1


def test_an_encoder_with_dropout_in_a_model_of_ones_own_is_vectorised():
    peer, _ = peer_of(Wrapped(encoder(0.3)), SEQUENCES)
    assert peer.gradients == "vectorised"
    peer.train()


def test_an_encoder_with_records_second_is_not_known():
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0)
    try:
        peer, _ = peer_of(nn.Sequential(layer, nn.Flatten(), nn.Linear(20, 2)), SEQUENCES)
    except ModelError:
        return
    assert peer.gradients != "ghost"


def test_one_record_of_every_round_is_compared_and_two_on_average():
    model = nn.Linear(3, 2)
    check = RowCheck(model, RecordLoss(LOSS, CPU), FlatParameters(model), Modes(model), CPU, 16)
    counts, places = [], numpy.zeros(16)
    for _ in range(4000):
        check.begin_round()
        chosen = check.choose(16)
        assert chosen == sorted(set(chosen)) and len(chosen) >= 1
        counts.append(len(chosen))
        places[chosen] += 1
    assert 1.9 < numpy.mean(counts) < 2.1 and places.min() > 400 and places.max() < 600
    assert RowCheck(model, RecordLoss(LOSS, CPU), FlatParameters(model), Modes(model), CPU, 1).choose(1) == [0]


@pytest.mark.parametrize("lengthen", [1.01, -1.0, 0.5])
def test_wrong_weights_end_the_job_before_anything_is_sent(monkeypatch, lengthen):
    peer, agent = peer_of(nn.Sequential(nn.Linear(4, 3), nn.Flatten(), nn.Linear(15, 2)), SEQUENCES)
    weights = RecordSum.weights
    monkeypatch.setattr(RecordSum, "weights", lambda *given: lengthen * weights(*given))
    with pytest.raises(ModelError, match="by ghost a record's clipped gradient"):
        peer.step()
    assert agent.round == 0 and not agent.sums


def test_wrong_norms_end_the_job_before_anything_is_sent(monkeypatch):
    peer, agent = peer_of(nn.Sequential(nn.Linear(4, 3), nn.Flatten(), nn.Linear(15, 2)), SEQUENCES, clip_norm=1e-3)
    norms = RecordSum.norms
    monkeypatch.setattr(RecordSum, "norms", lambda found: 1.01 * norms(found))
    with pytest.raises(ModelError, match="by ghost"):
        peer.step()
    assert agent.round == 0 and not agent.sums


def test_a_parameter_that_is_used_without_its_layer_is_refused():
    class Uses(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 2)

        def forward(self, x):
            return self.linear(x.mean(1)) + self.linear.weight.sum(1)

    with pytest.raises(ModelError, match="does not find this model's gradients"):
        peer_of(Uses(), SEQUENCES, gradients="ghost")
