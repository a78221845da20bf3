"""PyTorch models as agents of sotto: private training over MPI, every rank an agent with data of its own.

    import sotto, sotto.torch, torch
    from mpi4py import MPI

    model = torch.nn.Sequential(torch.nn.Linear(123, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
    agent = sotto.Agent(MPI.COMM_WORLD, sotto.torch.dimension(model), records=len(shard),
                        initial=sotto.torch.parameters(model), epsilon=2, adjacency="record-add-remove")
    peer = sotto.torch.PrivatePeer(model, torch.nn.CrossEntropyLoss(), shard, agent, test=test)
    result = peer.train()

`PrivatePeer` finds the gradient of every record, sotto clips, adds noise, sends, mixes and accounts.

What a model may hold: any layers that treat every record by itself. Layers that mix records (BatchNorm, SyncBatchNorm,
InstanceNorm with running statistics) are refused with what to use instead, and so are models that mix in other ways on three
records of the shard. Sequences of known layers have the gradients of a batch found at once; other models are run on one
record at a time, so that rows cannot mix whatever the model does. Parameters with `requires_grad=False` stay out of the vector; buffers stay
as they are. Parameters that several layers share count once.
"""
from .errors import ModelError
from .flat import dimension, parameters
from .peer import Evaluation, PrivatePeer

__all__ = ["Evaluation", "ModelError", "PrivatePeer", "dimension", "parameters"]
