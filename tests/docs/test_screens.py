"""The screens in docs/screens are what the commands show, and load nothing from elsewhere."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import docsite
import screens


def test_screens_are_what_the_commands_show():
    """`python tests/screens.py` writes them anew; look at the difference."""
    kept = {path.stem: path.read_text("utf-8") for path in screens.SCREENS.glob("*.svg")}
    drawn = dict(screens.drawn())
    assert drawn.keys() == kept.keys() == screens.COMMANDS.keys()
    assert [name for name, drawing in drawn.items() if drawing != kept[name]] == []


def test_a_screen_loads_nothing_and_is_well_formed():
    for path in screens.SCREENS.glob("*.svg"):
        drawing = path.read_text("utf-8")
        tree = ET.fromstring(drawing)
        assert tree.get("aria-label", "").startswith("beliefledger "), path.name
        named = drawing.replace('xmlns="http://www.w3.org/2000/svg"', "", 1)
        assert not re.search(r"https?:|@font-face|@import|href|<script|url\((?!#)", named), (
            path.name
        )


def test_every_screen_is_on_its_page_and_told_in_words():
    page = (docsite.ROOT / "docs" / "screens.md").read_text("utf-8")
    shown = re.findall(r"^!\[(.{20,})\]\(screens/([\w-]+)\.svg\)$", page, re.M)
    assert {name for _, name in shown} == screens.COMMANDS.keys()
