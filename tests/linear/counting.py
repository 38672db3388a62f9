"""What a call costs: the instructions of this thread, which other processes do not change.

Where nobody counts them (`perf_event_open` has no such counter in many virtual machines), the CPU
time of this thread.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import time
from collections.abc import Callable

_SYSCALLS = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _INSTRUCTIONS, _SIZE = 0, 1, 112
_NO_KERNEL_NO_HYPERVISOR = 1 << 5 | 1 << 6


def _opened() -> int:
    """A counter of this thread's instructions in user space; -1 where there is none."""
    number = _SYSCALLS.get(platform.machine())
    if number is None or platform.system() != "Linux":
        return -1
    attributes = bytearray(_SIZE)
    struct.pack_into("IIQ", attributes, 0, _HARDWARE, _SIZE, _INSTRUCTIONS)
    struct.pack_into("Q", attributes, 40, _NO_KERNEL_NO_HYPERVISOR)
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = (ctypes.c_char * _SIZE).from_buffer(attributes)
    return int(libc.syscall(number, buffer, 0, -1, -1, 0))


class Counter:
    """Counts what calls cost. Make one in each process: it counts the thread that made it."""

    def __init__(self) -> None:
        self._file = _opened()
        self.exact = self._file >= 0
        """Whether instructions are counted, and not time."""
        self.floor = 1_000_000 if self._file >= 0 else 250_000
        """A quarter of a millisecond: of what costs less, growth says nothing."""

    def cost(self, read: Callable[[str], object], text: str) -> int:
        """What reading a text costs once."""
        before = self._now()
        read(text)
        return self._now() - before

    def _now(self) -> int:
        if self._file >= 0:
            return int(struct.unpack("q", os.read(self._file, 8))[0])
        return time.thread_time_ns()
