"""Heart disease in four hospitals: embeddings of categories beside numbers; every patient is protected with epsilon 2."""
import csv
import pathlib

import torch
from torch import nn
from torch.utils.data import ConcatDataset, TensorDataset

import sotto.torch

HOSPITALS = sorted(pathlib.Path(__file__).parents[2].glob("examples/heart/*.csv"))  # Cleveland, Hungary, Switzerland, VA
CATEGORIES = {"sex": "01", "cp": "1234", "fbs": "01", "restecg": "012", "exang": "01", "slope": "123", "thal": "367"}
BOUNDS = {"age": (0, 110), "trestbps": (50, 250), "chol": (0, 600), "thalach": (50, 220), "oldpeak": (-3, 7)}  # known in general
WORDS = [column + value for column, values in CATEGORIES.items() for value in ["", *values]]  # A missing value is a category, too.

def read(hospital, test):  # Every fifth patient is for tests.
    rows = [row for i, row in enumerate(csv.DictReader(hospital.open())) if (i % 5 == 0) == test]
    words = [[WORDS.index(column + row[column].strip("?").split(".")[0]) for column in CATEGORIES] for row in rows]
    numbers = [[2 * (float(row[column].strip("?") or (low + high) / 2) - low) / (high - low) - 1
                for column, (low, high) in BOUNDS.items()] for row in rows]
    return TensorDataset(torch.tensor(words), torch.tensor(numbers), torch.tensor([int(row["target"]) > 0 for row in rows]).long())

class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.numbers = nn.EmbeddingBag(len(WORDS), 16, mode="sum"), nn.Linear(len(BOUNDS), 16)
        self.out = nn.Linear(16, 2)

    def forward(self, words, numbers):
        return self.out(torch.tanh(self.words(words) + self.numbers(numbers)))

torch.manual_seed(1)  # All agents start from the same model.
shards, test = [read(hospital, False) for hospital in HOSPITALS], ConcatDataset([read(hospital, True) for hospital in HOSPITALS])
options = {"loss": nn.CrossEntropyLoss(), "epsilon": 2}
comm = sotto.communicator()  # With mpirun each hospital is a process; without, one process simulates all four.
peer = (sotto.torch.make_private(Table(), data=shards[comm.rank], **options) if comm
        else sotto.torch.simulate(Table(), shards, **options))
peer.train()
if comm is None or comm.rank == 0:
    print(f"agents: {len(shards)}, test accuracy: {peer.evaluate(test).accuracy:.3f}, epsilon: {peer.epsilon:.3g} for a patient")
