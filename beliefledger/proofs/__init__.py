"""Proofs about the log: checkpoints, inclusion, who signed, who witnessed."""
