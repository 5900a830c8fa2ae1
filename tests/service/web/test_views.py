"""Views: contexts of the templates."""

from __future__ import annotations

from dataclasses import replace

from support.reports import report

from almoner.service.web.views import campaign_view


def test_only_the_contexts_that_come_most_are_shown() -> None:
    context = report().contexts[0]
    many = [replace(context, context=f"c{index}", arrivals=index) for index in range(40)]
    view = campaign_view(report(contexts=many), 200, [], [])
    assert [row["context"].context for row in view["contexts"]] == [
        f"c{index}" for index in range(10, 40)
    ]
    assert view["hidden_contexts"] == 10
