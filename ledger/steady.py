"""Notices when the wall clock jumps, by comparing it with a clock that nobody can set.

That is the time since the machine booted, sleep included (CLOCK_BOOTTIME). Both run at the rate
that NTP corrects by slewing, so the difference between them is constant until somebody sets the
wall clock. A leap second changes it by one, and a machine that was frozen and set right by as long.
"""

from __future__ import annotations

import time
from pathlib import Path

from beliefledger.ledger.errors import ClockJumped
from beliefledger.ledger.times import DAY, SECOND, Micros, system_clock

JUMP: Micros = 300 * SECOND
"""How far the wall clock may be set, either way, while a ledger is open."""
LONG: Micros = 366 * DAY
"""After so long without an event, one is asked whether the clock is right."""
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def ahead() -> Micros:
    """By how much the wall clock is ahead of the steady one."""
    return system_clock() - time.clock_gettime_ns(_STEADY) // 1_000


def boot() -> str:
    """Which run of the machine this is; "" where it does not tell."""
    try:
        return _BOOT.read_text("ascii").strip()
    except OSError:
        return ""


class Steadiness:
    """Remembers how the two clocks stood when it was made."""

    def __init__(self) -> None:
        self._ahead = ahead()

    def check(self) -> None:
        """Raises `ClockJumped`."""
        jumped = ahead() - self._ahead
        if abs(jumped) > JUMP:
            raise ClockJumped(
                f"The clock was set {_told(jumped)} while the ledger was open, and now says"
                f" {_now()}."
            )


def jumped_since(mark_boot: str, mark_ahead: Micros) -> str | None:
    """What to say where the clock was set between two processes of one run of the machine; None
    where it was not, or nobody can tell."""
    jumped = ahead() - mark_ahead
    if not mark_boot or mark_boot != boot() or abs(jumped) <= JUMP:
        return None
    return (
        f"The clock was set {_told(jumped)} since events were last recorded here, and now says"
        f" {_now()}: see that it is right before anything is recorded."
    )


def behind_or_long_after(recorded_at: Micros, tolerance: Micros) -> str | None:
    """A warning about a clock that is far from the time of the last event."""
    passed = system_clock() - recorded_at
    if passed < -tolerance:
        return (
            f"The clock says {_now()} and is {-passed // SECOND} seconds behind the last event:"
            " nothing can be recorded until it is right."
        )
    if passed > LONG:
        return (
            f"The last event was recorded {passed // DAY} days ago by this clock, which says"
            f" {_now()}: see that it is right before anything is recorded."
        )
    return None


def _told(jumped: Micros) -> str:
    way = "forward" if jumped > 0 else "back"
    return f"{way} by {abs(jumped) // SECOND} seconds"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(system_clock() // SECOND))
