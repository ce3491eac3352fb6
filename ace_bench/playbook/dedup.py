"""Deduplication, a step of its own after merge (paper, section 3.2, "grow and refine"): exact duplicates."""

from dataclasses import replace

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.change import Change, Revision
from ace_bench.playbook.merge import summed
from ace_bench.playbook.playbook import Playbook


def dedup_exact(playbook: Playbook) -> Revision:
    """Bullets with the same content, in any section, become one: the oldest (smallest number) stays in its place.

    The groups are disjoint and do not depend on order; counters are summed once. Each loser has a change
    `merged_into`, whose `before` holds the counters that the absorber gained. With nothing to do the
    playbook itself comes back.
    """
    groups: dict[str, list[Bullet]] = {}
    for bullet in sorted(playbook.bullets, key=lambda bullet: (bullet.number, bullet.id)):
        groups.setdefault(bullet.content, []).append(bullet)
    changes: list[Change] = []
    bullets = dict(playbook.by_id)
    for first, *losers in groups.values():
        if losers:
            helpful, harmful = summed([first, *losers])
            bullets[first.id] = replace(first, helpful=helpful, harmful=harmful)
        for loser in losers:
            del bullets[loser.id]
            changes.append(Change("merged_into", loser.id, loser, None, first.id))
    return Revision(playbook.revised(bullets.values()) if changes else playbook, tuple(changes))
