"""MNIST for figures: a part of it, and the networks."""
import gzip
import pathlib
import random
import struct
import subprocess

import common
import running

FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
UNITS = {"mlp": 32, "tiny": 4}
NETWORKS = {"published": "the network of the published scripts (convolutions 3 x 3 to 32 and 64 channels, dense layers of 128 and 10 "
                         "units) as TorchScript",
            "mlp": f"one hidden layer of {UNITS['mlp']} units with ReLU", "tiny": f"one hidden layer of {UNITS['tiny']} units with ReLU"}
CHOSEN_BY = 1  # seed of the records


def task(network):
    """Options of the network."""
    if network in UNITS:
        return {"task": "mlp", "hidden": UNITS[network]}
    path = common.BUILD / "figures" / "published_network.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        made = subprocess.run(["/usr/bin/python3", running.HERE / "published_network.py", path.with_suffix(".new")],
                              stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            raise SystemExit(f"figures: the published network needs python3-torch, and sotto built with libtorch-dev: "
                             f"{made.stderr.strip()[-200:]}")
        path.with_suffix(".new").rename(path)
    return {"task": path}


def part_of_mnist(part):
    """Options that name files with this part of the training and test images, chosen at random; made once."""
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
