"""Parallel text from TensorFlow Datasets: found, downloaded, or one line that says why not."""

import contextlib
import logging
import re
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt import UserError
from nmt.messages import reason

if TYPE_CHECKING:  # which imports TensorFlow
    from tensorflow_datasets.core import DatasetBuilder

PROBE_SECONDS = 5  # TFDS itself tries for minutes before it says that there is no network


def probe(urls: Sequence[str]) -> None:
    """Raises ConnectionError unless one of `urls` can be read from within seconds."""
    import requests  # what TFDS downloads with, so that a proxy is used as it will be then

    answers = []

    def ask(url: str) -> None:
        try:
            with requests.get(url, stream=True, timeout=PROBE_SECONDS) as response:
                answers.append(response.ok)
        except requests.RequestException:
            answers.append(False)

    # In threads, for a name server may take longer than any time-out of ours.
    threads = [threading.Thread(target=ask, args=[url], daemon=True) for url in urls]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + PROBE_SECONDS
    while True not in answers and len(answers) < len(urls) and time.monotonic() < ends:
        time.sleep(0.05)
    if urls and True not in answers:
        raise ConnectionError(f"no connection to {urls[0]}")


def _holds_pairs(builder: "DatasetBuilder") -> bool:
    """Returns whether a TFDS dataset, prepared or not, has a source and a target text."""
    import tensorflow_datasets as tfds

    features, keys = builder.info.features, builder.info.supervised_keys or ()
    texts = [key in features and isinstance(features[key], tfds.features.Text) for key in keys]
    return bool(texts) and all(texts)


def parallel_text(name: str) -> "DatasetBuilder":
    """Returns the TFDS builder of a translation dataset, downloaded and prepared if necessary.

    A UserError says that there is no such dataset, that it is no parallel text or cannot be
    prepared; a ConnectionError that it is not on this machine and cannot be downloaded.
    """
    import requests
    import tensorflow_datasets as tfds
    from tensorflow_datasets.core.download import download_manager

    logging.getLogger("absl").setLevel(logging.ERROR)  # TFDS warns of data not yet prepared
    failed_download = (
        requests.RequestException,
        tfds.download.DownloadError,
        download_manager.NonMatchingChecksumError,
    )
    not_parallel = UserError(
        f"--dataset {name}: holds no source and target text to train on; name a translation set"
    )
    try:
        builder = tfds.builder(name)
        if not _holds_pairs(builder):
            raise not_parallel
        if not builder.is_prepared():
            probe(list(builder.url_infos or ()))
            with contextlib.redirect_stdout(sys.stderr):
                builder.download_and_prepare()
    except ConnectionError:
        raise
    except failed_download as error:
        raise ConnectionError(f"download failed: {type(error).__name__}") from None
    except (ValueError, AssertionError, ImportError, OSError) as error:
        if isinstance(error, OSError) and error.filename:  # the disk is full, or not writable
            raise
        full = re.search("disk space|No space left", str(error))
        fix = "free some space" if full else "name a TFDS dataset, 'bundled' or a .tsv file"
        raise UserError(f"--dataset {name}: {reason(error)}; {fix}") from None
    if "train" not in builder.info.splits:
        raise not_parallel
    return builder
