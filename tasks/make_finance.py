"""Writes the bundled finance sets, tasks/finer_small and tasks/formula_small: `python tasks/make_finance.py`.

Deterministic (seeded, no network): the same bytes everywhere. Columns and text layout are those of the released finance
files, so one parser reads both; every sentence, company and number here is ours. XBRL tag names and formula names are
public vocabulary. A test regenerates the files and compares the bytes.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

FINER_ROWS = {"train": 40, "val": 20, "test": 40}
FORMULA_ROWS = {"train": 60, "val": 20, "test": 40}
COMPANIES = (
    "Alder Freight", "Birchway Foods", "Copperline Systems", "Dunmore Optics", "Eastfell Energy", "Fennick Labs",
    "Graywater Marine", "Hollis Paper", "Ironbridge Tools", "Juniper Clinics", "Kestrel Textiles", "Larkspur Media",
    "Moorland Rail", "Northgate Glass", "Osprey Telecom", "Pinehurst Homes", "Quarry Stone", "Redfern Farms",
)  # fmt: skip
MONTHS = ("March", "June", "September", "December")

# kind of number, characteristic phrase (found in no other tag's sentences), what comes after it
TAGS: Mapping[str, tuple[str, str, str]] = {
    "AmortizationOfIntangibleAssets":
        ("million", "wrote down its patents and customer lists in equal shares by", "in the year"),
    "AreaOfRealEstateProperty": ("count", "signed for a building with a floor area of", "square feet"),
    "BusinessAcquisitionPercentageOfVotingInterestsAcquired":
        ("percent", "bought from its founders a voting stake of", "of the target"),
    "BusinessCombinationAcquisitionRelatedCosts":
        ("million", "paid lawyers and advisers for closing the takeover", "as incurred"),
    "CommonStockParOrStatedValuePerShare": ("cents", "has ordinary shares with a nominal worth of", "apiece"),
    "CommonStockSharesAuthorized": ("count", "may by its charter issue ordinary shares up to", "in all"),
    "ConcentrationRiskPercentage1": ("percent", "depends on its largest customer for", "of sales"),
    "DebtInstrumentFaceAmount": ("million", "sold notes with a principal of", "to banks"),
    "DebtInstrumentInterestRateStatedPercentage": ("percent", "issued notes whose coupon is fixed at", "a year"),
    "DebtInstrumentTerm": ("years", "took up a loan that runs for", "years"),
    "DefinedContributionPlanCostRecognized":
        ("million", "matched what employees put into their savings plan with", "of its own"),
    "EffectiveIncomeTaxRateContinuingOperations":
        ("percent", "bore an overall tax burden on profit of", "for the quarter"),
    "EquityMethodInvestmentOwnershipPercentage":
        ("percent", "carries at equity a joint venture of which it owns", "of the units"),
    "FiniteLivedIntangibleAssetUsefulLife": ("years", "expects the acquired software to serve for", "years"),
    "GoodwillImpairmentLoss": ("million", "cut the goodwill of its weakest unit by", "after a test"),
    "LettersOfCreditOutstandingAmount":
        ("million", "had its bank stand good to suppliers through letters for", "at the date"),
    "LineOfCreditFacilityMaximumBorrowingCapacity":
        ("million", "can draw on its revolving facility at most", "at any time"),
    "NumberOfReportableSegments": ("small", "reports its business to the board in", "segments"),
    "OperatingLeaseCost": ("million", "charged to profit for its rented shops", "under operating leases"),
    "RepaymentsOfDebt": ("million", "paid back to its lenders", "ahead of time"),
    "RestructuringCharges": ("million", "booked for closing two plants and for severance", "in total"),
    "ShareBasedCompensation": ("million", "expensed awards of stock to its staff of", "without cash"),
    "StockRepurchaseProgramAuthorizedAmount1":
        ("million", "got leave from its board to buy back stock for", "over time"),
    "UnrecognizedTaxBenefits": ("million", "holds tax positions that may not stand up of", "in dispute"),
}  # fmt: skip
NUMBERS: Mapping[str, Callable[[random.Random], tuple[str, str, str]]] = {  # kind -> (before, marked figure, after)
    "million": lambda rng: ("$ ", f"{rng.randrange(11, 999) / 10}", " million"),
    "count": lambda rng: ("", f"{rng.randrange(20, 900) * 1000:,}", ""),
    "percent": lambda rng: ("", f"{rng.randrange(11, 899) / 10}", " %"),
    "cents": lambda rng: ("$ ", f"0.{rng.choice(('01', '001', '05', '10', '25'))}", ""),
    "years": lambda rng: ("", str(rng.randrange(3, 16)), ""),
    "small": lambda rng: ("", rng.choice(("two", "three", "four", "five")), ""),
}


@dataclass(frozen=True)
class Form:
    """A formula: the text of its right-hand side, and (variable, explanation, smallest, largest, step, unit)."""

    expression: str
    variables: tuple[tuple[str, str, int, int, int, str], ...]
    work: Callable[[list[Decimal]], Decimal]


FORMULAS: Mapping[str, Form] = {
    "Current Ratio": Form("Current Assets / Current Liabilities", (
        ("Current Assets", "what turns into cash within a year", 90, 990, 10, "$k"),
        ("Current Liabilities", "what falls due within a year", 50, 400, 10, "$k")), lambda v: v[0] / v[1]),
    "Quick Ratio": Form("(Liquid Assets - Stock on Hand) / Short-Term Debts", (
        ("Liquid Assets", "cash, claims and goods", 300, 900, 10, "$k"),
        ("Stock on Hand", "goods not yet sold", 20, 250, 10, "$k"),
        ("Short-Term Debts", "what falls due within a year", 50, 400, 10, "$k")), lambda v: (v[0] - v[1]) / v[2]),
    "Working Capital": Form("Short-Term Assets - Short-Term Debts", (
        ("Short-Term Assets", "what turns into cash within a year", 300, 990, 5, "$k"),
        ("Short-Term Debts", "what falls due within a year", 50, 290, 5, "$k")), lambda v: v[0] - v[1]),
    "Gross Profit Margin": Form("(Net Sales - Cost of Goods) / Net Sales", (
        ("Net Sales", "sales less returns", 500, 990, 10, "$k"),
        ("Cost of Goods", "what the goods sold had cost", 100, 490, 10, "$k")), lambda v: (v[0] - v[1]) / v[0]),
    "Return on Equity": Form("Net Income / Average Equity × 100", (
        ("Net Income", "profit after tax", 12, 99, 1, "$k"),
        ("Average Equity", "mean of the owners' capital", 200, 900, 10, "$k")), lambda v: v[0] / v[1] * 100),
    "Debt-to-Equity Ratio": Form("Total Debt / Owner Capital", (
        ("Total Debt", "all that bears interest", 100, 900, 10, "$k"),
        ("Owner Capital", "what belongs to the owners", 100, 700, 10, "$k")), lambda v: v[0] / v[1]),
    "Earnings Per Share": Form("(Yearly Profit - Preferred Dividends) / Share Count", (
        ("Yearly Profit", "profit after tax", 300, 990, 10, "$k"),
        ("Preferred Dividends", "paid before ordinary holders", 10, 90, 5, "$k"),
        ("Share Count", "ordinary shares, on average", 40, 300, 10, "k")), lambda v: (v[0] - v[1]) / v[2]),
    "Free Cash Flow": Form("Operating Cash - Capital Spending", (
        ("Operating Cash", "cash from the trade itself", 300, 990, 5, "$k"),
        ("Capital Spending", "cash put into plant", 50, 290, 5, "$k")), lambda v: v[0] - v[1]),
    "Days Sales Outstanding": Form("Open Invoices / Credit Sales × Period Days", (
        ("Open Invoices", "what customers still owe", 20, 190, 5, "$k"),
        ("Credit Sales", "sales not paid at once", 300, 990, 10, "$k"),
        ("Period Days", "length of the period", 30, 365, 5, "")), lambda v: v[0] / v[1] * v[2]),
    "Interest Coverage Ratio": Form("Operating Profit / Interest Bill", (
        ("Operating Profit", "profit before interest and tax", 100, 900, 10, "$k"),
        ("Interest Bill", "interest of the period", 10, 90, 5, "$k")), lambda v: v[0] / v[1]),
    "Enterprise Value": Form("Market Value + Borrowings - Cash Balance", (
        ("Market Value", "shares times their price", 300, 990, 10, "$k"),
        ("Borrowings", "all that bears interest", 50, 400, 10, "$k"),
        ("Cash Balance", "money at hand", 10, 90, 5, "$k")), lambda v: v[0] + v[1] - v[2]),
    "Simple Interest": Form("Principal Sum × Yearly Rate × Term in Years", (
        ("Principal Sum", "money lent", 2, 90, 1, "$k"),
        ("Yearly Rate", "as a fraction of one", 2, 12, 1, "hundredths"),
        ("Term in Years", "how long it is lent", 1, 9, 1, "")), lambda v: v[0] * v[1] * v[2]),
}  # fmt: skip
OPENINGS = (
    "The books of {who} show {given}.", "{who} tells its bank of {given}.", "An auditor at {who} notes {given}.",
    "In its last year {who} had {given}.", "The file on {who} holds {given}.",
)  # fmt: skip
ENDINGS = (
    "What is the {name}?", "Work out the {name}.", "Which {name} follows?", "How high is the {name} then?",
)  # fmt: skip


def finer_rows(split: str) -> list[dict[str, str]]:
    """Four questions a row; every tag is asked about equally often, up to one."""
    rng = random.Random(f"ace-bench/finer_small/{split}")
    need, deck = FINER_ROWS[split] * 4, list[str]()
    while len(deck) < need:
        deck += rng.sample(sorted(TAGS), len(TAGS))
    return [_finer_row(rng, deck[i : i + 4]) for i in range(0, need, 4)]


def _finer_row(rng: random.Random, tags: list[str]) -> dict[str, str]:
    questions = "\n".join(f"{i}. {_finer_question(rng, tag)}" for i, tag in enumerate(tags, 1))
    text = (
        f"You know the XBRL vocabulary well.  These are the US GAAP tags options: ,{','.join(TAGS)}. "
        f"Answer the following {len(tags)} questions, which have nothing to do with one another, "
        f"with {len(tags)} tags in the order asked, parted by commas (,), and leave out "
        f"all other words. \n{questions}\nOutput US GAAP tags:"
    )
    return {"context": text, "target": ",".join(tags)}


def _finer_question(rng: random.Random, tag: str) -> str:
    kind, phrase, rest = TAGS[tag]
    before, figure, after = NUMBERS[kind](rng)
    sentence = f"{rng.choice(COMPANIES)} {phrase} {before}{figure}{after} {rest}"
    date = f"{rng.choice(MONTHS)} {rng.randrange(2015, 2024)}"
    shapes = (f"{sentence} .", f"As of {date} , {sentence} .", f"{sentence} , as its report of {date} says .")
    return f'What is best tag for entity "{figure}" in sentence: "{rng.choice(shapes)}?"'


def formula_rows(split: str) -> list[dict[str, str]]:
    """One question a row; every formula is asked about equally often, up to one."""
    rng = random.Random(f"ace-bench/formula_small/{split}")
    need, deck = FORMULA_ROWS[split], list[str]()
    while len(deck) < need:
        deck += rng.sample(sorted(FORMULAS), len(FORMULAS))
    return [_formula_row(rng, name, FORMULAS[name]) for name in deck[:need]]


def _formula_row(rng: random.Random, name: str, form: Form) -> dict[str, str]:
    values, exact = _draw(rng, form)
    given = [f"{_article(unit)}{name_.lower()} of {_spell(value, unit)}"
             for (name_, *_, unit), value in zip(form.variables, values, strict=True)]  # fmt: skip
    rng.shuffle(given)
    listed = f"{', '.join(given[:-1])} and {given[-1]}"
    shape = f"{rng.choice(OPENINGS)} {rng.choice(ENDINGS)}"
    question = shape.format(who=rng.choice(COMPANIES), given=listed, name=name)
    explained = ", ".join(f"{variable}: {meaning}" for variable, meaning, *_ in form.variables)
    text = (
        f"Use formula {name} to answer the question. Give one number with 2 decimal places and leave out all "
        f'other words. Formula: {name} = {form.expression}, Explanation: {explained}. Question: "{question}". Answer:'
    )
    return {"context": text, "target": str(float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP)))}


def _draw(rng: random.Random, form: Form) -> tuple[list[Decimal], Decimal]:
    """Values and the exact result; drawn again while the result lies on the edge between two hundredths."""
    while True:
        values = [_scaled(rng.randrange(low, high + 1, step), unit) for _, _, low, high, step, unit in form.variables]
        exact = form.work(values)
        if exact * 1000 % 10 != 5:
            return values, exact


def _scaled(value: int, unit: str) -> Decimal:
    return Decimal(value) / 100 if unit == "hundredths" else Decimal(value * 1000 if "k" in unit else value)


def _article(unit: str) -> str:
    return "a " if unit in ("", "hundredths") else ""


def _spell(value: Decimal, unit: str) -> str:
    return f"${value:,}" if unit.startswith("$") else f"{value:,}"


CARD = """# {title}

