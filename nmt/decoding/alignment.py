"""Which word translates which, from cross-attention.

The last layer, the mean of its heads, and the row that predicts a token: of all layers, heads and
rows, these had the fewest errors on half of data/alignments.tsv (benchmarks/alignment.py).

The words of a text are those that Python's split() finds in it as it is given or printed: what
stands between white space of any kind. U+200B and the like are no white space, nor is U+2581.
"""

import numpy as np

from nmt.text import sentences, spelling

UNKNOWN_WORD = "<unk>"


def word_numbers(tokens):
    """Returns the number of the word that each of `tokens` (strings) belongs to, from 0.

    They are tokens of a spelling.normal form, in which nothing but U+0020 divides words.
    """
    numbers, word, in_word = [], -1, False
    for token in tokens:
        if token == UNKNOWN_WORD or not in_word or token.startswith(spelling.MARK_OF_SPACE):
            # Spaces alone belong to the word after them.
            word += in_word or word < 0
            in_word = token.strip(spelling.MARK_OF_SPACE) != ""
        numbers.append(word)
    return np.array(numbers, int)


def words_as_given(text):
    """Returns for each word of the spelling.normal form of a text its number in text.split().

    U+2581 divides a word of the former, and a word of invisible marks is not in it.
    """
    numbers, word, in_word, in_normal_word = [], -1, False, False
    for character in text:
        is_space = character.isspace()
        word += not is_space and not in_word
        in_word = not is_space
        if spelling.INVISIBLE_CHARACTER.match(character):
            continue
        is_letter = not spelling.SPACE_CHARACTER.match(character)
        if is_letter and not in_normal_word:
            numbers.append(word)
        in_normal_word = is_letter
    return numbers


def as_given(links, source, target):
    """Returns links of words of normal forms as those of `source` and `target`, texts as given."""
    sources, targets = words_as_given(source), words_as_given(target)
    return sorted({(sources[i], targets[j]) for i, j in links})


def by_words(weights, source, target):
    """Returns the attention (words of target, words of source) of weights (T, S) by token.

    Of the tokens of a source word, weights are added; of those of a target word, averaged.

    Args:
      source, target: word numbers (S,), (T,).
    """
    from_target = np.eye(target[-1] + 1)[target].T  # (words, T)
    from_target /= from_target.sum(axis=1, keepdims=True)
    return from_target @ weights @ np.eye(source[-1] + 1)[source]


def links(weights, source, target):
    """Returns the sorted links (source word, target word) of a pair, numbers from 0.

    Each target word is linked to the source word that it attends to most, and each source word to
    the target word that attends to it most.

    Args:
      weights: cross-attention (T, S); row t predicted token t.
      source, target: tokens (strings) of each, without START and END.
    """
    if not source or not target:
        return []
    attention = by_words(weights, word_numbers(source), word_numbers(target))
    of_targets = attention.argmax(axis=1)
    attention = attention / np.maximum(attention.sum(axis=0), 1e-9)
    of_sources = attention.argmax(axis=0)
    word_links = {(int(i), j) for j, i in enumerate(of_targets)}
    word_links |= {(i, int(j)) for i, j in enumerate(of_sources)}
    return sorted(word_links)


def words(text):
    """Returns the number of words of the spelling.normal form of a text."""
    return len(spelling.normal(text).split())


def joined(pairs, spaces, sentence_links, tag=""):
    """Returns the links of a line from those of its sentences.

    Args:
      pairs: (sentence, translation) strings, in their order.
      spaces: the white space after each sentence.
      sentence_links: the links of each pair.
      tag: what every sentence begins with, and the line only once.
    """
    line_links, copied = [], 0
    source = target = 0  # words of the line before the sentence
    source_gap = target_gap = True  # whether white space, or nothing, is before it
    joints = sentences.joints([translation for _, translation in pairs], spaces)
    rows = zip(pairs, spaces, sentence_links, joints, strict=True)
    for (sentence, translation), space, links, joint in rows:
        target_gap = target_gap or bool(joint)
        new_words = words(sentence) - copied, words(translation)
        # Without white space before it, a sentence begins within a word.
        source -= new_words[0] > 0 and not source_gap
        target -= new_words[1] > 0 and not target_gap
        line_links += [(source + i - copied, target + j) for i, j in links if i >= copied]
        source, target = source + new_words[0], target + new_words[1]
        source_gap = bool(space) or (source_gap and not new_words[0])
        target_gap = bool(space) or (target_gap and not new_words[1])
        copied = words(f"{tag}x") - 1  # of the next sentence, which the line has not there
    return line_links


def pharaoh(links):
    """Returns links as text, "0-0 1-2"."""
    return " ".join(f"{i}-{j}" for i, j in links)
