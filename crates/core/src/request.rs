//! What callers may ask; a builder that refuses nonsense.
