"""The litellm transport against a server on this machine that misbehaves in every way (B04, B10, B15, B38)."""

import importlib.util
import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from ace_bench.llm import Client
from ace_bench.llm.transports.litellm import LitellmSettings, LitellmTransport, is_loopback
from ace_bench.llm.transports.litellm_replies import read, usage_of
from ace_bench.llm.types import NO_TOKENS, ProviderFailure, TransportError, Usage

needs_litellm = pytest.mark.skipif(
    importlib.util.find_spec("litellm") is None, reason="the extra litellm is not installed"
)
KEY = "sk-TEST-123"


class Server(ThreadingHTTPServer):
    """Answers each request with the next of `script` (the last one stays); keeps what was sent."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.bodies, self.headers = [], [], []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server
        server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        server.headers.append(dict(self.headers))
        status, body, headers = server.script.pop(0) if len(server.script) > 1 else server.script[0]
        self.close_connection = True
        if status == "hang":
            time.sleep(1.0)
        if status in ("hang", "cut"):
            return
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers, "content-length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def running():
    server = Server()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(running):
    running.bodies.clear(), running.headers.clear()
    return running


def said(content="42", finish="stop", usage=None, **message):
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": usage or {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
    return 200, json.dumps(body).encode(), {}


def failed(status, message="it broke", headers=None, **more):
    return status, json.dumps({"error": {"message": message, **more}}).encode(), headers or {}


def ask(server, request_of, *script, timeout_s=5.0, **settings):
    server.script = list(script)
    request = request_of(endpoint=server.url, model="toy")
    transport = LitellmTransport(LitellmSettings(endpoint=server.url, timeout_s=timeout_s, **settings))
    return transport.complete(request, "solve", request.digest())


@needs_litellm
def test_a_good_answer_and_what_was_sent_for_it(server, request_of, capfd):
    done = ask(server, request_of, said(reasoning_content="hm"))
    assert (done.text, done.status, done.finish_reason, done.model) == ("42", "ok", "stop", "served-model")
    assert (done.usage.input_total(), done.usage.output_total(), done.reasoning_text) == (10, 5, "hm")
    assert 0 < done.latency_s < 60
    expected = {
        "messages": [{"role": "user", "content": "hello"}],
        "model": "toy",
        "temperature": 0.7,
        "max_tokens": 100,
        "seed": 1,
    }
    assert {k: v for k, v in server.bodies[0].items() if v not in (None, {}, False)} == expected
    assert server.headers[0]["authorization"] == "Bearer none"
    assert capfd.readouterr() == ("", "")


@needs_litellm
def test_seed_and_json_mode_follow_the_settings(server, request_of):
    server.script = [said()]
    transport = LitellmTransport(LitellmSettings(endpoint=server.url, send_seed=False))
    request = request_of(endpoint=server.url, schema="{}")
    transport.complete(request, "curate", "d")
    assert "seed" not in server.bodies[0]
    assert server.bodies[0]["response_format"] == {"type": "json_object"}


@needs_litellm
@pytest.mark.parametrize(
    ("reply", "status", "text"),
    [
        (said("half", "length"), "truncated", "half"),
        (said("", "length"), "truncated", ""),
        (said(None, "length"), "truncated", ""),
        (said("", "content_filter"), "refused", ""),
        (said(None), "empty", ""),
        (said(""), "empty", ""),
        (said(" \n"), "empty", " \n"),
        (said(None, refusal="I cannot"), "refused", "I cannot"),
        (
            said(
                None,
                "tool_calls",
                tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            ),
            "empty",
            "",
        ),
        (
            failed(400, "This model's maximum context length is 4096 tokens", code="context_length_exceeded"),
            "overflow",
            "",
        ),
        (failed(400, "rejected by our safety system", code="content_policy_violation"), "refused", ""),
    ],
)
def test_each_way_of_not_answering_has_its_own_status(server, request_of, reply, status, text):
    done = ask(server, request_of, reply)
    assert (done.status, done.text) == (status, text)
    assert len(server.bodies) == 1


@needs_litellm
@pytest.mark.parametrize(
    ("reply", "retryable", "after", "charged"),
    [
        (failed(429, headers={"retry-after": "3"}), True, 3.0, False),
        (failed(429), True, None, False),
        (failed(429, "You exceeded your current quota", code="insufficient_quota"), False, None, False),
        (failed(500), True, None, False),
        (failed(503), True, None, False),
        ((502, b"bad gateway", {}), True, None, False),
        (failed(401), False, None, False),
        (failed(404), False, None, False),
        (failed(402), False, None, False),
        (failed(422), False, None, False),
        (("cut", b"", {}), True, None, True),
        ((200, b"", {}), True, None, True),
        ((200, b"<html><body>Log in</body></html>", {"content-type": "text/html"}), True, None, True),
        ((200, b"<html>", {}), True, None, True),
        ((200, b'{"error": {"message": "overloaded"}}', {}), True, None, True),
        (
            (200, b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}', {}),
            True,
            None,
            True,
        ),
        (said([{"type": "text", "text": "a"}]), True, None, True),
        (said(5), True, None, True),
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_each_failure_is_one_request_and_a_verdict(server, request_of, reply, retryable, after, charged, capfd):
    with pytest.raises(TransportError) as error:
        ask(server, request_of, reply)
    assert (error.value.retryable, error.value.retry_after_s, error.value.charged) == (retryable, after, charged)
    assert len(server.bodies) == 1
    assert len(str(error.value)) < 500
    assert error.value.__cause__ is error.value.__context__ is None
    assert capfd.readouterr() == ("", "")


@needs_litellm
def test_a_hang_ends_at_the_timeout(server, request_of):
    began = time.monotonic()
    with pytest.raises(TransportError) as error:
        ask(server, request_of, ("hang", b"", {}), timeout_s=0.2)
    assert time.monotonic() - began < 0.9
    assert (error.value.retryable, error.value.charged, len(server.bodies)) == (True, True, 1)


@needs_litellm
def test_nobody_there_is_retryable_and_charged_nothing(request_of):
    transport = LitellmTransport(LitellmSettings(endpoint="http://127.0.0.1:9/v1", timeout_s=2))
    with pytest.raises(TransportError) as error:
        transport.complete(request_of(endpoint="http://127.0.0.1:9/v1"), "solve", "d")
    assert (error.value.retryable, error.value.charged) == (True, False)


@needs_litellm
def test_the_key_leaves_by_no_other_door(server, request_of, monkeypatch):
    monkeypatch.setenv("TOY_KEY", KEY)
    with pytest.raises(TransportError) as error:
        ask(server, request_of, failed(401, f"Incorrect API key provided: {KEY}"), api_key_env="TOY_KEY")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    frames, at = [], error.value.__traceback__
    while at:
        frames.append({k: v for k, v in at.tb_frame.f_locals.items() if k not in ("monkeypatch", "self", "error")})
        at = at.tb_next
    assert KEY not in repr(frames[2:]) + str(error.value) + repr(error.value.__dict__)
    assert "[key]" in str(error.value)


@needs_litellm
def test_retries_are_the_clients_alone_and_a_failure_is_never_kept(server, request_of, store, quick):
    server.script = [(200, b'{"error": {"message": "overloaded"}}', {}), failed(500), said(""), said("42")]
    client = Client(LitellmTransport(LitellmSettings(endpoint=server.url)), store, retry=quick)
    outcome = client.complete(request_of(endpoint=server.url), "solve", "p", "c")
    assert [a.status for a in outcome.attempts] == ["error", "error", "empty", "ok"]
    assert outcome.attempts[1].usage == NO_TOKENS
    assert len(server.bodies) == 4
    assert client.complete(request_of(endpoint=server.url), "solve", "q", "c").completion.text == "42"
    server.script = [failed(500)]
    with pytest.raises(ProviderFailure, match="4 attempts"):
        client.complete(request_of("other", endpoint=server.url), "solve", "p", "c")
    assert len(server.bodies) == 8


@needs_litellm
def test_the_key_goes_to_no_other_endpoint(request_of):
    transport = LitellmTransport(LitellmSettings(endpoint="http://127.0.0.1:9/v1"))
    with pytest.raises(TransportError, match=r"serves http://127.0.0.1:9/v1, not"):
        transport.complete(request_of(), "solve", "d")


@needs_litellm
def test_keys_come_from_a_named_variable_only(monkeypatch):
    with pytest.raises(ValueError, match="no key for openai"):
        LitellmTransport(LitellmSettings(endpoint="openai"))
    monkeypatch.delenv("TOY_KEY", raising=False)
    with pytest.raises(ValueError, match="TOY_KEY, but that variable is not set"):
        LitellmTransport(LitellmSettings(endpoint="openai", api_key_env="TOY_KEY"))


def test_an_absent_litellm_is_a_sentence_that_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "ace-bench\[litellm\]"'):
        LitellmTransport(LitellmSettings(endpoint="http://127.0.0.1:9/v1"))


def test_the_module_loads_without_litellm():
    code = "import sys, ace_bench.llm.transports.litellm; sys.exit('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def counts(prompt, completion, inside=None, beyond=None, **more):
    details = {"prompt_tokens_details": inside, "completion_tokens_details": beyond}
    return SimpleNamespace(
        prompt_tokens=prompt,
        completion_tokens=completion,
        **more,
        **{k: SimpleNamespace(**v) if v else None for k, v in details.items()},
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        (counts(0, 0), Usage()),
        (counts(1000, 50), Usage(1000, None, None, 50, None)),
        (counts(1000, 50, {"cached_tokens": 800}, {"reasoning_tokens": 20}), Usage(200, 800, None, 30, 20)),
        (
            counts(1000, 50, {"cached_tokens": 700}, prompt_cache_hit_tokens=700, prompt_cache_miss_tokens=300),
            Usage(300, 700, None, 50, None),
        ),
        (
            counts(
                1000,
                50,
                {"cached_tokens": 600, "cache_creation_tokens": 300},
                cache_read_input_tokens=600,
                cache_creation_input_tokens=300,
            ),
            Usage(100, 600, 300, 50, None),
        ),
    ],
)
def test_usage_falls_into_disjoint_classes(usage, expected):
    assert usage_of(usage) == expected


def test_content_in_parts_is_joined():
    message = SimpleNamespace(content=[{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}])
    response = SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason="stop")], model=None)
    assert read(response, 1.0).text == "ab"


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.5/v1", True),
        ("http://[::1]:1/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.evil.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_only_this_machine_is_loopback(url, here):
    assert is_loopback(url) is here
