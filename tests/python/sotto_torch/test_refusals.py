"""Models in which a record is not alone are refused, and the message says what to use."""
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from stand_in_agent import StandInAgent
from sotto.torch import ModelError, PrivatePeer, dimension

IMAGES = TensorDataset(torch.randn(8, 4, 5, 5), torch.randint(2, (8,)))
VECTORS = TensorDataset(torch.randn(8, 6), torch.randint(2, (8,)))


def peer_of(model, data=VECTORS, loss=None, **options):
    agent = StandInAgent(None, dimension(model), records=len(data))
    return PrivatePeer(model, loss or nn.CrossEntropyLoss(), data, agent, **options)


def flat(layer, width):
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(width, 2))


@pytest.mark.parametrize("layer, data, width, remedy", [
    (nn.BatchNorm1d(6), VECTORS, 6, "GroupNorm"),
    (nn.BatchNorm2d(4), IMAGES, 100, "GroupNorm"),
    (nn.SyncBatchNorm(4), IMAGES, 100, "GroupNorm"),
    (nn.BatchNorm2d(4, track_running_stats=False).eval(), IMAGES, 100, "GroupNorm"),
    (nn.InstanceNorm2d(4, track_running_stats=True), IMAGES, 100, "track_running_stats=False"),
])
def test_layers_that_mix_records_are_refused(layer, data, width, remedy):
    with pytest.raises(ModelError, match=f"{type(layer).__name__}.*{remedy}"):
        peer_of(flat(layer, width), data)


def test_batch_norm_with_fixed_statistics_is_allowed():
    model = flat(nn.BatchNorm2d(4), 100)
    model[0].eval()
    peer = peer_of(model, IMAGES)
    before = model[0].running_mean.clone()
    peer.evaluate(IMAGES)
    peer.step()
    assert not model[0].training and torch.equal(model[0].running_mean, before)


@pytest.mark.parametrize("options", [{"max_norm": 1.0}, {"scale_grad_by_freq": True}, {"sparse": True}])
def test_embeddings_that_change_weights_or_count_over_the_batch_are_refused(options):
    data = TensorDataset(torch.randint(5, (8, 3)), torch.randint(2, (8,)))
    with pytest.raises(ModelError, match=f"Embedding.*{next(iter(options))}="):
        peer_of(flat(nn.Embedding(5, 3, **options), 9), data)


class Centred(nn.Module):
    """Takes the mean of the batch away."""

    def __init__(self, detached=False, dropout=False):
        super().__init__()
        self.linear, self.detached, self.dropout = nn.Linear(6, 2), detached, dropout

    def forward(self, x):
        if self.dropout:
            x = nn.functional.dropout(x, 0.1, self.training)
        mean = x.mean(0)
        return self.linear(x - (mean.detach() if self.detached else mean))


@pytest.mark.parametrize("way", ["auto", "ghost", "vectorised", "one-by-one"])
@pytest.mark.parametrize("options", [{}, {"detached": True}, {"dropout": True}, {"detached": True, "dropout": True}])
def test_models_that_mix_records_in_ways_of_their_own_are_refused(options, way):
    with pytest.raises(ModelError, match="depends on the other records.*GroupNorm"):
        peer_of(Centred(**options), gradients=way)


def test_a_loss_that_compares_all_with_all_is_refused():
    data = TensorDataset(torch.randn(8, 6), torch.randn(8))
    with pytest.raises(ModelError, match="same shape"), pytest.warns(UserWarning):
        peer_of(nn.Linear(6, 1), data, nn.MSELoss())


def test_a_buffer_that_remembers_records_is_refused():
    class Remembers(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 2)
            self.register_buffer("seen", torch.zeros(6))

        def forward(self, x):
            self.seen += x.detach().sum(0)
            return self.linear(x)

    with pytest.raises(ModelError, match="seen"):
        peer_of(Remembers())


def test_a_model_without_trainable_parameters_is_refused():
    model = nn.Linear(6, 2).requires_grad_(False)
    with pytest.raises(ModelError, match="requires_grad"):
        dimension(model)


def test_other_types_than_float_are_refused():
    with pytest.raises(ModelError, match="float16"):
        dimension(nn.Linear(6, 2).half())
    with pytest.raises(ModelError, match="float32, torch.float64|float64"):
        dimension(nn.Sequential(nn.Linear(6, 2), nn.Linear(2, 2).double()))


def test_a_lazy_layer_is_refused():
    with pytest.raises(ModelError, match="lazy"):
        dimension(nn.LazyLinear(2))


def test_another_dimension_is_refused():
    with pytest.raises(ModelError, match="dimension 3.*14"):
        PrivatePeer(nn.Linear(6, 2), nn.CrossEntropyLoss(), VECTORS, StandInAgent(None, 3, records=8))


def test_an_unknown_way_is_refused_with_the_known_ones():
    with pytest.raises(ModelError, match="'quick'.*auto, ghost, vectorised, one-by-one"):
        peer_of(nn.Linear(6, 2), gradients="quick")


def test_ghost_norms_asked_for_where_a_layer_has_no_rule_name_the_layer():
    with pytest.raises(ModelError, match="model itself .Scaled.*layer of their own"):
        peer_of(Scaled(), gradients="ghost")


class Scaled(nn.Module):
    """A parameter beside a layer."""

    def __init__(self):
        super().__init__()
        self.scale, self.linear = nn.Parameter(torch.ones(6)), nn.Linear(6, 2)

    def forward(self, x):
        return self.linear(self.scale * x)


def test_data_without_targets_or_length_are_refused():
    with pytest.raises(ModelError, match="target"):
        peer_of(nn.Linear(6, 2), TensorDataset(torch.randn(8, 6)))
    with pytest.raises(ModelError, match="map-style"):
        PrivatePeer(nn.Linear(6, 2), nn.CrossEntropyLoss(), iter([]), StandInAgent(None, 14, records=0))


def test_rows_beyond_the_data_are_refused():
    agent = StandInAgent(None, 14, records=9, batches=[[8]])
    peer = PrivatePeer(nn.Linear(6, 2), nn.CrossEntropyLoss(), VECTORS, agent)
    with pytest.raises(ModelError, match="row 8 of 8"):
        peer.step()
