"""What must hold of `serve` before a run is loaded: its languages, its port, its flags."""

import re
import resource
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt import UserError, messages
from nmt.cli import serve
from nmt.cli.main import parse_command_line
from nmt.corpus.source import CorpusSource
from nmt.runs import listing


@pytest.fixture
def runs(monkeypatch):
    """Runs by the name of their folder: a name of two languages is known to be of them."""

    def find(path):
        name = Path(path).name
        corpus = CorpusSource("any", languages=tuple(name.split("-")) if "-" in name else ())
        return SimpleNamespace(path=Path(path), parameters=SimpleNamespace(corpus=corpus))

    monkeypatch.setattr(listing, "find", find)


def parsed(*flags):
    return parse_command_line(["serve", *flags])


def test_runs_are_directions_and_runs_of_the_same_languages_ensembles(runs):
    groups = serve.grouped_runs(parsed("--run", "pt-en", "--run", "en-pt", "--run", "b/pt-en"))
    paths = {codes: [str(run.path) for run in group] for codes, group in groups.items()}
    assert paths == {("pt", "en"): ["pt-en", "b/pt-en"], ("en", "pt"): ["en-pt"]}


def test_languages_are_named_where_the_files_do_not(runs):
    groups = serve.grouped_runs(parsed("--run", "a", "--languages", "en-de,fr"))
    assert list(groups) == [("en", "de", "fr")]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--run", "a"], "a: the languages of its text are unknown; name them"),
        (["--run", "a", "--languages", "EN-de"], "write SOURCE-TARGET"),
        (["--run", "a", "--run", "b", "--languages", "en-de"], "1 times for 2 runs"),
        (["--run", "pt-en", "--run", "en-pt", "--glossary", "GLOSSARY"], "serve one direction"),
        (["--run", "pt-en", "--protect", "("], "--protect"),
        (["--run", "pt-en", "--api-key", "a b"], "printable ASCII"),
        (["--run", "pt-en", "--run", "./pt-en"], "/pt-en is given 2 times; give each run once"),
        (["--run", "pt-en", "--run", "b/pt-en", "--languages", "en-de", "--languages", "de-en"],
         "--run: 2 folders of the name pt-en; serve one of them"),
        (["--run", "a", "--run", "b", "--languages", "en-de", "--languages", "en-de,fr"],
         "--run: 2 runs for en-de; serve one of them"),
    ],
)  # fmt: skip
def test_flags_that_cannot_be_served_are_refused(runs, tmp_path, flags, message):
    glossary = tmp_path / "terms.tsv"
    glossary.write_text("um\tone\n")
    flags = [str(glossary) if flag == "GLOSSARY" else flag for flag in flags]
    with pytest.raises(UserError, match=message):
        serve.run(parsed(*flags))


def test_a_port_in_use_is_named(runs):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=f"127.0.0.1 port {port}: .* choose another --port"):
            serve.run(parsed("--run", "pt-en", "--port", str(port)))


def test_a_port_can_be_served_again_while_the_system_remembers_a_connection():
    with serve.listen("127.0.0.1", 0) as listener:
        address = listener.getsockname()
        with socket.create_connection(address) as client:
            listener.accept()[0].close()  # before the client does, as a server that ends
            assert client.recv(1) == b""
    serve.listen(*address).close()


@pytest.mark.parametrize(
    ("soft", "hard", "number", "files"),
    [
        (256, 4096, 100, 256), (256, 4096, 1000, 1000), (256, 4096, 9000, 4096),
        (256, resource.RLIM_INFINITY, 9000, 9000),
    ],
)  # fmt: skip
def test_a_server_opens_as_many_files_as_it_may(monkeypatch, soft, hard, number, files):
    limits = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda kind: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limit: limits.append(limit))
    assert serve.open_files(number) == min(number, files)
    assert limits[-1] == (files, hard)