{about}

| file | rows |
| --- | --- |
{table}

Columns: `context` (the whole text put before the model) and `target` (the wanted answer), one JSON object a line, in
the layout of the finance files released with ACE, so `{name}` reads both. Every sentence, company and number is ours,
made up by `tasks/make_finance.py` from fixed seeds; no row of a released file is in here.
{names}

Use: trying the harness out and its tests. It is no stand-in for the real set:
{limits}
Figures from it never stand beside published ones.

Made again by `python tasks/make_finance.py`; digests in `SHA256SUMS`. Licence: that of ace-bench (Apache-2.0).
"""


def _card(name: str, rows: Mapping[str, int]) -> str:
    table = "\n".join(f"| {split}.jsonl | {n} |" for split, n in rows.items())
    if name == "finer":
        about = f"Four marked figures a row; for each, the US GAAP tag out of {len(TAGS)} options."
        names = "Tag names are from the public US GAAP taxonomy."
        limits = "each tag has one phrase that gives it away, and the list of options is short."
        return CARD.format(title="finer_small", about=about, table=table, name=name, names=names, limits=limits)
    about = f"One exercise a row over {len(FORMULAS)} formulas; targets are rounded to hundredths, halves avoided."
    names = "Formula names are common knowledge."
    limits = "each variable is named in the question as in the formula, beside its number."
    return CARD.format(title="formula_small", about=about, table=table, name=name, names=names, limits=limits)


def files() -> dict[str, bytes]:
    """Relative path -> bytes of every file this script writes."""
    made: dict[str, bytes] = {}
    for name, counts, rows in (("finer", FINER_ROWS, finer_rows), ("formula", FORMULA_ROWS, formula_rows)):
        texts = {f"{split}.jsonl": "".join(json.dumps(row) + "\n" for row in rows(split)) for split in counts}
        texts["README.md"] = _card(name, counts)
        data = {file: text.encode() for file, text in texts.items()}
        sums = "".join(f"{hashlib.sha256(body).hexdigest()}  {file}\n" for file, body in sorted(data.items()))
        made |= {f"{name}_small/{file}": body for file, body in {**data, "SHA256SUMS": sums.encode()}.items()}
    return made


def main(folder: Path) -> None:
    """Write every file below `folder`."""
    for path, body in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
