"""Extractors by their names: ours, and those of other packages, installed as packages are."""

from __future__ import annotations

import builtins
import os
import sys
from pathlib import Path

import programs
import pytest
from chat_api import MODEL
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.gate.model import ModelExtractor
from beliefledger.ledger.errors import ExtractorMissing, InvalidTurn
from beliefledger.opening.extractors import GROUP
from beliefledger.tools.cli import app

ECHO = '''
"""One file: a model of somebody else's, with our prompt, reading and checks."""

import json

from beliefledger.gate.model import ModelExtractor, Reply, Tokens


class Echo:
    """Takes the last word of every turn for where its speaker lives."""

    provider = "echo"

    def __init__(self, settings):
        self.model = settings.model or "echo-1"
        self.given = settings

    def ask(self, question):
        assert question.schema["properties"]["statements"]
        text = json.loads(question.messages[-1]["content"])["now"]["content"].rstrip(".")
        city = text.split()[-1]
        found = {
            "claim": f"User lives in {city}",
            "quotes": [{"turn": "now", "words": text}],
            "type": "fact", "attribute": "home.location", "value": city, "topic": "home",
            "importance": 0.8, "confidence": 0.9,
        }
        return Reply(json.dumps({"statements": [found]}), "done", Tokens(fresh=7, output=3))

    def cost(self, tokens, *, batch=False):
        return tokens.output

    def close(self):
        pass


def extractor(settings):
    return ModelExtractor(Echo(settings), settings.registry, settings.policy)
'''


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package: a module, and the metadata that an installer writes beside it."""
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def installed(package, source, registers, version="1.2"):
        module = package.replace("-", "_")
        (site / f"{module}.py").write_text(source, "utf-8")
        info = site / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n", "utf-8"
        )
        (info / "INSTALLER").write_text("pip\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{registers}\n", "utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)
        return site

    yield installed
    for name, module in list(sys.modules.items()):
        if str(site) in str(getattr(module, "__file__", "")):
            del sys.modules[name]


def test_another_package_is_one_file_and_one_entry_point(install, place, monkeypatch):
    install("echo-extractor", ECHO, "echo = echo_extractor:extractor")
    monkeypatch.setenv("BELIEFLEDGER_MODEL_KEY", "a-key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-another-vendor")
    with open_memory(place, extractor="echo") as memory:
        _receipt, [decision] = memory.remember("ana", "I live in Porto.", consent="consent")
        assert (decision.outcome, decision.claim) == ("admit", "User lives in Porto")
        [completed] = memory.subscribe(types=["extraction.completed.v1"], follow=False)
        names = ("extractor", "input_tokens", "output_tokens", "cost_micro_usd")
        assert [completed.facts[name] for name in names] == ["echo/2 echo-1", 7, 3, 3]
        assert memory._gate.reader.extractor.client.given.model_key == "a-key"
        with pytest.raises(InvalidTurn, match="takes no batches"):
            memory.operations.extraction.extract(batch=True)
        memory.operations.extraction.use_model("echo-2")  # of the extractor in use
        assert memory.status(digests=False).extractor == "echo/2 echo-2"


def test_it_is_chosen_by_the_environment_and_by_the_command_line(install, place, monkeypatch):
    site = install("echo-extractor", ECHO, "echo = echo_extractor:extractor")
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "I live in Porto.")
    done = CliRunner().invoke(app, ["--ledger", place, "ops", "extract", "--extractor", "echo"])
    assert "1 turn extracted, 1 decision" in done.stdout
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", "echo")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *filter(None, sys.path)]))
    command = [sys.executable, "-m", "beliefledger", "--ledger", place, "status", "--no-digests"]
    told = programs.run(command, capture_output=True, text=True, check=True).stdout
    assert "echo/2 echo-1" in told


def test_an_extractor_that_asks_no_model_may_be_registered(install, tmp_path):
    source = """
class Own:
    name = "own/1"

    def extract(self, turn, earlier=()):
        return []


def extractor(settings):
    return Own()
