"""The weights of a run for CTranslate2, converted once: engine/ of the run folder.

Where that cannot be written to, such as in a clone of another user, they are in this user's cache.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nmt import UserError, checksums, output
from nmt.decoding.engines.ctranslate2 import MAKER
from nmt.decoding.networks import Networks
from nmt.messages import log
from nmt.runs.claim import SIZES
from nmt.runs.folder import Run
from nmt.runs.parameters import in_effect
from nmt.runs.weights import KINDS, Weights, choose_weights
from nmt.text.tokenizer import Tokenizer

SECONDS_OF_A_DAY = 86_400


def convert(
    run: Run, weights: Weights, tokenizer: Tokenizer, networks: Callable[[], Networks]
) -> Path:
    """Returns the folder of converted weights, which it writes if they are missing.

    Where neither the run folder nor the user's cache can be written to, they are in a temporary
    one, for this process alone. A UserError if they are missing, and TensorFlow is not installed.
    """
    folder = converted_folder(run, weights)
    if checksums.are_right(folder, MAKER):
        return folder
    if folder.exists():
        log.info(f"{folder}: is damaged or of another version; it is made again.")
    cached = user_cache() / f"{folder.name}-{tokenizer.sha256[:16]}"
    if checksums.are_right(cached, MAKER):
        return cached
    try:
        loaded = networks()
    except ModuleNotFoundError as error:
        if error.name not in ("tensorflow", "keras"):
            raise
        raise UserError(
            f"{run.path}: engine/ does not hold these weights for CTranslate2, or not as they were "
            "written, and TensorFlow, which writes them, is not installed; translate with the run "
            "where it is, and copy engine/, too"
        ) from None
    try:
        return write(run, weights, tokenizer, loaded)
    except UserError as error:
        reason, _, _ = str(error).partition(";")
    return _save_elsewhere(cached, loaded, tokenizer, reason)


def _save_elsewhere(cached: Path, networks: Networks, tokenizer: Tokenizer, reason: str) -> Path:
    """Writes the weights into the user's cache, or a temporary folder. Returns the folder.

    `reason` says why they are not in the run folder.
    """
    try:
        output.make_folder(cached.parent)
        shutil.rmtree(cached, ignore_errors=True)
        save(cached, networks, tokenizer)
    except (OSError, UserError):
        log.info(f"{reason}: the weights for CTranslate2 are converted for this process alone.")
        try:
            temporary = Path(tempfile.mkdtemp())
            atexit.register(shutil.rmtree, temporary, ignore_errors=True)
            save(temporary / cached.name, networks, tokenizer)
        except (OSError, UserError):
            raise UserError(
                f"{reason}: nor has {cached.parent} or the temporary folder room for the weights "
                "for CTranslate2; free some space, or translate by --engine tensorflow"
            ) from None
        return temporary / cached.name
    log.info(f"{reason}: the weights for CTranslate2 are kept in {cached}.")
    return cached


def write(run: Run, weights: Weights, tokenizer: Tokenizer, networks: Networks) -> Path:
    """Writes converted weights into the run folder, unless they are there. Returns their folder."""
    folder = converted_folder(run, weights)
    existed = folder.exists()  # what another process writes meanwhile is right
    if checksums.are_right(folder, MAKER):
        return folder
    if existed:
        shutil.rmtree(folder, ignore_errors=True)
    _remove_others(run)
    try:
        save(folder, networks, tokenizer)
    except UserError:
        if not checksums.are_right(folder, MAKER):  # another process may have written it meanwhile
            raise
    return folder


def save(folder: Path, networks: Networks, tokenizer: Tokenizer) -> None:
    """Writes the weights for CTranslate2. Imports TensorFlow."""
    from nmt.decoding.engines import ctranslate2_weights

    ctranslate2_weights.save(folder, networks.transformer, tokenizer)


def converted_folder(run: Run, weights: Weights) -> Path:
    """Returns where the converted form of weights is, or would be: by their network, too."""
    options = run.parameters.options
    network = json.dumps({name: in_effect(name, options) for name in SIZES})
    return run.engine / hashlib.sha256(f"{weights.sha256} {network}".encode()).hexdigest()[:16]


def user_cache() -> Path:
    """Returns this user's folder of converted weights, which need not exist (XDG Base Directory).

    https://specifications.freedesktop.org/basedir-spec/latest/
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        cache = Path(os.path.expanduser("~/.cache"))
    if not cache.is_absolute():  # the user has no home
        cache = Path(os.devnull)  # in which no folder can be made
    return cache / "transformer-tutorial" / "engine"


def _remove_others(run: Run) -> None:
    """Removes what was converted of weights that the run has no more.

    A folder that another process is writing stays; one that a killed process has left, for a day.
    """
    current = set()
    for kind in KINDS:
        with contextlib.suppress(UserError):  # no weights of this kind
            current.add(converted_folder(run, choose_weights(run, kind)))
    for folder in {*run.engine.glob("*")} - current:
        with contextlib.suppress(OSError):  # another process has removed it
            age = time.time() - folder.stat().st_mtime
            if age > SECONDS_OF_A_DAY or not folder.name.startswith(output.UNFINISHED):
                shutil.rmtree(folder, ignore_errors=True)
