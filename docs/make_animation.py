"""Draws translating.svg and translating.zh-CN.svg: a sentence is typed, split, attended to and
translated; they move.

python docs/make_animation.py [--run DIR] [--sentence TEXT]

Without --run, it uses the run that comes with the program. Tokens, attention weights (of the last
decoder layer, averaged over its heads) and the translation are those of the run. The picture is
SVG with CSS animations, without scripts, so that a page can show it as an image; a reader who
prefers reduced motion sees its last moment.
"""

import argparse
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.decoding.attention import Attention
from nmt.runs import listing, loading

HERE = Path(__file__).parent
ATTENDS = "“{query}” attends to “{key}”: {weight:.0%}"
CHINESE = {
    "You type": "输入", "tokens": "词元", "generated": "生成", "translation": "译文",
    ATTENDS: "“{query}” 关注 “{key}”：{weight:.0%}",
}  # fmt: skip
SENTENCE = "Meu irmão acabou de comprar um carro vermelho."
WIDTH, HEIGHT = 960, 372  # pixels, as all lengths below
CHARACTER, HAN = 9.6, 16  # width of a letter, in a font of one width, and of a Chinese character
SOURCE_Y, TARGET_Y, BOX, GAP = 104, 262, 30, 8  # tops of the rows of boxes, their height, between
TYPING, SPLITTING, STEP, PAUSE = 2.6, 1.4, 0.9, 4.0  # seconds; STEP is of one generated token
MAX_RIBBON = 15  # width of a ribbon whose weight is 1
MIN_WEIGHT = 0.03  # of a ribbon that is drawn
INK, FAINT, PAPER, BLUE, BOX_FILL = "#1b1f24", "#59636e", "#ffffff", "#2166ac", "#eaf1f8"


class Box(NamedTuple):
    """A token on the picture."""

    text: str
    x: float  # of its left side
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


def width_of(label: str) -> float:
    """Returns the width of a text."""
    return sum(HAN if character >= "\u2e80" else CHARACTER for character in label)


def row_of_boxes(tokens: list[str]) -> list[Box]:
    """Returns a box for each token, in a row that is centered."""
    widths = [max(len(token), 1) * CHARACTER + 14 for token in tokens]
    x = (WIDTH - sum(widths) - GAP * (len(tokens) - 1)) / 2
    boxes = []
    for token, width in zip(tokens, widths, strict=True):
        boxes.append(Box(token, x, width))
        x += width + GAP
    return boxes


Moment = tuple[float, float]  # seconds, and an element's opacity from then on


class Film:
    """The parts of the picture, and when each can be seen; after `seconds` it begins again."""

    def __init__(self, seconds: float):
        self.seconds, self.rules, self.parts = seconds, [], []

    def percent(self, second: float) -> str:
        return f"{100 * second / self.seconds:.2f}%"

    def add(self, element: str, *moments: Moment) -> None:
        """Adds an element, which can be seen from the first of its moments on."""
        frames, opacity = "0%{opacity:0}", 0.0
        for second, next_opacity in moments:
            frames += f"{self.percent(second)}{{opacity:{opacity:g}}}"
            frames += f"{self.percent(second + 0.2)}{{opacity:{next_opacity:g}}}"
            opacity = next_opacity
        name = f"a{len(self.rules)}"
        self.rules.append(f"@keyframes {name}{{{frames}100%{{opacity:{opacity:g}}}}}")
        tag, attributes = element.split(" ", 1)
        style = f'style="animation-name:{name}" opacity="{opacity:g}"'
        self.parts.append(f'{tag} class="m" {style} {attributes}')

    def text(self, label: str, x: float, y: float, fill: str, *moments: Moment) -> None:
        """Adds a line of text that begins at `x`."""
        length = f'textLength="{width_of(label):.1f}" lengthAdjust="spacingAndGlyphs"'
        place = f'x="{x:.1f}" y="{y:.1f}" fill="{fill}" {length}'
        element = f"<text {place}>{escape(label)}</text>"
        self.add(element, *moments) if moments else self.parts.append(element)

    def typed(self, label: str, x: float, y: float) -> None:
        """Adds a text that is typed letter by letter: a sheet of paper moves off it."""
        self.text(label, x, y, INK)
        length = len(label) * CHARACTER
        moving = f"0%{{transform:translateX(0)}}{self.percent(TYPING)},100%"
        self.rules.append(f"@keyframes typing{{{moving}{{transform:translateX({length:.1f}px)}}}}")
        self.rules.append(
            f".t{{animation:typing {self.seconds:g}s steps({len(label)}) infinite;"
            f"transform:translateX({length:.1f}px)}}"
        )
        at = f'x="{x:.1f}" y="{y - 20:.1f}" height="28"'
        self.parts.append(
            f'<g class="t"><rect {at} width="{length + 4:.1f}" fill="{PAPER}"/>'
            f'<rect {at} width="2" fill="{BLUE}"/></g>'
        )

    def box(self, box: Box, y: float, *moments: Moment) -> None:
        """Adds the box of a token, whose top is at `y`."""
        self.add(
            f'<rect x="{box.x:.1f}" y="{y}" width="{box.width:.1f}" height="{BOX}" rx="6" '
            f'fill="{BOX_FILL}" stroke="{BLUE}"/>',
            *moments,
        )
        self.text(box.text, box.x + 7, y + 20, INK, *moments)

    def ribbon(self, key: Box, query: Box, weight: float, *moments: Moment) -> None:
        """Adds a ribbon from a source token down to a generated one, as wide as the weight."""
        top, bottom = SOURCE_Y + BOX, TARGET_Y
        middle = (top + bottom) / 2
        path = f"M{key.middle:.1f} {top}C{key.middle:.1f} {middle} "
        path += f"{query.middle:.1f} {middle} {query.middle:.1f} {bottom}"
        self.add(
            f'<path d="{path}" fill="none" stroke="{BLUE}" '
            f'stroke-width="{max(1, weight * MAX_RIBBON):.1f}"/>',
            *moments,
        )

    def svg(self, title: str) -> str:
        """Returns the picture."""
        style = (
            "text{font:16px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
            f".m{{animation-duration:{self.seconds:g}s;animation-iteration-count:infinite}}"
            + "".join(self.rules)
            + "@media (prefers-reduced-motion:reduce){.m,.t{animation:none}}"
        )
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        paper, frame = (
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" {colors}/>'
            for colors in (f'fill="{PAPER}"', 'fill="none" stroke="#d0d7de"')
        )
        parts = [head, f"<title>{escape(title)}</title>", f"<style>{style}</style>", paper]
        return "\n".join([*parts, *self.parts, frame, "</svg>\n"])


