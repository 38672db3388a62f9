"""eventsourcing's subscription to the recorder, woken by our waker.

The library's own reads once and then starts to listen: what is recorded in between is not
delivered before something else is. The waker wakes once more when it has begun to listen.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread
from typing import Any

from eventsourcing.persistence import ListenNotifySubscription
from eventsourcing.postgres import PostgresApplicationRecorder

from beliefledger.ledger.postgres.waker import Waker

_LOOK_UP_SECONDS = 0.1
"""How soon a stopped subscription ends its thread."""


class WokenSubscription(ListenNotifySubscription[PostgresApplicationRecorder]):
    def __init__(
        self,
        recorder: PostgresApplicationRecorder,
        waker: Waker,
        gt: int | None = None,
        topics: Sequence[str] = (),
    ) -> None:
        super().__init__(recorder=recorder, gt=gt, topics=topics)
        self._waker = waker
        self._waking = Thread(target=self._wake, name="subscription, woken")
        self._waking.start()

    def __exit__(self, *args: object, **kwargs: Any) -> None:
        try:
            super().__exit__(*args, **kwargs)
        finally:
            self._waking.join()

    def _wake(self) -> None:
        while not self._has_been_stopped:
            self._waker.wait(self._waker.woken, _LOOK_UP_SECONDS)
            self._has_been_notified.set()  # also without a hint: the waker's are only hints
