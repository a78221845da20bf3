"""make_private over ranks: what all must have in common, one message for all, and stops that all agree on."""
import json
import pathlib
import textwrap

import pytest

pytest.importorskip("mpi4py")
pytest.importorskip("sotto._core")

BEGIN = """
import os, pathlib, sys, torch, sotto.torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
rank = sotto.communicator().rank
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
own = torch.Generator().manual_seed(10 + rank)
inputs = torch.randn(600, 4, generator=own)
data = TensorDataset(inputs, (inputs.sum(1) > 0).long())


def say(*words):  # a line at once: those of ranks may mix otherwise
    sys.stdout.write(" ".join(map(str, words)) + "\\n")


PLAN = dict(loss=nn.CrossEntropyLoss(), epsilon=8, rounds=400, batch_size=60, max_grad_norm=1.0, step_size=1.0, run_directory="run", quiet=True)
"""


def program(text):
    return BEGIN + textwrap.dedent(text)


def lines(done, start):
    """Lines of standard output and error that start so."""
    return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(start)]


def ledger(folder: pathlib.Path):
    return json.loads((folder / "run" / "ledger.json").read_text())


def test_one_rank_stops_all_after_the_same_round(launch, tmp_path):
    done = launch(2, program("""
        with sotto.torch.make_private(model, data=DataLoader(data, batch_size=7, num_workers=1), **PLAN) as peer:
            while peer.more:
                for batch in peer:
                    peer.step()
                if peer.epoch == 2 and rank == 1:
                    peer.stop()
        say("reached", peer.agent.round, peer.epsilon, peer.evaluate(data).accuracy)
    """))
    assert done.returncode == 0, done.stderr
    reached = [line.split()[1:] for line in lines(done, "reached ")]
    assert len(reached) == 2 and reached[0][:2] == reached[1][:2]
    rounds, epsilon = int(reached[0][0]), float(reached[0][1])
    said = ledger(tmp_path)
    assert 20 < rounds < 390 and said["rounds"]["accounted"] == rounds and said["status"] == "interrupted"
    assert said["headline"]["epsilon"] == pytest.approx(epsilon) and epsilon < 7.9
    assert all(float(words[2]) > 0.8 for words in reached)


def test_a_stop_before_a_break_ends_all(launch, tmp_path):
    done = launch(2, program("""
        peer = sotto.torch.make_private(model, data=data, **PLAN)
        for batch in peer:
            peer.step()
            if batch.number == 5:
                peer.stop()
                break
        said = peer.finish()
        say("reached", peer.agent.round, peer.agent.ledger["status"])
    """))
    assert done.returncode == 0, done.stderr
    first, second = lines(done, "reached ")
    assert first == second and first.endswith("interrupted") and ledger(tmp_path)["rounds"]["accounted"] < 400


def test_all_may_leave_after_the_same_round_without_a_stop(launch, tmp_path):
    done = launch(2, program("""
        peer = sotto.torch.make_private(model, data=data, **PLAN)
        for batch in peer:
            peer.step()
            if batch.number == 5:
                break
    """))
    assert done.returncode == 0, done.stderr
    said = ledger(tmp_path)
    assert (said["status"], said["rounds"]["accounted"]) == ("interrupted", 6)


def test_one_that_leaves_alone_ends_the_job_and_says_why(launch):
    done = launch(2, program("""
        import sotto.torch.loops
        sotto.torch.loops._MEETING_SECONDS = 1.0
        peer = sotto.torch.make_private(model, data=data, **PLAN)
        for batch in peer:
            peer.step()
            if batch.number == 5 and rank == 1:
                sys.exit(0)
        peer.train()
    """), seconds=100)
    assert done.returncode != 0
    assert ("agent 1 left its training after round 6 of 400 without peer.stop(), and ledger.json counts all 400 rounds; call peer.stop() on "
            "any rank: all then stop after the same round") in done.stderr


