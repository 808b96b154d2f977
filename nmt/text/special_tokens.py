"""The ids of the special tokens, for what needs no TensorFlow; as in transformer_model.py."""

PAD, UNKNOWN, START, END = 0, 1, 2, 3
