"""Hypothesis strategies: nasty text, playbooks, deltas."""

from hypothesis import strategies as st

from ace_bench.playbook import DEFAULT_SECTIONS, Add, Bullet, Merge, Playbook, Remove, Tag, Update

PIECES = [
    "\n", "\n\n", "\\", "\\\\", "## ", "## HEAD", "##", "# ", "[abc-00001]", "[abc-00001] ", "[x]", "[A 9]", " ", "\t",
    "\r", " helpful=1 harmful=2 :: ", "helpful=1 harmful=2 ::", "::", "\0", "\ud83d", "\ude00", "\u2028", "\x0b",
    "\x85", "word", "é", "e\u0301", "😀", ":", "\r\n", "   ",
]  # fmt: skip
nasty = st.lists(st.sampled_from(PIECES) | st.text(st.characters(), max_size=3), max_size=9).map("".join)
layout = st.lists(st.sampled_from(["\n", "  \n", "\r\n"]), max_size=2).map("".join)
section_names = st.sampled_from([*DEFAULT_SECTIONS, "PITFALLS:", " padded ", "café", "[abc-00001] x", "\\## y", "!!!"])
counts = st.integers(0, 3) | st.integers(0, 10**15 - 1)


@st.composite
def playbooks(draw: st.DrawFn, counters: bool | None = None, content: st.SearchStrategy[str] = nasty) -> Playbook:
    names = tuple(draw(st.lists(section_names, min_size=1, max_size=4, unique=True)))
    if draw(st.booleans()):
        names = ("", *names)
    kept = draw(st.booleans()) if counters is None else counters
    bullets = []
    for number in draw(st.lists(st.integers(1, 99_999), max_size=7, unique=True)):
        slug = draw(st.sampled_from(["abc", "vc", "a_b", "x2"]))
        helpful, harmful = (draw(counts), draw(counts)) if kept else (0, 0)
        where = draw(st.sampled_from(names))
        text, tail = draw(content), draw(layout)
        bullets.append(Bullet(f"{slug}-{number:05d}", text, helpful, harmful, section=where, tail=tail))
    base = Playbook.of(bullets, names, preamble=draw(nasty))
    lines = nasty.map(lambda text: text + "\n")
    intros = tuple((name, draw(lines)) for name in base.sections if name and draw(st.booleans()))
    shape = {"intros": intros, "counters": kept, "final_newline": draw(st.booleans())}
    return base.revised(base.bullets, version=0, **shape)


@st.composite
def operations(draw: st.DrawFn, playbook: Playbook) -> Add | Update | Merge | Remove | Tag:
    some_id = st.sampled_from([*playbook.by_id, "zzz-99999"])
    some_text = st.sampled_from(["", " ", "a", "b\n## c", "[abc-00001] d"])
    some_section = st.sampled_from([*playbook.sections, "new_one", "New One", "", "#"])
    make = draw(st.sampled_from([Add, Update, Merge, Remove, Tag]))
    if make is Add:
        return Add(draw(some_section), draw(some_text))
    if make is Update:
        return Update(draw(some_id), draw(some_text))
    if make is Merge:
        ids = tuple(draw(st.lists(some_id, max_size=4)))
        return Merge(ids, draw(some_text), draw(st.none() | some_section))
    if make is Remove:
        return Remove(draw(some_id))
    event = draw(st.sampled_from(["", "e1", "e2", "e3"]))
    return Tag(draw(some_id), draw(st.sampled_from(["helpful", "harmful", "neutral"])), event)