def test_a_full_temporary_folder_is_named_before_a_run_is_loaded(runs, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    with pytest.raises(UserError, match="0 MB are free, and py3langid needs 70 MB"):
        serve.run(parsed("--run", "pt-en"))


def test_what_cannot_be_the_name_of_a_host_is_named():
    with pytest.raises(UserError, match=r"127\.0\.0\.\.1: is not a valid host name"):
        serve.listen("127.0.0..1", 0)


def test_a_missing_package_is_one_line():
    with pytest.raises(UserError, match="serve needs no_such_package; install"):
        serve.check_packages(["starlette", "no_such_package"])


@pytest.mark.parametrize(
    "flags",
    [
        ("--allow-host", "http://mt.org"), ("--allow-host", "mt.org:443"), ("--allow-host", "mt/"),
        ("--allow-host", "*"), ("--forwarded-allow-ips", "nonsense"),
        ("--forwarded-allow-ips", "10.0.0.1/8"), ("--forwarded-allow-ips", "10.0.0.1,10.0.0.2"),
    ],
)  # fmt: skip
def test_a_host_or_a_proxy_that_no_request_could_match_is_refused(flags):
    with pytest.raises(UserError, match=re.escape(flags[1])):
        parsed(*flags)


def test_hosts_and_proxies_are_names_addresses_and_networks():
    args = parsed(
        "--allow-host", "MT.org", "--allow-host", "a_b-c", "--allow-host", "[::1]",
        "--forwarded-allow-ips", "10.0.0.0/8", "--forwarded-allow-ips", "::1",
    )  # fmt: skip
    assert args.host_names == ["mt.org", "a_b-c", "::1"]
    assert args.proxies == ["10.0.0.0/8", "::1"]


# ---- The environment ----


@pytest.fixture
def set_environment(monkeypatch):
    """A function that sets variables of the environment, whose names begin with NMT_."""
    yield lambda **values: [monkeypatch.setenv(f"NMT_{name}", values[name]) for name in values]
    messages.show()  # as text again


def test_each_flag_can_be_set_in_the_environment(set_environment):
    set_environment(
        MAX_CHARS="7", RUN="a,b/c", LANGUAGES=r"en-de\,fr,de-en", NO_PROTECT="1", NO_ACCESS_LOG="0",
        ALLOW_HOST="MT.org", API_KEY="-k", LOG_FORMAT="json", ENGINE="ctranslate2",
    )  # fmt: skip
    args = parsed()
    assert (args.max_chars, args.runs, args.languages) == (7, ["a", "b/c"], ["en-de,fr", "de-en"])
    assert (args.protection, args.access_log, args.host_names) == (False, True, ["mt.org"])
    assert (args.api_key, args.log_format, args.engine) == ("-k", "json", "ctranslate2")


def test_flags_take_precedence_over_the_environment(set_environment):
    set_environment(MAX_CHARS="7", RUN="a,b", API_KEY="k", HOST="::1")
    args = parsed("--max-chars=8", "--run", "c", "--api-key", "l")
    assert (args.max_chars, args.runs, args.api_key, args.host) == (8, ["c"], "l", "::1")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MAX_CHARS", "x", "NMT_MAX_CHARS, in the environment: invalid int value: 'x'"),
        ("PORT", "", "NMT_PORT, in the environment: invalid int value"),
        ("API_KEY", "", "NMT_API_KEY, in the environment: the key is empty"),
        ("ENGINE", "cpu", "NMT_ENGINE, in the environment: invalid choice: 'cpu'"),
        ("NO_PROTECT", "yes", "NMT_NO_PROTECT=yes: write 1 or 0"),
        ("FORWARDED_ALLOW_IPS", "10.0.0.0/8,x", "NMT_FORWARDED_ALLOW_IPS, in the environment: 'x'"),
    ],
)
def test_a_wrong_value_in_the_environment_is_named(set_environment, name, value, message):
    set_environment(**{name: value})
    with pytest.raises(UserError, match=re.escape(message)):
        parsed()


def test_what_sets_no_flag_is_named(set_environment, capsys):
    set_environment(MAX_CHAR="7", SOMETHING="1")
    parsed()
    said = capsys.readouterr().err
    assert "NMT_MAX_CHAR, in the environment, is no setting" in said
    assert "did you mean NMT_MAX_CHARS?" in said
    assert "NMT_SOMETHING" in said
    parse_command_line(["runs"])
    assert not capsys.readouterr().err
