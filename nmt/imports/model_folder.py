"""Reading a folder of Hugging Face's transformers: JSON, weights, SentencePiece; no code runs.

What is missing, damaged or of another family ends in a UserError that names the file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from nmt import UserError
from nmt.messages import reason
from nmt.reading import read_file

SAFETENSORS, PICKLE = "model.safetensors", "pytorch_model.bin"
INDEX = f"{SAFETENSORS}.index.json"  # of weights in several files
FILE_NAME = re.compile(r"[\w.-]+\.safetensors")
NO_WEIGHTS = f"no {SAFETENSORS} or {PICKLE}"
CACHE_NAME = re.compile(r"models--([\w.-]+?)--([\w.-]+)")  # of a folder in the cache of the hub
HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
LICENSE = re.compile(r"^license:\s*[\"']?([\w.+ -]+)", re.MULTILINE)


class ModelFolder:
    """A folder that a model of transformers is stored in; a UserError if there is none."""

    def __init__(self, path: Path):
        if not path.is_dir():
            raise UserError(f"{path}: no folder of a model; name one that holds config.json")
        self.path = path

    def bytes_of(self, name: str) -> bytes:
        """Returns the content of a file; a UserError if it cannot be read."""
        path = self.path / name
        try:
            return read_file(path)
        except OSError as error:
            raise self.error(name, error.strerror or error) from None

    def json_of(self, name: str, is_optional: bool = False) -> dict[str, Any]:
        """Returns the object in a JSON file; that of a missing one that `is_optional` is empty."""
        if is_optional and not (self.path / name).exists():
            return {}
        try:
            content = json.loads(self.bytes_of(name).decode())
        except (ValueError, RecursionError) as error:
            raise self.error(name, f"is no JSON ({reason(error)})") from None
        if not isinstance(content, dict):
            raise self.error(name, "is no object of JSON")
        return content

    def has(self, name: str) -> bool:
        """Returns whether there is such a file."""
        return (self.path / name).is_file()

    @property
    def model_name(self) -> str:
        """The name of the model: on the hub, where the folder or config.json says it."""
        for folder in self.path.resolve().parents:
            if match := CACHE_NAME.fullmatch(folder.name):
                return f"{match[1]}/{match[2]}"
        named = self.json_of("config.json").get("_name_or_path")
        if isinstance(named, str) and HUB_NAME.fullmatch(named):
            return named
        return self.path.resolve().name

    @property
    def license(self) -> str:
        """The license that the front matter of README.md names; "" if there is none."""
        if not self.has("README.md"):
            return ""
        text = self.bytes_of("README.md").decode(errors="replace")
        front_matter = re.match(r"---\r?\n(.*?)\n---", text, re.DOTALL)
        match = LICENSE.search(front_matter[1]) if front_matter else None
        return match[1].strip() if match else ""

    def tensors(self) -> dict[str, np.ndarray]:
        """Returns the weights by name; a UserError if they are missing, damaged or no numbers."""
        tensors = self._stored_tensors()
        for name, tensor in tensors.items():
            if np.issubdtype(tensor.dtype, np.floating) and not np.isfinite(tensor).all():
                raise UserError(
                    f"{self.path}: the weight {name} holds NaN or an infinite number; its training "
                    "diverged, or the file is damaged: take another model"
                )
        return tensors

    def _stored_tensors(self) -> dict[str, np.ndarray]:
        if self.has(SAFETENSORS):
            return self._safetensors(SAFETENSORS)
        if self.has(INDEX):
            weight_map = self.json_of(INDEX).get("weight_map")
            names = {*weight_map.values()} if isinstance(weight_map, dict) else set()
            if not names or not all(FILE_NAME.fullmatch(str(name)) for name in names):
                raise self.error(INDEX, "names no files of weights beside it")
            return {k: v for name in sorted(names) for k, v in self._safetensors(name).items()}
        if self.has(PICKLE):
            return self._pickle()
        raise UserError(f"{self.path}: {NO_WEIGHTS} there; name the folder of a whole model")

    def _safetensors(self, name: str) -> dict[str, np.ndarray]:
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError:
            raise UserError(
                "importing a model needs a package; install it (pip install safetensors)"
            ) from None
        try:
            with safe_open(self.path / name, framework="np") as file:
                return {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError, TypeError) as error:
            raise self.error(name, f"holds no weights that can be read ({reason(error)})") from None

    def _pickle(self) -> dict[str, np.ndarray]:
        """Reads weights in the form of PyTorch, which may hold code: without running any."""
        try:
            import torch
        except ImportError:
            raise UserError(
                f"{self.path / PICKLE}: weights of this form need a package (pip install torch); "
                f"or ask for the model as {SAFETENSORS}"
            ) from None
        try:
            content = torch.load(self.path / PICKLE, map_location="cpu", weights_only=True)
            return {str(name): tensor.float().numpy() for name, tensor in content.items()}
        except Exception as error:  # whatever a damaged or hostile file raises
            why = str(reason(error)).split(". ")[0]
            raise self.error(PICKLE, f"holds more than weights, or is damaged ({why})") from None

    def error(self, name: str, why: object) -> UserError:
        """Returns the UserError of a file."""
        return UserError(f"{self.path / name}: {why}; name the folder of a whole model")
