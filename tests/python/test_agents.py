"""Agents whose gradients come from here."""

import copy
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Callable

import numpy as np
import pytest

import sotto
from conftest import LAUNCHER, Launch, in_a_fork

D = 5


def alone(**options: object) -> sotto.Agent:
    given: dict[str, object] = {
        "records": 20, "rounds": 6, "mechanism": "ldp", "epsilon": 5, "batch_size": 4,
        "adjacency": "record", "step_size": 0.5, "noise_seed": 7, "run_directory": "run",
        "quiet": True,
    }  # fmt: skip
    given.update(options)
    return sotto.Agent(None, D, **given)  # type: ignore[arg-type]


def test_one_agent_is_a_whole_training() -> None:
    agent = alone()
    assert (agent.agent, agent.agents, agent.rounds, agent.dimension) == (0, 1, 6, D)
    model = agent.model
    assert np.array_equal(model, np.zeros(D)) and not model.flags.writeable
    while agent.more:
        rows = agent.batch()
        assert len(rows) == 4 and np.array_equal(rows, agent.batch())
        agent.step(np.ones((4, D)))
    assert not np.array_equal(agent.model, np.zeros(D))
    said = agent.finish()
    assert said["rounds"] == 6 and said["epsilon"] <= 5 * (1 + 1e-9)
    run = sotto.Run("run")
    assert np.array_equal(run.model(0), agent.model)
    assert run.ledger["status"] == "completed" == agent.ledger["status"]
    with pytest.raises(sotto.ConfigError, match="no round is left"):
        agent.step(np.ones((4, D)))


def contribution(gradients: np.ndarray, **options: object) -> np.ndarray:
    """What one noiseless round subtracts from the model, over its step."""
    agent = alone(mechanism="none", rounds=1, clip_norm=0.5, run_directory="", **options)
    agent.step(gradients)
    return np.asarray(-2 * agent.model)


def test_arrays_are_refused_that_are_no_plain_numbers() -> None:
    agent = alone()
    good = np.ones((4, D))
    for wrong, words in (
        (np.ma.MaskedArray(good, mask=good > 0), "a masked array is not allowed"),
        (np.ma.MaskedArray(good), "a masked array is not allowed"),
        (good.astype(str), "values of type <U"),
        ([["1.5"] * D] * 4, "values of type <U"),
        (good.astype(object), "values of type object"),
        (good * 1j, "values of type complex128"),
    ):
        with pytest.raises(sotto.ConfigError, match=f"gradients: {words}"):
            agent.step(wrong)  # type: ignore[arg-type]
        assert agent.round == 0
    agent.step(good.astype(np.float32))
    agent.step(good.astype(int))
    for initial in (np.ma.MaskedArray(np.ones(D)), ["1"] * D, [1j] * D):
        with pytest.raises(sotto.ConfigError, match="initial: .* is not allowed"):
            alone(initial=initial, run_directory="")


def test_a_model_that_no_memory_holds_is_refused_by_its_dimension() -> None:
    with pytest.raises(sotto.DataError, match=r"dimension: 1000000000000000 is too large.*GiB"):
        sotto.Agent(None, 10**15, records=20, rounds=2, mechanism="none", quiet=True)


def test_records_are_clipped_whatever_is_handed_over() -> None:
    wild = np.array([[1e300] * D, [np.nan] * D, [1e-3] * D, [-7.0, 0, 0, 0, 0]])
    wanted_first = np.full(D, 0.5 / np.sqrt(D)) / 4
    got = contribution(wild)
    assert np.allclose(got, wanted_first + wild[2] / 4 + wild[3] / 7 * 0.5 / 4, atol=1e-9)
    # In single precision the first one is infinite, and counts as zero.
    with np.errstate(over="ignore"):
        single = wild.astype(np.float32)
    assert np.allclose(contribution(single), got - wanted_first, atol=1e-7)


