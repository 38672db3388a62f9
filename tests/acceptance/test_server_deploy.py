"""What `deploy/` has: units, a Compose file and a container file, held against the program."""

from __future__ import annotations

import configparser
import fnmatch
import json
import os
import re
import shlex
import signal
import sys
import time
import tomllib
from pathlib import Path

import httpx2
import pytest
import yaml
from nats_cluster import cluster
from programs import Program, run
from receiver import wait_until
from served import Served
from typer.main import get_command

from beliefledger import settings
from beliefledger.tools.cli import app
from beliefledger.tools.server.configuration import Configuration

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PROGRAM = "/opt/beliefledger/bin/beliefledger"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LIBPQ = {"PGPASSWORD"}
OURS = {each for each in vars(settings).values() if str(each).startswith("BELIEFLEDGER_")}


def check_command(words):
    """Raises a usage error where there is no such command, or it has no such option."""
    command, context = get_command(app), None
    words = list(words)
    while getattr(command, "commands", None):
        context = command.make_context(command.name, [], parent=context, resilient_parsing=True)
        _, command, words = command.resolve_command(context, words)
    return command.make_context(command.name, words, parent=context).command.name


def check_environment(names):
    for name in names:
        setting = name.removeprefix(settings.SERVER_PREFIX).lower()
        of_server = (
            name.startswith(settings.SERVER_PREFIX) and setting in Configuration.model_fields
        )
        assert name in OURS | LIBPQ or of_server, name


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def steps():
    """The instructions of the container file, each with what it says."""
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    lines = re.sub(r"(?m)^#.*\n", "", text).replace("\\\n", " ").splitlines()
    return [tuple(each.split(None, 1)) for each in lines if each.strip()]


