"""Secrets: found by name and form, masked wherever they turn up (known fault B04), and nothing else masked."""

from __future__ import annotations

import html
import json
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ace_bench.store import CellFolder, Masker, looks_masked, manifest
from ace_bench.store.secrets import is_secret_name

SECRET = "sk-TEST-123"


@pytest.mark.parametrize(
    "name",
    ["api_key", "apikey", "apiKey", "OPENAI_API_KEY", "X-Api-Key", "hf_token", "token", "access_token", "password",
     "dbPassword", "client_secret", "secret", "Authorization", "proxy-authorization", "api_keys", "access_tokens",
     "private_key", "api_key_2"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert Masker({"llm": [{name: SECRET}]}, {}).mask(f"<{SECRET}>") == "<***>"


@pytest.mark.parametrize(
    "name",
    ["max_tokens", "input_tokens", "tokens", "key", "keys", "cache_key", "request_key", "token_limit",
     "tokens_per_minute", "context_tokens", "eos_token", "cost_per_token", "api_key_env", "key_digest", "monkey",
     "tokenizer", "keyboard", "password_file", "author", "reasoning_tokens"],
)  # fmt: skip
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret_name(name)
    value = "a" * 64
    config = {name: value, "n": {name: 128_000}}
    assert Masker(config, {}).mask(config) == config


@pytest.mark.parametrize(
    ("name", "value", "masked"),
    [
        ("OPENAI_API_KEY", SECRET, True),
        ("HF_TOKEN", SECRET, True),
        ("MY_SECRET_THING", SECRET, True),
        ("DB_PASSWORD", "123456", True),
        ("FILE_API_KEY", SECRET, True),
        ("KEYRING_PASSWORD", SECRET, True),
        ("KEYfoo", SECRET, True),
        ("API_TOKEN", "abcde", False),  # too short
        ("MAX_TOKENS", "128000", False),
        ("TOKENIZERS_PARALLELISM", "disabled", False),
        ("SSH_KEY_PATH", "/home/u/key", False),
        ("HOME", "/home/user", False),
        ("1", "whatever", False),
    ],
)
def test_environment_variables(name: str, value: str, masked: bool) -> None:
    text = f"before {value} after"
    assert Masker({}, {name: value}).mask(text) == ("before *** after" if masked else text)


@pytest.mark.parametrize(
    "config",
    [
        {"headers": {"Authorization": f"Bearer {SECRET}"}},
        {"headers": {"Authorization": f"Token {SECRET}"}},
        {"headers": [f"Authorization: Basic {SECRET}"]},
        {"anything": f"Bearer {SECRET}"},
        {"api_base": f"https://user:{SECRET}@host/v1"},
        {"api_keys": ["other-secret", {"a": SECRET}]},
        {"api_key": f"  {SECRET}\n"},
    ],
)
def test_headers_urls_and_nested_values(config: Any) -> None:
    masker = Masker(config, {})
    assert SECRET not in json.dumps(masker.mask(config))
    assert masker.mask(f"401 for {SECRET}!") == "401 for ***!"


def test_ordinary_words_are_not_taken_for_credentials() -> None:
    config = {"note": "token bucket", "mode": "basic sampling", "prompt": "Bearer of bad news",
              "ref": {"api_key": "${oc.env:OPENAI_API_KEY}"}}  # fmt: skip
    assert Masker(config, {}).mask(config) == config


def test_masking_goes_everywhere_and_copies() -> None:
    data = {"a": [f"x{SECRET}y{SECRET}", (SECRET, 1, None, 0.5, True)], SECRET: "key", "n": 5}
    masked: Any = Masker({"api_key": SECRET}, {}).mask(data)
    assert masked == {"a": ["x***y***", ("***", 1, None, 0.5, True)], "***": "key", "n": 5}
    assert SECRET in data


def test_a_number_as_password() -> None:
    config = {"password": 12345678, "other": 1234567}
    assert Masker(config, {}).mask(config) == {"password": "***", "other": 1234567}


def test_the_longer_secret_goes_first() -> None:
    masker = Masker({}, {"A_KEY": "abcdef", "B_KEY": "abcdef-ghijkl"})
    assert masker.mask("abcdef-ghijkl abcdef") == "*** ***"


ODD = st.text(st.characters(exclude_categories=()), min_size=6, max_size=20)


@settings(max_examples=150, deadline=None)
@given(ODD)
def test_every_spelling_of_a_secret_is_masked(secret: str) -> None:
    secret = secret.strip()
    if len(secret) < 6 or "***" in secret or secret.startswith("${"):
        return
    masker = Masker({"api_key": secret}, {})
    raw = secret.encode("utf-8", "surrogatepass")
    spellings = [
        secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret))[3:-3], urllib.parse.quote(raw, safe=""), urllib.parse.quote_plus(raw),
        urllib.parse.quote(raw), html.escape(secret),
    ]  # fmt: skip
    for spelling in spellings:
        assert masker.mask(f"\n{spelling}\n") == "\n***\n", spelling


def test_a_byte_search_of_the_run_folder_finds_nothing(tmp_path: Path) -> None:
    awkward = 'pa"ss/wörd\\1'
    config = {"llm": {"api_key": SECRET, "headers": {"Authorization": f"Bearer {SECRET}"}, "password": awkward}}
    masker = Masker(config, {})
    with CellFolder.enter(tmp_path / "cell") as folder:
        made = manifest.build(config, {}, {"argv": [f"llm.api_key={SECRET}"]})
        manifest.write(folder.path / "manifest.json", made, masker.mask)
        error = f"GET https://h/?key={urllib.parse.quote(awkward, safe='')} failed with {SECRET}"
        folder.journal.append(masker.mask({"error": error, "body": json.dumps({"p": awkward})}))
        folder.texts.put(masker.mask(f"traceback {config!r}"))
        folder.finish({"error": masker.mask(error)})
        texts = [folder.texts.get(p.stem) for p in (folder.path / "texts").iterdir()]
    files = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert len(files) >= 6
    hay = b"\n".join(files) + "\n".join(texts).encode()
    assert b"***" in hay
    for needle in (SECRET, awkward, json.dumps(awkward)[1:-1], urllib.parse.quote(awkward, safe="")):
        assert needle.encode() not in hay, needle
    assert SECRET not in repr(masker)


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"llm": {"api_key": "***"}}, "llm.api_key"),
        ({"llm": {"headers": {"Authorization": "Bearer ***"}}}, "llm.headers.Authorization"),
        ({"a": [{"b": "ok"}, {"b": "***"}]}, "a.1.b"),
        ({"api_base": "https://u:***@host"}, "api_base"),
        ({"h": ["Authorization: Basic ***"]}, "h.0"),
        ({"password": {"x": "two *** words"}}, "password.x"),
        ({"prompt": "A line:\n***\nand more", "max_tokens": 5, "api_key": "real-key"}, None),
        ({}, None),
    ],
)
def test_a_masked_config_is_recognised(config: Any, path: str | None) -> None:
    assert looks_masked(config) == path


@pytest.mark.parametrize("config", [{"llm": {"api_key": SECRET}}, {"h": {"Authorization": f"Bearer {SECRET}"}}])
def test_what_we_mask_we_recognise(config: Any) -> None:
    assert looks_masked(config) is None
    assert looks_masked(Masker(config, {}).mask(config))
