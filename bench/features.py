"""Features of CIFAR-10 that depend on no other image: histograms of oriented gradients (Dalal and Triggs 2005) and mean colours.

An image of 3 x 32 x 32 becomes 8 orientations and 3 colours in 8 x 8 cells: 704 numbers, written as IDX bytes that `--task softmax` reads.
"""
import gzip
import struct

import common

ORIENTATIONS, CELL = 8, 4


def features_of(images):
    """(N, 3, 32, 32) bytes become (N, 704) bytes."""
    import numpy as np
    pixels = images.astype(np.float32) / 255
    padded = np.pad(pixels, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
    across, down = padded[:, :, 1:-1, 2:] - padded[:, :, 1:-1, :-2], padded[:, :, 2:, 1:-1] - padded[:, :, :-2, 1:-1]
    size = np.hypot(across, down)
    strongest = size.argmax(axis=1)[:, None]  # the colour with the steepest edge
    size, across, down = (np.take_along_axis(values, strongest, axis=1)[:, 0] for values in (size, across, down))
    angle = np.mod(np.arctan2(down, across), np.pi) * ORIENTATIONS / np.pi
    cells = lambda values: values.reshape(*values.shape[:-2], 32 // CELL, CELL, 32 // CELL, CELL).sum(axis=(-3, -1))
    # Each gradient counts for the two orientations that it lies between.
    share = lambda bin: np.maximum(0, 1 - np.abs((angle - bin + ORIENTATIONS / 2) % ORIENTATIONS - ORIENTATIONS / 2))
    edges = np.stack([cells(size * share(bin)) for bin in range(ORIENTATIONS)], axis=1)
    # By the strength of the edges around a cell.
    around = np.pad(np.sqrt((edges**2).sum(axis=1)), ((0, 0), (1, 1), (1, 1)), mode="edge")
    around = sum(around[:, i:i + 8, j:j + 8] for i in range(3) for j in range(3)) / 9
    edges = np.minimum(edges / (around[:, None] + 0.5), 1)
    whole = np.concatenate([edges, cells(pixels) / CELL**2], axis=1)
    return np.rint(whole * 255).astype(np.uint8).reshape(len(images), -1)


def cifar_features():
    """Names of the training and the test file; made once from SOTTO_DATA_DIR/cifar10-*-ubyte.gz."""
    found = []
    for part in ("train", "test"):
        path = common.BUILD / "cifar" / f"{part}-images-idx3-ubyte.gz"
        found.append(path)
        if path.exists():
            continue
        import numpy as np
        path.parent.mkdir(parents=True, exist_ok=True)
        content = gzip.open(common.data_file(f"cifar10-{part}-images-idx4-ubyte.gz")).read()
        images = np.frombuffer(content, np.uint8, offset=20).reshape(-1, 3, 32, 32)
        rows = np.concatenate([features_of(images[i:i + 1000]) for i in range(0, len(images), 1000)])
        labels = common.data_file(f"cifar10-{part}-labels-idx1-ubyte.gz").read_bytes()
        path.with_name(f"{part}-labels-idx1-ubyte.gz").write_bytes(labels)
        path.write_bytes(gzip.compress(struct.pack(">IIII", 0x803, len(rows), 8, rows.shape[1] // 8) + rows.tobytes(), 1))
    return found
