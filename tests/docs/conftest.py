"""What tests of the documents share: a package that is installed as packages are."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import docsite
import pytest

from beliefledger.ledger import own_secrets

PAGE = docsite.ROOT / "docs" / "custom-parts.md"


def files(page):
    """The files that a page shows, by their names."""
    text = page.read_text("utf-8")
    return dict(re.findall(r"^```(?:python|toml)\n# ([\w.]+)\n(.*?)^```", text, re.M | re.S))


@pytest.fixture(scope="session")
def acme(tmp_path_factory):
    """The package of docs/custom-parts.md, installed with pip into a directory of its own."""
    source, site = tmp_path_factory.mktemp("acme"), tmp_path_factory.mktemp("site")
    for name, text in files(PAGE).items():
        (source / name).write_text(text, "utf-8")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    install += ["--no-build-isolation", "--target", str(site), str(source)]
    subprocess.run(install, check=True, capture_output=True, text=True)
    assert (site / "acme_memory-1.0.dist-info" / "entry_points.txt").exists()
    return site


@pytest.fixture
def installed(acme, monkeypatch):
    """As if it were installed in the environment that the tests run in."""
    monkeypatch.syspath_prepend(acme)
    importlib.invalidate_caches()
    before = {each.kind for each in own_secrets.added()}
    yield acme
    for each in own_secrets.added():
        if each.kind not in before:
            own_secrets.remove(each.kind)
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]
