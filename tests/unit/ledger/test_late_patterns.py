"""Patterns that are compiled when they are first used do what those of `re` do."""

import re
import subprocess
import sys

import pytest

from beliefledger.ledger.late_patterns import compile_later


@pytest.mark.parametrize("flags", [0, re.I, re.I | re.X])
def test_it_finds_what_the_pattern_finds(flags):
    source, text = r"(?P<word>b\w+) , (c)?", "Ab ,  Bee , c"
    late, plain = compile_later(source, flags), re.compile(source, flags)
    assert [each.groupdict() for each in late.finditer(text)] == [
        each.groupdict() for each in plain.finditer(text)
    ]
    assert late.sub("x", text) == plain.sub("x", text)
    assert (late.pattern, late.flags, late.groups) == (plain.pattern, plain.flags, plain.groups)
    assert dict(late.groupindex) == dict(plain.groupindex)


def test_a_mistake_is_told_when_it_is_first_used():
    late = compile_later("(never closed")
    with pytest.raises(re.error, match="missing \\)"):
        late.search("anything")


def test_it_is_compiled_once():
    late = compile_later("[ab]{3}")
    assert late.search.__self__ is late.match.__self__


def test_redaction_compiles_nothing_before_a_turn_is_read():
    script = (
        "import re, sys\n"
        "compiled = set()\n"
        "def seen(pattern, flags):\n"
        "    frame = sys._getframe(1)\n"
        "    while frame.f_code.co_filename in (re.__file__, late_patterns.__file__):\n"
        "        frame = frame.f_back\n"
        "    compiled.add(frame.f_globals['__name__'])\n"
        "    return re.compile(pattern, flags)\n"
        "from beliefledger.ledger import late_patterns\n"
        "late_patterns.PATTERNS.compiled = seen\n"
        "from beliefledger.ledger.redact import redact\n"
        "print('beliefledger.ledger.redact' in compiled)\n"
        "redact('my card is 4111 1111 1111 1111')\n"
        "print('beliefledger.ledger.redact' in compiled)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
