"""Every rule of a layer gives the gradients that one backward pass a record gives."""
import pytest
import torch
from torch import nn

from per_record import assert_close, assert_same_sums, gradients_by, plain_gradients
from sotto.torch.layers import RULES
from sotto.torch.unrolled import UNROLLED

RECORDS = 5


class Recurrent(nn.Module):
    """A cell over the steps of a sequence: the same layer called several times."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, sequence):
        state = self.cell(sequence[:, 0])
        for step in range(1, sequence.shape[1]):
            state = self.cell(sequence[:, step], state)
        return torch.cat(state, 1) if isinstance(state, tuple) else state


class Whole(nn.Module):
    """A whole recurrent layer, of which the outputs and last states count."""

    def __init__(self, layer, first=True):
        super().__init__()
        self.layer, self.first = layer, first

    def forward(self, sequence):
        outputs, state = self.layer(sequence if self.first else sequence.transpose(0, 1))
        state = torch.cat([x.transpose(0, 1).flatten(1) for x in (state if isinstance(state, tuple) else (state,))], 1)
        return torch.cat([(outputs if self.first else outputs.transpose(0, 1)).flatten(1), state], 1)


class Attends(nn.Module):
    """Attention of a sequence to itself, or to another that follows from it."""

    def __init__(self, layer, other=None, mask=None, padding=False, first=True):
        super().__init__()
        self.layer, self.other, self.first = layer, other, first
        self.padding = padding
        self.register_buffer("mask", mask)

    def forward(self, x):
        keys = x if self.other is None else self.other(x[:, :3])
        hidden = (torch.arange(keys.shape[1]) >= 3).expand(len(x), -1) if self.padding else None
        query = x
        if not self.first:
            query = x.transpose(0, 1)
            keys = query if self.other is None else keys.transpose(0, 1)
        found, weights = self.layer(query, keys, keys, key_padding_mask=hidden, attn_mask=self.mask)
        found = found if self.first else found.transpose(0, 1)
        return torch.cat([found.flatten(1), weights.flatten(1)], 1)


class Own(nn.Module):
    """A layer of the user's own, with a parameter."""

    def __init__(self, *shape):
        super().__init__()
        self.offset, self.scale = nn.Parameter(torch.randn(shape)), nn.Parameter(torch.randn(shape[-1]))

    def forward(self, x):
        return (x + self.offset) * self.scale


def fixed(layer, shape):
    """A normalisation with statistics of some data, in eval()."""
    for _ in range(3):
        layer(torch.randn(16, *shape) * 2 + 1)
    return layer.eval()


