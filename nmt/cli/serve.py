"""The command `serve`: its flags, and the process of the server."""

from __future__ import annotations

import collections
import importlib.util
import ipaddress
import os
import re
import resource
import signal
import socket
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt import Terminated, UserError
from nmt.cli import environment, flags, startup
from nmt.decoding.engines.choice import AUTO, KINDS
from nmt.decoding.search_options import Protecting
from nmt.messages import log
from nmt.neighbors import how_to_install
from nmt.program import PROGRAM
from nmt.results.run_report import read_translations
from nmt.runs import listing
from nmt.runs.folder import Run
from nmt.serving.hosts import is_address
from nmt.serving.keys import PRINTABLE, Keys
from nmt.text.languages import parse_direction
from nmt.text.line_languages import check_temporary_folder

if TYPE_CHECKING:  # what imports TensorFlow, or may be missing
    import uvicorn

    from nmt.serving.models import Models, ServedModel
    from nmt.serving.service import Service

HELP = "translate for other programs: a page, and APIs over HTTP"
VARYING_SHAPES = READS_ENVIRONMENT = True
PACKAGES = "starlette", "uvicorn", "python_multipart", "prometheus_client", "py3langid"
EXAMPLES = 5  # sentences of the test split that the page and the explorer offer


def add_flags(parser: ArgumentParser) -> None:
    parser.epilog = environment.HELP
    parser.add_argument(
        "--run", type=flags.filled, metavar="DIR", action="append", default=[], dest="runs",
        help="run folder (default: the newest in runs/, if all are of one corpus; if there is "
        "none, the one that comes with the program); repeated: several directions, or for the "
        "same languages an ensemble",
    )  # fmt: skip
    parser.add_argument(
        "--languages", type=flags.filled, metavar="A-B", action="append", default=[],
        help="languages of each --run in turn, if their names do not say them: de-en, or with "
        "target tags (<2de> <2fr>) en-de,fr",
    )  # fmt: skip
    flags.add_checkpoint(parser)
    flags.add_search(parser)
    add_access_flags(parser)
    flags.add_protection(parser, checks=False)
    flags.add_engine(parser)
    parser.add_argument(
        "--no-access-log", action="store_false", dest="access_log",
        help="log no line for each request",
    )  # fmt: skip
    flags.add_switch(
        parser, "--reload", "at SIGHUP, or POST /reload with a key, load the newest weights, the "
        "glossary and the keys, and exchange them without refusing a request",
    )  # fmt: skip
    add_number(parser, "max-chars", 1, 1_000_000, 5000, "characters per request")
    add_number(
        parser,
        "max-waiting",
        1,
        100_000,
        1000,
        "requests in each queue, of short and of long ones; others are refused",
    )
    add_number(parser, "cache", 0, 10_000_000, 0, "texts whose translations are kept in memory")
    flags.add_value(
        parser, "--suggestions", "FILE", "store the better translations that clients send to POST "
        "/suggest in this .tmx, which `data` and --train read (default: refuse them)",
        flags.path_to(".tmx"),
    )  # fmt: skip
    add_number(parser, "workers", 1, 64, 1, "batches of each queue that are translated in parallel")


def add_access_flags(parser: ArgumentParser) -> None:
    """Adds the flags of where the server listens, and of who may ask it."""
    text = "address to listen on; 0.0.0.0 for all (default 127.0.0.1: this machine alone)"
    flags.add_value(parser, "--host", "NAME", text, default="127.0.0.1")
    add_number(parser, "port", 0, 65_535, 8765, "port to listen on; 0 for any")
    flags.add_value(
        parser, "--api-key", "KEY", "what clients must send; better in the environment, as "
        "NMT_API_KEY: a flag is seen by all users of the machine (default: none)", api_key,
    )  # fmt: skip
    flags.add_value(
        parser, "--api-keys", "FILE", "file of further keys, a line for each: its name, which the "
        "log shows, and the key; # begins a comment", key_file,
    )  # fmt: skip
    flags.add_switch(parser, "--open-metrics", "answer GET /metrics without a key, too")
    parser.add_argument(
        "--allow-host", type=host_name, metavar="NAME", action="append", default=[],
        dest="host_names", help="name that clients may call the server by, besides localhost and "
        "addresses (repeatable; default: on the loopback address none, else any)",
    )  # fmt: skip
    parser.add_argument(
        "--allow-origin", type=origin, metavar="ORIGIN", action="append", default=[],
        dest="origins", help="origin whose pages may read translations, as https://mt.org; * for "
        "any (repeatable; default: none but the server's own page)",
    )  # fmt: skip
    parser.add_argument(
        "--forwarded-allow-ips", type=proxy, metavar="ADDRESS", action="append", default=[],
        dest="proxies", help="address of a reverse proxy, or a network, as 10.0.0.0/8, or * for "
        "any, whose X-Forwarded-Proto is the scheme of files' addresses (repeatable; default: "
        "none)",
    )  # fmt: skip


