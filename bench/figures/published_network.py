"""The network of the published scripts of [W] as TorchScript: layers as in their models.py. Needs python3-torch.
  python3 published_network.py FILE"""
import sys

import torch
import torch.nn.functional as F


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.input_shape = [1, 28, 28]
        self.first = torch.nn.Conv2d(1, 32, 3, padding=1)
        self.second = torch.nn.Conv2d(32, 64, 3, padding=1)
        self.third = torch.nn.Linear(7 * 7 * 64, 128)
        self.last = torch.nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.last(F.relu(self.third(x.flatten(1))))


torch.manual_seed(1)
torch.jit.script(Network()).save(sys.argv[1])
