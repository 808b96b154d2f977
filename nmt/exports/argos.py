"""Export for Argos Translate and LibreTranslate: a package (.argosmodel) to install there."""

import json
import tempfile
import zipfile
from pathlib import Path

from nmt import UserError, output
from nmt.exports import ctranslate2_model
from nmt.exports.exported_model import Export
from nmt.text.language_names import language_name
from nmt.text.languages import Pair, as_pair

PACKAGE_VERSION = "1.0"
ARGOS_VERSION = "1.9"  # the oldest that reads this form of a package


def write(path: Path, export: Export) -> None:
    """Writes a package: a CTranslate2 model, the vocabulary, and the languages.

    Sentences are split by Argos itself, which gets its models for that from the network. It
    replaces a package by one of a later version.
    """
    if path.suffix != ".argosmodel":
        raise UserError(f"--to {path}: a package for Argos Translate must end in .argosmodel")
    languages = as_pair(export.card.languages)
    if export.tokenizer.tag:
        raise UserError(
            f"a package for Argos Translate cannot put {export.tokenizer.tag} before each source, "
            "which this model needs; choose another --format"
        )
    name = f"translate-{languages.source}_{languages.target}"
    with output.new(path) as unfinished, tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        ctranslate2_model.write(model, export)
        (model / "tokenizer.model").rename(Path(folder) / "sentencepiece.model")
        (model / "target.model").unlink()  # Argos joins tokens without it
        metadata = json.dumps(package_metadata(languages, export.package_version), indent=1)
        (Path(folder) / "metadata.json").write_text(metadata, encoding="utf-8")
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as package:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file():
                    package.write(file, f"{name}/{file.relative_to(folder)}")


def package_metadata(languages: Pair, version: str | None = None) -> dict[str, str]:
    """Returns metadata.json; without a version, that of a first package."""
    return {
        "package_version": version or PACKAGE_VERSION,
        "argos_version": ARGOS_VERSION,
        "from_code": languages.source,
        "from_name": language_name(languages.source),
        "to_code": languages.target,
        "to_name": language_name(languages.target),
    }
