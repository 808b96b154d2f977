"""How many requests the server answers under load, how soon, and with how much memory.

    python benchmarks/serve_load.py --run runs/mine --source FILE [--seconds 60] [--requests 100000]

Starts `serve` on a port of its own, and asks it over loopback for one sentence per request: with 1,
8, 32 and 128 clients, each of which sends its next sentence as soon as it has an answer. Beside it,
in the same run, `translate < FILE` translates the same sentences; the start of that process, which
the server's clients do not wait for, is not counted. The clients share the cores with the server.

Prints a markdown table: requests per second, the median, 95th and 99th percentile of the time to
an answer, errors, and the share of the rate of `translate < FILE`. With --requests, a second one:
the memory of the server from the start to the end of so many requests by 32 clients.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = [sys.executable, str(ROOT / "run_demo.py")]
CLIENTS = (1, 8, 32, 128)
FEW_LINES = 64  # for the time that `translate` takes to start
MEMORY_CLIENTS = 32


class Load(NamedTuple):
    """What a number of clients saw."""

    seconds: float
    times: list[float]  # seconds to each answer
    errors: int

    def rate(self) -> float:
        """Returns the answers per second."""
        return len(self.times) / self.seconds

    def percentile(self, share: float) -> float:
        """Returns the milliseconds in which that share of the answers came."""
        times = sorted(self.times)
        return 1000 * times[min(len(times) - 1, int(share * len(times)))]


# ---- The server ----


@contextlib.contextmanager
def server(run, *flags):
    """Yields a process that serves a run, its port, and its languages, once it is warm."""
    command = [*PROGRAM, "serve", "--run", run, "--port", "0", *flags]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if match := re.search(r"Serving (\w+)-(\w+).*:(\d+)/", line):
                break
        else:
            raise SystemExit("the server did not start")
        source, target, port = match.groups()
        address = f"http://127.0.0.1:{port}/health"
        while not json.load(urllib.request.urlopen(address))["warm"]:
            time.sleep(0.2)
        yield process, int(port), (source, target)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def resident(process):
    """Returns the memory of a process in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


# ---- The clients ----


def request(text, languages):
    """Returns the bytes of a request for a translation."""
    source, target = languages
    body = json.dumps({"q": text, "source": source, "target": target}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Content-Type: application/json\r\n\r\n" + body


async def ask(reader, writer, content):
    """Sends a request. Returns the status and the body of the answer."""
    writer.write(content)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head)[1])
    return int(head.split()[1]), await reader.readexactly(length)


async def client(port, requests, until, times, failures):
    """Sends one request after another over one connection, until a time or the last of them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for content in requests:
        begin = time.perf_counter()
        if begin > until:
            break
        status, body = await ask(reader, writer, content)
        if status == 200:
            times.append(time.perf_counter() - begin)
        else:
            failures.append((status, body))
    writer.close()


async def load(port, contents, clients, seconds=float("inf"), number=None):
    """Returns the Load of `clients` that send `contents` in turn.

    Args:
      port: of the server.
      contents: requests, which are repeated.
      clients: how many.
      seconds: after which no client sends another request.
      number: of requests, at most; None for any.
    """
    waiting = itertools.islice(itertools.cycle(contents), number)
    times, failures = [], []
    begin = time.perf_counter()
    until = begin + seconds
    await asyncio.gather(*(client(port, waiting, until, times, failures) for _ in range(clients)))
    return Load(time.perf_counter() - begin, times, len(failures))


# ---- Beside it ----


def translate_seconds(run, lines):
    """Returns the seconds of `translate < FILE`, from the start of the process to its end."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
        file.seek(0)
        begin = time.perf_counter()
        options = dict(stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([*PROGRAM, "translate", "--run", run], cwd=ROOT, check=True, **options)
        return time.perf_counter() - begin


def translate_rate(run, lines):
    """Returns the lines per second of `translate < FILE`, without its start."""
    few = lines[:FEW_LINES]
    start = translate_seconds(run, few)
    return (len(lines) - len(few)) / max(translate_seconds(run, lines) - start, 1e-3)


# ---- Tables ----


def load_table(port, contents, seconds, rate, clients):
    print(f"| clients | requests/s | p50 | p95 | p99 | errors | of translate: {rate:.0f} lines/s |")
    print("|---|---|---|---|---|---|---|")
    for number in clients:
        seen = asyncio.run(load(port, contents, number, seconds))
        times = " | ".join(f"{seen.percentile(share):.0f} ms" for share in (0.5, 0.95, 0.99))
        share = f"{100 * seen.rate() / rate:.0f}%"
        print(f"| {number} | {seen.rate():.1f} | {times} | {seen.errors} | {share} |", flush=True)


def memory_table(process, port, contents, number):
    print("\n| requests | memory |\n|---|---|")
    print(f"| 0 | {resident(process):.0f} MiB |", flush=True)
    errors = 0
    for tenth in range(1, 11):
        seen = asyncio.run(load(port, contents, MEMORY_CLIENTS, number=number // 10))
        errors += seen.errors
        print(f"| {tenth * (number // 10)} | {resident(process):.0f} MiB |", flush=True)
    print(f"\nErrors: {errors}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", required=True, help="folder of a trained run")
    parser.add_argument("--source", required=True, help="sentences, one per line")
    parser.add_argument("--lines", type=int, default=1000, help="of the source (default 1000)")
    parser.add_argument("--seconds", type=float, default=60, help="per row (default 60)")
    parser.add_argument("--clients", type=int, nargs="*", default=CLIENTS)
    parser.add_argument("--requests", type=int, default=0, help="for the memory (default: none)")
    parser.add_argument("--workers", default="2", help="of the server (default 2)")
    args = parser.parse_args()
    lines = Path(args.source).read_text(encoding="utf-8").splitlines()[: args.lines]
    rate = translate_rate(args.run, lines) if args.clients else 0
    with server(args.run, "--workers", args.workers) as (process, port, languages):
        contents = [request(line, languages) for line in lines]
        if args.clients:
            load_table(port, contents, args.seconds, rate, args.clients)
        if args.requests:
            memory_table(process, port, contents, args.requests)


if __name__ == "__main__":
    main()
