"""Secrets are masked on every way out: collected once from config and environment, replaced wherever they turn up."""

from __future__ import annotations

import html
import json
import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

MASK = "***"
SHORTEST = 6  # a shorter value would mask ordinary text all over
T = TypeVar("T")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALWAYS = {
    "secret", "secrets", "password", "passwords", "passwd", "passphrase", "authorization", "apikey", "apikeys",
    "cookie",
}  # fmt: skip
# `key` and `tokens` alone are digests and counts; with one of these words before them they are credentials.
_QUALIFIERS = {"api", "access", "auth", "private", "secret", "bearer", "refresh", "signing", "encryption", "session"}
# `<word>_key` and `<word>_token` that are no credential.
_NO_SECRET_KEYS = {
    "cache", "request", "response", "sort", "primary", "foreign", "group", "public", "partition", "row", "sample",
    "input", "output", "target", "dict", "config", "index", "field", "join", "order", "task", "score",
}  # fmt: skip
_NO_SECRET_TOKENS = {
    "eos", "bos", "pad", "stop", "unk", "sep", "mask", "special", "start", "end", "eot", "per", "next", "first",
    "last", "new",
}  # fmt: skip
_ENV_MARKS = ("KEY", "TOKEN", "SECRET", "PASSWORD")
# Environment variables that say where a secret is, or something else altogether.
_ENV_PLACES = {"name", "path", "file", "dir", "env"}
_ENV_OTHER = {"tokenizer", "tokenizers", "keyboard", "keyring", "keymap"}
_BEARER = re.compile(r"^\s*bearer\s+(\S+)\s*$", re.I)
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token)\s+(\S+)\s*$", re.I)  # only where a credential is expected
_HEADER = re.compile(r"^\s*(?:proxy-)?authorization\s*:\s*(\S.*?)\s*$", re.I)
_USERINFO = re.compile(r"://[^/@:\s]*:([^/@\s]+)@")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name) if not word.isdigit()]


def is_secret_name(name: str) -> bool:
    """Whether a config key of this name holds a credential: `api_key`, `hf_token`, `X-Api-Key`, `dbPassword` do;
    `max_tokens`, `key`, `cache_key`, `eos_token`, `api_key_env` do not."""
    words = _words(name)
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _ALWAYS:
        return True
    if last == "key":
        return bool(before) and before not in _NO_SECRET_KEYS
    if last == "token":
        return before not in _NO_SECRET_TOKENS
    return last in ("keys", "tokens") and before in _QUALIFIERS


def _is_secret_variable(name: str, value: str) -> bool:
    words = _words(name)
    told = name.upper()
    for other in _ENV_OTHER & {*words}:
        told = told.replace(other.upper(), "")
    if not any(mark in told for mark in _ENV_MARKS) or words[-1] in _ENV_PLACES:
        return False
    return not ("tokens" in words and value.strip().isdigit())  # MAX_TOKENS=128000 is a count


def _texts(value: Any) -> Iterator[str]:
    """Every text and whole number in a value stored under a secret name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)  # YAML reads `password: 12345678` as a number


def _credential(text: str) -> Iterator[str]:
    """A text that is a credential, and what remains of it without the scheme."""
    yield text
    if match := _SCHEME.match(text):
        yield match[1]


def _from_text(text: str) -> Iterator[str]:
    """Credentials that a text shows by its form: an authorization header, a password in a URL."""
    if match := _BEARER.match(text):
        yield match[1]
    if match := _HEADER.match(text):
        yield from _credential(match[1])
    yield from _USERINFO.findall(text)


def _from_config(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if is_secret_name(str(key)):
                for text in _texts(item):
                    yield from _credential(text)
                    yield from _from_text(text)
            else:
                yield from _from_config(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _from_config(item)
    elif isinstance(value, str):
        yield from _from_text(value)


def _forms(secret: str) -> set[str]:
    """The spellings under which a secret can leave: plain, in a URL, in JSON (once or twice), in HTML, in a repr."""
    quoted = secret.encode("utf-8", "surrogatepass")
    once = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    twice = {json.dumps(text)[1:-1] for text in once}
    urls = {urllib.parse.quote(quoted, safe=""), urllib.parse.quote(quoted), urllib.parse.quote_plus(quoted)}
    urls |= {re.sub("%[0-9A-F]{2}", lambda m: m[0].lower(), url) for url in urls}
    return {secret, repr(secret)[1:-1], html.escape(secret), *once, *twice, *urls}


def _countable(secret: str) -> bool:
    """Long enough, not a mask already, and not a reference to a variable such as `${oc.env:KEY}`."""
    return len(secret) >= SHORTEST and MASK not in secret and not (secret.startswith("${") and secret.endswith("}"))


class Masker:
    """Knows the secrets of this process and replaces them by `***`.

    Sources: environment variables whose names contain KEY, TOKEN, SECRET or PASSWORD; config keys that
    `is_secret_name` takes for a credential; authorization headers and passwords in URLs anywhere in the config. Values
    shorter than 6 characters are ignored. Immutable, so safe from several threads.
    """

    def __init__(self, config: Any, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        found = [value for name, value in environ.items() if _is_secret_variable(name, value)]
        found += [text for value in found for text in (*_credential(value), *_from_text(value))]
        found += _from_config(config)
        self._secrets = {text for value in found if _countable(text := value.strip())}
        forms = sorted({form for secret in self._secrets for form in _forms(secret)}, key=lambda f: (-len(f), f))
        self._pattern = re.compile("|".join(map(re.escape, forms))) if forms else None

    def __repr__(self) -> str:  # the default would be safe too; this one says so
        return f"Masker({len(self._secrets)} secrets)"

    def mask(self, obj: T) -> T:
        """A copy of `obj` with every secret replaced, also inside longer text, in dict keys, lists and tuples."""
        result: Any = self._mask(obj)
        masked: T = result
        return masked

    def _mask(self, obj: Any) -> Any:
        if self._pattern is None:
            return obj
        if isinstance(obj, str):
            return self._pattern.sub(MASK, obj)
        if isinstance(obj, Mapping):
            return {self._mask(key) if isinstance(key, str) else key: self._mask(item) for key, item in obj.items()}
        if isinstance(obj, list | tuple):
            items = [self._mask(item) for item in obj]
            return items if isinstance(obj, list) else tuple(items)
        if isinstance(obj, int) and not isinstance(obj, bool) and str(obj) in self._secrets:
            return MASK
        return obj


def _shows_mask(text: str, secret: bool) -> bool:
    """A mask where a value should be; a prompt that draws a line of stars is no mask."""
    if MASK not in text:
        return False
    if secret or _BEARER.match(text) or _HEADER.match(text):
        return True
    return len(text.split()) == 1  # also `https://user:***@host`


def _masked_at(value: Any, at: str, secret: bool) -> str | None:
    if isinstance(value, str):
        return at if _shows_mask(value, secret) else None
    pairs: Any = ()
    if isinstance(value, Mapping):
        pairs = value.items()
    elif isinstance(value, list | tuple):
        pairs = enumerate(value)
    for key, item in pairs:
        below = f"{at}.{key}" if at else str(key)
        if found := _masked_at(item, below, secret or is_secret_name(str(key))):
            return found
    return None


def looks_masked(config: Any) -> str | None:
    """Path of the first value in `config` that is a mask rather than the thing itself, None when there is none.

    A config copied out of a manifest must be refused as input: `***` would be sent as the key.
    """
    return _masked_at(config, "", False)
