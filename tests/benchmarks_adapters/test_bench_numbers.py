"""Known fault B27: one parser, a table of spellings, and what is no number."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ace_bench.benchmarks.numbers import number

SPELLINGS = {
    "1250": "1250", "1,250": "1250", "1,250.00": "1250", "+1250": "1250", "1250.0": "1250", "1250.": "1250",
    "1250,": "1250", " 1250 ": "1250", "$1,250.00": "1250", "$ 1250": "1250",
    "US$1,250": "1250", "USD 1250": "1250", "1250 USD": "1250",
    "1250 dollars": "1250", "€1250": "1250", "1250 €": "1250", "£1,250": "1250", "¥1250": "1250", "1.25e3": "1250",
    "1.25E+3": "1250", "１２５０": "1250", "１，２５０": "1250", "＄１２５０": "1250", "1\u00a0250": "1250",
    "1\u202f250": "1250", "\u200b1250\u200b": "1250", "\u00a01250": "1250", "\ufeff1250": "1250", "1250 shares": "1250",
    "0001250": "1250", "1250;": "1250", "-5": "-5", "\u22125": "-5", "\u20135": "-5", "(5)": "-5", "($5)": "-5",
    "$(5)": "-5",
    "-$5": "-5", "$-5": "-5", "( 5.00 )": "-5", "-5%": "-5", "(5%)": "-5", "(5)%": "-5", "－５": "-5", "12.5%": "12.5",
    "12.5 %": "12.5", "12.5 percent": "12.5", "12.5％": "12.5", "12.5x": "12.5", "12.5 times": "12.5",
    "12.5 days": "12.5",
    ".125": "0.125", "0.125": "0.125", "1.25e-1": "0.125", "1\u00a0250,000": "1250000", "0": "0", "-0": "0",
}  # fmt: skip
NO_NUMBERS = (
    "", " ", ".", "-", "$", "%", "nan", "NaN", "inf", "-Infinity", "1_250", "5 million", "$5m", "72, in total",
    "about 72", "72 or 73", "x = 5", "1,25", "12,50,000", "1,2500", "1.250,00", "1 250", "1.2.3", "--5", "+-5", "-(5)",
    "(-5)", "(5", "5)", "5-", "0x10", "1/8", "½", "10²", "٣", "5%%", "5 % %", "1e9999", "1e", "e5", "five", "$5$",
    "$5 USD", "**5**", "5 bps", "null",
    "1" * 81, "\ud83d", "5\x00", "__import__('os').getpid()", "len('ab')",
)  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SPELLINGS.items())
def test_spellings(text: str, value: str) -> None:
    assert number(text) == Decimal(value)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_no_numbers(text: str) -> None:
    assert number(text) is None


def test_the_table_is_long_enough() -> None:
    assert len(SPELLINGS) >= 40


@pytest.mark.parametrize("text", ["12.5%", "12.5 percent", "１２.５％"])
def test_percent_as_a_fraction(text: str) -> None:
    assert number(text, percent="fraction") == Decimal("0.125")


def test_percent_policy_leaves_other_numbers_alone() -> None:
    assert number("12.5", percent="fraction") == Decimal("12.5")
    assert number("(5)%", percent="fraction") == Decimal("-0.05")


def test_scale_words_only_when_allowed() -> None:
    assert number("$5 million", scale_words=True) == 5_000_000
    assert number("1.2 Billion dollars", scale_words=True) == 1_200_000_000
    assert number("5 millions of cows", scale_words=True) is None


@given(st.text(max_size=90))
def test_never_raises(text: str) -> None:
    value = number(text)
    assert value is None or value.is_finite()


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_reads_what_python_writes(value: Decimal) -> None:
    assert number(f"{value:,}") == value == number(str(value))
