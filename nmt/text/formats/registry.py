"""The formats of files that hold both sides of parallel text, by the endings of their names."""

from nmt.text.formats.comma_separated import CSV
from nmt.text.formats.format import Format
from nmt.text.formats.tmx import TMX
from nmt.text.formats.tsv import TSV
from nmt.text.formats.xliff import XLIFF
from nmt.text.formats.xlsx import XLSX

FORMATS: dict[str, Format] = {
    "tsv": TSV, "csv": CSV, "xlsx": XLSX, "tmx": TMX, "xlf": XLIFF, "xliff": XLIFF,
}  # fmt: skip