"""
    install("own", source, "own = own:extractor")
    with open_memory(tmp_path / "ledger", extractor="own") as memory:
        assert memory.status(digests=False).extractor == "own/1"


def test_a_wrong_name_lists_what_there_is(install, tmp_path):
    install("echo-extractor", ECHO, "echo = echo_extractor:extractor")
    with pytest.raises(InvalidTurn, match="there are: rules, claude, echo, openai"):
        open_memory(tmp_path / "ledger", extractor="clod")
    done = CliRunner().invoke(
        app, ["--ledger", str(tmp_path / "ledger"), "init"], env={"BELIEFLEDGER_EXTRACTOR": "clod"}
    )
    assert done.exit_code == 2
    assert "there are: rules, claude, echo, openai" in " ".join(done.stderr.split())


MAKES = "def extractor(settings):\n    {}\n"


@pytest.mark.parametrize(
    ("source", "registers", "told"),
    [
        ("import no_such_library", "broken:extractor", "ModuleNotFoundError: No module named"),
        ("", "broken:extractor", "AttributeError: "),
        ("def extractor(settings:", "broken:extractor", "SyntaxError: "),
        ("", "no_such_module:extractor", "ModuleNotFoundError: No module named 'no_such_module'"),
        (MAKES.format("1 / 0"), "broken:extractor", "ZeroDivisionError: division by zero"),
        ("def extractor(): pass", "broken:extractor", "TypeError: "),
    ],
    ids=["import", "attribute", "syntax", "module", "raises", "signature"],
)
def test_one_that_cannot_be_loaded_is_told_with_its_package_and_why(
    install, tmp_path, source, registers, told
):
    install("broken", source, f"broken = {registers}", version="3.0")
    with pytest.raises(ExtractorMissing, match=told) as raised:
        open_memory(tmp_path / "ledger", extractor="broken")
    assert "extractor 'broken' of the package broken 3.0 could not be loaded" in str(raised.value)
    assert raised.value.__cause__ is not None
    with open_memory(tmp_path / "ledger") as memory:  # nothing was left open, nothing is broken
        assert memory.proofs.verify().ok


@pytest.mark.parametrize("made", ["return None", "return object()", "return type('X', (), {})()"])
def test_what_is_no_extractor_is_told_with_its_package(install, tmp_path, made):
    install("broken", MAKES.format(made), "broken = broken:extractor")
    with pytest.raises(ExtractorMissing, match=r"package broken 1\.2 registers as the extractor"):
        open_memory(tmp_path / "ledger", extractor="broken")


def test_our_names_cannot_be_taken(install, tmp_path):
    taken = "rules = taken:extractor\nclaude = taken:extractor\n"
    install("taken", MAKES.format("raise RuntimeError"), taken)
    with open_memory(tmp_path / "ledger", extractor="rules") as memory:
        assert memory.status(digests=False).extractor.startswith("rules/")
    with open_memory(tmp_path / "ledger", extractor="claude") as memory:
        assert memory.status(digests=False).extractor.startswith("claude/2 ")


def test_a_name_that_two_packages_register_is_not_guessed(install, tmp_path):
    install("taken", ECHO, "openai = taken:extractor")
    with pytest.raises(
        InvalidTurn, match=r"More than one .* 'openai': beliefledger .*, taken 1\.2"
    ):
        open_memory(tmp_path / "ledger", extractor="openai")


def test_without_the_extra_it_says_to_install_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def without_openai(name, *args, **kwargs):
        if name == "openai":
            raise ModuleNotFoundError("No module named 'openai'", name="openai")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "beliefledger.gate.model.openai", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_openai)
    with pytest.raises(ExtractorMissing, match=r"pip install 'beliefledger\[openai\]'"):
        open_memory(tmp_path / "ledger", extractor="openai")
    place = str(tmp_path / "ledger")
    CliRunner().invoke(app, ["--ledger", place, "init"])
    done = CliRunner().invoke(app, ["--ledger", place, "ops", "extract", "--extractor", "openai"])
    assert done.exit_code == 3
    assert "pip install 'beliefledger[openai]'" in " ".join(done.stderr.split())


def test_only_the_chosen_vendors_library_is_loaded(tmp_path):
    asked = (
        "import sys; from beliefledger import open_memory;"
        f"open_memory({str(tmp_path / 'ledger')!r}, extractor=sys.argv[1]).close();"
        "print(sorted({'anthropic', 'openai'} & set(sys.modules)))"
    )

    def loaded(name):
        command = [sys.executable, "-c", asked, name]
        return programs.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert loaded("rules") == "[]"
    assert loaded("claude") == "['anthropic']"
    assert loaded("openai") == "['openai']"


def test_ours_is_an_entry_point_like_any_other(tmp_path, monkeypatch):
    monkeypatch.setenv("BELIEFLEDGER_MODEL", MODEL)
    with open_memory(tmp_path, extractor="openai") as memory:
        assert isinstance(memory._gate.reader.extractor, ModelExtractor)
        assert memory._gate.reader.extractor.name == f"openai/2 {MODEL}"
    written = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    assert f'[project.entry-points."{GROUP}"]' in written
