"""What the system says of a file is told with what to do about it."""

from __future__ import annotations

import errno

import pytest

from beliefledger.ledger.errors import BackendUnusable
from beliefledger.ledger.faults import file_fault


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_where_nothing_can_be_written_it_says_to_open_a_copy(code):
    fault = file_fault("write.lock cannot be opened", OSError(code, "no"))
    assert isinstance(fault, BackendUnusable)
    assert "copy the whole directory of the ledger" in str(fault)
    assert "questions, too, write views and locks" in str(fault)
