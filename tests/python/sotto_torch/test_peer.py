"""A whole agent: training, evaluation, state."""
import math
import warnings

import numpy
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from per_record import assert_close, plain_gradients
from stand_in_agent import StandInAgent
from sotto.torch import ModelError, PrivatePeer, dimension, parameters
from sotto.torch.sums import with_room

LOSS = nn.CrossEntropyLoss()


def separable(records=60):
    """Two classes with their centres far apart."""
    targets = torch.arange(records) % 2
    return TensorDataset(torch.randn(records, 4) + 4 * (targets.unsqueeze(1) - 0.5), targets)


def small_model():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def make(model=None, data=None, test=None, options=None, **agent_options):
    model = model or small_model()
    data = separable() if data is None else data
    agent = StandInAgent(None, dimension(model), records=len(data), initial=parameters(model), **agent_options)
    return PrivatePeer(model, LOSS, data, agent, test=test, **(options or {})), agent


def test_training_learns():
    data = separable()
    peer, _ = make(data=data, rounds=60, step_size=0.5)
    before = peer.evaluate(data)
    assert peer.train() == {"rounds": 60}
    after = peer.evaluate(data)
    assert after.loss < before.loss / 3
    assert after.accuracy > 0.95


def test_steps_say_when_training_ends():
    peer, agent = make(rounds=3)
    assert [peer.step(), peer.step(), peer.step()] == [True, True, False]
    assert agent.round == 3


def test_sotto_gets_rows_of_single_records_in_parts():
    data = separable()
    model = small_model()
    rows = [3, 1, 4, 15, 9, 2, 6]
    peer, agent = make(model, data, options={"gradients": "vectorised"}, batches=[rows], micro_batch=3)
    wanted = plain_gradients(model, LOSS, [data.tensors[0][rows]], data.tensors[1][rows])
    peer.step()
    assert [len(call) for call in agent.calls] == [3, 3, 1] and not agent.sums
    assert agent.calls[0].dtype == numpy.float32
    assert_close(torch.from_numpy(numpy.concatenate(agent.calls)), wanted)


def test_sotto_gets_clipped_sums_and_norms_in_parts():
    data = separable()
    model = small_model()
    rows = [3, 1, 4, 15, 9, 2, 6]
    peer, agent = make(model, data, batches=[rows], micro_batch=3, clip_norm=0.5)
    wanted = plain_gradients(model, LOSS, [data.tensors[0][rows]], data.tensors[1][rows])
    peer.step()
    assert [len(norms) for _, norms in agent.sums] == [3, 3, 1] and not agent.calls
    norms = wanted.norm(dim=1)
    assert_close(torch.from_numpy(numpy.concatenate([part for _, part in agent.sums])), norms.double())
    factors = (with_room(0.5, torch.float32) / norms).clamp(max=1).unsqueeze(1)
    for (found, _), part in zip(agent.sums, (wanted * factors).split(3)):
        assert found.dtype == numpy.float32
        assert_close(torch.from_numpy(found), part.sum(0))


def test_an_agent_gives_its_mean_gradient():
    data = separable()
    model = small_model()
    rows = [3, 1, 4, 15, 9, 2, 6]
    peer, agent = make(model, data, adjacency="agent", batches=[rows, []], micro_batch=3)
    wanted = plain_gradients(model, LOSS, [data.tensors[0][rows]], data.tensors[1][rows]).mean(0)
    peer.step()
    assert_close(torch.from_numpy(agent.calls[0]), wanted)
    peer.step()
    assert not agent.calls[1].any()


@pytest.mark.parametrize("empty", [[[], []]])
def test_empty_batches_change_nothing(empty):
    peer, agent = make(batches=empty)
    before = agent.model.copy()
    assert peer.step() and peer.step()
    assert numpy.array_equal(agent.model, before)
    nobody = numpy.empty(0, numpy.int64)
    assert peer._rows_of_records(agent.model, nobody).shape == (0, agent.dimension)
    total, norms = peer._sum_of_records(agent.model, nobody, 1.0)
    assert not total.any() and total.shape == (agent.dimension,) and norms.shape == (0,)


def test_the_model_has_the_agents_parameters_after_every_round():
    peer, agent = make()
    peer.step()
    assert_close(torch.from_numpy(parameters(peer.model)), torch.from_numpy(agent.model.copy()), 1e-6)


def test_the_state_goes_round():
    peer, _ = make()
    peer.step()
    state = peer.state_dict()
    other = small_model()
    other.load_state_dict(state)
    assert numpy.array_equal(parameters(other), parameters(peer.model))
    peer.step()
    assert not numpy.array_equal(parameters(other), parameters(peer.model)), "the state is a copy"


def test_tied_weights_stay_tied():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Linear(4, 2))
    model[2].weight = model[0].weight
    assert dimension(model) == 16 + 4 + 4 + 10
    peer, _ = make(model)
    peer.step()
    assert peer.model[2].weight is peer.model[0].weight


def test_frozen_parameters_and_buffers_stay():
    model = small_model()
    model[0].requires_grad_(False)
    model.register_buffer("mean", torch.randn(3))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    peer, _ = make(model)
    peer.step()
    after = peer.state_dict()
    for name in ("0.weight", "0.bias", "mean"):
        assert torch.equal(after[name], before[name])
    assert not torch.equal(after["2.weight"], before["2.weight"])


