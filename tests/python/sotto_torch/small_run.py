"""A small training, for programs under mpirun and for the same in one process."""
import torch
from torch import nn
from torch.utils.data import TensorDataset


def shard(agent, records=300):
    inputs = torch.randn(records, 6, generator=torch.Generator().manual_seed(agent))
    return TensorDataset(inputs, (inputs[:, 0] > 0).long())


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))


OPTIONS = dict(loss=nn.CrossEntropyLoss(), epsilon=8, noise_seed=7, quiet=True, seed=5, test=shard(99))
