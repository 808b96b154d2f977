"""Which word translates which, from cross-attention.

The last layer, the mean of its heads, and the row that predicts a token: of all layers, heads and
rows, these had the fewest errors on half of 100 pairs aligned by hand (docs/decoding.md).

The words of a text are those that Python's split() finds in it as it is given or printed: what
stands between white space of any kind. U+200B and the like are no white space, nor is U+2581.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from nmt.decoding.sentence import Links, Sentence
from nmt.text import sentences, spelling
from nmt.text.scripts import UNSPACED

if TYPE_CHECKING:  # whose import takes as long as the translation of a sentence
    import numpy as np


def word_numbers(tokens: list[str]) -> list[int]:
    """Returns the number of the word that each of `tokens` belongs to, from 0.

    They are Tokenizer.surfaces of a spelling.normal form, in which nothing but U+0020 divides
    words. Tokens of spaces alone belong to the word after them, a token of several unknown words
    to the first of them.
    """
    numbers = []
    word = 0
    has_letters = False  # so far, the word has no token, or tokens of spaces alone
    for token in tokens:
        if token.startswith(spelling.MARK_OF_SPACE) and has_letters:
            word += 1
            has_letters = False
        letters = token.strip(spelling.MARK_OF_SPACE)
        if letters:
            has_letters = True
        numbers.append(word)
        word += letters.count(spelling.MARK_OF_SPACE)
    return numbers


def unit_numbers(tokens: list[str]) -> list[int]:
    """Returns what `word_numbers` does; but in scripts without spaces, tokens count as words."""
    words, shift, numbers = word_numbers(tokens), 0, []
    for index, token in enumerate(tokens):
        same_word = index > 0 and words[index] == words[index - 1]
        shift += same_word and bool(UNSPACED.search(tokens[index - 1] + token))
        numbers.append(words[index] + shift)
    return numbers


def words_as_given(text: str) -> list[int]:
    """Returns for each word of the spelling.normal form of a text its number in text.split().

    U+2581 divides a word of the former, and a word of invisible marks is not in it.
    """
    numbers = []
    word = -1  # the number in text.split() of the word that the character is in
    in_word = in_normal_word = False
    for character in text:
        if character.isspace():
            in_word = False
        elif not in_word:
            in_word = True
            word += 1
        if spelling.INVISIBLE_CHARACTER.match(character):
            continue  # it neither begins nor ends a normal word
        if spelling.SPACE_CHARACTER.match(character):
            in_normal_word = False
        elif not in_normal_word:
            in_normal_word = True
            numbers.append(word)
    return numbers


def as_given(links: Links, source: str, target: str) -> Links:
    """Returns links of words of normal forms as those of `source` and `target`, texts as given."""
    sources, targets = words_as_given(source), words_as_given(target)
    return sorted({(sources[i], targets[j]) for i, j in links})


def attention_by_word(weights: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Returns the attention (target words, source words) of weights (T, S) by token.

    Weights are summed over the tokens of a source word and averaged over those of a target word.

    Args:
      source, target: the number of the word of each token, (S,), (T,).
    """
    import numpy as np

    from_target = np.eye(target[-1] + 1)[target].T  # (words, T)
    from_target /= from_target.sum(axis=1, keepdims=True)
    to_source = np.eye(source[-1] + 1)[source]  # (S, words)
    return from_target @ weights @ to_source


def links(weights: np.ndarray, source: list[str], target: list[str]) -> Links:
    """Returns the sorted links (source word, target word) of a pair, numbers from 0.

    Each target word is linked to the source word that it attends to most, and each source word to
    the target word that attends to it most.

    Args:
      weights: cross-attention (T, S); row t predicted token t.
      source, target: tokens of each, without START and END.
    """
    if not source or not target:
        return []
    return link_groups(weights, word_numbers(source), word_numbers(target))


def link_groups(weights: np.ndarray, source: list[int], target: list[int]) -> Links:
    """Returns what `links` does, of other groups of tokens than words.

    Args:
      source, target: the number of the group of each token, (S,), (T,).
    """
    import numpy as np

    sources, source_numbers = np.unique(source, return_inverse=True)  # groups that have tokens
    targets, target_numbers = np.unique(target, return_inverse=True)
    attention = attention_by_word(weights, source_numbers, target_numbers)
    best_sources = attention.argmax(axis=1)  # (target words,)
    attention = attention / np.maximum(attention.sum(axis=0), 1e-9)
    best_targets = attention.argmax(axis=0)  # (source words,)
    group_links = {(i, j) for j, i in enumerate(best_sources)}
    group_links |= {(i, j) for i, j in enumerate(best_targets)}
    return sorted((int(sources[i]), int(targets[j])) for i, j in group_links)


def count_words(text: str) -> int:
    """Returns the number of words of the spelling.normal form of a text."""
    return len(spelling.normal(text).split())


@dataclasses.dataclass
class _WordCount:
    """The running count of the words of a line, in one language."""

    words: int = 0
    after_space: bool = True  # white space, or nothing, is before the next sentence

    def add(self, new_words: int, space: str) -> int:
        """Counts the words of a sentence. Returns the number of its first word in the line.

        What divides it from the next one may hold words, too: a bar, a code for a line end.
        """
        if new_words and not self.after_space:
            self.words -= 1  # the sentence begins within a word of the line
        first = self.words
        self.words += new_words
        if new_words:
            self.after_space = bool(space)
        else:
            self.after_space = self.after_space or bool(space)
        if dividing := space.split():
            self.words += len(dividing) - (not space[0].isspace())
            self.after_space = space[-1].isspace()
        return first


def join_links(line: list[Sentence], tag: str = "") -> Links:
    """Returns the links of a line from those of its Sentences.

    Args:
      tag: what every sentence begins with, and the line only once.
    """
    line_links = []
    copied = 0  # words of the tag, which are before the sentence, but not in the line
    source, target = _WordCount(), _WordCount()
    translations = [sentence.translation for sentence in line]
    joints = sentences.joints(translations, [sentence.space for sentence in line])
    for sentence, joint in zip(line, joints, strict=True):
        if joint:
            target.after_space = True
        source_words = max(0, count_words(sentence.text) - copied)  # an empty one has no tag
        first_source = source.add(source_words, sentence.space)
        first_target = target.add(count_words(sentence.translation), sentence.space)
        for i, j in sentence.links:
            if i >= copied:
                line_links.append((first_source + i - copied, first_target + j))
        copied = count_words(f"{tag}x") - 1
    return line_links


def pharaoh(links: Links) -> str:
    """Returns links as text, "0-0 1-2"."""
    return " ".join(f"{i}-{j}" for i, j in links)
