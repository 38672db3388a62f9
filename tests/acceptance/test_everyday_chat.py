"""What is believed of somebody after they chatted about everyday things, and what no longer is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beliefledger.ledger.data_files import parsed

CHATS = parsed((Path(__file__).parent / "everyday_chat.yaml").read_bytes())


@pytest.mark.parametrize("chat", CHATS, ids=[each["turns"][-1] for each in CHATS])
def test_what_is_believed_is_what_is_so_now(somebody: Any, chat: dict[str, Any]) -> None:
    found = [each.text for each in somebody.believed_after(*chat["turns"], besides=())]
    for words in chat["told"]:
        assert any(words in each for each in found), found
    for words in chat["over"]:
        assert not any(words in each for each in found), found
