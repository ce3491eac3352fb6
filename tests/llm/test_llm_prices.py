"""Money: the table, the five classes of each provider's usage shape, and what caching saves."""

import pytest

from ace_bench.llm.prices import Price, cost, input_saving, listed, table, uncached_cost
from ace_bench.llm.pricing import PriceSettings, price_of
from ace_bench.llm.transports.litellm_replies import usage_of
from ace_bench.llm.types import Usage

PRICE = Price(1.0, 0.1, 1.25, 10.0, 10.0, "made up", "2026-01-01")  # dollars per million


class Shape(dict):
    """A provider's usage object: attributes and keys alike."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


SHAPES = {
    # cached inside the prompt tokens, reasoning inside the completion tokens (OpenAI)
    "inside": (
        Shape(prompt_tokens=1000, completion_tokens=100, prompt_tokens_details=Shape(cached_tokens=800),
              completion_tokens_details=Shape(reasoning_tokens=40)),
        200 * 1.0 + 800 * 0.1 + 100 * 10.0,
    ),
    # hit and miss told apart (DeepSeek)
    "hit and miss": (
        Shape(prompt_tokens=1000, completion_tokens=100, prompt_cache_hit_tokens=800, prompt_cache_miss_tokens=200),
        200 * 1.0 + 800 * 0.1 + 100 * 10.0,
    ),
    # reads and writes of the cache beside each other (Anthropic, as litellm adds them up)
    "read and write": (
        Shape(prompt_tokens=1000, completion_tokens=100, cache_read_input_tokens=600, cache_creation_input_tokens=300),
        100 * 1.0 + 600 * 0.1 + 300 * 1.25 + 100 * 10.0,
    ),
    "plain": (Shape(prompt_tokens=1000, completion_tokens=100), 1000 * 1.0 + 100 * 10.0),
    "missing": (None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_each_providers_usage_gives_the_hand_computed_cost(name):
    shape, dollars = SHAPES[name]
    got = cost(PRICE, usage_of(shape))
    assert got is None if dollars is None else got == pytest.approx(dollars / 1e6)


def test_without_a_price_there_is_no_cost_and_zero_is_a_price():
    usage = Usage(1_000_000, 0, 0, 10, 0)
    assert cost(None, usage) is None
    assert cost(PriceSettings(input=0, output=0).price(), usage) == 0.0


def test_caching_saves_a_share_of_input_cost_only():
    """Review, Eq. 12 and 13: c = 0.918 at rho = 0.1 saves 82.62 percent of *input* cost."""
    assert input_saving(0.918, 0.1) == pytest.approx(0.8262)
    usage = Usage(82, 918, 0, 0, 0)
    price = Price(1.0, 0.1, 1.0, 10.0, 10.0, "", "")
    assert 1 - cost(price, usage) / uncached_cost(price, usage) == pytest.approx(0.8262)
    with_output = Usage(82, 918, 0, 100, 0)  # the same saving is a smaller share of the total
    assert 1 - cost(price, with_output) / uncached_cost(price, with_output) == pytest.approx(0.8262 / 2)


def test_every_list_price_has_source_and_date_and_holds_together():
    for name, price in table().items():
        assert "/" in name
        assert price.source.startswith("https://")
        assert len(price.date) == 10
        assert 0 <= price.cached_input <= price.input <= price.output
        assert price.reasoning >= 0
        assert price.cache_write >= price.input


def test_the_models_of_the_paper_are_listed():
    for name in ("deepseek/deepseek-v3.1", "together_ai/openai/gpt-oss-120b", "openai/gpt-5.1",
                 "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", "openai/gpt-4o-mini"):  # fmt: skip
        assert listed(name).output > 0


def test_which_price_a_model_gets():
    assert price_of(None, "gpt-5.1", "openai") is listed("openai/gpt-5.1")
    assert price_of(None, "openai/gpt-5.1", "openai") is listed("openai/gpt-5.1")
    assert price_of(None, "gpt-5.1", "http://127.0.0.1:1/v1") is None  # nobody's list price
    assert price_of("openai/gpt-4o-mini", "x", "y") is listed("openai/gpt-4o-mini")
    own = price_of(PriceSettings(input=2, output=4), "x", "y")
    assert (own.cached_input, own.cache_write, own.reasoning) == (2, 2, 4)
    with pytest.raises(KeyError, match=r"near it are.*gpt-5\.1"):
        listed("openai/gpt-5.11")
