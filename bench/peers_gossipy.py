"""A training by gossipy's simulator, which peers.py starts: all agents on a ring in one process, one thread of torch, MNIST.

    peers_gossipy.py MNIST.npz MODEL AGENTS ROUNDS BATCH STEP        # with PYTHONPATH=CHECKOUT

Every node averages its model with those of both neighbours in every round (All2AllGossipSimulator), and takes a step on a batch. A round is
one time step, so that all nodes act in it, and nothing is evaluated. Prints JSON: ms a round, and the mean accuracy of the nodes' models on
the test set. The module torchvision, which gossipy imports for data that are not used, is empty here.
"""
import json
import statistics
import sys
import time
import types

sys.modules.setdefault("torchvision", types.ModuleType("torchvision"))

import networkx
import numpy as np
import peers_mnist
import torch
from gossipy import set_seed
from gossipy.core import AntiEntropyProtocol, ConstantDelay, CreateModelMode, StaticP2PNetwork
from gossipy.data import DataDispatcher
from gossipy.data.handler import ClassificationDataHandler
from gossipy.model.handler import WeightedTMH
from gossipy.model.nn import LogisticRegression, TorchMLP
from gossipy.node import All2AllGossipNode
from gossipy.simul import All2AllGossipSimulator


class Softmax(LogisticRegression):
    """Without the sigmoid before the cross-entropy."""
    init_weights = peers_mnist.start

    def forward(self, x):
        return self.model(x)


class Mlp(TorchMLP):
    init_weights = peers_mnist.start


MODELS = {"Softmax": lambda: Softmax(784, 10), "Mlp": lambda: Mlp(784, 10, (128,))}


def simulator(data, model, agents, batch, step):
    handler = ClassificationDataHandler(data["images"], data["labels"], test_size=0)
    dispatcher = DataDispatcher(handler, n=agents, eval_on_user=False, auto_assign=True)
    ring = StaticP2PNetwork(agents, topology=networkx.to_numpy_array(networkx.cycle_graph(agents)))
    proto = WeightedTMH(net=model, optimizer=torch.optim.SGD, optimizer_params={"lr": step}, criterion=torch.nn.CrossEntropyLoss(),
                        local_epochs=0, batch_size=batch, create_model_mode=CreateModelMode.MERGE_UPDATE)
    nodes = All2AllGossipNode.generate(data_dispatcher=dispatcher, p2p_net=ring, model_proto=proto, round_len=1, sync=True)
    made = All2AllGossipSimulator(nodes=nodes, data_dispatcher=dispatcher, delta=1, protocol=AntiEntropyProtocol.PUSH, delay=ConstantDelay(0))
    made.init_nodes()
    return made


def main():
    source, model, agents, rounds, batch, step = sys.argv[1:]
    agents, rounds = int(agents), int(rounds)
    set_seed(1)
    torch.set_num_threads(1)
    data = peers_mnist.tensors(source)
    made = simulator(data, MODELS[model](), agents, int(batch), float(step))
    weights = np.full((agents, 3), 1 / 3)  # of the node and of its neighbours
    start = time.monotonic()
    made.start(weights, n_rounds=rounds)
    spent = time.monotonic() - start
    models = [node.model_handler.model for node in made.nodes.values()]
    print(json.dumps({"ms": 1e3 * spent / rounds, "accuracy": statistics.mean(peers_mnist.accuracy(one, data) for one in models),
                      "parameters": models[0].get_size(), "torch": torch.__version__}))


main()
