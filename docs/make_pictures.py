"""Draws pictures of pages, or counts what the explorer's switches change; both in Chromium.

python docs/make_pictures.py                 # explorer.png, explorer-tour.png, web-page.png
python docs/make_pictures.py --switches 40   # the counts behind "What to expect"

Pictures are written here. The explorer is docs/try.html, the other page is one that `run_demo.py
export` writes of the same run. They need the packages of requirements-dev.txt, chromium and
chromedriver.
"""

import argparse
import base64
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver

ROOT = Path(__file__).resolve().parents[1]
EXPLORER, RUN = ROOT / "docs" / "try.html", ROOT / "data" / "trained"
WIDTH, HEIGHT = 1280, 800  # of the explorer, in pixels
TEXT_SIZE = 1000, 613  # of the other page
TEXT = (
    "O estádio é novo. Onde fica a estação?\nO carro vermelho é da minha irmã.\n\n"
    "Ela comprou 1.250 livros em 2026."
)
STEP_OF_HEADS = 6  # of the tour
SWITCHES = {  # as what_if.js sets them
    "no positional encoding": {"positions": False},
    "no division by sqrt(d_k)": {"scaling": False},
    "no look-ahead mask": {"lookAhead": False},
    "eight padding tokens": {"paddingTokens": 8},
    "and no padding mask": {"paddingTokens": 8, "paddingMask": False},
    "no cross-attention": {"cross": False},
    "no residual connections": {"residual": False},
}
TRANSLATE = """
const [sentence, changes] = arguments, what = { ...AS_TRAINED, ...changes };
const ids = tokenizer.encode(sentence);
return tokenizer.decode(new Translation(network, ids, what).finish().words());
"""


def start_browser() -> webdriver.Chrome:
    """Returns Chromium without a display."""
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--lang=en"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    features = {"prefers-color-scheme": "light", "prefers-reduced-motion": "reduce"}
    settings = [{"name": name, "value": value} for name, value in features.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": settings})
    return browser


def show(browser: webdriver.Chrome, page: Path, width: int, height: int) -> None:
    """Opens a page in a window of a size in pixels."""
    metrics = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())


def wait(browser: webdriver.Chrome) -> None:
    """Waits until the explorer has computed and drawn all that is under way."""
    while not browser.execute_script("return network && !isWorking && !waiting.size"):
        time.sleep(0.1)
    time.sleep(0.5)  # until it is painted


def photograph(browser: webdriver.Chrome, box: list[float], path: Path) -> None:
    """Writes a part of a page, its left, top, width and height in pixels, as a PNG."""
    clip = dict(zip(("x", "y", "width", "height"), box, strict=True), scale=1)
    picture = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
    )
    path.write_bytes(base64.b64decode(picture["data"]))
    print(path)


def draw_explorer(browser: webdriver.Chrome) -> None:
    """Writes the map of the explorer, and a step of its tour."""
    wait(browser)
    box = browser.execute_script(
        "const box = document.getElementById('map').getBoundingClientRect();"
        "return [box.left + scrollX, box.top + scrollY, box.width, box.height]"
    )
    photograph(browser, box, Path("explorer.png"))
    browser.find_element("id", "start-tour").click()
    for _ in range(STEP_OF_HEADS - 1):
        wait(browser)
        browser.find_element("id", "tour-next").click()
    wait(browser)
    top = browser.execute_script("return scrollY")
    photograph(browser, [0, top, WIDTH, HEIGHT], Path("explorer-tour.png"))


def draw_translator(browser: webdriver.Chrome) -> None:
    """Writes a translation by the page of `export --format html`."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "translator.html"
        program = [sys.executable, str(ROOT / "run_demo.py"), "export", "--format", "html"]
        command = [*program, "--run", str(RUN), "--to", str(page)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        show(browser, page, *TEXT_SIZE)
        browser.find_element("id", "source").clear()
        browser.find_element("id", "source").send_keys(TEXT)
        time.sleep(3)  # until it is translated
        photograph(browser, [0, 0, *TEXT_SIZE], Path("web-page.png"))


def single_parts(sizes: dict) -> dict[str, dict]:
    """Returns the switches of single heads and layers, by what they leave out."""
    encoder = [f"encoder.{layer}" for layer in range(1, sizes["num_layers"] + 1)]
    decoder = [f"decoder.{layer}" for layer in range(1, sizes["decoder_layers"] + 1)]
    cross = [f"cross.{layer}" for layer in range(1, sizes["decoder_layers"] + 1)]
    heads = range(1, sizes["num_heads"] + 1)
    switches = {}
    for layer, head in itertools.product((*encoder, *decoder, *cross), heads):
        name = f"{layer}.{head}"
        switches[f"without head {name}"] = {"withoutHeads": [name]}
    for name in (*encoder, *decoder):
        switches[f"without layer {name}"] = {"withoutLayers": [name]}
    return switches


def count(browser: webdriver.Chrome, sentences: list[str]) -> None:
    """Prints how many translations each switch changes, and the first that it does."""
    as_trained = [browser.execute_script(TRANSLATE, sentence, {}) for sentence in sentences]
    sizes = browser.execute_script("return network.sizes")
    for name, changes in (SWITCHES | single_parts(sizes)).items():
        translations = [browser.execute_script(TRANSLATE, text, changes) for text in sentences]
        pairs = zip(as_trained, translations, strict=True)
        changed = [f"{before} -> {after[:80]}" for before, after in pairs if before != after]
        different = len(set(translations))
        print(f"{name}: {len(changed)} of {len(sentences)} change, {different} different outputs")
        for line in changed[:3]:
            print(f"    {line}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--switches", type=int, metavar="N", help="count on N test sentences")
    args = parser.parse_args()
    chromium = start_browser()
    try:
        show(chromium, EXPLORER, WIDTH, HEIGHT)
        if args.switches:
            lines = (RUN / "translations.txt").read_text(encoding="utf-8").splitlines()
            count(chromium, [line.split("\t")[0] for line in lines[: args.switches]])
        else:
            draw_explorer(chromium)
            draw_translator(chromium)
    finally:
        chromium.quit()
