"""Compares `warpfft transform --kind ...` with scipy.fft: kinds, norms, lengths, axes and both directions.

    python crates/cli/tests/scipy_check.py target/release/warpfft

Needs numpy and scipy. Exits with 1 if any result differs by more than 1e-6 (single) or 3e-15 (double) in relative L2
norm, 77 if scipy is absent.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import scipy
    import scipy.fft as sf
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

COMPLEX = {"c2c": (sf.fftn, sf.ifftn), "c2r": (sf.irfftn, None), "hfft": (sf.hfftn, None)}
HALVED = {"r2c": (sf.rfftn, None), "ihfft": (sf.ihfftn, None)}
WAVES = {f"{name}{kind}": (there, back) for kind in (1, 2, 3, 4)
         for name, there, back in [("dct", sf.dctn, sf.idctn), ("dst", sf.dstn, sf.idstn)]}
KINDS = [*COMPLEX, *HALVED, *WAVES, "dht"]
NORMS = ["backward", "ortho", "forward"]
SHAPES = [(2,), (7,), (12,), (97,), (256,), (1000,), (5, 6), (6, 5), (31, 8), (3, 4, 5), (4, 3, 2), (2, 5, 3, 4)]


def hartley(x, s, axes, norm, inverse):
    """Sums of cosines and sines, axis by axis."""
    for n, axis in zip(s, axes):
        spectrum = np.fft.fft(x, n=n, axis=axis)
        x = spectrum.real - spectrum.imag
    points = float(np.prod(s))
    divided = {"backward": points if inverse else 1, "ortho": points**0.5, "forward": 1 if inverse else points}
    return x / divided[norm]


def wanted(kind, array, s, axes, norm, inverse):
    # Named axes are what the command line has; scipy takes the last ones with s alone, as it does too.
    if kind == "dht":
        over = tuple(range(array.ndim)) if axes is None else axes
        over = over[len(over) - len(s):] if s is not None and axes is None else over
        return hartley(array, s or [array.shape[axis] for axis in over], over, norm, inverse)
    there, back = {**COMPLEX, **HALVED, **WAVES}[kind]
    more = {"type": int(kind[-1])} if kind in WAVES else {}
    return (back if inverse else there)(array, s=s, axes=axes, norm=norm, **more)


def check(program, folder, kind, array, s, axes, norm, inverse, precision, shift):
    """Runs one transform; returns what is wrong, or None."""
    source, target = folder / "in.npy", folder / "out.npy"
    np.save(source, array)
    command = [program, "transform", str(source), "-o", str(target), "--kind", kind, "--norm", norm]
    command += ["--device", "cpu", "--json"]
    if axes is not None:
        command.append("--axes=" + ",".join(map(str, axes)))
    if s is not None:
        command.append("--n=" + ",".join(map(str, s)))
    command += ["--inverse"] * inverse + ["--shift"] * shift
    if precision:
        command += ["--precision", precision]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    report = json.loads(done.stdout)
    got = np.load(target)
    double = np.complex128 if np.iscomplexobj(array) else np.float64
    want = wanted(kind, array.astype(double), s, axes, norm, inverse)
    if shift:
        over = axes if axes is not None else range(array.ndim - len(s), array.ndim) if s else None
        want = np.fft.fftshift(want, axes=over)
    single = precision == "f32" or (precision is None and array.dtype in (np.float32, np.complex64, np.float16))
    dtype = want.dtype if not single else np.dtype(np.complex64 if want.dtype.kind == "c" else np.float32)
    if got.dtype != dtype or report["dtype"] != dtype.name:
        return f"dtype {got.dtype}, not {dtype}"
    if got.shape != want.shape or list(want.shape) != report["output_shape"] or not got.flags.c_contiguous:
        return f"shape {got.shape}, not {want.shape}"
    size = np.linalg.norm(want.ravel())
    error = np.linalg.norm((got - want).ravel()) / (size or 1)
    return None if error <= (1e-6 if single else 3e-15) else f"error {error:.2e}"


def cases(rng):
    """Every kind over every shape several times; the other options at random."""
    for kind in KINDS:
        for shape in SHAPES * 2:
            real = kind not in COMPLEX or rng.random() < 0.3
            array = rng.standard_normal(shape)
            if not real:
                array = array + 1j * rng.standard_normal(shape)
            if rng.random() < 0.3:
                array = array.astype(np.float32 if real else np.complex64)
            elif real and rng.random() < 0.3:
                array = (100 * array).astype(rng.choice(["i2", "f2", "u1"]))
            if rng.random() < 0.3:
                array = np.asfortranarray(array)
            axes, s = None, None
            if rng.random() < 0.6:
                count = int(rng.integers(1, len(shape) + 1))
                axes = [int(axis) for axis in rng.permutation(len(shape))[:count]]
                axes = [axis - len(shape) if rng.random() < 0.5 else axis for axis in axes]
            if rng.random() < 0.5:
                over = axes if axes is not None else list(range(len(shape)))[int(rng.integers(0, len(shape))):]
                s = [max(1 + (kind == "dct1"), shape[axis] + int(rng.integers(-4, 5))) for axis in over]
            if kind in ("c2r", "hfft") and s is None and array.shape[axes[-1] if axes else -1] == 1:
                continue
            inverse = kind in ("c2c", "dht", *WAVES) and bool(rng.random() < 0.5)
            shift = kind in (*COMPLEX, "dht") and bool(rng.random() < 0.2)
            precision = [None, None, "f32", "f64"][rng.integers(4)]
            yield kind, array, s, axes, str(rng.choice(NORMS)), inverse, precision, shift


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scipy_check.py PROGRAM")
    rng = np.random.default_rng(21)
    count, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(rng):
            fault = check(sys.argv[1], Path(folder), *case)
            count += 1
            if fault:
                wrong += 1
                kind, array, *options = case
                print(f"{kind} {array.dtype.str} {array.shape} {options}: {fault}")
    print(f"{count} transforms compared with scipy {scipy.__version__}, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