def test_functions_are_asked_part_by_part() -> None:
    asked: list[int] = []

    def gradients(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        assert model.shape == (D,) and not model.flags.writeable
        asked.append(len(rows))
        return np.repeat(rows[:, None] * 0.01, D, axis=1)

    agent = alone(micro_batch=3, mechanism="none", clip_norm=10, rounds=1)
    rows = agent.batch()
    agent.step(gradients)
    assert asked == [3, 1]
    assert np.allclose(agent.model, -0.5 * 0.01 * rows.mean(), atol=1e-9)


def test_gradients_of_another_shape_end_nothing_silently() -> None:
    agent = alone()
    with pytest.raises(sotto.ConfigError, match="3 are not allowed"):
        agent.step(np.ones((3, D)))
    with pytest.raises(sotto.ConfigError, match="not allowed"):
        agent.step("gradients")  # type: ignore[arg-type]
    assert agent.round == 0 and agent.more
    with pytest.raises(sotto.ConfigError, match="with so many parameters"):
        agent.step(np.ones((4, D + 1)))
    # In the round itself: it may have begun.
    assert not agent.more


def test_exceptions_of_the_program_come_back() -> None:
    def broken(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        raise KeyError("no such record")

    with pytest.raises(KeyError, match="no such record"):
        alone().step(broken)


def test_a_gradient_function_that_asks_for_a_step_gets_none() -> None:
    agent, other = alone(), alone(run_directory="other")
    refused: list[str] = []

    def gradients(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        for call in (lambda: agent.step(gradients), lambda: agent.step(np.zeros((4, D))), agent.finish, agent.batch, agent.evaluate_by):
            with pytest.raises((sotto.PrivacyError, sotto.ConfigError)) as met:
                call()
            refused.append(str(met.value))
        assert agent.round == 0 and np.array_equal(model, np.zeros(D))
        return np.ones((len(rows), D))

    assert agent.step(gradients) and agent.round == 1
    assert len(refused) == 5 and all("another one is under way" in said for said in refused if "rounds are left" not in said)
    # The round is one of its own: the same seed gives the same bits without the calls.
    other.step(np.ones((4, D)))
    assert np.array_equal(agent.model, other.model)


def test_two_threads_are_one_step() -> None:
    agent = alone()
    inside, outside = threading.Event(), threading.Event()
    refused: list[str] = []

    def slow(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        inside.set()
        assert outside.wait(60)
        return np.ones((len(rows), D))

    def second() -> None:
        assert inside.wait(60)
        try:
            agent.step(np.zeros((4, D)))
        except sotto.PrivacyError as error:
            refused.append(str(error))
        outside.set()

    thread = threading.Thread(target=second)
    thread.start()
    agent.step(slow)
    thread.join()
    assert len(refused) == 1 and "one at a time, by one thread" in refused[0]
    assert agent.round == 1


def test_a_round_that_an_exception_ended_is_not_tried_again() -> None:
    for failure in (KeyError, KeyboardInterrupt, SystemExit):
        agent = alone(run_directory=failure.__name__)

        def broken(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
            raise failure("now")

        with pytest.raises(failure):
            agent.step(broken)
        with pytest.raises(sotto.ConfigError, match="the training has failed"):
            agent.step(np.ones((4, D)))
        assert agent.round == 0 and not agent.more


def test_a_forked_process_has_no_agent() -> None:
    agent = alone()
    for call in (lambda: agent.step(np.ones((4, D))), agent.batch, lambda: agent._core.finish()):
        assert "forked" in in_a_fork(call)
    agent.step(np.ones((4, D)))  # the process that made it goes on
    assert agent.round == 1


def test_a_forked_process_that_ends_leaves_the_training_alone() -> None:
    text = """
import os, sys, numpy as np, sotto
agent = sotto.Agent(None, 3, records=4, rounds=4, mechanism="ldp", epsilon=5, batch_size=2, adjacency="record", run_directory="run", quiet=True)
agent.step(np.ones((2, 3)))
if os.fork() == 0:
    del agent
    sys.exit(0)
assert os.wait()[1] == 0
while agent.more:
    agent.step(np.ones((2, 3)))
print(agent.finish()["rounds"])
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["4"], done.stderr


def test_agents_are_not_copied_or_pickled() -> None:
    agent = alone()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copied(agent)


def test_what_is_declared_is_in_ledger_and_manifest() -> None:
    agent = alone(checkpoint_every=1)
    agent.declare("Gradients come from a sheet of paper.")
    agent.step(np.ones((4, D)))
    assert "Gradients come from a sheet of paper." in agent.ledger["statements"]
    assert "Gradients come from a sheet of paper." in sotto.Run("run").ledger["statements"]
    assert json.loads(pathlib.Path("run/manifest.json").read_text())["gradients"] == ["Gradients come from a sheet of paper."]
    with pytest.raises(sotto.ConfigError, match="rounds have begun"):
        agent.declare("Or from another one.")
    del agent
    # A start that goes on says its own, and what was said before.
    agent = sotto.Agent(None, D, records=20, resume="run", quiet=True)
    agent.declare("Gradients come from a table.")
    while agent.more:
        agent.step(np.ones((4, D)))
    agent.finish()
    statements = sotto.Run("run").ledger["statements"]
    assert {"Gradients come from a sheet of paper.", "Gradients come from a table."} <= set(statements)


def clipped(gradients: np.ndarray, clip_norm: float) -> tuple[np.ndarray, np.ndarray]:
    """The sum of clipped gradients, by numpy, and their norms."""
    norms = np.linalg.norm(gradients, axis=1)
    return gradients.T @ np.minimum(1, clip_norm / np.maximum(norms, 1e-300)), norms


def test_a_program_may_clip_itself_and_the_ledger_says_so() -> None:
    gradients = np.random.default_rng(1).normal(size=(4, D)) * [[0.01], [1], [100], [0]]
    models = []
    for by_program in (False, True):
        agent = alone(run_directory=f"run{by_program}", mechanism="none", epsilon=None, clip_norm=0.5)
        while agent.more:
            if by_program and agent.round % 2:
                agent.step(lambda model, rows, clip: clipped(gradients, clip), clipped=True)
            elif by_program:
                agent.step(clipped(gradients, agent.clip_norm), clipped=True)
            else:
                agent.step(gradients)
        models.append(agent.model.copy())
        said = [line for line in agent.ledger["statements"] if "clipped and added up by the user's program" in line]
        assert len(said) == by_program
    assert np.abs(models[0] - models[1]).max() < 1e-9


@pytest.mark.parametrize("change, error, match", [
    (lambda sums, norms: (1.01 * sums, norms), sotto.PrivacyError, "a sum of length"),
    (lambda sums, norms: (sums * np.nan, norms), sotto.PrivacyError, "a sum of length nan"),
    (lambda sums, norms: (sums, norms[1:]), sotto.ConfigError, "norms: 3 are not allowed .4"),
    (lambda sums, norms: (sums, -norms), sotto.ConfigError, "norms: -"),
    (lambda sums, norms: (sums[1:], norms), sotto.ConfigError, "gradients: 1 x"),
    (lambda sums, norms: (None, norms), sotto.ConfigError, "no sum"),
    (lambda sums, norms: sums, sotto.ConfigError, "a tuple"),
])
def test_sums_that_norms_do_not_allow_are_refused(change: Callable[..., Any], error: type[Exception], match: str) -> None:
    agent = alone(clip_norm=0.5)
    before = agent.model.copy()
    gradients = np.tile(np.arange(1.0, D + 1), (4, 1))
    with pytest.raises(error, match=match):
        agent.step(lambda model, rows, clip: change(*clipped(gradients, clip)), clipped=True)
    assert agent.round == 0 and np.array_equal(agent.model, before)


def test_all_rounds_are_clipped_by_the_same() -> None:
    agent = alone()
    agent.step(np.ones((4, D)))
    with pytest.raises(sotto.ConfigError, match="clipped: True is not allowed after False"):
        agent.step(lambda model, rows, clip: clipped(np.ones((4, D)), clip), clipped=True)
    with pytest.raises(sotto.ConfigError, match="adjacency agent"):
        alone(run_directory="other", adjacency="agent", batch_size=None).step((np.ones(D), np.ones(4)), clipped=True)


def test_clipped_sums_of_the_module_are_those_of_a_round() -> None:
    gradients = np.random.default_rng(1).normal(size=(3, D)).astype(np.float32)
    gradients[1, 2] = np.inf
    total, norms = sotto.clipped_sum(gradients, 0.5)
    wanted, lengths = clipped(gradients[[0, 2]].astype(float), 0.5)
    assert np.abs(total - wanted).max() < 1e-12 and np.isnan(norms[1])
    assert np.allclose(norms[[0, 2]], lengths, rtol=1e-12)
    far, length, norm = sotto.agents.clipped_difference(gradients[0], [gradients[0, :2].copy(), gradients[0, 2:].copy()], 0.5)
    assert length == pytest.approx(0.5) and norm == pytest.approx(lengths[0]) and far == pytest.approx(lengths[0] - 0.5)


def test_poisson_batches_are_secret_and_may_be_empty() -> None:
    agent = alone(adjacency="record-zero-out", participation="poisson", rounds=40, records=20, batch_size=1)
    sizes = set()
    while agent.more:
        rows = agent.batch()
        sizes.add(len(rows))
        assert np.array_equal(rows, np.unique(rows))
        agent.step(np.ones((len(rows), D)))
    assert 0 in sizes and len(sizes) > 2


def test_allocated_batches_hold_every_row_once_an_epoch() -> None:
    agent = alone(adjacency="record-zero-out", participation="allocation:4", rounds=40, records=20, batch_size=None)
    assert agent.batch_size == 5
    places = np.full((10, 20), -1)
    for t in range(40):
        rows = agent.batch()
        assert (places[t // 4, rows] == -1).all(), "once an epoch"
        places[t // 4, rows] = t % 4
        agent.step(np.ones((len(rows), D)))
    assert not agent.more and (places >= 0).all()
    assert len({tuple(epoch) for epoch in places}) == 10, "drawn anew in every epoch"


def test_agent_adjacency_takes_one_gradient() -> None:
    agent = alone(adjacency="agent", mechanism="none", clip_norm=0.25, rounds=2)
    agent.step(np.full(D, 3.0))
    assert np.linalg.norm(agent.model) == pytest.approx(0.5 * 0.25, rel=1e-9)
    agent.step(lambda model, rows: np.zeros(D, dtype=np.float32))
    assert np.linalg.norm(agent.model) == pytest.approx(0.5 * 0.25, rel=1e-9)


def test_losses_are_in_the_metrics() -> None:
    agent = alone(eval_every=1)
    agent.evaluate_by(
        train=lambda model, first, stride: (float(model @ model) * 2, None, 2),
        test=lambda model, first, stride: (8.0, 3.0, 4),
        test_records=4,
    )
    while agent.more:
        agent.step(np.ones((4, D)))
    said = agent.finish()
    assert said["test_loss"] == 2.0 and said["test_accuracy"] == 0.75
    assert np.isfinite(sotto.Run("run").metrics["train_loss_mean_model"][-1])


def test_refuses_what_an_agent_cannot_be() -> None:
    with pytest.raises(sotto.ConfigError, match="records: None"):
        sotto.Agent(None, D)
    with pytest.raises(sotto.ConfigError, match="dimension"):
        sotto.Agent(None, 0, records=1)
    with pytest.raises(sotto.ConfigError, match="data: has no meaning here"):
        sotto.Agent(None, D, records=1, data="a9a.gz")
    with pytest.raises(sotto.ConfigError, match="initial: 3 values"):
        alone(initial=[1, 2, 3])
    with pytest.raises(sotto.ConfigError, match="resume"):
        sotto.Agent(None, D, records=1, resume="nowhere")


def test_a_run_is_taken_up_with_the_same_records_only() -> None:
    agent = alone(checkpoint_every=3, data_digest=b"a" * 32)
    for _ in range(3):
        agent.step(np.ones((4, D)))
    del agent
    with pytest.raises(sotto.DataError):
        sotto.Agent(None, D, records=20, resume="run", data_digest=b"b" * 32)
    with pytest.raises(sotto.DataError):
        sotto.Agent(None, D, records=21, resume="run", data_digest=b"a" * 32)
    agent = sotto.Agent(None, D, records=20, resume="run", data_digest=b"a" * 32)
    assert agent.round == 3
    while agent.more:
        agent.step(np.ones((4, D)))
    assert agent.finish()["rounds"] == 6


POINTS = np.random.default_rng(0).normal(size=(4000, 10))
ABOVE = (POINTS @ np.linspace(-1, 1, 10) > 0).astype(float)


def logistic(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return ((1 / (1 + np.exp(-POINTS[rows] @ model)) - ABOVE[rows])[:, None]) * POINTS[rows]


def tuned(**options: object) -> sotto.Agent:
    given: dict[str, object] = {
        "records": 4000, "epsilon": 2, "adjacency": "record-add-remove", "mechanism": "ldp", "tune": "auto",
        "noise_seed": 3, "run_directory": "run", "quiet": True,
    }  # fmt: skip
    given.update(options)
    return sotto.Agent(None, 10, **given)  # type: ignore[arg-type]


def test_an_agent_tunes_itself_where_a_function_computes_gradients() -> None:
    agent = tuned(micro_batch=300)
    assert agent.rounds == 200 and agent.batch_size == 400 and np.isnan(agent.clip_norm)
    asked: list[np.ndarray] = []

    def gradients(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        asked.append(rows)
        return logistic(model, rows)

    agent.declare("By hand.")
    agent.tune(gradients)
    assert max(len(rows) for rows in asked) == 300
    assert np.array_equal(np.sort(np.concatenate(asked)), np.arange(4000))
    typical = float(np.median(np.linalg.norm(logistic(np.zeros(10), np.arange(4000)), axis=1)))
    assert agent.clip_norm == pytest.approx(typical / 2, rel=0.2)
    assert agent.round == 0 and np.array_equal(agent.model, np.zeros(10))
    agent.tune(gradients)  # nothing is left to measure
    assert len(asked) == 14
    clip_norm = agent.clip_norm
    agent.step(logistic(agent.model, agent.batch()))
    while agent.more:
        agent.step(logistic)
    said = agent.finish()
    assert np.mean((POINTS @ agent.model > 0) == ABOVE) > 0.95
    margins = (2 * ABOVE - 1) * (POINTS @ agent.model)
    assert np.mean(np.log1p(np.exp(-margins))) < 0.15  # which needs steps as long as the rule's
    assert said["tuning"]["clip_norm"] == clip_norm == agent.clip_norm
    assert said["tuning"]["rounds"] == said["rounds"] == 200 and said["tuning"]["mu_share"] == 0.02
    ledger = sotto.Run("run").ledger
    assert [phase["rounds"] for phase in ledger["phases"]] == [1, 200]
    assert 1.9 < said["epsilon"] <= 2
    assert "By hand." in ledger["statements"]
    assert json.loads(pathlib.Path("run/manifest.json").read_text())["gradients"] == ["By hand."]


def test_a_tuned_run_goes_on_with_what_was_chosen() -> None:
    agent = tuned(checkpoint_every=50)
    while agent.round < 50:
        agent.step(logistic)
    clip_norm = agent.clip_norm
    del agent
    agent = sotto.Agent(None, 10, records=4000, resume="run", quiet=True)
    assert (agent.round, agent.rounds, agent.clip_norm) == (50, 200, clip_norm)
    while agent.more:
        agent.step(logistic(agent.model, agent.batch()))
    assert agent.finish()["epsilon"] <= 2
    assert [phase["rounds"] for phase in sotto.Run("run").ledger["phases"]] == [1, 50, 150]
    assert np.mean((POINTS @ agent.model > 0) == ABOVE) > 0.95


def test_norms_that_an_exception_ended_are_not_measured_again_in_silence() -> None:
    def broken(model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        raise KeyError("no such record")

    agent = tuned()
    with pytest.raises(KeyError, match="no such record"):
        agent.step(broken)
    with pytest.raises(sotto.ConfigError, match="the training has failed"):
        agent.tune(logistic)
    assert not agent.more and agent.ledger["status"] == "failed"
    del agent
    # Another start pays for another round.
    agent = sotto.Agent(None, 10, records=4000, resume="run", quiet=True)
    while agent.more:
        agent.step(logistic)
    assert agent.finish()["epsilon"] <= 2
    assert [phase["rounds"] for phase in sotto.Run("run").ledger["phases"]] == [1, 1, 200]


def test_values_that_are_given_are_kept_and_need_no_measuring() -> None:
    agent = tuned(clip_norm=0.25, rounds=7, batch_size=50)
    assert (agent.clip_norm, agent.rounds, agent.batch_size) == (0.25, 7, 50)
    agent.tune(logistic)  # the step
    assert agent.clip_norm == 0.25 and agent.ledger["rounds"]["planned"] == 7
    agent = tuned(clip_norm=0.25, step_size=0.5, step_schedule="linear", run_directory="other")
    agent.step(logistic(agent.model, agent.batch()))
    assert len(agent.ledger["phases"]) == 1


def test_nothing_is_tuned_unasked() -> None:
    agent = tuned(tune=None, step_schedule="inverse-sqrt")
    assert (agent.rounds, agent.batch_size, agent.clip_norm) == (1000, 128, 1)
    agent.step(logistic(agent.model, agent.batch()))
    assert sotto.Run("run").config["step-schedule"] == "inverse-sqrt"


def test_what_cannot_be_tuned_is_refused() -> None:
    agent = tuned()
    array = np.zeros((400, 10))
    for call in (lambda: agent.step(array), lambda: agent.tune(array)):  # type: ignore[arg-type]
        with pytest.raises(sotto.ConfigError, match="an array is not possible before norms are measured"):
            call()
    with pytest.raises(sotto.ConfigError, match=r"call agent\.tune\(function\) first"):
        agent.batch()
    assert agent.more and agent.round == 0
    agent.step(logistic)  # it has sent nothing yet, and may go on
    for options, words in (
        ({"adjacency": "agent"}, "tune: auto is not possible with --adjacency agent"),
        ({"records": 20}, "tune: auto is not possible with so few records"),
        ({"mechanism": "none", "epsilon": None}, "tune: auto is not possible with mechanism none"),
        ({"tune": "off", "rounds": "auto"}, "off is given, but a value"),
        ({"tune": True}, "allowed: auto, off"),
    ):  # fmt: skip
        with pytest.raises(sotto.ConfigError, match=words):
            tuned(**options, run_directory="refused")


TRAINING = """
import sys
import numpy as np
from mpi4py import MPI
import sotto
comm = MPI.COMM_WORLD
data = np.random.default_rng(comm.rank).normal(size=(30, 4))
with sotto.Agent(comm, 4, records=30, rounds=2000 if "--long" in sys.argv else 12, mechanism="pairs", topology="ring", epsilon=4,
                 adjacency="record", batch_size=5, step_size=0.2, run_directory="run", quiet=True,
                 noise_seed=9, **eval(sys.argv[1])) as agent:
    while agent.more:
        if comm.rank == 1 and agent.round == 4 and "fail" in sys.argv:
            raise RuntimeError("the second one falls over")
        agent.step(agent.model - data[agent.batch()])
# In one piece: ranks write to the same pipe.
sys.stdout.write(f"{comm.rank} {agent.summary['rounds']} {agent.summary['agents']}\\n")
sys.stdout.flush()
"""


def test_ranks_train_together(launch: Launch) -> None:
    done = launch(4, TRAINING, "{}")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} 12 4" for rank in range(4)]
    models = sotto.Run("run").models()
    assert models.shape == (4, 4) and np.ptp(models, axis=0).max() < 1


@pytest.mark.parametrize("more", ["{'secure_sum': True, 'topology': 'complete'}", "{'link_encryption': False}"])
def test_options_are_those_of_the_program(launch: Launch, more: str) -> None:
    text = TRAINING.replace('topology="ring", ', "") if "topology" in more else TRAINING
    done = launch(4, text, more)
    assert done.returncode == 0, done.stderr


def test_ranks_tune_together(launch: Launch) -> None:
    text = TRAINING.replace('rounds=2000 if "--long" in sys.argv else 12, ', "").replace(" batch_size=5, step_size=0.2,", " tune='auto',")
    text = text.replace("size=(30, 4)", "size=(1000, 4)").replace("records=30", "records=1000")
    text = text.replace("agent.step(agent.model - data[agent.batch()])", "agent.step(lambda model, rows: model - data[rows])")
    done = launch(4, text + "assert 0.5 < agent.clip_norm < 2\n", "{}")
    assert done.returncode == 0, done.stderr
    run = sotto.Run("run")
    assert run.summary["tuning"]["rounds"] == run.summary["rounds"] and run.summary["epsilon"] <= 4 * (1 + 1e-9)
    assert np.abs(run.models()).max() < 0.3


def test_who_fails_ends_all(launch: Launch) -> None:
    done = launch(3, TRAINING, "{}", "fail", seconds=60)
    assert done.returncode != 0
    assert "the second one falls over" in done.stderr


def test_who_alone_gives_wrong_gradients_ends_all(launch: Launch) -> None:
    # Before a round begins, while the others wait in it.
    wrong = TRAINING.replace("data[agent.batch()])", "data[agent.batch()][int(comm.rank == 1 and agent.round == 4):])")
    done = launch(3, wrong, "{}", seconds=60)
    assert done.returncode != 0
    assert "4 are not allowed" in done.stderr


def test_the_ledger_names_whose_gradients_are_declared(launch: Launch) -> None:
    declared = TRAINING.replace("    while agent.more:", "    agent.declare('By hand.' if comm.rank != 1 else '')\n    while agent.more:")
    done = launch(3, declared, "{}")
    assert done.returncode == 0, done.stderr
    assert "Agents 0, 2: By hand." in sotto.Run("run").ledger["statements"]


def test_errors_of_all_are_told_once(launch: Launch) -> None:
    done = launch(3, TRAINING, "{'clip_norm': -1}", seconds=60)
    assert done.returncode == 2
    assert done.stderr.count("ConfigError") == 1


def test_ranks_do_not_train_alone_unasked(launch: Launch) -> None:
    done = launch(2, TRAINING.replace("sotto.Agent(comm,", "sotto.Agent(None,"), "{}", seconds=60)
    assert done.returncode != 0
    assert "comm: None is not allowed under mpirun" in done.stderr


def test_a_signal_stops_all_after_a_round_and_the_run_goes_on(
    launch: Launch, tmp_path: pathlib.Path
) -> None:
    slow = TRAINING.replace("agent.step(", "time.sleep(0.02); agent.step(").replace(
        "import sys", "import sys, time"
    )
    (tmp_path / "slow.py").write_text(slow)
    job = subprocess.Popen(
        [*LAUNCHER, "-n", "3", sys.executable, str(tmp_path / "slow.py"), "{}", "--long"],
        cwd=tmp_path,
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    metrics = tmp_path / "run" / "metrics.csv"
    for _ in range(600):
        if metrics.is_file() and len(metrics.read_text().splitlines()) > 3:
            break
        time.sleep(0.1)
    job.send_signal(signal.SIGUSR1)
    said, _ = job.communicate(timeout=60)
    assert job.returncode == 0
    rounds = {line.split()[1] for line in said.splitlines()}
    assert len(rounds) == 1 and 0 < int(rounds.pop()) < 2000
    assert sotto.Run(tmp_path / "run").ledger["status"] == "interrupted"
    resumed = f"""
import sys
from mpi4py import MPI
import numpy as np, sotto
agent = sotto.Agent(MPI.COMM_WORLD, 4, records=30, resume={str(tmp_path / "run")!r}, quiet=True)
before = agent.round
agent.step(np.zeros((len(agent.batch()), 4)))
sys.stdout.write(f"{{before}} {{agent.round}}\\n")
"""
    done = launch(3, resumed)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
    for line in done.stdout.splitlines():
        before, after = map(int, line.split())
        assert before > 0 and after == before + 1


def test_a_single_process_stops_at_once_and_goes_on() -> None:
    agent = alone()
    agent.step(np.ones((4, D)))
    agent.stop()
    assert not agent.more and agent.finish()["rounds"] == 1
    assert (agent.ledger["status"], agent.ledger["rounds"]["accounted"]) == ("interrupted", 1)
    model = agent.model.copy()
    del agent
    again = sotto.Agent(None, D, records=20, resume="run", quiet=True)
    assert again.round == 1 and np.array_equal(again.model, model)


def test_one_of_several_stops_all_after_the_same_round(launch: Launch) -> None:
    text = TRAINING.replace('"fail" in sys.argv:\n            raise RuntimeError("the second one falls over")', '"stop" in sys.argv:\n            agent.stop()')
    done = launch(3, text, "{}", "--long", "stop")
    assert done.returncode == 0, done.stderr
    rounds = {line.split()[1] for line in done.stdout.splitlines()}
    assert len(rounds) == 1 and 5 <= int(rounds.pop()) < 2000
    assert sotto.Run("run").ledger["status"] == "interrupted"


def test_agents_begin_with_one_model(launch: Launch) -> None:
    done = launch(2, TRAINING, "{'initial': [float(comm.rank)] * 4}", seconds=60)
    assert done.returncode == 3
    assert "initial model of rank 1 is not that of rank 0" in done.stderr