def unit(path):
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str
    lines = path.read_text("utf-8").splitlines()
    environment = [each.split("=", 1)[1] for each in lines if each.startswith("Environment=")]
    read.read_string("\n".join(lines))
    return read, dict(each.split("=", 1) for each in environment)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_runs_a_command_that_there_is_and_gives_it_time_to_stop(path):
    read, environment = unit(path)
    service = read["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[0] == PROGRAM
    assert check_command(words[1:]) == path.stem.removeprefix("beliefledger-")
    if "ExecStartPre" in service:
        assert check_command(shlex.split(service["ExecStartPre"])[1:]) == "check"
    check_environment(environment)
    written = [f"/var/lib/{each}" for each in service["StateDirectory"].split()]
    ledger, key = environment[settings.LEDGER], environment[settings.MASTER_KEY_FILE]
    assert ledger in written
    assert str(Path(key).parent) in written
    assert not key.startswith(f"{ledger}/")  # it is no part of a backup of the ledger
    assert float(service["TimeoutStopSec"]) > 2 * Configuration().stop_seconds


def test_units_are_hardened_alike():
    hardened = []
    for path in UNITS:
        service = dict(unit(path)[0]["Service"])
        for name in ("ExecStart", "ExecStartPre"):
            service.pop(name, None)
        hardened.append(service)
    assert len(hardened) == 4
    assert all(each == hardened[0] for each in hardened)
    assert hardened[0]["ProtectSystem"] == "strict"
    assert hardened[0]["NoNewPrivileges"] == "true"


def test_the_image_is_made_of_the_wheel_and_runs_the_program(steps):
    said = [name for name, _ in steps]
    assert said.count("FROM") == 2
    images = [words.split()[0] for name, words in steps if name == "FROM"]
    [version] = {re.search(r"python:(\d+\.\d+)", each)[1] for each in images}
    assert tuple(map(int, version.split("."))) >= (3, 11)
    wheel = f"{PROJECT['name']}-{PROJECT['version']}-py3-none-any.whl"
    copied = [words.split()[0] for name, words in steps if name == "COPY"]
    assert any(fnmatch.fnmatch(wheel, each) for each in copied)
    [extras] = re.findall(r"\.whl\)\[([\w,]+)\]", dict(steps[::-1])["RUN"])
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    # What Compose runs, and the traces that docs/operations.md says a setting switches on.
    assert set(extras.split(",")) >= {"server", "nats", "otel"}
    [entry] = [json.loads(words) for name, words in steps if name == "ENTRYPOINT"]
    assert entry == [PROGRAM]
    assert Path(PROGRAM).name in PROJECT["scripts"]
    [words] = [json.loads(words) for name, words in steps if name == "CMD"]
    check_command(words)
    [told] = [words for name, words in steps if name == "ENV"]
    check_environment(each.split("=")[0] for each in told.split())
    assert ("EXPOSE", str(Configuration().port)) in steps
    kept = json.loads(dict(steps)["VOLUME"])
    assert {each.split("=")[1] for each in told.split()} & set(kept)
    users = [name for name, _ in steps]
    assert users.index("USER") < users.index("ENTRYPOINT")  # it does not run as root


def test_compose_runs_commands_with_settings_that_there_are(compose, steps):
    services = compose["services"]
    assert set(services) == {
        "log", "vault", "init", "server", "worker", "webhooks", "nats", "relay",
    }  # fmt: skip
    made = {name: each for name, each in services.items() if each["image"] == "beliefledger"}
    assert {name: check_command(each["command"]) for name, each in made.items()} == {
        "init": "init", "server": "serve", "worker": "worker", "webhooks": "webhooks",
        "relay": "nats",
    }  # fmt: skip
    volumes = set(json.loads(dict(steps)["VOLUME"]))
    for each in made.values():
        check_environment(each["environment"])
        build = each["build"]
        context = (DEPLOY / build["context"]).resolve()
        assert context == ROOT / "dist"
        assert (context / build["dockerfile"]).resolve() == DEPLOY / "Containerfile"
        key = Path(each["environment"][settings.MASTER_KEY_FILE])
        mounted = {where.split(":")[1]: where.split(":")[0] for where in each["volumes"]}
        assert mounted[str(key.parent)] in compose["volumes"]
        assert set(mounted) <= volumes  # made for the user that the image runs as
        stop = int(each["stop_grace_period"].removesuffix("s"))
        assert stop > 2 * Configuration().stop_seconds
        assert set(each["depends_on"]) <= set(services)
    for name in ("log", "vault"):
        environment = made["server"]["environment"]
        url = environment[settings.LEDGER if name == "log" else settings.VAULT]
        login = services[name]["environment"]
        assert url == f"postgresql://{login['POSTGRES_USER']}@{name}/{login['POSTGRES_DB']}"
        assert login["POSTGRES_PASSWORD"] == environment["PGPASSWORD"]
    relay = made["relay"]["command"]
    assert relay[relay.index("--server") + 1] == "nats://nats:4222"
    assert "--jetstream" in services["nats"]["command"]
    assert services["nats"]["volumes"][0].split(":")[0] in compose["volumes"]
    server = made["server"]
    [port] = server["ports"]
    assert port == f"127.0.0.1:{Configuration().port}:{Configuration().port}"
    assert f"127.0.0.1:{Configuration().port}/readyz" in server["healthcheck"]["test"][-1]


@pytest.fixture
def environment(compose, cluster, tmp_path):
    """What the Compose file says, over databases that are there."""
    told = dict(compose["services"]["server"]["environment"])
    log, vault = cluster.new(), cluster.new()
    told |= {
        settings.LEDGER: log,
        settings.VAULT: vault,
        settings.MASTER_KEY_FILE: str(tmp_path / "keys" / "master.key"),
        "PGPASSWORD": "none",
    }
    (tmp_path / "keys").mkdir()
    dropped = (settings.MASTER_KEY, settings.SIGNING_KEY_FILE)
    return {name: each for name, each in os.environ.items() if name not in dropped} | told


@pytest.fixture
def nats_server(tmp_path):
    with cluster(tmp_path / "nats") as running:
        yield running


def test_what_compose_starts_serves_decides_and_relays_together(compose, environment, nats_server):
    """The commands of the file, as it gives them, but for ports, as processes."""
    services = compose["services"]

    def words(service):
        return [sys.executable, "-m", "beliefledger", *services[service]["command"]]

    made = run(words("init"), env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    again = run(words("init"), env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr  # it runs at each start
    token = run(
        [sys.executable, "-m", "beliefledger", "token", "create", "bot", "--by", "lea",
         "--subject", "ana", "--consent", "consent", "--json"],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert token.returncode == 0, token.stderr
    server = Program([*words("server"), "--port", "0"], env=environment, stderr=-1, text=True)
    worker = Program(words("worker"), env=environment, stdout=-1, stderr=-1, text=True)
    at_nats = [each.replace("nats://nats:4222", nats_server.servers[0]) for each in words("relay")]
    others = [
        Program(each, env=environment, stdout=-1, stderr=-1, text=True)
        for each in (words("webhooks"), at_nats)
    ]
    processes = [server, worker, *others]
    try:
        line = server.stderr.readline()
        port = re.search(r"http://0\.0\.0\.0:(\d+)/mcp", line)
        assert port, line
        root = f"http://127.0.0.1:{port[1]}"
        said = wait_ready(root)
        assert (said["status"], said["stopped"]) == ("ready", [])
        at = Served(None, f"{root}/mcp")
        [decided] = at.store(json.loads(token.stdout)["token"], "I live in Porto.")
        assert decided["state"] == "extracted"
        wait_until(lambda: admitted(nats_server), 30)
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert {each.wait(30) for each in processes} <= {0, -signal.SIGTERM}
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def admitted(nats_server):
    """Whether the stream has a memory."""

    async def has(client):
        names = [each.config.name for each in await client.jetstream().streams_info()]
        return "BELIEFLEDGER" in names

    if not nats_server.asked(has):
        return False
    return "memory.admitted" in str(nats_server.read("BELIEFLEDGER", 1_000, seconds=1))


def wait_ready(root):
    for _ in range(200):
        try:
            answer = httpx2.get(f"{root}/readyz")
        except httpx2.ConnectError:
            time.sleep(0.05)
            continue
        return answer.json()
    raise AssertionError("it was not ready in ten seconds")
