"""make_private with the kinds of models, batches and losses that users of torch have, in one process."""
import dataclasses
import gc
import json
import re

import psutil
import pytest
import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, TensorDataset

sotto = pytest.importorskip("sotto")
pytest.importorskip("sotto._core")
import sotto.torch  # noqa: E402

PLAN = dict(epsilon=8, mechanism="ldp", rounds=60, batch_size=60, max_grad_norm=1.0, step_size=1.0, quiet=True)
RECORDS = 600


def trained(model, data, **options):
    """The closed peer, and its evaluation on its own data."""
    with sotto.torch.make_private(model, data=data, **(PLAN | options)) as peer:
        peer.train()
    assert peer.epsilon <= 8
    return peer, peer.evaluate(data)


def numbers(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


def tokens(length=9):
    return torch.randint(0, 20, (RECORDS, length), generator=torch.Generator().manual_seed(1))


SEQUENCES = numbers(RECORDS, 7, 4)
SIGNS = (SEQUENCES.mean((1, 2)) > 0).long()
TOKENS = tokens()
SMALL = ((TOKENS < 7).sum(1) > 3).long()
VECTORS = TensorDataset(SEQUENCES.mean(1), SIGNS)
CROSS_ENTROPY = nn.CrossEntropyLoss()


class Items(Dataset):
    """Items made by a function of their number."""

    def __init__(self, make):
        self._make = make

    def __len__(self):
        return RECORDS

    def __getitem__(self, row):
        return self._make(row)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.out = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.layer(x)[0].mean(1))


def test_an_lstm_learns_to_classify():
    _, found = trained(Recurrent(), TensorDataset(SEQUENCES, SIGNS), loss=CROSS_ENTROPY)
    assert found.accuracy > 0.75


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    loss: object = None


