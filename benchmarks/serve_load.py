"""How many requests the server answers under load, how soon, and with how much memory.

    python benchmarks/serve_load.py --run runs/mine --source FILE [--seconds 60] [--requests 100000]

Starts `serve` on a port of its own, and asks it over loopback for one sentence per request: with 1,
8, 32 and 128 clients, each of which sends its next sentence as soon as it has an answer. Before
each of these loads, `translate`, which waits for lines in another process, translates the same
sentences. Clients, server and `translate` share the cores, so the processor time of each process
says more than the rates: that of the clients does not count.

Prints a markdown table: requests per second, the median, 95th and 99th percentile of the time to
an answer, errors, the server's processor time per request, that of `translate` per line, and the
share of the one in the other. With --requests, a second one: the memory of the server from the
start to the end of so many requests by 32 clients.
"""

import argparse
import asyncio
import collections
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = [sys.executable, str(ROOT / "run_demo.py")]
CLIENTS = (1, 8, 32, 128)
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


class Cost(NamedTuple):
    """What some lines took."""

    seconds: float
    cpu: float  # seconds of processor time

    def per(self, number):
        """Returns the Cost of one of `number` lines."""
        return Cost(self.seconds / number, self.cpu / number)


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
        # Its access log is read on: a full pipe would stop the server.
        threading.Thread(target=collections.deque, args=(process.stderr, 0), daemon=True).start()
        source, target, port = match.groups()
        address = f"http://127.0.0.1:{port}/health"
        while not json.load(urllib.request.urlopen(address))["warm"]:
            time.sleep(0.2)
        yield process, int(port), (source, target)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def cpu_seconds(process):
    """Returns the processor time of a process so far, of all its threads."""
    stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")  # user, system


def resident(process):
    """Returns the memory of a process in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


# ---- The clients ----


def request(text, languages):
    """Returns the bytes of a request for a translation."""
    source, target = languages
    body = json.dumps({"q": text, "source": source, "target": target}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
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
    """Returns the Load of `clients` that send `contents` in turn, until either limit."""
    waiting = itertools.islice(itertools.cycle(contents), number)
    times, failures = [], []
    begin = time.perf_counter()
    until = begin + seconds
    await asyncio.gather(*(client(port, waiting, until, times, failures) for _ in range(clients)))
    return Load(time.perf_counter() - begin, times, len(failures))


# ---- Beside it ----


@contextlib.contextmanager
def translator(run):
    """Yields a process of `translate` that waits for lines."""
    command = [*PROGRAM, "translate", "--run", run]
    options = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process = subprocess.Popen(command, cwd=ROOT, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def translate(process, lines):
    """Has a process of `translate` translate lines. Returns its Cost per line."""
    content = "".join(f"{line}\n" for line in lines).encode()
    cpu, begin = cpu_seconds(process), time.perf_counter()
    sender = threading.Thread(target=send, args=(process.stdin, content))
    sender.start()
    for _ in lines:
        if not process.stdout.readline():
            raise SystemExit("translate has ended")
    sender.join()
    return Cost(time.perf_counter() - begin, cpu_seconds(process) - cpu).per(len(lines))


def send(pipe, content):
    pipe.write(content)
    pipe.flush()


# ---- Tables ----


def load_table(process, port, contents, lines, args):
    with translator(args.run) as beside:
        translate(beside, lines)  # traces its search
        asyncio.run(load(port, contents, max(args.clients), number=len(lines)))
        print("| clients | requests/s | p50 | p95 | p99 | errors | CPU per request |", end="")
        print(" `translate`: lines/s | CPU per line | share |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for number in args.clients:
            line = translate(beside, lines)
            cpu = cpu_seconds(process)
            seen = asyncio.run(load(port, contents, number, args.seconds))
            cpu = (cpu_seconds(process) - cpu) / len(seen.times)
            times = " | ".join(f"{seen.percentile(share):.0f} ms" for share in (0.5, 0.95, 0.99))
            print(
                f"| {number} | {seen.rate():.1f} | {times} | {seen.errors} | {1000 * cpu:.2f} ms "
                f"| {1 / line.seconds:.0f} | {1000 * line.cpu:.2f} ms | {line.cpu / cpu:.0%} |",
                flush=True,
            )


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
    parser.add_argument(
        "--source", required=True, help="sentences, one per line; of a .tsv, its first column"
    )
    parser.add_argument("--lines", type=int, default=1000, help="of the source (default 1000)")
    parser.add_argument("--seconds", type=float, default=60, help="per row (default 60)")
    parser.add_argument("--clients", type=int, nargs="*", default=CLIENTS)
    parser.add_argument("--requests", type=int, default=0, help="for the memory (default: none)")
    parser.add_argument("--workers", default="1", help="of the server (default 1)")
    args = parser.parse_args()
    lines = Path(args.source).read_text(encoding="utf-8").splitlines()[: args.lines]
    lines = [line.partition("\t")[0] for line in lines]
    with server(args.run, "--workers", args.workers) as (process, port, languages):
        contents = [request(line, languages) for line in lines]
        if args.clients:
            load_table(process, port, contents, lines, args)
        if args.requests:
            memory_table(process, port, contents, args.requests)


if __name__ == "__main__":
    main()
