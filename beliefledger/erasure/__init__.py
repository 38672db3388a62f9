"""Erasure: what it reaches, how it is done, and the certificate that it was."""
