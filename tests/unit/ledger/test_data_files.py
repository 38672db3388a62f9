"""What is parsed of a package's YAML is kept as JSON beside its compiled modules."""

import sys

import pytest
import yaml

from beliefledger.ledger import data_files
from beliefledger.ledger.data_files import data

WORDS = "words: {first: [one, 2], second: 0.5}\nnames: null\n"
MEANS = {"words": {"first": ["one", 2], "second": 0.5}, "names": None}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one data file, in a directory where Python may write."""
    (tmp_path / "with_data" / "more").mkdir(parents=True)
    (tmp_path / "with_data" / "__init__.py").touch()
    (tmp_path / "with_data" / "more" / "words.yaml").write_text(WORDS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.delitem(sys.modules, "with_data", raising=False)
    return tmp_path / "with_data" / "more"


@pytest.fixture
def no_yaml(monkeypatch):
    def parsed(_written):
        raise AssertionError("It was parsed again.")

    monkeypatch.setattr(data_files, "parsed", parsed)


def read():
    return data("with_data", "more/words.yaml")


def kept(package):
    return list((package / "__pycache__").glob("words.*"))


def test_what_was_parsed_is_not_parsed_again(package, request):
    assert read() == MEANS
    (found,) = kept(package)
    assert found.suffix == ".json"
    request.getfixturevalue("no_yaml")
    assert read() == MEANS
    assert read() is not read()  # who takes it apart takes nothing from others


def test_a_file_that_was_changed_is_parsed_again(package):
    read()
    (package / "words.yaml").write_text("words: other\n")
    assert read() == {"words": "other"}
    assert read() == {"words": "other"}


@pytest.mark.parametrize("content", [b"", b"\xff\n{}", b"no digest at all", None])
def test_what_is_damaged_is_parsed_again(package, content):
    read()
    (found,) = kept(package)
    digest = found.read_bytes().partition(b"\n")[0]
    found.write_bytes(digest + b'\n{"cut' if content is None else content)
    assert read() == MEANS
    assert read() == MEANS


def test_what_json_does_not_know_is_not_kept(package):
    (package / "words.yaml").write_text("on: 2026-03-01\n1: one\n")
    assert read() == yaml.safe_load("on: 2026-03-01\n1: one\n")
    assert kept(package) == []


def test_nothing_is_kept_where_python_keeps_nothing(package, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert read() == MEANS
    assert not (package / "__pycache__").exists()


def test_where_nothing_can_be_written_it_is_parsed_each_time(package):
    (package / "__pycache__").write_text("no directory")
    assert read() == MEANS
    assert read() == MEANS
