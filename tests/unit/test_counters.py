"""Counting what a process and those it starts do. Not every machine counts instructions, so this
counts their time."""

import subprocess
import sys

import pytest

from beliefledger.tools.bench.counters import HARDWARE, INSTRUCTIONS, counted, counter

SOFTWARE, TASK_CLOCK = 1, 1
WORK = "sum(range(2_000_000))"


def test_work_counts_here_and_in_a_process_that_was_started():
    count = counter(SOFTWARE, TASK_CLOCK)
    if count is None:
        pytest.skip("this system counts nothing")
    little = counted(count, lambda: None)
    here = counted(count, lambda: exec(WORK))
    there = counted(count, lambda: subprocess.run([sys.executable, "-c", WORK], check=True))
    assert 0 <= little < here < there  # which had Python to start, too


def test_what_is_not_counted_is_none():
    assert counter(10_000, 10_000) is None
    instructions = counter(HARDWARE, INSTRUCTIONS)
    assert instructions is None or counted(instructions, lambda: exec(WORK)) > 10_000_000
