"""Gradients of records for whole models, in every way, and the choice of a way."""
import pytest
import torch
from torch import nn

from per_record import CPU, assert_close, checks_of, gradients_by, plain_gradients
from sotto.torch.checks import choose_way
from sotto.torch.data import Batch
from sotto.torch.flat import FlatParameters
from sotto.torch.ghost import layers_without_rule
from sotto.torch.losses import RecordLoss

LOSS = nn.CrossEntropyLoss()


class Tied(nn.Module):
    """Embedding and output share their weights; a layer is called twice."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(6, 4)
        self.hidden = nn.Linear(4, 4)
        self.out = nn.Linear(4, 6, bias=False)
        self.out.weight = self.words.weight

    def forward(self, words):
        return self.out(self.hidden(torch.tanh(self.hidden(self.words(words).sum(1)))))


class TiedByFunction(nn.Module):
    """Uses an embedding's weights without calling the layer: ghost norms cannot see it."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(6, 4)

    def forward(self, words):
        return nn.functional.linear(self.words(words).sum(1), self.words.weight)


class OwnScale(nn.Module):
    """A parameter of the model itself."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([1.5]))
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.scale * self.linear(x)


class SequenceFirst(nn.Module):
    """Turns records away from the first axis."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        return self.linear(x.transpose(0, 1)).sum(0)


class Lstm(nn.Module):
    """A whole LSTM, which no way but one by one can take."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


class Attention(nn.Module):
    """Self-attention over a sequence."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.attention(x, x, x, need_weights=False)[0].mean(1))


class TwoInputs(nn.Module):
    """Words and numbers."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5, 4)
        self.numbers = nn.Linear(3, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, words, numbers):
        return self.out(torch.relu(self.words(words) + self.numbers(numbers)))


def in_place():
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(inplace=True), nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(8, 2))


def weight_norm():
    return nn.Sequential(nn.utils.weight_norm(nn.Linear(3, 4)), nn.Linear(4, 2))


def words(records=5):
    return [torch.randint(5, (records, 7))], torch.randint(2, (records,))


def vectors(records=5):
    return [torch.randn(records, 3)], torch.randint(2, (records,))


def sequences(records=5, width=3):
    return [torch.randn(records, 6, width)], torch.randint(2, (records,))


MODELS = {
    "tied weights": (Tied, words, "vectorised"),
    "layers that write in place": (in_place, vectors, "ghost"),
    "two inputs": (TwoInputs, lambda: ([torch.randint(5, (5,)), torch.randn(5, 3)], torch.randint(2, (5,))), "vectorised"),
    "weights tied by a function": (TiedByFunction, words, "vectorised"),
    "a parameter of the model": (OwnScale, vectors, "vectorised"),
    "normalised weights": (weight_norm, vectors, "vectorised"),
    "records on another axis": (SequenceFirst, sequences, "vectorised"),
    "attention": (Attention, lambda: sequences(width=4), "vectorised"),
    "LSTM": (Lstm, sequences, None),
}


@pytest.mark.parametrize("case", MODELS)
def test_the_chosen_way_gives_gradients_of_single_records(case):
    make, data, way = MODELS[case]
    model, (inputs, targets) = make(), data()
    wanted = plain_gradients(model, LOSS, inputs, targets)
    flat = FlatParameters(model)
    chosen = choose_way("auto", model, RecordLoss(LOSS, CPU), flat, checks_of(model, LOSS),
                        Batch(tuple(x[:3] for x in inputs), targets[:3])).way
    if way is not None:
        assert chosen.name == way
    assert_close(gradients_by(chosen.name, model, LOSS, inputs, targets), wanted)


@pytest.mark.parametrize("way", ["ghost", "vectorised", "one-by-one"])
def test_all_ways_agree(way):
    for make, data in ((Tied, words), (in_place, vectors)):
        model, (inputs, targets) = make(), data()
        wanted = plain_gradients(model, LOSS, inputs, targets)
        assert_close(gradients_by(way, model, LOSS, inputs, targets), wanted)


def test_frozen_parameters_stay_out():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    model[0].weight.requires_grad_(False)
    model[1].bias.requires_grad_(False)
    inputs, targets = vectors()
    wanted = plain_gradients(model, LOSS, inputs, targets)
    assert wanted.shape == (5, 4 + 8)
    for way in ("ghost", "vectorised", "one-by-one"):
        assert_close(gradients_by(way, model, LOSS, inputs, targets), wanted)


def test_a_layer_without_effect_has_zero_gradients():
    class Unused(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused, self.called = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x):
            self.called(x)
            return self.used(x)

    model, (inputs, targets) = Unused(), vectors()
    wanted = plain_gradients(model, LOSS, inputs, targets)
    assert_close(gradients_by("ghost", model, LOSS, inputs, targets), wanted)
    assert float(wanted[:, 8:].abs().max()) == 0


def test_nothing_is_left_on_the_layers_after_a_batch():
    model, (inputs, targets) = in_place(), vectors()
    gradients_by("ghost", model, LOSS, inputs, targets)
    assert not any(layer._forward_hooks or "forward" in layer.__dict__ for layer in model.modules())


class Doubled(nn.Linear):
    """Computes something else than the class that it is derived from."""

    def forward(self, x):
        return 2 * super().forward(x)


def test_a_derived_layer_does_not_have_the_rule_of_its_base():
    model, (inputs, targets) = nn.Sequential(Doubled(3, 2)), vectors()
    assert_close(gradients_by("ghost", model, LOSS, inputs, targets), plain_gradients(model, LOSS, inputs, targets))


def test_a_parameter_beside_layers_has_no_rule():
    assert layers_without_rule(nn.Sequential(OwnScale())) == ["0 (OwnScale)"]


def test_a_hook_that_changes_an_output_is_noticed():
    model, (inputs, targets) = nn.Sequential(nn.Linear(3, 2)), vectors()
    model[0].register_forward_hook(lambda layer, given, output: output * 3)
    chosen = choose_way("auto", model, RecordLoss(LOSS, CPU), FlatParameters(model), checks_of(model, LOSS),
                        Batch(tuple(inputs), targets)).way
    assert chosen.name != "ghost"


def test_dropout_hides_other_values_from_every_record():
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(100, 2, bias=False)).train()
    inputs, targets = [torch.ones(4, 100)], torch.zeros(4, dtype=torch.long)
    for way in ("ghost", "vectorised", "one-by-one"):
        hidden = gradients_by(way, model, LOSS, inputs, targets)[:, :100] == 0
        assert 20 < int(hidden[0].sum()) < 80
        assert not torch.equal(hidden[0], hidden[1])