class OfTokens(nn.Module):
    """Called with a dictionary of arguments, with a dataclass of outputs."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(20, 8), nn.Linear(8, 2)

    def forward(self, input_ids, attention_mask, labels=None):
        hidden = (self.embedding(input_ids) * attention_mask[..., None]).sum(1) / attention_mask.sum(1, keepdim=True)
        logits = self.out(hidden)
        return Output(logits, None if labels is None else nn.functional.cross_entropy(logits, labels))


DICTIONARIES = Items(lambda row: {"input_ids": TOKENS[row], "attention_mask": torch.ones(9), "labels": SMALL[row]})


def share(outputs, targets):
    return (outputs.argmax(1) == targets).float().mean()


@pytest.mark.parametrize("options", [
    {"loss": CROSS_ENTROPY}, {"forward": lambda model, batch: ((out := model(**batch)).loss, out)},
    {"forward": lambda model, batch: (nn.functional.cross_entropy((out := model(**batch)).logits, batch["labels"], reduction="none"), out)},
], ids=["loss", "own loss", "losses of records"])
def test_dictionaries_go_in_and_dataclasses_come_out(options):
    peer, found = trained(OfTokens(), DICTIONARIES, metrics={"share": share}, **options)
    assert found.metrics["share"] == pytest.approx(found.accuracy) and found.accuracy > 0.8
    assert peer.gradients == "vectorised"


def test_a_model_may_have_the_loss_itself():
    model = OfTokens()
    model.config = {}
    _, found = trained(model, DICTIONARIES)
    assert found.accuracy > 0.8


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.classes, self.value = nn.Linear(4, 2), nn.Linear(4, 1)

    def forward(self, x):
        return self.classes(x), self.value(x)


def test_targets_may_be_tuples():
    def loss(outputs, targets):
        return nn.functional.cross_entropy(outputs[0], targets[0]) + nn.functional.mse_loss(outputs[1][:, 0], targets[1])

    data = Items(lambda row: (SEQUENCES[row].mean(0), (SIGNS[row], SEQUENCES[row].mean(0).sum())))
    model = TwoHeads()
    trained(model, data, loss=loss)
    assert (model(SEQUENCES.mean(1))[0].argmax(1) == SIGNS).float().mean() > 0.9


def padded(items):
    return (pad_sequence([words for words, _ in items], batch_first=True), torch.tensor([len(words) for words, _ in items]),
            torch.tensor([label for _, label in items]))


class OfRagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(20, 8), nn.Linear(8, 2)

    def forward(self, words, lengths):
        counts = (torch.arange(words.shape[1])[None] < lengths[:, None]).float()
        return self.out((self.embedding(words) * counts[..., None]).sum(1) / lengths[:, None])


RAGGED = Items(lambda row: (TOKENS[row, :5 + row % 5], int(SMALL[row])))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_collates_ragged_items(workers, capfd):
    loader = DataLoader(RAGGED, batch_size=7, shuffle=True, collate_fn=padded, num_workers=workers)
    _, found = trained(OfRagged(), loader, loss=CROSS_ENTROPY)
    assert found.accuracy > 0.65
    assert "torch cannot vectorise it: records of different shapes take a pass each; pad all to one shape" in capfd.readouterr().err
    gc.collect()
    assert not psutil.Process().children(), "workers have ended"


def test_padding_by_other_records_does_not_reach_a_record():
    """A model that sees padding would mix records if a batch were collated as a whole."""
    class Blind(OfRagged):
        def forward(self, words, lengths):
            return self.out(self.embedding(words).mean(1))

    model = Blind()
    peer = sotto.torch.make_private(model, data=DataLoader(RAGGED, collate_fn=padded), loss=CROSS_ENTROPY, **PLAN)
    records = peer._records.batch(torch.tensor([0, 4]).numpy())
    together = peer._model(*records.inputs)
    alone = [nn.functional.cross_entropy(model(*padded([RAGGED[row]])[:2]), SMALL[row:row + 1]) for row in (0, 4)]
    assert torch.allclose(together, torch.stack(alone))


def test_the_sampler_of_a_loader_has_no_effect():
    sampled = DataLoader(VECTORS, sampler=[3] * 50, batch_size=10)
    peer = sotto.torch.make_private(nn.Linear(4, 2), data=sampled, loss=CROSS_ENTROPY, **PLAN)
    assert len(peer._records) == RECORDS and peer.agent.batch_size == 60
    rows = peer.agent.batch()
    assert len(set(rows.tolist())) == len(rows)


def test_epochs_are_records_over_the_batch():
    options = {name: value for name, value in PLAN.items() if name not in ("rounds", "batch_size")}
    peer = sotto.torch.make_private(nn.Linear(4, 2), data=DataLoader(VECTORS, batch_size=100), loss=CROSS_ENTROPY, epochs=4, **options)
    assert (len(peer), peer.agent.rounds, peer.agent.batch_size) == (6, 24, 100)
    turns = [[batch.epoch for batch in peer if peer.step() or True] for _ in range(4)]
    assert turns == [[epoch] * 6 for epoch in range(4)] and not peer.more


def test_a_loop_without_steps_is_refused():
    peer = sotto.torch.make_private(nn.Linear(4, 2), data=VECTORS, loss=CROSS_ENTROPY, **PLAN)
    with pytest.raises(sotto.torch.ModelError, match=re.escape("loop: 0 rounds were done in one turn; call peer.step() once in the loop's body")):
        for _ in peer:
            pass


class Squeezed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x).squeeze()


def test_a_squeeze_may_take_the_axis_of_a_single_record():
    _, found = trained(Squeezed(), TensorDataset(SEQUENCES.mean(1), SIGNS.float()), loss=nn.BCEWithLogitsLoss(), step_size=4)
    assert found.accuracy > 0.9


class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x.reshape(32, -1))


def encoded(outputs, _):
    outputs = nn.functional.normalize(outputs)
    return nn.functional.cross_entropy(outputs @ outputs.t(), torch.arange(len(outputs)))


REFUSED = {
    "fixed batch": (Fixed(), {"loss": CROSS_ENTROPY}, "model: a batch of one record fails: shape '[32, -1]' is invalid for input of size 4; "
                    "records are run alone, so use x.shape[0] where a batch size is fixed, and no layer that needs other records"),
    "negatives of the batch": (nn.Linear(4, 6), {"loss": encoded}, "it needs the other records of a batch, as with negatives from the batch; "
                               "use a loss of one record, with negatives from its own data or a public set"),
    "negatives in forward": (nn.Linear(4, 6), {"forward": lambda model, batch: encoded(model(batch[0]), None)},
                             "neither a mean nor the sum of those of single records (0, 0, 0)"),
    "records": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "records": 5}, "records: 5; the data have 600, so leave records out or give 600"),
    "two losses": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "forward": len}, "loss: given with forward, which has the loss itself; give one of them"),
    "no loss": (nn.Linear(4, 2), {}, "loss: not given; give loss=f(outputs, targets)"),
    "batch norm": (nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), {"loss": CROSS_ENTROPY},
                   "model: layer '1': BatchNorm1d mixes the records of a batch; use GroupNorm (or keep it in eval() with statistics from "
                   "public data); sotto.torch.fix(model) returns a repaired copy"),
    "noise multiplier": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "noise_multiplier": 1.1}, "noise_multiplier: not allowed here; give epsilon "
                         "(and delta), from which sotto finds the noise that all agents need together"),
    "two epsilons": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "target_epsilon": 3}, "target_epsilon: 3, and epsilon: 8; give one of them"),
    "epochs alone": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "epochs": 3, "rounds": None, "batch_size": None}, "epochs: 3 needs batch_size"),
    "no epsilon": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "epsilon": None}, "epsilon: not given; say how much a record may reveal"),
    "option": (nn.Linear(4, 2), {"loss": CROSS_ENTROPY, "maxx_grad_norm": 1}, "maxx_grad_norm: no such option of train"),
}


@pytest.mark.parametrize("model, options, message", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_says_what_to_use(model, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        sotto.torch.make_private(model, data=VECTORS, **(PLAN | options))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.layer, self.out = nn.Embedding(20, 8), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.layer(self.embedding(x))[0]).transpose(1, 2)


class Checkpointed(nn.Module):
    def __init__(self, **how):
        super().__init__()
        self.first, self.second, self._how = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 2), how

    def forward(self, x):
        return self.second(torch.utils.checkpoint.checkpoint(self.first, x, **self._how))


def test_activations_may_be_computed_again():
    _, found = trained(Checkpointed(use_reentrant=False), VECTORS, loss=CROSS_ENTROPY, rounds=30, step_size=4)
    assert found.accuracy > 0.8
    with pytest.raises(sotto.torch.ModelError, match="use_reentrant=False"):
        trained(Checkpointed(use_reentrant=True), VECTORS, loss=CROSS_ENTROPY)


def test_the_accuracy_of_sequences_is_the_share_of_positions():
    _, found = trained(Tagger(), TensorDataset(TOKENS, (TOKENS < 7).long()), loss=CROSS_ENTROPY, step_size=3)
    assert found.accuracy > 0.9
    right = sotto.torch.metrics.right_classes
    scores, targets = torch.tensor([[[1., 0, 0], [0, 1, 1]]]).repeat(2, 1, 1), torch.tensor([[0, 1, 0], [-100, -100, -100]])
    assert right(scores, targets).tolist() == [pytest.approx(2 / 3), 1.0]
    assert right(torch.nn.functional.one_hot(targets.clamp(min=0), 4), targets).tolist() == [1.0, 1.0]


class PerToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(20, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.embedding(x)).transpose(1, 2)


@pytest.mark.parametrize("ignored", [-100, 0])
def test_places_that_losses_leave_out_can_be_vectorised_and_do_not_count(ignored):
    targets = torch.where(TOKENS > 12, torch.full_like(TOKENS, ignored), (TOKENS < 7).long() + 1)
    peer, found = trained(PerToken(), TensorDataset(TOKENS, targets), loss=nn.CrossEntropyLoss(ignore_index=ignored), step_size=3)
    assert peer.gradients == "vectorised" and found.accuracy > 0.9


class Auto(nn.Module):
    """Draws random numbers in eval() too."""

    def __init__(self):
        super().__init__()
        self.coder, self.decoder = nn.Linear(4, 4), nn.Linear(2, 4)

    def forward(self, x):
        mean, spread = self.coder(x).chunk(2, 1)
        return self.decoder(mean + torch.randn_like(mean) * (spread / 2).exp()), mean, spread


def bound(outputs, x):
    decoded, mean, spread = outputs
    return ((decoded - x) ** 2).sum(1).mean() - 0.5 * (1 + spread - mean ** 2 - spread.exp()).sum(1).mean()


def test_a_variational_model_trains():
    data = TensorDataset(SEQUENCES[:, 0], SEQUENCES[:, 0])
    model = Auto()
    before = bound(model(SEQUENCES[:, 0]), SEQUENCES[:, 0])
    peer, found = trained(model, data, loss=bound, step_size=0.1)
    assert peer.gradients == "vectorised" and found.loss < before - 0.3


def test_dropout_may_be_a_function():
    class Dropping(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(4, 16), nn.Linear(16, 2)

        def forward(self, x):
            return self.second(nn.functional.dropout(torch.relu(self.first(x)), 0.3))

    _, found = trained(Dropping(), VECTORS, loss=CROSS_ENTROPY)
    assert found.accuracy > 0.85


def test_a_loop_that_still_steps_the_optimizer_is_refused_and_changes_nothing():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    peer = sotto.torch.make_private(model, loss=CROSS_ENTROPY, data=VECTORS, optimizer=optimizer,
                                    **{name: value for name, value in PLAN.items() if name != "step_size"})
    torch.optim.lr_scheduler.StepLR(optimizer, 5).step()
    before = peer.state_dict()["weight"]
    with pytest.raises(sotto.torch.ModelError, match=r"optimizer: step\(\) would train the model without privacy; call peer.step\(\)"):
        optimizer.step()
    torch.optim.SGD(model.parameters(), lr=1.0)  # another one, of which sotto does not know
    with torch.no_grad():
        model.weight += 5
    assert torch.equal(peer.state_dict()["weight"], before)
    peer.train()
    assert peer.evaluate(VECTORS).accuracy > 0.8
    peer.close()


def test_a_pass_may_give_outputs_that_have_loss_and_logits():
    class Outputs(nn.Module):
        def __init__(self):
            super().__init__()
            self.scores = nn.Linear(4, 2)

        def forward(self, features, labels):
            scores = self.scores(features)
            return dataclasses.make_dataclass("Found", ["loss", "logits"])(CROSS_ENTROPY(scores, labels), scores)

    items = Items(lambda row: {"features": VECTORS[row][0], "labels": VECTORS[row][1]})
    _, found = trained(Outputs(), items, forward=lambda model, batch: model(**batch))
    assert found.accuracy > 0.8


def test_a_model_keeps_its_values_and_its_precision():
    model = nn.Linear(4, 2)
    before = model.weight.detach().clone()
    peer = sotto.torch.make_private(model, data=VECTORS, loss=CROSS_ENTROPY, **PLAN)
    assert torch.equal(peer.model.weight, before) and peer.model is model
    assert "precision = float32" in open(f"{peer.agent.directory}/config.ini").read()


def test_it_tunes_itself_in_a_notebook():
    data = TensorDataset(numbers(3000, 4), (numbers(3000, 4).sum(1) > 0).long())
    peer = sotto.torch.make_private(nn.Linear(4, 2), data=data, loss=CROSS_ENTROPY, epsilon=4, test=data, quiet=True)
    epsilons = []
    said = peer.train(callbacks=[lambda peer: epsilons.append(peer.epsilon)])
    assert said["test_accuracy"] > 0.9 and epsilons == sorted(epsilons) and 3.9 < epsilons[-1] <= 4
    assert "clip_norm" in said["tuning"]


def ledger(directory):
    return json.loads(open(f"{directory}/ledger.json").read())


def test_callbacks_are_called_after_whole_epochs():
    seen = []
    with sotto.torch.make_private(nn.Linear(4, 2), data=VECTORS, loss=CROSS_ENTROPY, **(PLAN | {"rounds": 25})) as peer:
        peer.train(callbacks=[lambda peer: seen.append(peer.agent.round)])
    assert seen == [10, 20, 25]
    with sotto.torch.make_private(nn.Linear(4, 2), data=VECTORS, loss=CROSS_ENTROPY, **PLAN) as stopped:
        step = stopped.step

        def step_and_stop():
            step()
            if stopped.agent.round == 13:  # as another rank does, in the middle of an epoch
                stopped.stop()

        stopped.step = step_and_stop
        stopped.train(callbacks=[lambda peer: seen.append(peer.agent.round)])
    assert seen == [10, 20, 25, 10] and stopped.agent.round == 13


def test_a_stop_ends_at_once_and_can_be_resumed():
    model = nn.Linear(4, 2)
    peer = sotto.torch.make_private(model, data=VECTORS, loss=CROSS_ENTROPY, **PLAN)
    peer.train(callbacks=[lambda peer: peer.stop() if peer.epoch == 2 else None])
    assert not peer.more and peer.agent.round == 20
    said = ledger(peer.agent.directory)
    assert (said["status"], said["rounds"]["accounted"]) == ("interrupted", 20)
    spent = peer.epsilon
    assert said["headline"]["epsilon"] == pytest.approx(spent) and spent < 6
    peer.close()
    values = sotto.torch.parameters(model)
    with pytest.raises(sotto.ConfigError, match="--rounds: cannot be given with --resume"):
        sotto.torch.make_private(nn.Linear(4, 2), data=VECTORS, loss=CROSS_ENTROPY, resume=peer.agent.directory, **(PLAN | {"rounds": 61}))
    with sotto.torch.make_private(nn.Linear(4, 2), data=VECTORS, loss=CROSS_ENTROPY, resume=peer.agent.directory, **PLAN) as again:
        assert torch.allclose(torch.from_numpy(sotto.torch.parameters(again.model)), torch.from_numpy(values), atol=1e-6)
        again.train()
    assert again._agent.round == 60 and spent < again.epsilon <= 8
    taken = nn.Linear(4, 2)
    sotto.torch.load(taken, peer.agent.directory)
    assert torch.allclose(taken.weight, again.model.weight, atol=1e-6) and again.evaluate(VECTORS).accuracy > 0.6
    with pytest.raises(sotto.torch.ModelError, match="15 trainable parameters, and the run's has 10"):
        sotto.torch.load(nn.Linear(4, 3), peer.agent.directory)
    with pytest.raises(sotto.DataError, match="agent: 1 has no model"):
        sotto.torch.load(taken, peer.agent.directory, agent=1)


@pytest.mark.parametrize("end", ["close", "drop"])
def test_a_peer_that_is_left_early_stops_where_it_is(end):
    peer = sotto.torch.make_private(nn.Linear(4, 2), data=VECTORS, loss=CROSS_ENTROPY, **PLAN)
    directory = peer.agent.directory
    for batch in peer:
        peer.step()
        if batch.number == 4:
            break
    if end == "close":
        peer.close()
        with pytest.raises(sotto.torch.ModelError, match="the peer is closed; make another one"):
            peer.step()
    del batch, peer
    gc.collect()
    assert (ledger(directory)["status"], ledger(directory)["rounds"]["accounted"]) == ("interrupted", 5)


def test_peers_one_after_another_need_no_more_memory():
    def one():
        model = nn.Sequential(nn.Linear(4, 1000), nn.ReLU(), nn.Linear(1000, 100), nn.ReLU(), nn.Linear(100, 2))
        peer = sotto.torch.make_private(model, data=VECTORS, loss=CROSS_ENTROPY, **(PLAN | {"rounds": 2}))
        peer.train()

        return psutil.Process().memory_info().rss / 2 ** 20

    before = max(one() for _ in range(5))
    grown = (max(one() for _ in range(5)) - before) / 5
    assert grown < 4, f"{grown} MiB a peer"


def test_a_model_is_checked_and_fixed():
    class Old(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(20, 12, max_norm=1.0, sparse=True)
            self.norm, self.relu = nn.BatchNorm1d(12), nn.ReLU(inplace=True)
            self.instance, self.out = nn.InstanceNorm1d(12, track_running_stats=True), nn.Linear(12, 2)

        def forward(self, x):
            hidden = self.relu(self.norm(self.embedding(x).transpose(1, 2)))
            return self.out(self.instance(hidden).mean(2) + hidden.mean(2))

    data = TensorDataset(TOKENS, SMALL)
    old = Old()
    found = sotto.torch.check(old, CROSS_ENTROPY, data)
    assert [refusal.part for refusal in found] == ["layer 'embedding'", "layer 'norm'", "layer 'instance'"]
    assert str(found[1]) == ("layer 'norm': BatchNorm1d mixes the records of a batch; use GroupNorm (or keep it in eval() with statistics "
                             "from public data)")
    new = sotto.torch.fix(old)
    assert sotto.torch.check(new, CROSS_ENTROPY, data) == [] and isinstance(old.norm, nn.BatchNorm1d)
    assert new.norm.num_groups == 3 and not new.relu.inplace
    _, reached = trained(new, data, loss=CROSS_ENTROPY)
    assert reached.accuracy > 0.55
    (mixing,) = sotto.torch.check(nn.Linear(4, 6), encoded, VECTORS)
    assert mixing.part == "loss" and "negatives" in mixing.remedy