def api_key(text: str) -> str:
    """Returns a key; an ArgumentTypeError if no client could send it."""
    if not PRINTABLE.fullmatch(text):
        raise ArgumentTypeError(
            "the key is empty, or holds a space or another character than printable ASCII; choose "
            "another one, or none"
        )
    return text


def key_file(text: str) -> Path:
    """Returns the path of a file of keys."""
    return Path(flags.filled(text))


def origin(text: str) -> str:
    """Returns an origin, as browsers send it; an ArgumentTypeError if it is none."""
    if text != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", text.lower()):
        raise ArgumentTypeError(f"{text} is no origin; an origin is https://NAME[:PORT], or *")
    return text.lower()


def host_name(text: str) -> str:
    """Returns a name of the server in lower case; an ArgumentTypeError if it is none."""
    name = text.strip("[]").lower()
    if not is_address(name) and not re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", name):
        raise ArgumentTypeError(
            f"{text} is no name of a host; write it as clients do, without https:// and without a "
            "port: mt.org"
        )
    return name


def proxy(text: str) -> str:
    """Returns the address of proxies; an ArgumentTypeError if it is none."""
    try:
        if text != "*":
            ipaddress.ip_network(text)  # an address is a network of one
    except ValueError as error:
        raise ArgumentTypeError(
            f"{error}; write an address, a network as 10.0.0.0/8, or * for any"
        ) from None
    return text


def add_number(
    parser: ArgumentParser, name: str, lowest: int, highest: int, default: int, text: str
) -> None:
    """Adds a flag whose value is a number of these bounds, ends included."""
    parser.add_argument(
        f"--{name}", type=flags.number(int, lowest, highest), metavar="N",
        default=default, help=f"{text} (default {default})",
    )  # fmt: skip


