"""Raw texts in: features of texts."""

from .vectorizer import TextVectorizer

__all__ = ["TextVectorizer"]
