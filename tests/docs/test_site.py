"""The site of the documents: every page is on it, no link leads nowhere, and nothing is fetched."""

from __future__ import annotations

import re
import tomllib

import docsite
import pytest

ROOT = docsite.ROOT


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    return docsite.stage(tmp_path_factory.mktemp("pages") / "staged")


@pytest.fixture(scope="module")
def site(staged):
    done = docsite.build(staged)
    assert done.returncode == 0, done.stdout + done.stderr
    return staged / "site"


def _navigated(given):
    for entry in given:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else _navigated(target)


def test_every_page_is_in_the_navigation_once(staged):
    config = tomllib.loads((ROOT / docsite.CONFIG).read_text("utf-8"))
    listed = list(_navigated(config["project"]["nav"]))
    assert len(listed) == len(set(listed))
    top = staged / "docs"
    pages = {path.relative_to(top).as_posix() for path in top.rglob("*.md")}
    inner = {page for page in pages if page.startswith(("adr/", "reference/"))} - set(listed)
    assert set(listed) == pages - inner
    linked = "".join((top / name / "index.md").read_text("utf-8") for name in ("adr", "reference"))
    assert not [page for page in inner if f"({page.partition('/')[2]})" not in linked]


def test_it_builds_strictly(site):
    for name in ("index.html", "tutorial.html", "reference/ledger.html", "adr/index.html"):
        assert "</html>" in (site / name).read_text("utf-8"), name


def test_a_link_that_leads_nowhere_stops_it(staged, tmp_path):
    for path in staged.rglob("*"):
        if path.is_file() and "site" not in path.relative_to(staged).parts:
            copy = tmp_path / path.relative_to(staged)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    page = tmp_path / "docs/glossary.md"
    page.write_text(page.read_text("utf-8") + "\n[gone](search.md#no-such-heading)\n", "utf-8")
    done = docsite.build(tmp_path)
    assert done.returncode != 0
    assert "anchor does not exist" in done.stdout + done.stderr


def test_a_page_fetches_nothing(site):
    for path in site.rglob("*.html"):
        html = path.read_text("utf-8")
        fetched = re.findall(r"<(?:script|img|iframe|source)[^>]+src=\"?([^\" >]+)", html)
        fetched += re.findall(r"<link[^>]+rel=\"?stylesheet[^>]+href=\"?([^\" >]+)", html)
        assert not [each for each in fetched if "//" in each], path.name
        assert 'class="mermaid"' not in html, path.name  # its program would be fetched


@pytest.mark.parametrize(
    ("source", "given", "wanted"),
    [
        ("README.md", "[docs](docs/adr)", "[docs](adr/index.md)"),
        ("README.md", "[cli](docs/cli.md#ops-tail)", "[cli](cli.md#ops-tail)"),
        ("docs/glossary.md", "[how](../CONTRIBUTING.md)", "[how](contributing.md)"),
        ("docs/adr/0001-x.md", "[more](../search.md)", "[more](../search.md)"),
        ("docs/glossary.md", "[log.py](../ledger/log.py)", "log.py"),
        ("docs/glossary.md", "[ledger/log.py](../ledger/log.py)", "`ledger/log.py`"),
        ("docs/glossary.md", "[`x`](../ledger/log.py)", "`x`"),
        ("docs/glossary.md", "[here](#there)", "[here](#there)"),
        ("docs/glossary.md", "```\n[a](../ledger/log.py)\n```", "```\n[a](../ledger/log.py)\n```"),
        ("docs/glossary.md", "```mermaid\na-->b\n```", "```text\na-->b\n```"),
    ],
)
def test_links_are_those_of_the_site(source, given, wanted):
    assert docsite.staged(given, source) == wanted