def check_packages(names: Iterable[str]) -> None:
    """Raises a UserError if one of these packages is not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(f"serve needs {', '.join(missing)}; install: {how_to_install('serve')}")


def run(args: Namespace) -> None:
    """Serves translations until a signal ends the process."""
    check_packages(PACKAGES)
    if args.reload:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the server hears it
    read_settings(args)  # so that mistakes are named before the server listens
    keys = Keys(args.api_key, args.api_keys)
    check_temporary_folder()
    listener = listen(args.host, args.port)
    from nmt.serving.limits import Limits
    from nmt.serving.service import Service
    from nmt.serving.suggestions import SuggestionFile

    limits = Limits(keys, args.max_chars, open_metrics=args.open_metrics)
    service = Service(
        None,
        limits,
        args.workers,
        args.max_waiting,
        lambda: load_all(args),
        args.reload,
        args.cache,
        SuggestionFile(args.suggestions) if args.suggestions else None,
    )
    serve(service, listener, args)


# ---- Runs ----


class Settings(NamedTuple):
    """What a server is to translate with."""

    groups: dict[tuple[str, ...], list[Run]]  # by languages: source, and targets
    protecting: Protecting


def read_settings(args: Namespace) -> Settings:
    """Returns what is to be served, as the flags and the disk say now. Without TensorFlow."""
    groups = grouped_runs(args)
    protecting = flags.read_protection(args)
    if args.glossary and len(groups) > 1:
        raise UserError(
            "--glossary has terms of two languages; serve one direction, or leave it out"
        )
    return Settings(groups, protecting)


def load_all(args: Namespace) -> Models:
    """Returns all runs of a server, with the newest weights that they have, and the glossary."""
    from nmt.serving.models import Models

    groups, protecting = read_settings(args)
    return Models([load(codes, runs, args, protecting) for codes, runs in groups.items()])


def grouped_runs(args: Namespace) -> dict[tuple[str, ...], list[Run]]:
    """Returns the runs by their languages: source, and targets. Without TensorFlow.

    Raises a UserError if there is no such run, or its languages are unknown.
    """
    runs = [listing.find(path) for path in args.runs or [None]]
    for path, number in collections.Counter(run.path.resolve() for run in runs).items():
        if number > 1:
            raise UserError(f"--run: {path} is given {number} times; give each run once")
    if args.languages and len(args.languages) != len(runs):
        raise UserError(
            f"--languages is given {len(args.languages)} times for {len(runs)} runs; give it once "
            "for each --run, in the same order"
        )
    groups: dict[tuple[str, ...], list[Run]] = {}
    for number, run in enumerate(runs):
        if args.languages:
            codes = tuple(parse_direction(args.languages[number]))
        else:
            codes = run.parameters.corpus.languages
        if len(codes) < 2:
            raise UserError(
                f"{run.path}: the languages of its text are unknown; name them: --languages de-en"
            )
        groups.setdefault(codes, []).append(run)
    check_apart(groups)
    return groups


def check_apart(groups: dict[tuple[str, ...], list[Run]]) -> None:
    """Raises a UserError if a request would not say which run it means."""
    names = [runs[0].path.resolve().name for runs in groups.values()]
    directions = [(codes[0], target) for codes in groups for target in codes[1:]]
    for values, what in ((names, "folders of the name {}"), (directions, "runs for {0[0]}-{0[1]}")):
        for value, number in collections.Counter(values).items():
            if number > 1:
                raise UserError(f"--run: {number} {what.format(value)}; serve one of them")


def load(
    codes: tuple[str, ...], runs: list[Run], args: Namespace, protecting: Protecting
) -> ServedModel:
    """Returns a run, or an ensemble of runs, with its languages.

    Args:
      runs: one, or the members of an ensemble.
    """
    from nmt.runs import loading
    from nmt.serving.models import Query, ServedModel, directions_of

    engine = loading.EngineChoice(args.engine, args.quantization)
    run, tokenizer, model = loading.load_ensemble(
        runs, args.checkpoint, engine=engine, before_tensorflow=startup.import_tensorflow,
        search=flags.search_of(args), **flags.given_parameters(args),
    )  # fmt: skip
    try:
        directions = directions_of(codes, model.options.symbols)
    except ValueError as error:
        raise UserError(
            f"{run.path}: several target languages need a tag each, as in <2{codes[1]}>, and the "
            f"{error}; name one target, or the run that has them"
        ) from None
    examples = [source for source, *_ in read_translations(run, EXAMPLES)]
    served = ServedModel(
        run.path.resolve().name, model, tokenizer, directions, examples, protecting,
        stays_without_tensorflow=args.engine != AUTO and not KINDS[args.engine].needs_tensorflow,
    )  # fmt: skip
    served.translator(Query(served, directions[0]))  # refuses what the run cannot protect
    return served


# ---- The process ----


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens; a UserError if it cannot."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        raise UserError(
            f"{host} port {port}: {error.strerror}; choose another --port or --host"
        ) from None
    except UnicodeError:  # an empty label, or one of more than 63 letters
        raise UserError(f"{host}: is not a valid host name; choose another --host") from None
    return listener


def serve(service: Service, listener: socket.socket, args: Namespace) -> None:
    """Answers requests until a signal ends the process; work has GRACE_SECONDS to end."""
    from nmt.serving.access_log import access_log
    from nmt.serving.process import Server

    access_log.disabled = not args.access_log
    host, port = listener.getsockname()[:2]
    address = f"[{host}]" if ":" in host else host
    is_loopback = ipaddress.ip_address(host).is_loopback
    server = Server(configuration(service, is_loopback, args), service)
    service.announce = lambda models: log.info(
        f"Serving {described_directions(models)} at http://{address}:{port}/ (API: /docs). "
        "Ctrl-C ends it."
    )
    if not is_loopback and not service.limits.keys:
        log.warning(
            f"Whoever reaches {host} may translate: no key is set; see NMT_API_KEY, --api-keys."
        )
    try:
        server.run(sockets=[listener])
    except (KeyboardInterrupt, Terminated) as end:
        server.signal_number = getattr(end, "number", signal.SIGINT)
    except Exception:
        if server.signal_number is None:
            raise
        log.exception("the server did not end in order")
    if server.signal_number is None and service.loaded.error is not None:
        raise service.loaded.error
    if service.busy:
        log.error(f"{PROGRAM}: ended while a batch was being translated")
    else:
        log.info(f"{PROGRAM}: interrupted")
    # A batch's thread cannot be interrupted, and Python takes seconds to free a network.
    os._exit(128 + (server.signal_number or signal.SIGINT))


def described_directions(models: Models) -> str:
    """Returns the directions of a server as text, and which an ensemble translates."""
    directions = []
    for (source, target), query in models.by_languages.items():
        members = query.served.model.members
        ensemble = f" (an ensemble of {members} runs)" if members > 1 else ""
        directions.append(f"{source}-{target}{ensemble}")
    return ", ".join(directions)


def configuration(service: Service, is_loopback: bool, args: Namespace) -> uvicorn.Config:
    """Returns what uvicorn is to know of a Service."""
    import uvicorn

    from nmt.serving.app import application
    from nmt.serving.process import GRACE_SECONDS, MAX_CONNECTIONS

    is_called_by_any_name = not is_loopback and not args.host_names
    files = open_files(2 * (MAX_CONNECTIONS + args.max_waiting))
    return uvicorn.Config(
        application(service, None if is_called_by_any_name else args.host_names, args.origins),
        http="h11",
        limit_concurrency=files // 2,  # connections; uvicorn answers 503 beyond them
        ws="none",
        access_log=False,  # it would show texts, which are in the addresses of some clients
        log_config=None,
        log_level="error",  # a line for each client that does not speak HTTP would fill the log
        server_header=False,
        proxy_headers=bool(args.proxies),
        forwarded_allow_ips="*" if "*" in args.proxies else args.proxies,
        timeout_graceful_shutdown=GRACE_SECONDS + 2,  # all requests have been ended before
    )


def open_files(number: int) -> int:
    """Lets the process open so many files, or as many as it may. Returns their number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    number = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    return number
