"""A small vision transformer on images of digits: every image is protected with epsilon 4."""
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

class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches, self.places = nn.Conv2d(1, 32, 7, stride=7), nn.Embedding(17, 32)
        self.encoder, self.head = nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True, norm_first=True), nn.Linear(32, 10)

    def forward(self, x):
        tokens = nn.functional.pad(self.patches(x).flatten(2).transpose(1, 2), (0, 0, 1, 0))  # The class token has place 0.
        return self.head(self.encoder(tokens + self.places(torch.arange(17, device=x.device).expand(len(x), -1)))[:, 0])

comm = sotto.communicator()  # None without mpirun: then this process is the only agent.
rank, ranks = (comm.rank, comm.size) if comm else (0, 1)
images, labels = read(os.environ.get("SOTTO_DATA_DIR", "."), 10000)
shard = TensorDataset(images[rank:8000:ranks], labels[rank:8000:ranks])  # No image is in two shards.
test = TensorDataset(images[8000:], labels[8000:])
torch.manual_seed(1)  # All agents start from the same model.
options = {"rounds": 200, "clip_norm": 1, "step_size": 4, "step_schedule": "linear"}  # A transformer wants them by hand.
peer = sotto.torch.make_private(Transformer(), loss=nn.CrossEntropyLoss(), data=shard, epsilon=4, seed=1, **options)
peer.train()
if rank == 0:
    print(f"agents: {ranks}, test accuracy: {peer.evaluate(test).accuracy:.3f}, epsilon: {peer.epsilon:.3g} for an image")
