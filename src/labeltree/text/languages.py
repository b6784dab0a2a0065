"""Stop words and stemmers of languages, from the packages of the extra ``stem``."""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

from labeltree import _native

#: A map of words to their stems that has more words than this is replaced, so that it does not grow for ever.
_LARGEST_MAP = 2**20
_stems: dict[str, _native.LearnedWords] = {}

#: The package that has the stemmers. Its name and version are in the models that need it.
STEMMERS = "snowballstemmer"


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language, for English those of scikit-learn."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    lists = _package("stop_words", f"stop_words={language!r}")
    if language not in lists.AVAILABLE_LANGUAGES:
        known = ", ".join(sorted(lists.AVAILABLE_LANGUAGES))
        raise ValueError(
            f"'stop_words' must be 'english', a collection of strings, or one of {known}; got {language!r}"
        )
    return frozenset(lists.get_stop_words(language))


def stems_of(language: str) -> _native.LearnedWords:
    """Return the map of words to their stems, which all vectorizers of a language share."""
    known = _stems.get(language)
    if known is None or len(known) > _LARGEST_MAP:
        known = _stems[language] = _native.LearnedWords(_stemming(language))
    return known


def _stemming(language: str) -> Callable[[Sequence[str]], list[str]]:
    """Return a function that stems words by Snowball's algorithm for a language. Threads may share it."""
    package = _package(STEMMERS, f"stemmer={language!r}")
    if language not in stemmed_languages():
        raise ValueError(
            f"'stemmer' must be None or one of {', '.join(stemmed_languages())}; got {language!r}"
        )
    # Not `snowballstemmer.stemmer`: it prefers PyStemmer, whose algorithms may be of another version.
    module = import_module(f"{package.__name__}.{language}_stemmer")
    stemmer = getattr(module, language.title().replace("_", "") + "Stemmer")

    def stems(words: Sequence[str]) -> list[str]:
        found: list[str] = stemmer().stemWords(words)  # a new one, because it keeps a word while it works
        return found

    return stems


@cache
def stemmed_languages() -> tuple[str, ...]:
    """Return the languages that have a stemmer."""
    modules = pkgutil.iter_modules(_package(STEMMERS, "stemmer").__path__)
    names = (module.name for module in modules if module.name.endswith("_stemmer"))
    return tuple(sorted(name.removesuffix("_stemmer") for name in names))


def stored_stemmer(language: str) -> dict[str, str]:
    """Return a stemmer as model files name it."""
    return {"language": language, "package": STEMMERS, "version": version(STEMMERS)}


def stemmer_of(stored: Any) -> str:
    """Return the language of a stored stemmer; warn if its version is another one than the installed one."""
    if not isinstance(stored, dict) or stored.keys() != {"language", "package", "version"}:
        raise ValueError(f"expected the language, the package and the version of a stemmer, got {stored!r}")
    language, package, its_version = stored["language"], stored["package"], stored["version"]
    if package != STEMMERS:
        raise ValueError(f"expected a stemmer of the package {STEMMERS}, got {package!r}")
    _package(STEMMERS, f"this model: stemmer={language!r}")
    if its_version != version(STEMMERS):
        warnings.warn(
            f"the model was trained with {STEMMERS} {its_version}, but {version(STEMMERS)} is installed: some words "
            "may get other stems",
            stacklevel=2,
        )
    return str(language)


def _package(name: str, needed_by: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        package = name.replace("_", "-")
        raise ValueError(f"{needed_by} needs the package {package}: pip install 'labeltree[stem]'") from None
