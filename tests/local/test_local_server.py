"""The local server and its transport: settings and keys always; a real child process where it can run."""

import importlib.util
import json
import os
import subprocess
import sys
import time

import pytest
from pydantic import ValidationError

from ace_bench.experiment import plugins
from ace_bench.llm import weights
from ace_bench.llm.local import servers
from ace_bench.llm.transports.local import LocalSettings, LocalTransport, form
from ace_bench.llm.types import Request, TransportError
from ace_bench.prompts.replies import Rewrite, Solution

SMALL = "smollm2-135m"


def request(settings, user="Name a colour.", system="You answer in one word.", schema=None, **params):
    asked = settings.asked(SMALL)
    said = ({"role": "system", "content": system}, {"role": "user", "content": user})
    return Request(SMALL, asked.endpoint, said, tuple({**asked.params, **params}.items()), 0, ("", 0), schema)


def test_the_transport_is_registered():
    assert plugins.load("transports", "local") is LocalTransport


def test_the_key_names_the_weights_by_content_wherever_they_lie(tmp_path):
    ends = []
    for name, data in (("a.gguf", b"one"), ("b.gguf", b"one"), ("c.gguf", b"two")):
        (tmp_path / name).write_bytes(data)
        ends.append(LocalSettings(gguf=tmp_path / name).asked("x").endpoint)
    assert ends[0] == ends[1] != ends[2]
    assert str(tmp_path) not in ends[0]
    assert (
        LocalSettings(weights=SMALL).asked(SMALL).endpoint.startswith("local:sha256:b179c9523d0e")
    )  # without the file


def test_what_decides_a_reply_is_in_the_key_and_what_does_not_is_not():
    plain = LocalSettings(weights=SMALL).asked(SMALL)
    assert LocalSettings(weights=SMALL, exact=True).asked(SMALL).endpoint != plain.endpoint
    assert LocalSettings(weights=SMALL, context=512).asked(SMALL).endpoint != plain.endpoint
    assert LocalSettings(weights=SMALL, slots=2, threads=1, timeout_s=5).asked(SMALL) == plain


@pytest.mark.parametrize(
    "bad", [{}, {"weights": "nothing"}, {"weights": "minilm"}, {"weights": SMALL, "exact": True, "slots": 2}]
)
def test_settings_that_cannot_be_run_are_refused_with_a_sentence(bad):
    with pytest.raises(ValidationError, match=r"model\.gguf=PATH|needs slots=1"):
        LocalSettings(**bad)


def test_missing_weights_are_a_sentence_and_not_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ACE_BENCH_HOME", str(tmp_path))
    settings = LocalSettings(weights=SMALL)
    with pytest.raises(TransportError, match="ace-bench model fetch smollm2-135m") as stop:
        LocalTransport(settings).complete(request(settings), "solve", "d")
    assert not stop.value.retryable
    assert not stop.value.charged


def test_without_xllamacpp_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "x.gguf").write_bytes(b"x")
    monkeypatch.setattr(servers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(servers.ServerError, match=r"ace-bench\[local\]"):
        servers.Server(servers.Shape(tmp_path / "x.gguf", 512, 1, 1, 0))


needs_binding = pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed")
needs_weights = pytest.mark.skipif(not weights.present(SMALL), reason=f"no weights: ace-bench model fetch {SMALL}")


@needs_binding
def test_a_file_that_is_no_model_is_a_sentence(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"no model")
    with pytest.raises(servers.ServerError, match=r"did not start with .*x\.gguf"):
        servers.Server(servers.Shape(tmp_path / "x.gguf", 512, 1, 1, 0))


@pytest.fixture
def live():
    """Settings of the small model; its servers end with the test."""
    pytest.importorskip("litellm")
    yield lambda **knobs: LocalSettings(
        weights=SMALL, threads=1, context=1024, params={"temperature": 0, "max_tokens": 24}, **knobs
    )
    servers.close_all()


@pytest.mark.local
@needs_binding
@needs_weights
def test_a_real_model_answers_and_its_cached_prefix_is_reported(live):
    settings = live()
    transport = LocalTransport(settings)
    long = "You answer in one word. " + "Be brief and exact. " * 20
    first = transport.complete(request(settings, "Name a colour.", long), "solve", "d")
    second = transport.complete(request(settings, "Name a fruit.", long), "solve", "d")
    assert first.status == second.status == "ok"
    assert first.model == SMALL
    assert first.usage.cached_input == 0
    assert second.usage.cached_input > 80
    assert second.usage.input < 20
    assert len(servers._running) == 1  # one server for both


@pytest.mark.local
@needs_binding
@needs_weights
def test_a_schema_constrains_the_reply_and_a_prompt_too_long_is_an_overflow(live):
    settings = live()
    transport = LocalTransport(settings)
    schema = json.dumps(Solution.model_json_schema(), sort_keys=True)
    reply = transport.complete(request(settings, schema=schema, max_tokens=200), "solve", "d")
    assert reply.text.lstrip().startswith("{")
    assert '"final_answer"' in reply.text
    over = transport.complete(request(settings, "word " * 2000), "solve", "d")
    assert over.status == "overflow"


@pytest.mark.local
@needs_binding
@needs_weights
def test_exact_replies_do_not_depend_on_what_came_before(live):
    settings = live(exact=True)
    transport = LocalTransport(settings)
    items = [
        ("Name a colour.", "Sys one. " * 30),
        ("Tell a story.", "Sys two. " * 30),
        ("Name a river.", "Sys one. " * 30),
    ]
    forward = [transport.complete(request(settings, *item), "solve", "d") for item in items]
    backward = [transport.complete(request(settings, *item), "solve", "d") for item in reversed(items)]
    assert [(r.text, r.usage) for r in forward] == [(r.text, r.usage) for r in reversed(backward)]


@pytest.mark.local
@needs_binding
@needs_weights
def test_the_child_ends_with_its_parent_and_a_dead_server_is_replaced(live):
    shape = live().shape()
    program = (
        "import os, sys; from pathlib import Path; from ace_bench.llm.local import servers\n"
        f"s = servers.running(servers.Shape(Path({str(shape.file)!r}), 512, 1, 1, 0))\n"
        "print(s._child.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=False)
    child = int(done.stdout)
    for _ in range(100):
        if not _alive(child):
            break
        time.sleep(0.1)
    assert not _alive(child)
    one = servers.running(shape)
    one._child.kill()
    one._child.wait()
    assert servers.running(shape) is not one


def _alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    try:  # a zombie that nobody has waited for is dead
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_form_has_the_fields_of_the_prompt_in_its_order_inside_of_lists_too():
    schema = json.dumps(Rewrite.model_json_schema(), sort_keys=True)
    shape = form(schema, [{"role": "user", "content": '{"entries": [{"section": "A", "content": "b"}]}'}])
    assert list(shape["properties"]) == shape["required"] == ["entries"]  # "reasoning" was not asked for
    assert list(shape["$defs"]["Entry"]["properties"]) == shape["$defs"]["Entry"]["required"] == ["section", "content"]
    turned = form(schema, [{"role": "user", "content": '"reasoning" "content" "entries" "section"'}])
    assert turned["required"] == ["reasoning", "entries"]
    assert turned["$defs"]["Entry"]["required"] == ["content", "section"]
    silent = form(schema, [{"role": "user", "content": "no names"}])
    assert silent["required"] == ["entries"]
