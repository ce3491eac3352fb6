"""An OpenAI-style chat server on this machine that gives every role the same usable reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Loopback(ThreadingHTTPServer):
    """Counts requests; `answer` is the final answer it gives, always."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answer: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls, self.lock = 0, threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.reply = json.dumps({
            "reasoning": "as asked", "bullet_ids": [], "final_answer": answer, "error_identification": "none",
            "root_cause_analysis": "none", "correct_approach": "as stated", "key_insight": "Read the units first.",
            "bullet_tags": [], "operations": [{"type": "ADD", "section": "OTHERS", "content": "Read the units first."}],
            "entries": [],
        })  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Loopback

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.calls += 1
        size = sum(len(m["content"]) for m in sent["messages"])
        body = json.dumps({
            "id": "x", "object": "chat.completion", "created": 1, "model": sent["model"],
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": self.server.reply}}],
            "usage": {"prompt_tokens": size // 4, "completion_tokens": 100, "total_tokens": size // 4 + 100},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def loopback(answer: str = "2.0") -> Iterator[Loopback]:
    """A running server."""
    server = Loopback(answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
