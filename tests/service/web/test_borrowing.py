"""Borrowed rewards on the page of a campaign, in words and columns."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from support.reports import pair, report

from almoner.live.reports.report import ActionReport, ContextReport
from almoner.service.web.borrowing import explanation, rewards_counted
from almoner.service.web.estimate_rows import PAIRS_SHOWN
from almoner.service.web.templating import TEMPLATES
from almoner.service.web.views import campaign_view

LENT = {"pooled": 0.2, "borrowed": 12.3}
UNTRIED: dict[str, Any] = {"taken": 0, "rewarded": 0, "mean": None, "low": 0.0, "high": 1.0}


def contexts(*pairs: ActionReport) -> list[ContextReport]:
    return [replace(report().contexts[0], actions=list(pairs))]


def view(*pairs: ActionReport, **changes: Any) -> dict[str, Any]:
    return campaign_view(report(contexts=contexts(*pairs), **changes), 200, [], [])


def rendered(*pairs: ActionReport, **changes: Any) -> str:
    template = TEMPLATES.get_template("campaign.html")
    return template.render(here="/", signed_in=False, administers=True, **view(*pairs, **changes))


def text_of(html: str) -> str:
    plain = re.sub("<[^>]+>", " ", re.sub("</?bdi>", "", html))
    return " ".join(plain.split())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (LENT, "16 own, 12 borrowed"),
        ({**LENT, "rewarded": 1234}, "1,234 own, 12 borrowed"),
        ({**LENT, **UNTRIED}, "0 own, 12 borrowed"),
        ({**LENT, "borrowed": 1.0}, "16 own, 1 borrowed"),
        ({**LENT, "borrowed": 0.9}, "16 own, under 1 borrowed"),
        ({**LENT, "rewarded": 2, "evidence": 8.9}, "9 own, 12 borrowed"),
        ({**LENT, "rewarded": 0, "evidence": 0.3}, "under 1 own, 12 borrowed"),
        ({}, ""),
    ],
)
def test_the_rewards_of_an_estimate_are_counted(changes: dict[str, Any], words: str) -> None:
    text = rewards_counted(pair(**changes))
    assert text.replace("\N{NO-BREAK SPACE}", " ") == words
    assert text.count(" ") == bool(words), "a narrow column breaks the line after the comma only"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (LENT, "it is made of 16 own rewards and about 12 borrowed: its own weigh 57 %."),
        ({**LENT, "rewarded": 1}, "1 own reward and about 12 borrowed: its own weigh 8 %."),
        ({**LENT, "borrowed": 0.2}, "16 own rewards and under 1 borrowed: its own weigh 99 %."),
        ({**LENT, **UNTRIED}, "it is made of about 12 borrowed, and no reward of its own yet."),
        ({**LENT, "evidence": 16.0}, "16 own rewards and about 12 borrowed: its own weigh 57 %."),
        (
            {**LENT, "rewarded": 2, "evidence": 8.9},
            "it is made of about 9 own and about 12 borrowed: its own weigh 42 %.",
        ),
    ],
)
def test_an_example_says_how_much_own_rewards_weigh(changes: dict[str, Any], sentence: str) -> None:
    """16/(16 + 12.3) = 0.57 and 1/13.3 = 0.08; with a window, decisions by their age weigh."""
    words = text_of(explanation(view(pair(**changes))["contexts"]))
    assert words.startswith("The campaign decides by the estimate, the diamond: it adds what ")
    assert "For “new” with “coupon” " in words
    assert words.endswith(sentence)


def test_the_example_is_a_pair_with_rewards_if_there_is_one() -> None:
    untried = pair(action="mail", **LENT, **UNTRIED)
    words = explanation(view(untried, pair(**LENT), pair(action="call", **LENT))["contexts"])
    assert "<bdi>coupon</bdi>" in words
    assert "<bdi>mail</bdi>" in explanation(view(untried)["contexts"])


def test_a_name_in_the_example_is_no_html() -> None:
    words = explanation(view(pair(action="<b>", **LENT))["contexts"])
    assert "<bdi>&lt;b&gt;</bdi>" in words


def test_the_table_has_a_column_for_the_estimate() -> None:
    html = rendered(pair(**LENT), pair(action="mail", **LENT, **UNTRIED))
    text = text_of(html)
    assert "Mean (95 % interval) Estimate Planned" in text
    assert "0.250 (0.100–0.450) 0.200 16 own, 12 borrowed 50 %" in text
    assert "none yet 0.200 0 own, 12 borrowed" in text
    assert "“Planned” is how often the best plan for the estimates would take" in text
    assert html.count('class="diamond"') == html.count('data-label="Estimate"') == 2
    assert "estimate with borrowed rewards, planned probability</caption>" in html
    for word in ("prior", "shrink", "pooled estimate", "posterior"):
        assert word not in text.lower()


def test_without_borrowed_rewards_nothing_is_said_of_them() -> None:
    html = rendered(pair())
    text = text_of(html)
    assert "“Planned” is how often the best plan for these means would take" in text
    for word in ("borrowed", "Estimate ", "diamond"):
        assert word not in text
    assert not re.search('diamond|data-label="Estimate"|estimates stacking pooled', html)


def test_a_campaign_that_is_over_has_estimates_and_no_plan() -> None:
    text = text_of(rendered(pair(**LENT), arrivals_left=0))
    assert "Mean (95 % interval) Estimate new" in text
    assert "best plan for the estimates" not in text


@pytest.mark.parametrize(("arrivals_left", "columns"), [(150, 8), (0, 7)])
def test_the_row_of_hidden_actions_spans_all_columns(arrivals_left: int, columns: int) -> None:
    """Of 9 columns, or 8 without a plan, the first is that of the context."""
    many = [pair(action=f"a{index}", **LENT) for index in range(PAIRS_SHOWN + 1)]
    html = rendered(*many, arrivals_left=arrivals_left)
    head = html[html.index('<table class="estimates') :].partition("</thead>")[0]
    assert head.count("<th ") == columns + 1
    assert f'<td role="cell" colspan="{columns}">1 more action' in html


def test_a_page_with_all_its_rows_stays_small() -> None:
    pairs = [pair(action=f"a{index}", **LENT) for index in range(50)]
    context = report().contexts[0]
    wide = [replace(context, context=f"c{index}", actions=pairs) for index in range(100)]
    values = campaign_view(report(contexts=wide), 200, [], [])
    html = TEMPLATES.get_template("campaign.html").render(
        here="/", signed_in=False, administers=True, **values
    )
    assert html.count('class="diamond"') == PAIRS_SHOWN
    assert len(html) < 500_000, "the page is fetched every two seconds"
