"""Shared by the programs that peers.py starts: MNIST as tensors, sotto's first weights, and the accuracy of a model."""
import numpy as np
import torch


def tensors(path):
    """Images and labels of the training and test files, which peers.py has written."""
    data = np.load(path)
    convert = lambda name: data[name] / np.float32(255) if name.endswith("images") else data[name].astype(np.int64)
    return {name: torch.from_numpy(convert(name)) for name in data.files}


def start(model):
    """First weights of the kind that sotto draws, of every agent the same: zero for one layer, He and Glorot for two."""
    generator = torch.Generator().manual_seed(1)
    layers = [layer for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    variances = [0] if len(layers) == 1 else [2 / layers[0].in_features, 2 / (layers[1].in_features + layers[1].out_features)]
    with torch.no_grad():
        for layer, variance in zip(layers, variances):
            layer.weight.normal_(0, 1, generator=generator).mul_(variance ** 0.5)
            layer.bias.zero_()


def accuracy(model, data):
    with torch.no_grad():
        return (model(data["test_images"]).argmax(1) == data["test_labels"]).float().mean().item()
