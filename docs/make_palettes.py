"""Gives the pictures of notebooks a palette of 256 colors, after the notebooks have run.

    jupyter nbconvert --to notebook --execute --inplace docs/walkthrough.ipynb
    python docs/make_palettes.py docs/walkthrough.ipynb docs/walkthrough.zh-CN.ipynb

Plots have few colors: they look the same, and take two fifths of the bytes.
"""

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

from PIL import Image

COLORS = 256


def with_palette(picture: str) -> str:
    """Returns a PNG in base64 with a palette; as it is if it has one."""
    image = Image.open(io.BytesIO(base64.b64decode(picture)))
    if image.mode == "P":
        return picture
    content = io.BytesIO()
    quantized = image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    quantized.save(content, "PNG", optimize=True)
    return base64.b64encode(content.getvalue()).decode()


def pictures(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the data of the outputs that hold a picture."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [output["data"] for output in outputs if "image/png" in output.get("data", {})]


def main() -> None:
    for name in sys.argv[1:]:
        notebook = json.loads(Path(name).read_text(encoding="utf-8"))
        for data in pictures(notebook):
            data["image/png"] = with_palette("".join(data["image/png"]))
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        Path(name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