REFUSED = {
    "batch norm": ("model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))",
                   "ModelError: model: layer '1': BatchNorm1d mixes the records of a batch; use GroupNorm (or keep it in eval() with "
                   "statistics from public data); sotto.torch.fix(model) returns a repaired copy"),
    "frozen": ("model[0].requires_grad_(False); model[0].weight.data += rank",
               "ModelError: rank 1: model: frozen parameter '0.weight' is not that of rank 0; call torch.manual_seed(seed) with the same seed "
               "on all ranks before the model is made, or load the same state, which must not depend on private data"),
    "buffer": ("model.register_buffer('mean', torch.ones(3) * rank)", "ModelError: rank 1: model: buffer 'mean' is not that of rank 0; "),
    "seeds": ("model[2].bias.data += rank", "ModelError: rank 1: model: parameter '2.bias' is not that of rank 0; "),
    "layers": ("if rank: model.append(nn.Linear(2, 2, bias=False))", "ModelError: rank 1: model: 5 parameters and buffers; rank 0 has 4; "),
    "data of one": ("if rank: data = TensorDataset(inputs[:0], inputs[:0])", "ModelError: rank 1: data: no records; at least one is needed"),
    "options": ("PLAN['noise_multiplier'] = 1", "ConfigError: noise_multiplier: not allowed here; give epsilon (and delta)"),
}


@pytest.mark.parametrize("change, message", REFUSED.values(), ids=REFUSED)
def test_a_refusal_is_one_line_of_rank_0(launch, tmp_path, change, message):
    done = launch(2, program(f"{change}\nsotto.torch.make_private(model, data=data, **PLAN).train()\n"))
    assert done.returncode != 0 and "Traceback" not in done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "Error:" in line]
    assert said.startswith(message)
    assert not (tmp_path / "run").exists()


def test_words_of_other_code_stay_on_their_rank(launch):
    done = launch(2, program("""
        def forward(model, batch):
            if rank:
                raise ValueError("patient 17 has no age")
            return nn.functional.cross_entropy(model(batch[0]), batch[1])
        try:
            sotto.torch.make_private(model, data=data, forward=forward, **(PLAN | {"loss": None}))
        except sotto.torch.ModelError as error:
            say(f"caught {error}")
    """))
    assert lines(done, "caught") == ["caught rank 1: model: it fails on records of this rank, whose standard error says how"] * 2
    assert lines(done, "rank 1: model: a batch of one record fails: patient 17 has no age; ")


def test_what_was_refused_trains_after_a_repair(launch):
    done = launch(2, program("""
        model = sotto.torch.fix(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 2)))
        with sotto.torch.make_private(model, data=data, **(PLAN | {"rounds": 60})) as peer:
            peer.train()
        say("reached", peer.evaluate(data).accuracy)
    """))
    assert done.returncode == 0, done.stderr
    assert [float(line.split()[1]) > 0.8 for line in lines(done, "reached ")] == [True, True]


def test_peers_one_after_another_train_over_ranks(launch):
    done = launch(2, program("""
        import psutil
        sizes = []
        for turn in range(13):
            model = nn.Sequential(nn.Linear(4, 1000), nn.ReLU(), nn.Linear(1000, 100), nn.ReLU(), nn.Linear(100, 2))
            torch.manual_seed(turn)
            for layer in model[::2]:
                nn.init.normal_(layer.weight, std=0.05), nn.init.zeros_(layer.bias)
            sotto.torch.make_private(model, data=data, **(PLAN | {"rounds": 2, "run_directory": f"run{turn}"})).train()
            sizes.append(psutil.Process().memory_info().rss / 2 ** 20)
        say("grown", (max(sizes[7:]) - max(sizes[:7])) / 6)  # the allocator lets go and takes again
    """), seconds=200)
    assert done.returncode == 0, done.stderr
    assert [float(line.split()[1]) < 4 for line in lines(done, "grown ")] == [True, True], done.stdout