IMAGE, SIGNAL, VOLUME = (6, 9, 8), (6, 11), (4, 5, 6, 5)
CASES = {
    "linear": lambda: (nn.Linear(7, 4), (7,)),
    "linear without bias": lambda: (nn.Linear(7, 4, bias=False), (7,)),
    "linear over a sequence": lambda: (nn.Linear(7, 4), (3, 7)),
    "linear over a grid": lambda: (nn.Linear(7, 4), (3, 2, 7)),
    "conv1d": lambda: (nn.Conv1d(6, 4, 3), SIGNAL),
    "conv1d, circular padding": lambda: (nn.Conv1d(6, 4, 3, padding=2, padding_mode="circular"), SIGNAL),
    "conv1d, even kernel, same": lambda: (nn.Conv1d(6, 4, 4, padding="same"), SIGNAL),
    "conv2d": lambda: (nn.Conv2d(6, 4, 3), IMAGE),
    "conv2d without bias": lambda: (nn.Conv2d(6, 4, 3, bias=False), IMAGE),
    "conv2d, padding": lambda: (nn.Conv2d(6, 4, 3, padding=1), IMAGE),
    "conv2d, unequal everything": lambda: (nn.Conv2d(6, 4, (3, 2), stride=(2, 3), padding=(2, 1), dilation=(2, 1)), IMAGE),
    "conv2d, stride that leaves a rest": lambda: (nn.Conv2d(6, 4, 2, stride=3), IMAGE),
    "conv2d, groups": lambda: (nn.Conv2d(6, 4, 3, groups=2, padding=1), IMAGE),
    "conv2d, a group a channel": lambda: (nn.Conv2d(6, 12, 3, groups=6), IMAGE),
    "conv2d, same": lambda: (nn.Conv2d(6, 4, (3, 2), padding="same", dilation=2), IMAGE),
    "conv2d, valid": lambda: (nn.Conv2d(6, 4, 3, padding="valid"), IMAGE),
    "conv2d, reflected padding": lambda: (nn.Conv2d(6, 4, 3, padding=(2, 1), padding_mode="reflect"), IMAGE),
    "conv2d, replicated padding": lambda: (nn.Conv2d(6, 4, 3, padding="same", padding_mode="replicate"), IMAGE),
    "conv3d": lambda: (nn.Conv3d(4, 6, (2, 3, 2), stride=2, padding=1, groups=2), VOLUME),
    "layer norm": lambda: (nn.LayerNorm(7), (7,)),
    "layer norm over a sequence": lambda: (nn.LayerNorm(7), (3, 7)),
    "layer norm over two axes": lambda: (nn.LayerNorm((9, 8)), IMAGE),
    "group norm": lambda: (nn.GroupNorm(3, 6), IMAGE),
    "group norm of vectors": lambda: (nn.GroupNorm(2, 6), (6,)),
    "instance norm 1d": lambda: (nn.InstanceNorm1d(6, affine=True), SIGNAL),
    "instance norm 2d": lambda: (nn.InstanceNorm2d(6, affine=True), IMAGE),
    "instance norm 3d": lambda: (nn.InstanceNorm3d(4, affine=True), VOLUME),
    "instance norm with fixed statistics": lambda: (
        fixed(nn.InstanceNorm2d(6, affine=True, track_running_stats=True), IMAGE), IMAGE),
    "batch norm 1d with fixed statistics": lambda: (fixed(nn.BatchNorm1d(6), (6,)), (6,)),
    "batch norm 2d with fixed statistics": lambda: (fixed(nn.BatchNorm2d(6), IMAGE), IMAGE),
    "batch norm 3d with fixed statistics": lambda: (fixed(nn.BatchNorm3d(4), VOLUME), VOLUME),
    "conv2d, more channels than positions": lambda: (nn.Conv2d(40, 50, 3), (40, 4, 5)),
    "conv1d, many channels": lambda: (nn.Conv1d(36, 5, 3, stride=2), (36, 11)),
    "wide linear over a short sequence": lambda: (nn.Linear(30, 20), (3, 30)),
    "rnn": lambda: (Whole(nn.RNN(7, 3, batch_first=True)), (4, 7)),
    "rnn, relu, records second": lambda: (Whole(nn.RNN(7, 3, 2, nonlinearity="relu", bias=False), False), (4, 7)),
    "gru, two levels, both directions": lambda: (Whole(nn.GRU(7, 3, 2, bidirectional=True, batch_first=True)), (4, 7)),
    "lstm": lambda: (Whole(nn.LSTM(7, 3, batch_first=True)), (4, 7)),
    "lstm, two levels, both directions": lambda: (Whole(nn.LSTM(7, 3, 2, bidirectional=True, batch_first=True)), (5, 7)),
    "attention": lambda: (Attends(nn.MultiheadAttention(6, 2, batch_first=True)), (5, 6)),
    "attention, records second, without bias": lambda: (Attends(nn.MultiheadAttention(6, 3, bias=False), first=False), (5, 6)),
    "attention, masked": lambda: (Attends(nn.MultiheadAttention(6, 2, batch_first=True), padding=True,
                                          mask=torch.triu(torch.ones(5, 5), 1).bool()), (5, 6)),
    "attention to others": lambda: (Attends(nn.MultiheadAttention(6, 2, batch_first=True), nn.Linear(6, 6)), (5, 6)),
    "attention to others of another width": lambda: (
        Attends(nn.MultiheadAttention(6, 2, kdim=4, vdim=4, batch_first=True), nn.Linear(6, 4)), (5, 6)),
    "encoder": lambda: (nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, 0.0, batch_first=True), 2), (5, 6)),
    "a layer of one's own": lambda: (Own(5, 6), (5, 6)),
    "a layer of one's own, called twice": lambda: (nn.Sequential(*[Own(5, 6)] * 2), (5, 6)),
    "a layer with two inputs, by vmap": lambda: (nn.ConvTranspose1d(6, 4, 3), SIGNAL),
    "prelu": lambda: (nn.PReLU(), IMAGE),
    "prelu, one slope a channel": lambda: (nn.PReLU(6), IMAGE),
    "prelu of vectors": lambda: (nn.PReLU(6), (6,)),
    "rnn cell, tanh": lambda: (Recurrent(nn.RNNCell(7, 3)), (4, 7)),
    "rnn cell, relu": lambda: (Recurrent(nn.RNNCell(7, 3, nonlinearity="relu", bias=False)), (4, 7)),
    "gru cell": lambda: (Recurrent(nn.GRUCell(7, 3)), (4, 7)),
    "lstm cell": lambda: (Recurrent(nn.LSTMCell(7, 3)), (4, 7)),
}
EMBEDDINGS = {
    "embedding of one": lambda: (nn.Embedding(5, 3), ()),
    "embedding of a sequence with repetitions": lambda: (nn.Embedding(5, 3), (9,)),
    "embedding of a grid": lambda: (nn.Embedding(5, 3), (2, 4)),
    "bag of sums": lambda: (nn.EmbeddingBag(5, 3, mode="sum"), (9,)),
    "bag of means": lambda: (nn.EmbeddingBag(5, 3), (9,)),
    "bag of means with padding": lambda: (nn.EmbeddingBag(5, 3, padding_idx=1), (9,)),
    "embedding with padding": lambda: (nn.Embedding(5, 3, padding_idx=2), (9,)),
}


