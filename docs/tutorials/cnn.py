"""A convolutional network on images of digits: every image is protected with epsilon 2."""
import gzip
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset

import sotto.torch

def read(folder, records):  # MNIST's files are a header of 16 or 8 bytes, and a byte for each value; otherwise noisy patterns are made.
    if not os.path.exists(f"{folder}/train-images-idx3-ubyte.gz"):
        labels, random = torch.arange(records) % 10, torch.Generator().manual_seed(1)
        patterns = torch.randn(10, 1, 28, 28, generator=random)
        return patterns[labels] + 2 * torch.randn(records, 1, 28, 28, generator=random), labels
    pixels, labels = (np.frombuffer(gzip.open(f"{folder}/train-{name}-ubyte.gz").read(), np.uint8, offset=header)
                      for name, header in (("images-idx3", 16), ("labels-idx1", 8)))
    return torch.tensor(pixels.reshape(-1, 1, 28, 28)[:records]) / 255, torch.tensor(labels[:records]).long()

comm = sotto.communicator()  # None without mpirun: then this process is the only agent.
rank, ranks = (comm.rank, comm.size) if comm else (0, 1)
images, labels = read(os.environ.get("SOTTO_DATA_DIR", "."), 10000)
shard = TensorDataset(images[rank:8000:ranks], labels[rank:8000:ranks])  # No image is in two shards.
test = TensorDataset(images[8000:], labels[8000:])

torch.manual_seed(1)  # All agents start from the same model.
model = nn.Sequential(
    nn.Conv2d(1, 16, 5, stride=2), nn.GroupNorm(4, 16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.GroupNorm(4, 32), nn.ReLU(),
    nn.Flatten(), nn.Linear(32 * 5 * 5, 10))
peer = sotto.torch.make_private(model, loss=nn.CrossEntropyLoss(), data=shard, epsilon=2)
peer.train()
if rank == 0:
    print(f"agents: {ranks}, test accuracy: {peer.evaluate(test).accuracy:.3f}, epsilon: {peer.epsilon:.3g} for an image")
