"""The formats of files that hold both sides of parallel text, by the endings of their names."""

from nmt.corpus.formats.comma_separated import CSV
from nmt.corpus.formats.format import Format
from nmt.corpus.formats.tmx import TMX
from nmt.corpus.formats.tsv import TSV
from nmt.corpus.formats.xliff import XLIFF
from nmt.corpus.formats.xlsx import XLSX

FORMATS: dict[str, Format] = {
    "tsv": TSV, "csv": CSV, "xlsx": XLSX, "tmx": TMX, "xlf": XLIFF, "xliff": XLIFF,
}  # fmt: skip
