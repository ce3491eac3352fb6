"""Playbooks as values: bullets, deltas, merge, text and JSON forms, rewriting, capacity, dedup. No model, no I/O."""

from ace_bench.playbook.bullet import Bullet, digest_of
from ace_bench.playbook.capacity import evict
from ace_bench.playbook.change import Change, Kind, Reason, Rejection, Revision
from ace_bench.playbook.dedup import dedup_exact
from ace_bench.playbook.delta import TAGS, Add, Delta, Merge, Operation, Remove, Tag, TagName, Update, operation_from
from ace_bench.playbook.jsonform import from_json, to_json
from ace_bench.playbook.lines import BULLET_ID
from ace_bench.playbook.merge import MergeResult, apply
from ace_bench.playbook.playbook import Playbook
from ace_bench.playbook.rewrite import Entry, RewriteResult, rewrite
from ace_bench.playbook.sections import DEFAULT_SECTIONS, find_section, fresh_id, section_key, slug
from ace_bench.playbook.text import parse, render

__all__ = [
    "BULLET_ID",
    "DEFAULT_SECTIONS",
    "TAGS",
    "Add",
    "Bullet",
    "Change",
    "Delta",
    "Entry",
    "Kind",
    "Merge",
    "MergeResult",
    "Operation",
    "Playbook",
    "Reason",
    "Rejection",
    "Remove",
    "Revision",
    "RewriteResult",
    "Tag",
    "TagName",
    "Update",
    "apply",
    "dedup_exact",
    "digest_of",
    "evict",
    "find_section",
    "fresh_id",
    "from_json",
    "operation_from",
    "parse",
    "render",
    "rewrite",
    "section_key",
    "slug",
    "to_json",
]
