"""Agents whose gradients come from here."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import sotto
from conftest import LAUNCHER, Launch

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


def test_poisson_batches_are_secret_and_may_be_empty() -> None:
    agent = alone(adjacency="record-zero-out", participation="poisson", rounds=40, records=20, batch_size=1)
    sizes = set()
    while agent.more:
        rows = agent.batch()
        sizes.add(len(rows))
        assert np.array_equal(rows, np.unique(rows))
        agent.step(np.ones((len(rows), D)))
    assert 0 in sizes and len(sizes) > 2


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


def test_who_fails_ends_all(launch: Launch) -> None:
    done = launch(3, TRAINING, "{}", "fail", seconds=60)
    assert done.returncode != 0
    assert "the second one falls over" in done.stderr


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
from mpi4py import MPI
import numpy as np, sotto
agent = sotto.Agent(MPI.COMM_WORLD, 4, records=30, resume={str(tmp_path / "run")!r}, quiet=True)
before = agent.round
agent.step(np.zeros((len(agent.batch()), 4)))
print(before, agent.round)
"""
    done = launch(3, resumed)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.splitlines()[0].split())
    assert before > 0 and after == before + 1


def test_agents_begin_with_one_model(launch: Launch) -> None:
    done = launch(2, TRAINING, "{'initial': [float(comm.rank)] * 4}", seconds=60)
    assert done.returncode == 3
    assert "initial model of rank 1 is not that of rank 0" in done.stderr
