"""Features of texts, and `Tagger`, which finds labels for texts."""

from .tagger import Tag, Tagger
from .text_explanation import Highlight, TextExplanation
from .tokenizers import allow_import
from .vectorizer import TextVectorizer
from .word_vectorizer import WordVectorizer

__all__ = [
    "Highlight",
    "Tag",
    "Tagger",
    "TextExplanation",
    "TextVectorizer",
    "WordVectorizer",
    "allow_import",
]
