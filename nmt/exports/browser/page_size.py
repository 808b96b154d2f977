"""How large a network a page may hold, which is known before TensorFlow is imported."""

MAX_PARAMETERS = 25_000_000  # a page of 100 MB
