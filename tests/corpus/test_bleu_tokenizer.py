"""What must hold of BLEU's tokenizer: it finds words in every script, or says that it does not."""

import pytest

from nmt import UserError
from nmt.corpus import bleu_tokenizer
from nmt.results import scores

TEXTS = {  # the usual tokenizer, and lines of text
    "English": ("13a", ["Two dogs play in the park.", "A man runs to the sea."]),
    "Russian": ("13a", ["Две собаки играют в парке.", "Мужчина бежит к морю."]),
    "Arabic": ("13a", ["كلبان يلعبان في الحديقة.", "رجل يركض إلى البحر."]),
    "Hindi": ("13a", ["दो कुत्ते पार्क में खेलते हैं।", "एक आदमी दौड़ता है।"]),
    "Vietnamese": ("13a", ["Hai con chó chơi trong công viên.", "Một người đàn ông chạy."]),
    "Chinese": ("zh", ["两只狗在公园里玩。", "一个男人跑向 NBA 的大海。"]),
    "Chinese, traditional": ("zh", ["兩隻狗在公園裡玩。", "一個男人跑向大海。"]),
    "Japanese": ("ja-mecab", ["二匹の犬が公園で遊んでいます。", "男は海へ走る。"]),
    "Thai": ("char", ["สุนัขสองตัวเล่นในสวน", "ผู้ชายวิ่งไปทะเล"]),
    "Lao": ("char", ["ໝາສອງໂຕຫຼິ້ນຢູ່ໃນສວນ", "ຜູ້ຊາຍແລ່ນໄປທະເລ"]),
    "Khmer": ("char", ["ឆ្កែពីរកំពុងលេងនៅក្នុងសួន", "បុរសម្នាក់រត់ទៅសមុទ្រ"]),
    "Burmese": ("char", ["ခွေးနှစ်ကောင်ပန်းခြံထဲမှာကစားနေတယ်", "လူတစ်ယောက်ပင်လယ်ဆီပြေးတယ်"]),
    "Tibetan": ("char", ["ཁྱི་གཉིས་གླིང་ཁའི་ནང་རྩེད་མོ་རྩེ།", "མི་ཞིག་རྒྱ་མཚོར་རྒྱུག"]),
    "Korean": ("ko-mecab", ["개 두 마리가 공원에서 놀고 있다.", "남자가 바다로 달려간다."]),
    "no letters": ("13a", ["1 2 3", "..."]),
    "nothing": ("13a", ["", ""]),
}


@pytest.fixture
def said(monkeypatch):
    """What is logged."""
    lines = []
    monkeypatch.setattr(bleu_tokenizer.log, "warning", lines.append)
    monkeypatch.setattr(bleu_tokenizer.log, "info", lines.append)
    return lines


def without_mecab(name):
    return "mecab" not in name


@pytest.mark.parametrize("name", TEXTS)
def test_the_script_chooses_the_tokenizer_and_a_perfect_translation_has_a_bleu_of_100(name):
    usual, lines = TEXTS[name]
    assert bleu_tokenizer.usual(lines) == usual
    tokenize = bleu_tokenizer.choose("auto", lines)  # with or without MeCab
    assert tokenize in (usual, bleu_tokenizer.STAND_INS.get(usual))
    expected = 0 if name == "nothing" else 100
    lines = [line * 4 for line in lines]  # of four words, at least
    assert scores.score(lines, lines, tokenize=tokenize)["BLEU"]["score"] == pytest.approx(expected)


def test_the_language_chooses_the_tokenizer_where_it_is_known():
    latin, chinese = TEXTS["English"][1], TEXTS["Chinese"][1]
    assert bleu_tokenizer.usual(["漢字"], "ja") == "ja-mecab"  # no kana tell
    assert bleu_tokenizer.usual(latin, "th") == "char"
    assert bleu_tokenizer.usual(latin, "de") == "13a"
    assert bleu_tokenizer.usual(chinese, "tg") == "zh"  # a.tg, the target


def test_most_lines_decide():
    latin, chinese = TEXTS["English"][1], TEXTS["Chinese"][1]
    assert bleu_tokenizer.usual([*latin, *chinese, *chinese]) == "zh"
    assert bleu_tokenizer.usual([*latin, *chinese, *latin]) == "13a"
    assert bleu_tokenizer.usual([*chinese * 9, *TEXTS["Japanese"][1]]) == "zh"


def test_where_mecab_is_not_installed_another_tokenizer_stands_in_and_a_line_says_so(
    said, monkeypatch
):
    monkeypatch.setattr(bleu_tokenizer, "is_installed", without_mecab)
    assert bleu_tokenizer.resolve("auto", TEXTS["Japanese"][1]) == "char"
    assert bleu_tokenizer.resolve("auto", TEXTS["Korean"][1]) == "13a"
    assert [line.partition(" is not installed: ")[2][:29] for line in said] == [
        "pip install 'sacrebleu[ja]'. ", "pip install 'sacrebleu[ko]'. "
    ]  # fmt: skip
    with pytest.raises(UserError, match=r"ja-mecab: is not installed; pip .*\[ja\]', or .* char"):
        bleu_tokenizer.resolve("ja-mecab", ["x"])


def test_where_mecab_is_installed_japanese_and_korean_get_it(said, monkeypatch):
    monkeypatch.setattr(bleu_tokenizer, "is_installed", lambda name: True)
    assert bleu_tokenizer.resolve("auto", TEXTS["Japanese"][1]) == "ja-mecab"
    assert bleu_tokenizer.resolve("auto", TEXTS["Korean"][1]) == "ko-mecab"
    assert said == [
        f"BLEU is computed by --tokenize {name}, for the target's language."
        for name in ("ja-mecab", "ko-mecab")
    ]


@pytest.mark.parametrize("name", [name for name, (usual, _) in TEXTS.items() if usual != "13a"])
def test_words_by_spaces_are_warned_of_in_text_that_has_none(name, said):
    _, lines = TEXTS[name]
    for tokenize in ("13a", "none", "intl"):
        assert bleu_tokenizer.resolve(tokenize, lines) == tokenize
    if name == "Korean":  # which has spaces
        assert not said
        return
    assert [line.partition(" of this text")[0] for line in said] == [
        f"BLEU by --tokenize {tokenize} says nothing" for tokenize in ("13a", "none", "intl")
    ]
    said.clear()
    bleu_tokenizer.resolve("none", [" ".join(line) for line in lines])  # tokenized
    bleu_tokenizer.resolve("char", lines)
    assert not said


def test_most_languages_get_13a_without_a_line(said):
    for name in ("English", "Russian", "Arabic", "Hindi", "Vietnamese", "nothing"):
        for tokenize in ("auto", "13a", "intl", "none", "char", "zh"):
            bleu_tokenizer.resolve(tokenize, TEXTS[name][1])
    assert not said
