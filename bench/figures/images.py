"""Parts of MNIST, and networks, for figures."""
import gzip
import pathlib
import random
import struct

import common
import running

FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
NETWORKS = {"cnn": ("the network `cnn` of docs/tasks.md (convolutions 3 x 3 to 16 and 32 channels, a dense layer)", {"task": "cnn"}),
            "mlp": ("one hidden layer of 32 units with ReLU", {"task": "mlp", "hidden": 32}),
            "tiny": ("one hidden layer of 4 units with ReLU", {"task": "mlp", "hidden": 4})}  # name: (in words, options)
CHOSEN_BY = 1  # seed that chooses the records


def part_of_mnist(part):
    """Options that name files with this part of the training and test images, chosen at random. Makes the files if needed."""
    folder = common.BUILD / "figures" / f"mnist-{part:g}"
    for images in FILES[0::2]:
        labels = images.replace("images-idx3", "labels-idx1")
        if not (folder / images).exists() or not (folder / labels).exists():
            write_part(images, labels, part, folder)
    return {"data": folder / FILES[0], "test-data": folder / FILES[2]}


def write_part(images, labels, part, folder):
    folder.mkdir(parents=True, exist_ok=True)
    count = struct.unpack(">I", gzip.open(running.data_path(images)).read(8)[4:])[0]
    rows = sorted(random.Random(CHOSEN_BY).sample(range(count), round(part * count)))
    for name, head in ((labels, 8), (images, 16)):
        content = gzip.open(running.data_path(name)).read()
        size = (len(content) - head) // count
        kept = b"".join(content[head + size * row:head + size * (row + 1)] for row in rows)
        new = pathlib.Path(folder / (name + ".new"))
        new.write_bytes(gzip.compress(content[:4] + struct.pack(">I", len(rows)) + content[8:head] + kept, 1))
        new.rename(folder / name)
