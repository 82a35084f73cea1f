"""Compares `warpfft transform` with numpy.fft for every dtype, byte order and memory order that .npy knows.

    python crates/cli/tests/numpy_check.py target/release/warpfft

Needs numpy. Exits with 1 if any result differs by more than 1e-6 (single) or 1e-14 (double) in relative L2 norm.
"""

import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
SINGLE = {"f2", "f4", "c8"}
SHAPES = [(), (1,), (2,), (97,), (1000,), (4099,), (6, 10), (1, 7), (31, 64), (3, 5, 8), (2, 1, 9, 4)]
NORMS = ["backward", "ortho", "forward"]


def numbers(rng, dtype, shape):
    """Random numbers over a good part of the dtype's range."""
    if dtype == "?":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype[0] in "iu":
        info = np.iinfo(dtype)
        low, high = max(info.min, -(2**40)), min(info.max, 2**40)
        return rng.integers(low, high, shape).astype(dtype)
    real = rng.standard_normal(shape)
    if dtype[0] == "c":
        return (real + 1j * rng.standard_normal(shape)).astype(dtype)
    return np.asarray(real).astype(dtype)


def relative(got, want):
    scale = np.linalg.norm(want.ravel())
    distance = np.linalg.norm((got - want).ravel())
    return distance / scale if scale else distance


def check(program, folder, array, axes, norm, inverse, precision, shift):
    """Runs one transform; returns what is wrong, or None."""
    source, target = folder / "in.npy", folder / "out.npy"
    np.save(source, array)
    command = [program, "transform", str(source), "-o", str(target), "--norm", norm, "--device", "cpu", "--json"]
    if axes is not None:
        command.append("--axes=" + ",".join(map(str, axes)))
    command += ["--inverse"] * inverse + ["--shift"] * shift
    if precision:
        command += ["--precision", precision]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    json.loads(done.stdout)
    got = np.load(target)
    wide = array.astype(np.complex128)
    over = tuple(range(array.ndim)) if axes is None else axes
    want = (np.fft.ifftn if inverse else np.fft.fftn)(wide, axes=over, norm=norm) if over else wide
    if shift and over:
        want = np.fft.fftshift(want, axes=over)
    single = precision == "f32" or (precision is None and array.dtype.str[1:] in SINGLE)
    if got.dtype != (np.complex64 if single else np.complex128):
        return f"dtype {got.dtype}"
    if got.shape != array.shape or not got.flags.c_contiguous:
        return f"shape {got.shape}"
    error = relative(got.astype(np.complex128), want)
    return None if error <= (1e-6 if single else 1e-14) else f"error {error:.2e}"


def cases(rng):
    """Every dtype, byte order and memory order over some shapes; the other options at random."""
    for dtype, order, fortran in itertools.product(DTYPES, "<>", [False, True]):
        for shape in SHAPES:
            array = numbers(rng, dtype, shape)
            array = array.astype(array.dtype.newbyteorder(order))
            if fortran:
                array = np.asfortranarray(array) if shape else array
            axes = None
            if shape and rng.random() < 0.5:
                count = int(rng.integers(1, len(shape) + 1))
                axes = [int(axis) for axis in rng.permutation(len(shape))[:count]]
                axes = [axis - len(shape) if rng.random() < 0.5 else axis for axis in axes]
            precision = [None, None, "f32", "f64"][rng.integers(4)]
            yield array, axes, str(rng.choice(NORMS)), bool(rng.random() < 0.3), precision, bool(rng.random() < 0.3)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: numpy_check.py PROGRAM")
    rng = np.random.default_rng(20)
    count, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(rng):
            fault = check(sys.argv[1], Path(folder), *case)
            count += 1
            if fault:
                wrong += 1
                array, *options = case
                print(f"{array.dtype.str} {array.shape} {options}: {fault}")
    print(f"{count} arrays compared with numpy {np.__version__}, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
