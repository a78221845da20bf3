"""What houses cost, learnt by the agents together: every district of the census is protected with epsilon 2."""
import os
import pathlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset

import sotto.torch

comm = sotto.communicator()
rank, ranks = (comm.rank, comm.size) if comm else (0, 1)
file = pathlib.Path(os.environ.get("SOTTO_DATA_DIR", "/nonexistent")) / "cal_housing.data.gz"
random = np.random.default_rng(1)  # All agents draw the same order, so that no district is in two shards.
if file.exists():
    table = random.permutation(np.loadtxt(file, delimiter=","))
    longitude, latitude, age, rooms, bedrooms, people, households, income, price = table.T
    columns = np.stack([longitude, latitude, age, rooms / households, bedrooms / households, people / households, income], 1)
else:  # Made districts, whose prices follow from three columns.
    columns = random.uniform([-124, 32, 1, 2, 0.5, 1, 0.5], [-114, 42, 52, 10, 2, 6, 12], (20000, 7))
    price = 40000 * columns[:, 6] + 20000 * np.abs(columns[:, 1] - 37) + 30000 * random.normal(size=len(columns))
# Columns are scaled by limits that are known in general, not by the data's own, which would reveal something of them.
low, high = np.array([[-125, 32, 0, 0, 0, 0, 0], [-114, 42, 52, 10, 3, 8, 12]])
inputs = torch.tensor(2 * (columns.clip(low, high) - low) / (high - low) - 1, dtype=torch.float32)
prices = torch.tensor(price[:, None] / 1e5 - 2, dtype=torch.float32)  # 100 000 dollars, about zero
test = TensorDataset(inputs[-4000:], prices[-4000:])
shard = TensorDataset(inputs[rank:-4000:ranks], prices[rank:-4000:ranks])


def explained(outputs, targets):
    return 1 - ((outputs - targets) ** 2).mean() / targets.var()


torch.manual_seed(1)  # All agents start from the same model.
model = nn.Sequential(nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 1))
peer = sotto.torch.make_private(model, loss=nn.MSELoss(), data=shard, epsilon=2, metrics={"explained": explained})
peer.train()
if rank == 0:
    print(f"agents: {ranks}, explained: {peer.evaluate(test).metrics['explained']:.3f}, epsilon: {peer.epsilon:.3g} for a district")
