"""A language model of characters, each role of a play an agent: every line is protected with epsilon 4."""
import pathlib
import string
import sys

import torch
from torch import nn
from torch.utils.data import ConcatDataset, TensorDataset
import sotto.torch

ALPHABET, LENGTH = "\n " + string.ascii_lowercase + "'!?,.;:-", 60  # It is public, not taken from the lines, each of which ends with \n.
EXCERPT = pathlib.Path(__file__).with_name("romeo_and_juliet.txt")
comm = sotto.communicator()  # With mpirun each role is a process; without, one process simulates four.
lines = {}
for speech in pathlib.Path(*sys.argv[1:] or [EXCERPT]).read_text().strip().split("\n\n"):
    lines.setdefault(speech.split(":\n")[0], []).extend(speech.lower().split("\n")[1:])
roles = sorted(lines, key=lambda role: -len(lines[role]))[:comm.size if comm else 4]

def shard(role, test):  # Every fifth line is for tests. 0 stands before a line, and for other characters; losses leave out -100.
    codes = [[ALPHABET.find(c) + 1 for c in line[:LENGTH - 1] + "\n"] for line in lines[role]]
    rows = torch.tensor([[0, *code] + [-100] * (LENGTH - len(code)) for i, code in enumerate(codes) if (i % 5 == 0) == test])
    return TensorDataset(rows[:, :-1].clamp(min=0), rows[:, 1:])

class Characters(nn.Module):  # Scores of the next character from the last four: (records, kinds, positions).
    def __init__(self, kinds=len(ALPHABET) + 1):
        super().__init__()
        self.embed, self.hidden, self.out = nn.Embedding(kinds, 32), nn.Linear(4 * 32, 64), nn.Linear(64, kinds)
    def forward(self, x):
        last = [nn.functional.pad(self.embed(x), (0, 0, back, 0))[:, :x.shape[1]] for back in range(4)]
        return self.out(torch.relu(self.hidden(torch.cat(last, 2)))).transpose(1, 2)

torch.manual_seed(1)  # All agents start from the same model.
model, steps = Characters(), {"rounds": 100, "clip_norm": 0.5, "step_size": 2, "step_schedule": "linear"}
options = {"loss": nn.CrossEntropyLoss(), "epsilon": 4, **steps}
peer = (sotto.torch.make_private(model, data=shard(roles[comm.rank], False), **options) if comm
        else sotto.torch.simulate(model, [shard(role, False) for role in roles], **options))
peer.train()
found = peer.evaluate(ConcatDataset([shard(role, True) for role in roles]))  # Of the agent's own model.
if comm is None or comm.rank == 0:
    print(f"agents: {len(roles)}, characters right: {found.accuracy:.3f}, loss: {found.loss:.2f}, epsilon: {peer.epsilon:.3g} for a line")
