"""Data, passes and models that try to bring one record's data into another one's gradient, or more records than were counted."""
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

sotto = pytest.importorskip("sotto")
pytest.importorskip("sotto._core")
import sotto.torch  # noqa: E402

INPUTS = torch.randn(60, 4, generator=torch.Generator().manual_seed(1))
CLASSES = (INPUTS.sum(1) > 0).long()
DATA = TensorDataset(INPUTS, CLASSES)
LOSS = nn.functional.cross_entropy
PLAN = dict(epsilon=8, mechanism="ldp", rounds=6, batch_size=20, max_grad_norm=1.0, step_size=1.0, quiet=True)


def peer_of(**options):
    return sotto.torch.make_private(nn.Linear(4, 2), **(PLAN | {"data": DATA, "loss": nn.CrossEntropyLoss()} | options))


def rows_of(peer, rows):
    return torch.from_numpy(peer._rows_of_records(peer.agent.model, torch.tensor(rows).numpy()))


def test_a_sampler_that_repeats_a_record_changes_no_batch():
    loader = DataLoader(DATA, batch_sampler=[[3] * 20] * 10)
    peer = peer_of(data=loader)
    assert len(peer._records) == 60
    for _ in range(6):
        rows = peer.agent.batch().tolist()
        assert len(set(rows)) == len(rows)
        peer.step()


def test_a_collate_that_adds_other_records_gets_none():
    def mixing(items):
        inputs = torch.stack([x for x, _ in items])
        return inputs + inputs.sum(0), torch.stack([y for _, y in items])

    peer = peer_of(data=DataLoader(DATA, collate_fn=mixing))
    assert torch.equal(rows_of(peer, [0, 1, 2])[0], rows_of(peer, [0, 7, 9, 30])[0])


@pytest.mark.parametrize("forward", [
    lambda model, batch: LOSS(model(batch[0]), batch[1], reduction="none") + model(batch[0]).mean(),
    lambda model, batch: LOSS(model(batch[0] - batch[0].mean(0)), batch[1], reduction="none"),
    lambda model, batch: LOSS(model(batch[0].flip(0)), batch[1].flip(0), reduction="none"),
], ids=["mean of outputs", "centred inputs", "order"])
def test_a_pass_that_mixes_records_is_refused(forward):
    with pytest.raises(sotto.torch.ModelError, match="depends on the other records of its batch"):
        peer_of(loss=None, forward=forward)


def test_a_pass_that_keeps_records_for_later_ends_the_job():
    kept = [torch.zeros(4)]

    def forward(model, batch):
        kept.append(batch[0][0].detach())
        return LOSS(model(batch[0] + 5 * kept[-2]), batch[1])

    peer = peer_of(loss=None, forward=forward, gradients="one-by-one")
    with pytest.raises(sotto.torch.ModelError, match="a record's clipped gradient is not that of a pass of this record alone"):
        peer.step()
    assert peer.agent.round == 0 and not peer.more


def test_items_that_change_are_those_of_one_record():
    class Noisy(Dataset):
        def __len__(self):
            return 60

        def __getitem__(self, row):
            return INPUTS[row] + torch.randn(4), CLASSES[row]

    peer = peer_of(data=Noisy())
    assert peer.train()["rounds"] == 6


def test_a_data_set_that_grows_is_refused():
    class Growing(Dataset):
        length = 60

        def __len__(self):
            return self.length

        def __getitem__(self, row):
            return INPUTS[row % 60], CLASSES[row % 60]

    data = Growing()
    peer = peer_of(data=data)
    data.length = 80
    with pytest.raises(sotto.torch.ModelError, match="dataset: 80 records, and 60 when training began; it must not change"):
        peer.step()
    assert peer.agent.round == 0