def test_parameters_are_views_into_one_vector():
    model = small_model()
    peer, _ = make(model)
    first = next(model.parameters())
    for parameter in model.parameters():
        assert parameter.data_ptr() - first.data_ptr() == 4 * peer._flat.place(parameter).start


def test_a_model_moved_away_is_noticed():
    peer, _ = make()
    peer.step()
    peer.model.double()
    with pytest.raises(ModelError, match="moved"):
        peer.step()


def test_an_agent_that_asks_for_rows_gets_sums_over_them():
    data, test = separable(), separable(50)
    model = small_model()
    agent = StandInAgent(None, dimension(model), records=60, initial=parameters(model))
    peer = PrivatePeer(model, LOSS, data, agent, test=test)
    assert agent.test_records == 50
    parts = [agent.test(agent.model, first, 3) for first in range(3)]
    assert [records for _, _, records in parts] == [17, 17, 16]
    found = peer.evaluate(test)
    assert sum(loss for loss, _, _ in parts) / 50 == pytest.approx(found.loss, rel=1e-6)
    assert sum(correct for _, correct, _ in parts) / 50 == pytest.approx(found.accuracy)
    assert agent.train(agent.model, 59, 1)[2] == 1


def test_nothing_is_left_to_train_where_the_agent_says_so():
    peer, _ = make(rounds=0)
    assert peer.train() == {"rounds": 0}


def test_evaluation_of_all_records_is_the_mean_loss():
    data, model = separable(), small_model()
    peer, _ = make(model, data)
    found = peer.evaluate(data)
    with torch.no_grad():
        outputs = model(data.tensors[0])
    assert found.loss == pytest.approx(float(LOSS(outputs, data.tensors[1])), rel=1e-5)
    assert found.accuracy == pytest.approx(float((outputs.argmax(1) == data.tensors[1]).float().mean()))


def test_evaluation_takes_the_model_out_of_training_and_back():
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(4, 2))
    data = separable()
    peer, _ = make(model, data)
    assert peer.evaluate(data) == peer.evaluate(data)
    assert model.training and model[0].training


def test_regression_has_no_accuracy():
    model = nn.Linear(4, 1)
    data = TensorDataset(torch.randn(8, 4), torch.randn(8, 1))
    agent = StandInAgent(None, 5, records=8, initial=parameters(model))
    peer = PrivatePeer(model, nn.MSELoss(), data, agent)
    assert math.isnan(peer.evaluate(data).accuracy)
    peer.step()
    assert agent.evaluations[0]["train"][1] is None


def test_one_score_and_targets_zero_or_one_have_an_accuracy():
    model = nn.Linear(1, 1)
    model.weight.data.fill_(1)
    model.bias.data.zero_()
    data = TensorDataset(torch.tensor([[1.0], [-1.0], [2.0], [3.0]]), torch.tensor([[1.0], [0.0], [0.0], [1.0]]))
    peer = PrivatePeer(model, nn.BCEWithLogitsLoss(), data, StandInAgent(None, 2, records=4, initial=parameters(model)))
    assert peer.evaluate(data).accuracy == 0.75


def test_items_of_other_data_sets_are_stacked():
    class Squares(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, row):
            return numpy.full(4, row, numpy.float32), row % 2

    peer, agent = make(data=Squares(), batches=[[0, 5, 2]])
    peer.step()
    assert agent.sums[0][1].shape == (3,)


def test_the_seed_and_the_number_of_the_agent_decide_on_dropout():
    def masks(seed, number, predictable=True):
        model = nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 2))
        model[1].weight.data.fill_(0.1)
        model[1].bias.data.zero_()
        data = TensorDataset(torch.ones(30, 4), torch.arange(30) % 2)
        agent = StandInAgent(None, 10, records=30, initial=parameters(model), batches=[range(30)])
        agent.agent, agent.predictable = number, predictable
        PrivatePeer(model, LOSS, data, agent, seed=seed, threads=1).step()
        return agent.sums[0][0]

    assert numpy.array_equal(masks(1, 0), masks(1, 0))
    assert not numpy.array_equal(masks(1, 0), masks(1, 1))
    # Masks that a peer can predict show which records were drawn: with secret noise no seed decides.
    assert not numpy.array_equal(masks(1, 0, False), masks(1, 0, False))
    assert not numpy.array_equal(masks(None, 0, False), masks(None, 0, False))


def test_ranks_share_the_cores_and_agent_0_says_so(monkeypatch, capsys):
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1000")
    torch.set_num_threads(2)
    monkeypatch.setattr("sotto.torch.threads.cores_here", lambda: 2)
    monkeypatch.setattr("sotto.torch.peer.cores_here", lambda: 2)
    make()
    assert torch.get_num_threads() == 1
    assert "1 thread a rank (1000 ranks on 2 cores)" in capsys.readouterr().err
    make(options={"threads": 2})
    assert torch.get_num_threads() == 2
    assert "threads" not in capsys.readouterr().err


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        peer, _ = make()
        peer.train()
