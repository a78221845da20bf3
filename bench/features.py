"""Features of CIFAR-10 that depend on no other image: wavelet scattering (Oyallon and Mallat 2015) with group normalisation.

On such features private linear models do well (Tramer and Boneh 2021). With Morlet wavelets psi of 8 angles (kymatio's filter bank) and a
Gaussian phi, brightness and two differences of colours, each an x of 32 x 32 pixels, become 1 + 16 + 64 maps of 8 x 8 means:

    x * phi    |x * psi_a| * phi, fine and coarse    ||x * psi_a (fine)| * psi_b (coarse)| * phi

The 243 maps are normalised in 27 groups of 9, and split into positive and negative parts. Means over 2 x 2 places and over an image and its
mirror image are 2 x 243 x 4 x 2 = 3888 numbers, written as IDX bytes that `--task softmax` reads.
"""
import gzip
import struct

import numpy as np

import common

SIDE, MARGIN, ANGLES = 40, 4, np.arange(8)  # of a padded image; pixels around it; wavelets of one scale
COLOURS = np.float32([[1 / 3, 1 / 3, 1 / 3], [1 / 2, -1 / 2, 0], [1 / 3, 1 / 3, -2 / 3]])
LARGEST = 5  # hardly any number is larger; those are cut


def morlet(scale, number):
    """A wave under a Gaussian, less so much of the Gaussian that the mean is zero, on a torus; its Fourier transform is real."""
    angle, sigma, slant = (3 - number) * np.pi / 8, 0.8 * scale, 0.5
    y, x = np.mgrid[-2 * SIDE:3 * SIDE, -2 * SIDE:3 * SIDE]
    along, across = x * np.sin(angle) + y * np.cos(angle), y * np.sin(angle) - x * np.cos(angle)
    bell = np.exp(-(along**2 + (slant * across)**2) / (2 * sigma**2)) * slant / (2 * np.pi * sigma**2)
    wave = bell * np.exp(0.75j * np.pi / scale * along)
    wave -= bell * wave.sum() / bell.sum()
    return np.fft.fft2(wave.reshape(5, SIDE, 5, SIDE).sum(axis=(0, 2))).real.astype(np.float32)


def means_of(step):
    """Gaussian means at 8 places, which lie alike in a mirror image, of every `step`-th pixel."""
    near = np.exp(-(np.arange(0, SIDE, step) - (MARGIN + 1.5 + 4 * np.arange(8))[:, None])**2 / (2 * 1.6**2))
    return (near / near.sum(axis=1, keepdims=True)).astype(np.float32)


FINE, COARSE = (np.stack([morlet(scale, number) for number in ANGLES]) for scale in (1, 2))
MEANS = {step: means_of(step) for step in (1, 2)}
FOURIER = np.exp(-2j * np.pi / SIDE * np.outer(np.arange(SIDE), np.arange(SIDE))).astype(np.complex64)
TURNED = (6 - ANGLES) % 8  # the wavelets in a mirror image, and the maps
MIRROR = np.concatenate([[0], 1 + TURNED, 9 + TURNED, (17 + 8 * TURNED[:, None] + TURNED).ravel()])


def maps_of(pixels):
    """(N, 32, 32) numbers become (N, 81, 8, 8)."""
    def filtered(values, wavelets, step):
        back = FOURIER[::step].conj() / SIDE
        return abs(back @ (FOURIER @ values @ FOURIER * wavelets) @ back.T)

    padded = np.pad(pixels, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)), mode="reflect")[:, None]
    fine, coarse = filtered(padded, FINE, 1), filtered(padded, COARSE, 2)
    twice = filtered(fine[:, :, None], COARSE, 2).reshape(len(pixels), 64, SIDE // 2, SIDE // 2)
    return np.concatenate([MEANS[step] @ values @ MEANS[step].T for values, step in ((padded, 1), (fine, 1), (coarse, 2), (twice, 2))], axis=1)


def features_of(images):
    """(N, 3, 32, 32) bytes become (N, 3888) bytes."""
    count = len(images)
    colours = COLOURS @ ((images.reshape(count, 3, -1).astype(np.float32) / 255 - 0.45) / 0.225)
    groups = maps_of(colours.reshape(-1, 32, 32)).reshape(count, 27, -1)
    groups -= groups.mean(axis=2, keepdims=True)
    groups /= np.sqrt((groups**2).mean(axis=2, keepdims=True) + 1e-5)
    parts = np.maximum(np.stack([groups, -groups], axis=1), 0).reshape(count, 6, 81, 4, 2, 4, 2).mean(axis=(4, 6))
    parts = (parts + parts[:, :, MIRROR, :, ::-1])[..., :2] / 2
    return np.rint(np.minimum(parts / LARGEST, 1) * 255).astype(np.uint8).reshape(count, -1)


def cifar_features():
    """Names of the training and the test file; made once, in some minutes, from SOTTO_DATA_DIR/cifar10-*-ubyte.gz."""
    found = []
    for part in ("train", "test"):
        path = common.BUILD / "cifar" / f"scattering-{part}-images-idx3-ubyte.gz"
        found.append(path)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        content = gzip.open(common.data_file(f"cifar10-{part}-images-idx4-ubyte.gz")).read()
        images = np.frombuffer(content, np.uint8, offset=20).reshape(-1, 3, 32, 32)
        rows = np.concatenate([features_of(images[i:i + 20]) for i in range(0, len(images), 20)])
        labels = common.data_file(f"cifar10-{part}-labels-idx1-ubyte.gz").read_bytes()
        path.with_name(f"scattering-{part}-labels-idx1-ubyte.gz").write_bytes(labels)
        path.write_bytes(gzip.compress(struct.pack(">IIII", 0x803, len(rows), 8, rows.shape[1] // 8) + rows.tobytes(), 1))
    return found
