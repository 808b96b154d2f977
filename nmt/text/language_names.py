"""English names of languages by their codes, and codes by names."""

from nmt.text.languages import primary

NAMES = {
    "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian", "bn": "Bengali",
    "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "eo": "Esperanto", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian",
    "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh",
    "km": "Khmer", "ko": "Korean", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian",
    "mk": "Macedonian", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "my": "Burmese",
    "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian",
    "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "th": "Thai", "tl": "Filipino", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip

ENDONYMS = {  # how tables are headed where the languages are spoken
    "čeština": "cs", "česky": "cs", "dansk": "da", "deutsch": "de", "ελληνικά": "el",
    "español": "es", "castellano": "es", "eesti": "et", "suomi": "fi", "français": "fr",
    "magyar": "hu", "italiano": "it", "日本語": "ja", "한국어": "ko", "nederlands": "nl",
    "norsk": "no", "polski": "pl", "português": "pt", "română": "ro", "русский": "ru",
    "slovenčina": "sk", "svenska": "sv", "türkçe": "tr", "українська": "uk",
    "tiếng việt": "vi", "中文": "zh", "العربية": "ar", "català": "ca",
    # and the commonest ones in German and in French
    "englisch": "en", "französisch": "fr", "spanisch": "es", "italienisch": "it",
    "anglais": "en", "allemand": "de", "espagnol": "es", "italien": "it", "inglês": "en",
    "inglés": "en", "francés": "fr", "francês": "fr", "alemão": "de", "alemán": "de",
}  # fmt: skip
CODES = {name.lower(): code for code, name in NAMES.items()} | ENDONYMS


def code_of_name(name: str) -> str | None:
    """Returns the code of a language by its name, in any case; None for other words.

    A variety may follow the name: "Portuguese (Brazil)".
    """
    language = name.partition(" (")[0] if name.rstrip().endswith(")") else name
    return CODES.get(language.strip().lower())


def language_name(code: str) -> str:
    """Returns the English name of a language: "German", "Portuguese (BR)".

    Its code if its name is not one of NAMES.
    """
    language = primary(code)
    if language not in NAMES:
        return code
    variety = code[len(language) + 1 :]  # its script and region
    return f"{NAMES[language]} ({variety})" if variety else NAMES[language]
