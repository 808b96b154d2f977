"""Writes what commands print into docs/outputs/, from where the pages quote it.

python docs/make_outputs.py              # of all commands that take no minutes
python docs/make_outputs.py today-gpt    # of these, whatever they take; then correct the pages

A file of docs/outputs/ begins with its command, after "$ ". Of a command that takes minutes, or
draws a picture of docs/, the second line says what the output was made from, and a stamp of that:
a test fails where it is old. In a page, `<!-- outputs/NAME.txt -->` stands before a block whose
lines, or numbers, are from there.
"""

import ast
import hashlib
import io
import re
import shlex
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "outputs"
WORK = ROOT / "runs" / "outputs"  # where the commands run
MADE_FROM = re.compile(r"made from (.*): \w+\n")


class Output(NamedTuple):
    """What a command has printed."""

    command: str  # begins with "python "
    made_from: list[str]  # paths in the repository; none where a test runs the command again
    text: str

    def written(self) -> str:
        """Returns the file's content."""
        paths = " ".join(self.made_from)
        made_from = f"made from {paths}: {stamp(self.made_from)}\n" if paths else ""
        return f"$ {self.command}\n{made_from}\n{self.text}"

    def again(self, folder: Path) -> "Output":
        """Returns what the command prints now, in a folder without runs, but with copies of data.

        Raises CalledProcessError.
        """
        for name in ("benchmarks", "data"):
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
        _, script, *arguments = shlex.split(self.command)
        words = [sys.executable, str(ROOT / script), *arguments]
        printed = subprocess.run(words, cwd=folder, check=True, stdout=subprocess.PIPE)
        return self._replace(text=printed.stdout.decode())


def read(path: Path) -> Output:
    """Returns a file of FOLDER."""
    command, _, printed = path.read_text(encoding="utf-8").partition("\n")
    made_from = MADE_FROM.match(printed)
    text = printed[made_from.end() if made_from else 0 :].removeprefix("\n")
    return Output(command.removeprefix("$ "), made_from[1].split() if made_from else [], text)


def code(source: bytes) -> bytes:
    """Returns a Python file without docstrings, comments and white space."""
    lines = source.splitlines()
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = token.line[:column].encode()
    explained = ast.Module | ast.ClassDef | ast.FunctionDef
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, explained) and ast.get_docstring(node):
            first, last = node.body[0].lineno - 1, node.body[0].end_lineno
            lines[first:last] = [b""] * (last - first)
    return b"".join(b"".join(lines).split())


def stamp(paths: list[str]) -> str:
    """Returns a hash of files, and of all files in folders; of Python, the `code`."""
    digest = hashlib.sha256()
    for path in map(ROOT.joinpath, paths):
        for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            content = file.read_bytes()
            digest.update(code(content) if file.suffix == ".py" else content)
    return digest.hexdigest()[:12]


def copy_pictures(text: str) -> None:
    """Copies the pictures that an output names, of those in docs/, from WORK."""
    for path in re.findall(r"^\S+\.png$", text, re.M):
        if (picture := ROOT / "docs" / Path(path).name).exists():
            shutil.copy(WORK / path, picture)


def main() -> None:
    """Writes the outputs that are named, or all that a test runs again."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    paths = [FOLDER / f"{name}.txt" for name in sys.argv[1:]]
    for path in paths or sorted(FOLDER.glob("*.txt")):
        output = read(path)
        if paths or not output.made_from:
            output = output.again(WORK)
            copy_pictures(output.text)
            path.write_text(output.written(), encoding="utf-8")


if __name__ == "__main__":
    main()
