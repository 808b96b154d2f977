"""What must hold of words: scripts without spaces have as many as others."""

import pytest

from nmt.text.words import word_count

WITH_SPACES = {  # divided by hand, or by ICU's dictionaries
    "zh": "我们 今天 去 公园 散步 。 经济 发展 需要 更多 的 投资 和 技术 创新 。",
    "ja": "昨日 は 友達 と 一緒 に 映画 を 見 に 行き まし た 。 コンピューター を 買った 。",
    "th": "วันนี้ อากาศ ดี มาก เรา ไป เดินเล่น ใน สวนสาธารณะ กันเถอะ ผม ชอบ กิน ข้าวผัด กับ เพื่อน",
    "lo": "ມື້ນີ້ ອາກາດ ດີຫຼາຍ ພວກເຮົາ ໄປ ຍ່າງຫຼິ້ນ ຢູ່ ສວນສາທາລະນະ ຂ້ອຍ ມັກ ກິນ ເຂົ້າ ກັບ ໝູ່",
    "km": "ថ្ងៃនេះ អាកាសធាតុ ល្អ ណាស់ យើង ទៅ ដើរលេង នៅ សួនច្បារ ខ្ញុំ ចូលចិត្ត ញ៉ាំបាយ",
    "my": "ဒီနေ့ ရာသီဥတု ကောင်းတယ် ကျွန်တော် တို့ ပန်းခြံ မှာ လမ်း လျှောက် ကြ မယ် သူငယ်ချင်း နဲ့ အတူ",
}


@pytest.mark.parametrize("language", WITH_SPACES)
def test_a_script_without_spaces_has_as_many_words_as_with_them(language):
    text = WITH_SPACES[language].replace("。", "")
    words = len(text.split())
    assert word_count(text.replace(" ", "")) == pytest.approx(words, rel=0.25)


def test_words_between_spaces_are_counted_as_such():
    assert word_count("") == 0
    assert word_count("  two  words ") == 2
    assert word_count("L'été, c'est beau — 3,5 %!") == 7 - 1
    assert word_count("나는 오늘 학교에 갔다") == 4  # Korean has spaces
    assert word_count("ＮＡＳＡ") == 1
    assert word_count("我用Python写程序。") == 4 + 1 - 1  # five characters, and one word
