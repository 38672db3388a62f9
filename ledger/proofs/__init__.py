"""Proofs that history was not rewritten: a Merkle tree over the envelopes, and its signed heads."""
