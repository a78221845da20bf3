"""PyTorch models as agents of sotto: private training over MPI, every rank an agent with data of its own.

    model = torch.nn.Sequential(torch.nn.Linear(123, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
    peer = sotto.torch.make_private(model, loss=torch.nn.CrossEntropyLoss(), data=shard, epsilon=2, test=test)
    result = peer.train()

`make_private` makes the `sotto.Agent` and a `PrivatePeer`; `simulate` those of all agents in one process. `check(model, loss, data)` lists what would be refused, `fix(model)`
repairs layers.

`PrivatePeer` finds the gradient of every record, sotto clips, adds noise, sends, mixes and accounts.

What a model may hold: any layers that treat every record by itself. Layers that mix records (BatchNorm, SyncBatchNorm,
InstanceNorm with running statistics) are refused with what to use instead, and so are models that mix in other ways on three
records of the shard. Sequences of known layers have the gradients of a batch found at once; other models are run on one
record at a time, so that rows cannot mix whatever the model does. Parameters with `requires_grad=False` stay out of the vector; buffers stay
as they are. Parameters that several layers share count once.
"""
from .errors import ModelError
from .flat import dimension, load, parameters
from .metrics import Evaluation
from .peer import PrivatePeer
from .private import Peer, make_private
from .repair import Refusal, check, fix
from .simulation import Simulation, simulate

__all__ = ["Evaluation", "ModelError", "Peer", "PrivatePeer", "Refusal", "Simulation", "check", "dimension", "fix",
           "load", "make_private", "parameters", "simulate"]
