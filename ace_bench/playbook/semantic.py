"""Semantic deduplication, a step of its own after merge (paper, section 3.2, "grow and refine"; Table 20).

The rule is complete linkage: as long as there is one, the most similar pair of groups is joined, where the similarity of
two groups is that of their *least* similar members. So every two bullets of a group are alike (no chain 1~2~3 draws
together a 1 and a 3 that are not: known fault R08), a pair that the guard keeps apart never shares a group, the result does
not depend on the order of bullets or pairs, and a lower threshold only ever joins groups of a higher one.
"""

import heapq
import math
from collections.abc import Iterable
from dataclasses import replace

from ace_bench.playbook.bullet import Bullet
from ace_bench.playbook.change import Change, Revision
from ace_bench.playbook.guard import difference
from ace_bench.playbook.merge import summed
from ace_bench.playbook.playbook import Playbook

Pair = tuple[str, str, float]
"""Two bullet ids and their cosine."""


def dedup(playbook: Playbook, pairs: Iterable[Pair], threshold: float | None, guard: bool = True) -> Revision:
    """Bullets that say the same become one, in any section: the oldest (smallest number) stays, with its own text.

    `pairs` are the similar pairs, each at most once; a pair that is not given is not similar. `threshold` in [-1, 1] is the
    smallest cosine at which two bullets may join; None is off, and keeps all. With `guard`, bullets that
    `guard.difference` tells apart never join. Counters are summed once; each loser has a change `merged_into`, whose
    `before` holds the counters that the absorber gained. With nothing to do the playbook itself comes back.
    Raises ValueError for a threshold or a pair that cannot be.
    """
    links = _links(playbook, pairs)
    if threshold is None:
        return Revision(playbook, ())
    if not -1.0 <= threshold <= 1.0:  # also NaN
        raise ValueError(f"dedup threshold {threshold} is no cosine: give a number from -1 to 1, or null for off.")
    near = {pair: cosine for pair, cosine in links.items() if cosine >= threshold}
    if guard:
        text = {bullet.id: bullet.content for bullet in playbook}
        near = {(a, b): cosine for (a, b), cosine in near.items() if difference(text[a], text[b]) is None}
    return _joined(playbook, _groups(playbook, near))


def _links(playbook: Playbook, pairs: Iterable[Pair]) -> dict[tuple[str, str], float]:
    links: dict[tuple[str, str], float] = {}
    for a, b, cosine in pairs:
        for bullet_id in (a, b):
            if bullet_id not in playbook:
                raise ValueError(f"The pair {a}, {b} names bullet {bullet_id}, which the playbook does not have.")
        if a == b or not math.isfinite(cosine):
            raise ValueError(f"The pair {a}, {b} with cosine {cosine} cannot be: two bullets and a finite number.")
        key = (a, b) if _age(playbook, a) < _age(playbook, b) else (b, a)
        if links.setdefault(key, cosine) != cosine:
            raise ValueError(f"The pair {a}, {b} is given twice, with cosines {links[key]} and {cosine}.")
    return links


def _age(playbook: Playbook, bullet_id: str) -> tuple[int, str]:
    return playbook.by_id[bullet_id].number, bullet_id


def _groups(playbook: Playbook, near: dict[tuple[str, str], float]) -> dict[str, list[str]]:
    """Groups of two and more by the id of their oldest member, which names the group all along."""
    links: dict[str, dict[str, float]] = {}  # group -> other group -> cosine of their least similar members
    for (a, b), cosine in near.items():
        links.setdefault(a, {})[b] = cosine
        links.setdefault(b, {})[a] = cosine
    age = {bullet_id: _age(playbook, bullet_id) for bullet_id in links}
    members = {bullet_id: [bullet_id] for bullet_id in links}
    heap = [(-cosine, age[a], age[b], a, b) for (a, b), cosine in near.items()]
    heapq.heapify(heap)
    while heap:
        cosine, _, _, a, b = heapq.heappop(heap)
        if b not in links.get(a, {}) or links[a][b] != -cosine:
            continue  # one of the two was joined to another group since
        members[a] += members.pop(b)
        for other, least in _join(links, a, b).items():
            old, new = sorted((a, other), key=age.__getitem__)
            heapq.heappush(heap, (-least, age[old], age[new], old, new))
    return {oldest: group for oldest, group in members.items() if len(group) > 1}


def _join(links: dict[str, dict[str, float]], a: str, b: str) -> dict[str, float]:
    """Take group `b` into `a`: what was near to both stays near, as near as to the farther of them."""
    of_a, of_b = links.pop(a), links.pop(b)
    both = {other: min(of_a[other], of_b[other]) for other in of_a.keys() & of_b.keys()}
    for other in (of_a.keys() | of_b.keys()) - {a, b}:
        links[other].pop(a, None)
        links[other].pop(b, None)
        if other in both:
            links[other][a] = both[other]
    links[a] = both
    return both


def _joined(playbook: Playbook, groups: dict[str, list[str]]) -> Revision:
    bullets = dict(playbook.by_id)
    changes: list[Change] = []
    for oldest in sorted(groups, key=lambda bullet_id: _age(playbook, bullet_id)):
        group = sorted((playbook.by_id[i] for i in groups[oldest]), key=_key)
        helpful, harmful = summed(group)
        bullets[oldest] = replace(group[0], helpful=helpful, harmful=harmful)
        for loser in group[1:]:
            del bullets[loser.id]
            changes.append(Change("merged_into", loser.id, loser, None, oldest))
    return Revision(playbook.revised(bullets.values()) if changes else playbook, tuple(changes))


def _key(bullet: Bullet) -> tuple[int, str]:
    return bullet.number, bullet.id
