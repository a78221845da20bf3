"""Low-rank changes of a transformer that public texts have trained: every private text is protected with epsilon 4."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import sotto.torch

def texts(records, seed, words):  # In class 0 the words 0 to 3 are more frequent than 4 to 7, in class 1 less. All words are then renamed.
    random = torch.Generator().manual_seed(seed)
    tokens, classes = torch.randint(8, 32, (records, 16), generator=random), torch.randint(0, 2, (records, 1), generator=random)
    tokens[:, ::2] = torch.randint(4, (records, 8), generator=random) + 4 * (torch.rand(records, 8, generator=random) < 0.3 + classes * 0.4)
    return TensorDataset(words[tokens], classes[:, 0])

class LowRank(nn.Module):  # W + B A, where B is zero at first.
    def __init__(self, weight, rank=4):
        super().__init__()
        self.b, self.a = nn.Parameter(torch.zeros(len(weight), rank)), nn.Parameter(torch.randn(rank, weight.shape[1]) / 6)
    def forward(self, weight):
        return weight + self.b @ self.a

torch.manual_seed(1)
model = nn.Sequential(nn.Embedding(32, 32), nn.TransformerEncoderLayer(32, 2, 64, 0.0, batch_first=True), nn.Flatten(), nn.Linear(512, 2))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
for tokens, classes in DataLoader(texts(6000, 1, torch.arange(32)), 64):  # Training on public texts is not private.
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(tokens), classes).backward()
    optimizer.step()
words = torch.randperm(32)  # In private texts other words tell the class.
test, private = texts(2000, 2, words), texts(8000, 3, words)
model.requires_grad_(False)
for layer, name in ((model[1].self_attn, "in_proj_weight"), (model[1].linear1, "weight"), (model[1].linear2, "weight")):
    nn.utils.parametrize.register_parametrization(layer, name, LowRank(getattr(layer, name)))
comm = sotto.communicator()  # None without mpirun: then this process is the only agent.
rank, ranks = (comm.rank, comm.size) if comm else (0, 1)
model.load_state_dict(comm.bcast(model.state_dict()) if comm else model.state_dict())  # Hosts round differently; rank 0's model counts.
shard = TensorDataset(*(tensor[rank::ranks] for tensor in private.tensors))  # No text is in two shards.
peer = sotto.torch.make_private(model, loss=nn.CrossEntropyLoss(), data=shard, epsilon=4, rounds=200)
before = peer.evaluate(test).accuracy
peer.train()
if rank == 0:
    print(f"agents: {ranks}, accuracy: {peer.evaluate(test).accuracy:.3f}, before: {before:.3f}, epsilon: {peer.epsilon:.3g} for a text")
