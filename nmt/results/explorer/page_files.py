"""Where the files of the explorer are, which is known before TensorFlow is imported."""

from pathlib import Path

FOLDER = Path(__file__).parent