def with_head(layer, inputs):
    """The layer between others, so that slopes of its outputs are of all signs and differ by record."""
    with torch.no_grad():
        width = layer(inputs).flatten(1).shape[1]
    return nn.Sequential(layer, nn.Flatten(), nn.Tanh(), nn.Linear(width, 3)).double()


def assert_same_gradients(layer, inputs):
    for parameter in layer.parameters():  # weights of norms start as ones, biases as zeros
        parameter.data += 0.3 * torch.randn_like(parameter)
    model = with_head(layer, inputs)
    inputs = inputs.double() if inputs.is_floating_point() else inputs
    targets = torch.randint(3, (RECORDS,))
    loss = nn.CrossEntropyLoss()
    wanted = plain_gradients(model, loss, [inputs], targets)
    assert_close(gradients_by("ghost", model, loss, [inputs], targets), wanted, 1e-10)
    assert_same_sums(model, loss, [inputs], targets, wanted, 1e-10)
    model.float()
    single = inputs.float() if inputs.is_floating_point() else inputs
    assert_close(gradients_by("ghost", model, loss, [single], targets), wanted.float())
    assert_same_sums(model, loss, [single], targets, wanted, 3e-5)


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_records_are_those_of_single_records(case):
    layer, shape = CASES[case]()
    assert_same_gradients(layer, torch.randn(RECORDS, *shape))


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_gradients_of_embeddings_are_those_of_single_records(case):
    layer, shape = EMBEDDINGS[case]()
    assert_same_gradients(layer, torch.randint(5, (RECORDS, *shape)))


def test_every_rule_has_a_case():
    tried = {type(layer) for make in (*CASES.values(), *EMBEDDINGS.values()) for layer in make()[0].modules()}
    assert {*RULES, *UNROLLED} <= tried


@pytest.mark.parametrize("records", [1, 2])
def test_few_records_have_right_gradients(records):
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(16, 2))
    inputs, targets = torch.randn(records, 1, 4, 4), torch.randint(2, (records,))
    loss = nn.CrossEntropyLoss()
    assert_close(gradients_by("ghost", model, loss, [inputs], targets), plain_gradients(model, loss, [inputs], targets))
