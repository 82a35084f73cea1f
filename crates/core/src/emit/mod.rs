//! Text of kernels: tables that print a verified kernel and decide nothing.
