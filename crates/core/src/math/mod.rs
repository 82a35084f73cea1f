//! Numbers only: factors, primitive roots, twiddles, and the reference transform in higher precision.
