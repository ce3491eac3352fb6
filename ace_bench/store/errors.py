"""The errors of the store: each is a sentence that says what was wrong, where, and what to do next."""

from __future__ import annotations


class StoreError(Exception):
    """Anything the store refuses or finds damaged."""


class JournalError(StoreError):
    """A journal is damaged before its tail, or a record cannot be written."""


class TextError(StoreError):
    """A stored text is absent or damaged."""


class FolderError(StoreError):
    """A cell folder cannot be entered."""


class FolderBusy(FolderError):
    """A live process holds the cell folder."""


class FolderFinished(FolderError):
    """The cell of this folder is finished: there is nothing left to run in it."""


class SchemaError(StoreError):
    """A row or a table file does not fit the schema."""


class ManifestError(StoreError):
    """A manifest is absent, damaged, or holds what JSON cannot carry."""
