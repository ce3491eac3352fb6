"""Random draws that depend on the seed, the request and a name, and on nothing else: not on thread order, not on state."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b


class Draws:
    """The draws of one request. The digest covers seed and draw index, so it is all the randomness there is."""

    def __init__(self, request_digest: str) -> None:
        self._key = bytes.fromhex(request_digest)[:32]

    def u(self, name: str) -> float:
        """A uniform number in [0, 1)."""
        return int.from_bytes(blake2b(name.encode(), digest_size=8, key=self._key).digest()) / 2**64

    def pick(self, name: str, options: Sequence[str]) -> str:
        """One of the options, each as likely."""
        return options[int(self.u(name) * len(options))]
