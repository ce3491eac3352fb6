"""The forms of the roles' replies. Field names are those of the released ACE code, so that its models and stubs fit.

Unknown fields are ignored (a model may say more than asked); wrong types are errors, answered by one repair round.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Solution(BaseModel):
    """The Generator's reply."""

    reasoning: str = ""
    bullet_ids: list[str] = Field(default_factory=list)
    final_answer: str | int | float | list[str | int | float]


class BulletTag(BaseModel):
    """One judgement of the Reflector on a cited bullet: tag is helpful, harmful or neutral."""

    id: str
    tag: str


class Reflection(BaseModel):
    """The Reflector's reply."""

    reasoning: str = ""
    error_identification: str = ""
    root_cause_analysis: str = ""
    correct_approach: str = ""
    key_insight: str = Field(min_length=1)
    bullet_tags: list[BulletTag] = Field(default_factory=list)

    def text(self) -> str:
        """The reflection as the next role reads it."""
        parts = {
            "Error": self.error_identification, "Cause": self.root_cause_analysis,
            "Approach": self.correct_approach, "Lesson": self.key_insight,
        }  # fmt: skip
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)


class Curation(BaseModel):
    """The Curator's reply. Operations are checked one by one by `playbook.operation_from`: one bad one spoils no other."""

    reasoning: str = ""
    operations: list[Any]


class Entry(BaseModel):
    """One lesson of a rewritten sheet."""

    section: str = Field(min_length=1)
    content: str = Field(min_length=1)


class Rewrite(BaseModel):
    """A whole sheet, written anew."""

    reasoning: str = ""
    entries: list[Entry]
