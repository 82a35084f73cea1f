"""Compares `warpfft convolve` with scipy.signal: modes, ranks, real and complex, convolution and correlation.

    python crates/cli/tests/convolve_check.py target/release/warpfft

Needs numpy and scipy. Exits with 1 if any result differs by more than 1e-6 (single) or 1e-14 (double) in relative L2
norm, 77 if scipy is absent.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import scipy
    import scipy.signal
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

SHAPES = [((50,), (7,)), ((7,), (50,)), ((1,), (1,)), ((4001,), (33,)), ((9, 12), (4, 5)), ((12, 9), (12, 1)),
          ((4, 5), (9, 12)), ((5, 20), (9, 3)), ((6, 7, 8), (2, 3, 4)), ((3, 2, 4, 3), (2, 2, 1, 3))]
KINDS = [("f4", "f4"), ("f8", "f8"), ("c8", "c8"), ("c16", "f8"), ("f4", "c8"), ("f4", "f8"), ("i2", "i2")]


def random(shape, kind, rng):
    if kind[0] == "i":
        return rng.integers(-50, 50, shape).astype(kind)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if kind[0] == "c" else x).astype(kind)


def check(program, folder, a, b, mode, correlate):
    """Runs one; returns what is wrong, or None."""
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    command = [program, "convolve", str(folder / "a.npy"), str(folder / "b.npy"), "-o", str(folder / "c.npy")]
    command += ["--mode", mode, "--device", "cpu"] + (["--correlate"] if correlate else [])
    done = subprocess.run(command, capture_output=True, text=True)
    # Integers become doubles, which scipy.signal.correlate would round back. Of two widths scipy transforms the narrower
    # one in its own, and is off by that.
    double = any(x.dtype.kind == "i" or x.real.dtype == np.float64 for x in (a, b))
    width = 8 if double else 4
    wide = [x.astype(f"c{2 * width}" if x.dtype.kind == "c" else f"f{width}") for x in (a, b)]
    try:
        if correlate:
            want = scipy.signal.correlate(*wide, mode=mode, method="fft")
        else:
            want = scipy.signal.fftconvolve(*wide, mode=mode)
    except ValueError as refused:
        return None if done.returncode == 2 else f"scipy refuses ({refused}), exit code {done.returncode}"
    if done.returncode != 0:
        return done.stderr.strip()
    got = np.load(folder / "c.npy")
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} for {want.dtype}{want.shape}"
    error = np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-300)
    bound = 1e-6 if want.dtype in (np.float32, np.complex64) else 1e-14
    return None if error < bound else f"error {error:.2e}"


def main():
    program, rng, failed, count = sys.argv[1], np.random.default_rng(5), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for shapes in SHAPES:
            for kinds in KINDS:
                a, b = (random(shape, kind, rng) for shape, kind in zip(shapes, kinds))
                for mode in ("full", "same", "valid"):
                    for correlate in (False, True):
                        wrong = check(program, Path(folder), a, b, mode, correlate)
                        count += 1
                        if wrong:
                            failed += 1
                            print(f"{shapes} {kinds} {mode} {'correlate' if correlate else 'convolve'}: {wrong}")
    print(f"{count} convolutions compared with scipy {scipy.__version__}, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
