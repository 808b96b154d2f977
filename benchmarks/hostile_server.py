"""What attackers send to a server: how long ordinary clients then wait, what memory it takes.

    python benchmarks/hostile_server.py [--seconds 60] [--run runs/quick]

Half of the time, the server has no key; then it has one, which the attackers do not know.
"""

import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
KEY = "secret"
CLIENTS = 8
START_SECONDS = 300
TEXT = json.dumps({"q": "um dois três.", "source": "pt", "target": "en"}).encode()
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="target"\r\n\r\nen\r\n'
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.html"\r\n\r\n%b\r\n--b--\r\n'
)


class Result(NamedTuple):
    """What came of the attacks."""

    requests: int  # of the ordinary clients
    failures: int  # of these
    worst: float  # seconds that one of them waited
    server_bytes: int  # of memory, at the peak
    all_bytes: int  # with the server's processes


class Attack:
    """A server under attack, by its port and process."""

    def __init__(self, port: int, pid: int):
        self.port, self.pid = port, pid
        self.waits: list[float] = []
        self.failures = self.most = 0
        self.is_over = threading.Event()

    def run(self, seconds: float) -> Result:
        """Attacks for a time."""
        roles = [(self.ordinary, CLIENTS), (self.watch, 1), *ATTACKS]
        threads = [
            threading.Thread(target=self.repeat, args=(role,), daemon=True)
            for role, number in roles
            for _ in range(number)
        ]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        self.is_over.set()
        for thread in threads:
            thread.join(60)
        peak = memory(self.pid, "VmHWM")
        return Result(len(self.waits), self.failures, max(self.waits), peak, max(self.most, peak))

    def repeat(self, role) -> None:
        while not self.is_over.is_set():
            with contextlib.suppress(OSError):
                role(self) if role in ATTACKERS else role()

    def ordinary(self) -> None:
        """Asks as a client does."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}/translate", TEXT, headers)
        start = time.monotonic()
        try:
            with urllib.request.urlopen(asked, timeout=120) as answer:
                answer.read()
        except OSError:
            self.failures += 1
        self.waits.append(time.monotonic() - start)

    def watch(self) -> None:
        """Remembers the most memory of the server and of its processes."""
        children = Path(f"/proc/{self.pid}/task").glob("*/children")
        pids = [int(pid) for path in children for pid in path.read_text().split()]
        pids = [self.pid, *(pid for pid in pids if not is_copy(pid))]
        self.most = max(self.most, sum(memory(pid, "VmRSS") for pid in pids))
        time.sleep(0.1)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def post(self, path: str, body: bytes, content_type: str) -> None:
        """Posts a body, and waits for the answer."""
        with self.connect() as client:
            client.sendall(head(path, len(body), content_type) + body)
            while client.recv(65_536):
                pass


def head(path: str, length: int, content_type: str = "application/json") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
        f"{content_type}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def memory(pid: int, name: str) -> int:
    """Returns a figure of the memory of a process, in bytes; 0 if it has ended."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        if match := re.search(rf"{name}:\s+(\d+) kB", status):
            return int(match[1]) * 1024
    return 0


def is_copy(pid: int) -> bool:
    """Returns whether a process has just begun, and still shows the memory of the server."""
    with contextlib.suppress(OSError):
        return b"disposable" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    return True


# ---- Attacks; each is repeated, by as many attackers as ATTACKS says ----


def upload(attack: Attack, content: bytes) -> None:
    attack.post("/translate_file", FORM % content, "multipart/form-data; boundary=b")


def long_attribute(attack: Attack) -> None:
    """60 kB of one attribute, which a slow expression would read for half a minute."""
    upload(attack, b"<p " + b"x" * 60_000 + b">um</p>")


def many_attributes(attack: Attack) -> None:
    """A file of 9.6 MB that becomes gigabytes of attributes."""
    upload(attack, b"<p title='x y' " + b"a=b " * 2_400_000 + b">um</p>")


def many_tags(attack: Attack) -> None:
    """A file of 9.6 MB of tags."""
    upload(attack, b"<b>" * 3_200_000)


def held_body(attack: Attack) -> None:
    """9.9 MB of a body whose end does not come."""
    with attack.connect() as client:
        client.sendall(head("/translate_file", 10_000_000, "multipart/form-data; boundary=b"))
        client.sendall(FORM.partition(b"%b")[0] + b"x" * 9_900_000)
        attack.is_over.wait(25)


def json_objects(attack: Attack) -> None:
    """2 MB of JSON of empty objects."""
    attack.post("/translate", b'{"q": [' + b"{}," * 660_000 + b"{}]}", "application/json")


def unread_explorer(attack: Attack) -> None:
    """A page of megabytes that is asked for and not read."""
    with attack.connect() as client:
        client.sendall(b"GET /runs HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if match := re.search(rb'"name":"([^"]*)"', client.recv(65_536)):
            client.sendall(b"GET /explorer/%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % match[1])
        attack.is_over.wait(25)


def slow_header(attack: Attack) -> None:
    """A header that does not end."""
    with attack.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: local")
        attack.is_over.wait(25)


ATTACKS = [
    (long_attribute, 2), (many_attributes, 2), (many_tags, 1), (held_body, 40), (json_objects, 2),
    (unread_explorer, 30), (slow_header, 50),
]  # fmt: skip
ATTACKERS = [attacker for attacker, _ in ATTACKS]


def attack_server(run: Path, seconds: float) -> bool:
    """Prints a table of `seconds` of attacks. Returns whether all clients were answered."""
    print("| key | requests | failed | worst wait | server | with processes |")
    print("|---|---|---|---|---|---|", flush=True)
    failures = 0
    for key in ("", KEY):
        process, port = start(run, key)
        result = Attack(port, process.pid).run(seconds / 2)
        process.terminate()
        process.wait()
        failures += result.failures
        sizes = " | ".join(f"{size / 2**20:.0f} MiB" for size in result[3:])
        row = f"| {'yes' if key else 'no'} | {result.requests} | {result.failures} "
        print(f"{row}| {result.worst:.2f} s | {sizes} |", flush=True)
    return not failures


def start(run: Path, key: str) -> tuple[subprocess.Popen, int]:
    """Returns the process of a server that is warm, and its port."""
    command = [sys.executable, ROOT / "run_demo.py", "serve", "--run", run, "--port", "0"]
    command += ["--languages", "pt-en"]
    environment = dict(os.environ)
    environment.pop("NMT_API_KEY", None)
    environment |= {"NMT_API_KEY": key} if key else {}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    for line in process.stderr:
        if match := re.search(r"http://127.0.0.1:(\d+)/", line):
            break
    else:
        sys.exit("the server did not start")
    threading.Thread(target=process.stderr.read, daemon=True).start()
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with urllib.request.urlopen(f"http://127.0.0.1:{match[1]}/health") as answer:
            if json.load(answer)["warm"]:
                break
        time.sleep(0.5)
    return process, int(match[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of attacks (default 60)")
    parser.add_argument("--run", type=Path, default=ROOT / "data" / "trained", help="run folder")
    args = parser.parse_args()
    sys.exit(not attack_server(args.run.resolve(), args.seconds))


if __name__ == "__main__":
    main()
