"""Inherited rewards in words: how much a campaign knew before its first arrival."""

from __future__ import annotations

from markupsafe import Markup

from almoner.live.reports.report import Report
from almoner.service.web.formatting import isolated, plural

__all__ = ["sentence"]


def sentence(report: Report) -> Markup:
    """Return how many rewards a campaign began with, and where from; empty if there are none."""
    if not report.inherited:
        return Markup()
    source = Markup("by its prior")
    if report.inherited_from is not None:
        source = Markup("after “{}”").format(isolated(report.inherited_from))
    return Markup("It began with what {} teach, {}: they count like its own.").format(
        plural(round(report.inherited), "reward"), source
    )
