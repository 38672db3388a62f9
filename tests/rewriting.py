"""Rewrites the asserts of every module of tests once, before a run's workers begin.

Each worker would else do it for all modules, at the same time as the others, and it takes longer
than all that is imported. What pytest keeps of it beside the modules is what the workers then read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

TESTS = Path(__file__).parent


def rewrite_all(config: pytest.Config) -> None:
    """A process for each processor does its share; what fails is told when it is imported."""
    state = config.stash[rewrite.assertstate_key]
    modules = sorted(
        (path for path in TESTS.rglob("*.py") if path.name.startswith(("test_", "conftest"))),
        key=lambda path: path.stat().st_size,
    )
    shares = os.cpu_count() or 1
    children = []
    for share in range(shares):
        child = os.fork()
        if child == 0:
            try:
                for path in modules[share::shares]:
                    kept = rewrite.get_cache_dir(path) / (path.name[:-3] + rewrite.PYC_TAIL)
                    if rewrite._read_pyc(path, kept) is None and rewrite.try_makedirs(kept.parent):
                        digest, code = rewrite._rewrite_test(path, config)
                        rewrite._write_pyc(state, code, digest, kept)
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
