"""What must hold of pictures: what they show and are called; nothing is overwritten."""

import ast
import errno
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import call

import transformer_model as tm
from nmt import UserError
from nmt.decoding.attention import Attention
from nmt.exports.browser import blocks
from nmt.network.variants import TransformerVariant
from nmt.options import Options
from nmt.results import figures, pictures, plots, ranking, texts
from nmt.results.figures import labels
from nmt.training.run_folder import RunFolder

SIZES = dict(num_layers=3, d_model=8, num_heads=2, dff=16, input_vocab_size=30)
ROW = dict(epoch=1, loss=1.0, val_loss=2.0, accuracy=0.1, val_accuracy=0.2, learning_rate=1e-3)
CURVE = plots.Curve([ROW], tm.CustomSchedule(128, 40), 500)
PATH = Path("x.png")  # of figures that are not saved
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are drawn, and not saved."""
    figures = []
    monkeypatch.setattr(plots, "save", lambda figure, path: figures.append(figure))
    return figures


def test_words_are_shown_as_words_and_what_continues_them_is_marked():
    tokens = ["<s>", "▁liv", "ro", "▁", "▁novo", ".", "<0x0A>", "</s>"]
    assert labels(tokens) == ["<s>", "liv", "·ro", "␣", "novo", ".", "<0x0A>", "</s>"]


def test_a_side_of_more_tokens_than_are_readable_says_what_is_left_out(drawn):
    keys, queries = ["▁a"] * 75, ["▁b"] * 61
    plots.attention(PATH, np.full((2, 61, 75), 1 / 75), "12", keys, queries, "T")
    title = drawn[0].get_suptitle()
    assert title == "T; across: the first 60 of 75 tokens; down: the first 60 of 61 tokens"
    images = [axes.images[0] for axes in drawn[0].axes if axes.images]
    assert [image.get_array().shape for image in images] == [(60, 60)] * 2
    assert {image.get_clim() for image in images} == {(0, 0.02)}  # one scale


def test_weights_have_one_linear_scale_which_a_single_large_weight_does_not_stretch(drawn):
    heads = np.full((2, 10, 10), 0.07)
    heads[1, 0, 0] = 0.9
    plots.attention(PATH, heads, "12", ["▁a"] * 10, ["▁b"] * 10, "T")
    plots.attention(PATH, heads[:1], "1", ["▁a"] * 10, ["▁b"] * 10, "T")
    (first, second, bar), (alone, bar_alone) = (figure.axes for figure in drawn)
    for axes in (first, second, alone):
        shades = axes.images[0].norm([0.0, 0.0175, 0.035, 0.07, 0.9])
        assert shades.clip(0, 1).tolist() == pytest.approx([0, 0.25, 0.5, 1, 1])
    scale = "attention weight, one scale for all heads; darkest: above 0.07"
    assert bar.get_ylabel() == scale
    assert bar_alone.get_ylabel() == "attention weight"
    heads[:, 5:] = 0.6  # not a single one
    assert plots.color_limit(heads) == 0.9


def test_the_first_position_and_the_first_query_are_at_the_top(drawn):
    plots.positional_encoding(PATH, 5, 4)
    plots.masks(PATH, ["▁a"], ["<s>"], ["▁b"])
    plots.attention(PATH, np.ones((1, 2, 1)), "1", ["▁a"], ["<s>", "▁b"], "T")
    panels = [*drawn[0].axes[:2], *drawn[1].axes, drawn[2].axes[0]]
    assert all(axes.yaxis_inverted() for axes in panels)


def test_blue_is_positive_orange_negative_and_gray_masked_as_in_the_explorer():
    style = Path(pictures.__file__).parent / "explorer" / "style.css"
    by_name = dict(
        re.findall(r"--(mark|against): ([\d, ]+);", style.read_text().split("@media")[0])
    )
    for name, shade in (("mark", plots.SIGNED(1.0)), ("against", plots.SIGNED(0.0))):
        assert [round(255 * part) for part in shade[:3]] == [*map(int, by_name[name].split(","))]
    assert plots.WEIGHTS(1.0) == plots.SIGNED(1.0)
    red, green, blue = plots.MASKED(1.0)[:3]
    assert red == green == blue


def test_heads_are_labelled_by_the_token_read_and_the_one_predicted(drawn):
    names = {"encoder_layer1": 2, "decoder_layer1_block1": 1, "decoder_layer1_block2": 1}
    sizes = {name: np.ones((3, queries, 2)) for name, queries in names.items()}
    seen = Attention(["<s>", "▁a"], ["<s>", "▁b"], sizes)
    for kind, choices in (("cross", {}), ("decoder", {"head": 2}), ("encoder", {"mean": True})):
        plots.attention_of(PATH, seen, kind, **choices)
    rows = [[text.get_text() for text in f.axes[0].get_yticklabels()] for f in drawn]
    assert rows == [["<s> → b"], ["<s> → b"], ["<s>", "a"]]
    titles = [[axes.get_title() for axes in figure.axes[:-1]] for figure in drawn]
    assert titles == [["Head 1", "Head 2", "Head 3"], ["Head 2"], ["Mean of 3 heads"]]
    assert drawn[0].get_suptitle() == "Cross-attention: target attends to source; layer 1"


def test_every_text_of_a_picture_is_in_the_table_with_the_same_gaps():
    said = set()
    for module in (blocks, figures, pictures, plots):
        for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
            function = getattr(node, "func", None)  # of a call
            if "say" in (getattr(function, "attr", ""), getattr(function, "id", "")):
                said |= {part.value for part in node.args if isinstance(part, ast.Constant)}
    assert len(said) > 40
    assert not said - {*texts.CHINESE}
    for english, chinese in texts.CHINESE.items():
        assert sorted(re.findall(r"{\w+", english)) == sorted(re.findall(r"{\w+", chinese)), english


def test_pictures_are_drawn_in_chinese(drawn):
    say = texts.in_language("zh")
    plots.lengths(PATH, [0, 0, 3, 1], 0, [2, 3], say)
    plots.masks(PATH, ["▁a"], ["<s>"], predicted=["▁b"], say=say)
    assert drawn[0].axes[0].get_xlabel() == "较长一侧的词元数，含 START 与 END"
    assert drawn[1].axes[0].get_title() == "编码器自注意力：填充掩码"


def test_spaces_and_line_breaks_need_no_font():
    assert figures.use_fonts_for("a b\n c\u3000") == ""


def test_chinese_texts_need_a_font_that_has_them(monkeypatch, tmp_path, capsys, refusal_of):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "use_fonts_for", lambda *_: "位")
    assert "apt install fonts-noto-cjk" in refusal_of("plot", "scaling", "--lang", "zh")
    assert not [*tmp_path.rglob("*.png")]
    monkeypatch.setattr(figures, "use_fonts_for", lambda *_: "")
    monkeypatch.setattr(plots, "scaling", lambda path, say: path)
    assert call("plot", "scaling", "--lang", "zh") == 0
    assert capsys.readouterr().out.strip() == "plots/scaling-zh.png"


def test_rows_of_the_decoder_name_the_token_read_and_the_one_predicted(drawn):
    plots.masks(PATH, ["▁a"], ["<s>", "▁g"], predicted=["▁g", "reet"])
    for axes in drawn[0].axes[1:]:
        rows = [label.get_text() for label in axes.get_yticklabels()]
        assert rows == ["<s> → g", "g → ·reet", "<pad>", "<pad>"]


def test_continued_words_are_explained_only_where_there_is_one():
    assert not figures.explained(["<s>", "word", "."])
    assert figures.explained(["word", "·s"]).startswith("· before a token")


def test_the_curves_mention_dropout_only_where_there_is_some(drawn):
    plots.curves(PATH, {"one": CURVE})
    plots.curves(PATH, {"one": CURVE}, dropout=True, label_smoothing=True)
    plain, noisy = (figure.get_supxlabel() for figure in drawn)
    assert "dropout" not in plain
    assert noisy.endswith("computed with dropout and label smoothing")


def test_the_learning_rate_of_a_run_is_drawn_by_step_so_that_the_warm_up_is_seen(drawn):
    plots.curves(PATH, {"one": CURVE})
    plots.curves(PATH, {"one": CURVE, "two": CURVE})
    axes = drawn[0].axes[2]
    line, ends = axes.lines
    step, rate = line.get_data()
    assert step[np.argmax(rate)] == pytest.approx(40, abs=1)  # the warm-up steps
    assert rate[0] == 0
    assert step[-1] == 500  # as far as it is trained
    assert ends.get_xydata().tolist() == [[500, 1e-3]]
    assert (axes.get_title(), axes.get_xlabel()) == ("Learning rate by step", "Step")
    plots.curves(PATH, {"one": CURVE._replace(history=[])})  # in the first epoch
    labels = [[t.get_text() for t in f.axes[2].get_legend().get_texts()] for f in drawn[:2]]
    recorded = "at the end of each epoch"
    assert labels == [["schedule", recorded], ["one", "two", recorded]]


def test_equal_peaks_of_the_learning_rate_are_marked_once_and_the_scale_is_named(drawn):
    rates = tm.CustomSchedule(128, 400)
    plots.schedule(PATH, {"one": rates, "two": rates}, 1000, scale=1.5)
    axes = drawn[0].axes[0]
    assert len(axes.lines) == 3
    assert "all reach" in axes.lines[2].get_label()
    assert "1.5 times the paper's rate" in axes.get_title()


@pytest.mark.parametrize(
    ("what", "suffix"), [("positional-encoding", ".png"), ("schedule", ".svg"), ("scaling", ".pdf")]
)
def test_some_pictures_need_no_run(what, suffix, tmp_path, monkeypatch, refusal_of):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"mine{suffix}"
    assert call("plot", what, "--to", path) == 0
    assert path.read_bytes().startswith(STARTS[suffix])
    assert f"{path}: exists already" in refusal_of("plot", what, "--to", path)


def test_a_search_is_drawn_by_the_value_of_each_flag(drawn, tmp_path):
    table = tmp_path / "ranking.tsv"
    rows = ["rank\tloss\tepochs\txla\trun", "1\t2.5\t100\toff\ta", "2\t3.5\t2\ton\tb"]
    table.write_text("\n".join(rows) + "\n")
    plots.sweep(tmp_path / "a.png", ranking.read_ranking(table))
    epochs, xla = drawn[0].axes
    assert epochs.lines[0].get_xydata().tolist() == [[100, 2.5], [2, 3.5]]
    assert epochs.lines[1].get_xydata().tolist() == [[100, 2.5]]  # the best
    assert (epochs.get_xscale(), xla.get_xscale()) == ("log", "linear")
    assert [label.get_text() for label in xla.get_xticklabels()] == ["off", "on"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n", "is no ranking"),
        ("rank\tloss\trun\n1\t2.5\ta\n", "is no ranking"),
        ("rank\tcost\tepochs\trun\n1\t2.5\t2\ta\n", "is no ranking"),
        ("rank\tloss\tepochs\trun\n", "ranks no run"),
        ("rank\tloss\tepochs\trun\n1\tx\t2\ta\n", ":2: is no row of a ranking"),
        ("rank\tloss\tepochs\trun\n1\t2.5\t2\ta\n2\t3.5\tb\n", ":3: is no row of a ranking"),
    ],
)
def test_what_is_no_ranking_is_not_drawn(tmp_path, content, message, refusal_of):
    (tmp_path / "a.tsv").write_text(content)
    path = tmp_path / "a.png"
    assert message in refusal_of("plot", "sweep", "--ranking", tmp_path / "a.tsv", "--to", path)
    assert "--ranking FILE" in refusal_of("plot", "sweep", "--to", path)
    assert not path.exists()


@pytest.mark.usefixtures("eagerly")
def test_what_is_chosen_is_part_of_the_name(finished, capsys, monkeypatch):
    monkeypatch.setattr(plots, "attention", lambda path, *_, **options: path)
    names = []
    for flags in (
        [],
        ["--layer", 1],
        ["--layer", 1, "--head", 2],
        ["--kind", "encoder"],
        ["--average"],
    ):
        assert call("plot", "attention", "um.", *flags, "--run", finished / "run") == 0
        names.append(capsys.readouterr().out.strip().rpartition("/")[2].removesuffix(".png"))
    assert names == [
        "attention", "attention-layer1", "attention-layer1-head2", "attention-encoder",
        "attention-mean",
    ]  # fmt: skip


def test_the_first_position_is_a_choice_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for flags, name in (([], ""), (["--position", 0], "-position0"), (["--positions", 50], "")):
        assert call("plot", "positional-encoding", *flags) == 0
        assert capsys.readouterr().out.strip() == f"plots/positional-encoding{name}.png"


def test_a_map_of_too_many_positions_and_dimensions_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes = ["--positions", 10_000, "--depth", 10_000]  # would take minutes
    assert call("plot", "positional-encoding", *sizes) == 2
    assert "100,000,000 values; at most 10,000,000" in capsys.readouterr().err
    monkeypatch.setattr(plots, "positional_encoding", lambda path, *_: path)
    assert call("plot", "positional-encoding", "--positions", 10_000, "--depth", 1000) == 0


def test_a_full_disk_leaves_no_half_picture(tmp_path, monkeypatch, refusal_of):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.chdir(tmp_path)
    assert "plots/scaling.png: No space left on device" in refusal_of("plot", "scaling")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_masks_are_those_of_the_network_and_say_what_is_left_out(drawn):
    plots.masks(PATH, ["▁a"] * 3, *[["▁b"] * 61] * 2)
    mask = drawn[0].axes[1].images[0].get_array()
    assert mask.shape == (62, 62)
    assert mask[:, 60:].all()  # padding
    assert mask[0, 1]  # the future
    assert drawn[0].get_suptitle().endswith("; target: the first 60 of 61 tokens")


@pytest.mark.parametrize(("pre_norm", "layers"), [(False, (2, 2)), (True, (3, 1))])
def test_the_frame_of_the_layers_holds_their_normalizations(pre_norm, layers):
    sizes = {**SIZES, "num_layers": layers[0], "target_vocab_size": 20}
    network = TransformerVariant(**sizes, pre_norm=pre_norm, decoder_layers=layers[1])
    network.build(((None, None), (None, None)))
    columns = blocks.blocks(network)
    for column, number, stack_layers in zip(columns, (4, 6), layers, strict=True):
        inside = [block for block in column if block.layers]
        assert [block.layers for block in inside] == [stack_layers] * number
        assert inside == column[2 : 2 + number]  # after embedding and positions


def test_a_layer_that_a_kind_of_attention_lacks_is_named(tmp_path):
    names = [f"encoder_layer{n}" for n in (1, 2, 3)]
    names += [f"decoder_layer1_block{n}" for n in (1, 2)]
    model = SimpleNamespace(options=Options(num_heads=2), steps=1)
    run_pictures = pictures.RunPictures(RunFolder(tmp_path), model, None, "", None)
    run_pictures.weights = Attention(["a"], ["b", "c"], dict.fromkeys(names))
    for kind, layer, most in (("encoder", 4, 3), ("decoder", 2, 1), ("cross", 2, 1)):
        said = f"--layer {layer}: {kind} attention has layers 1 to {most}"
        with pytest.raises(UserError, match=said):
            run_pictures.attention(tmp_path / "a.png", kind, layer, None, False)


def test_training_draws_every_picture_and_attention_of_each_kind(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(
        pictures.RunPictures, "draw", lambda _, picture, **choices: drawn.append(picture.name)
    )
    model = SimpleNamespace(options=Options(), steps=1)
    pictures.RunPictures(RunFolder(tmp_path), model, None, "", None).draw_all()
    assert {*drawn} == {row.name for row in pictures.PICTURES if row.drawn}
    assert drawn.count("attention") == 3


@pytest.mark.parametrize(
    ("pre_norm", "tied", "decoder_layers"), [(False, False, 0), (True, True, 0), (True, False, 1)]
)
def test_the_parameters_of_all_blocks_are_those_of_the_network(pre_norm, tied, decoder_layers):
    target = 30 if tied else 20
    network = TransformerVariant(
        **SIZES, target_vocab_size=target, pre_norm=pre_norm, tie_embeddings=tied,
        decoder_layers=decoder_layers,
    )  # fmt: skip
    network.build(((None, None), (None, None)))
    columns = blocks.blocks(network)
    counts = [
        block.parameters * max(block.layers, 1)
        for column in columns
        for block in column
        if not block.shared
    ]
    assert sum(counts) == network.count_params()
    titles = [block.title for block in columns[0]]
    norm, attention = (
        titles.index(next(t for t in titles if word in t)) for word in ("norm", "attention")
    )
    assert (norm < attention) is pre_norm


def test_training_and_validation_have_two_hues_and_several_runs_one_each(drawn):
    plots.curves(PATH, {"one": CURVE})
    plots.curves(PATH, {"one": CURVE, "two": CURVE})
    alone, both = ([line.get_color() for line in figure.axes[0].lines] for figure in drawn)
    assert alone == ["C0", "C1"]
    assert both == ["C0", "C0", "C1", "C1"]
    assert [figure.get_suptitle() for figure in drawn] == ["one", "one, two"]


@pytest.mark.parametrize("name", [r"$\frac{$", "_x", "new\nline"])
def test_a_run_of_any_name_has_curves(name, tmp_path, monkeypatch):
    drawn, save = [], plots.save
    monkeypatch.setattr(plots, "save", lambda *given: drawn.append(given[0]) or save(*given))
    monkeypatch.setattr(RunFolder, "history", lambda _: [ROW])
    options = Options(dropout_rate=0.1, label_smoothing=0.0)
    beside = pictures.DrawnRun(RunFolder("other"), options, lambda: 10)
    model = SimpleNamespace(options=options, steps=1)
    pictures.RunPictures(RunFolder(name), model, None, "", None).curves(
        tmp_path / "a.png", [beside]
    )
    (tmp_path / "a.png").read_bytes().startswith(STARTS[".png"])
    labels = [text.get_text() for text in drawn[0].axes[0].get_legend().get_texts()]
    assert [label.removeprefix("./") for label in labels] == [
        f"{name}: training", f"{name}: validation", "other: training", "other: validation",
    ]  # fmt: skip