def film_of(attention: Attention, texts: dict[str, str] | None = None) -> Film:
    """Returns the film of a translated sentence; `texts` are translations of the labels."""
    say = (texts or {}).get
    weights, generated, source = attention.select("cross")  # (H, T, S), T and S tokens
    weights = weights.mean(axis=0)  # (T, S)
    # START and END take what a head does not need: the picture shows the words alone.
    keys, queries = (
        row_of_boxes([token.replace("▁", "") for token in tokens])
        for tokens in (source[1:-1], generated[:-1])
    )
    first = TYPING + SPLITTING
    end = first + STEP * len(queries)
    film = Film(end + PAUSE)
    film.text(say("You type", "You type"), 24, 40, FAINT)
    film.typed(attention.texts[0], 24 + 13 * CHARACTER, 40)
    film.text(say("tokens", "tokens"), 24, SOURCE_Y - 14, FAINT, (TYPING, 1))
    for step, query in enumerate(queries):
        start, stop = first + STEP * step, first + STEP * (step + 1)
        row = weights[step, 1:-1]
        for key, weight in zip(keys, row, strict=True):
            if weight >= MIN_WEIGHT:
                film.ribbon(key, query, weight, (start, 0.8), (stop, 0.12), (end, 0.35))
        strongest = keys[int(row.argmax())].text
        label = say(ATTENDS, ATTENDS).format(query=query.text, key=strongest, weight=row.max())
        film.text(label, 24, TARGET_Y + BOX + 62, BLUE, (start, 1), (stop - 0.2, 0))
        film.box(query, TARGET_Y, (start + 0.3, 1))
    for number, key in enumerate(keys):
        film.box(key, SOURCE_Y, (TYPING + 0.1 * number, 1))
    film.text(say("generated", "generated"), 24, TARGET_Y - 14, FAINT, (first, 1))
    film.text(say("translation", "translation"), 24, TARGET_Y + BOX + 62, FAINT, (end, 1))
    film.text(attention.texts[1], 24 + 13 * CHARACTER, TARGET_Y + BOX + 62, INK, (end, 1))
    return film


def main() -> None:
    """Writes both pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default=listing.SHIPPED, help="folder of a trained run")
    parser.add_argument("--sentence", default=SENTENCE)
    args = parser.parse_args()
    trained = loading.load(args.run)
    attention = trained.model.text_translator(trained.tokenizer).attend(args.sentence)
    for name, texts in (("translating.svg", None), ("translating.zh-CN.svg", CHINESE)):
        picture = film_of(attention, texts).svg(f"{args.sentence} {attention.texts[1]}")
        (HERE / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
