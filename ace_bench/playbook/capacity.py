"""Capacity: hold a playbook to a size by a stated rule (the budget that the released code only told the model)."""

from collections.abc import Callable
from typing import Literal, get_args

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.change import Change, Revision
from ace_bench.playbook.playbook import Playbook

Rule = Literal["oldest", "least_helpful"]

_ORDERS: dict[str, Callable[[Bullet], tuple[int, ...]]] = {
    "oldest": lambda bullet: (bullet.number,),
    "least_helpful": lambda bullet: (bullet.helpful - bullet.harmful, bullet.helpful, bullet.number),
}


def evict(
    playbook: Playbook, *, max_bullets: int | None = None, max_bytes: int | None = None, rule: Rule = "oldest"
) -> Revision:
    """Take bullets out until the limits given hold; each leaves with a change of kind `evicted`, in order of leaving.

    `max_bytes` counts the UTF-8 bytes of `playbook.render()`. `oldest` drops the smallest id number first;
    `least_helpful` the smallest helpful - harmful, then the fewest helpful, then the oldest. Nothing to do returns the
    playbook itself. Raises ValueError if no limit is given, the rule is unknown, or the headers alone are too large.
    """
    if rule not in _ORDERS:
        raise ValueError(f"Unknown eviction rule {rule!r}; choose one of {', '.join(get_args(Rule))}.")
    if max_bullets is None and max_bytes is None:
        raise ValueError("evict needs a limit: give max_bullets, max_bytes, or both.")
    if min(max_bullets or 0, max_bytes or 0) < 0:
        raise ValueError(f"Limits must be 0 or more, got max_bullets={max_bullets} and max_bytes={max_bytes}.")
    waiting = sorted(playbook.bullets, key=lambda bullet: (*_ORDERS[rule](bullet), bullet.id))
    count = 0 if max_bullets is None else max(0, len(playbook) - max_bullets)
    if max_bytes is not None:
        count = _enough(playbook, waiting, count, max_bytes)
    gone = waiting[:count]
    after = _without(playbook, gone) if gone else playbook
    return Revision(after, tuple(Change("evicted", bullet.id, bullet, None) for bullet in gone))


def _enough(playbook: Playbook, waiting: list[Bullet], count: int, max_bytes: int) -> int:
    """The smallest number of bullets, at least `count`, without which the rendering fits."""
    size = _size(_without(playbook, waiting[:count]).render())
    while size > max_bytes and count < len(waiting):
        size -= _size(waiting[count].text(playbook.counters))
        count += 1
        if size <= max_bytes:  # the estimate can be one newline off: measure before stopping
            size = _size(_without(playbook, waiting[:count]).render())
    if size > max_bytes:
        raise ValueError(
            f"Without any bullet the playbook still has {size} bytes (headers and preamble), more than "
            f"max_bytes={max_bytes}; raise the limit or use fewer sections."
        )
    return count


def _without(playbook: Playbook, gone: list[Bullet]) -> Playbook:
    ids = {bullet.id for bullet in gone}
    return playbook.revised(bullet for bullet in playbook.bullets if bullet.id not in ids)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
