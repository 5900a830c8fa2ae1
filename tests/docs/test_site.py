"""The documentation site: it builds, its links work offline, and it has every public name."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import almoner

ROOT = Path(__file__).parents[2]
EXTERNAL = re.compile(r"(https?:)?//")


class Page(HTMLParser):
    """Targets of links, addresses of resources, and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.resources: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attributes if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        for name in {"href", "src"} & set(values):
            (self.links if tag == "a" else self.resources).add(values[name])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    site = tmp_path_factory.mktemp("site").resolve()
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path: Page(path) for path in site.rglob("*.html")}


def test_pages_load_nothing_from_other_hosts(pages: dict[Path, Page]) -> None:
    resources = {resource for page in pages.values() for resource in page.resources}
    assert resources
    assert not [resource for resource in resources if EXTERNAL.match(resource)]


def test_links_of_the_site_lead_somewhere(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links | page.resources:
            target, _, anchor = link.partition("#")
            if EXTERNAL.match(link) or link.startswith("data:"):
                continue
            file = (path.parent / target.partition("?")[0]).resolve() if target else path
            known = pages[file].anchors if file in pages else set()
            if not file.exists() or (anchor and anchor not in known):
                broken.append((path.name, link))
    assert not broken


def test_every_public_name_is_in_the_reference(pages: dict[Path, Page]) -> None:
    anchors = {anchor for page in pages.values() for anchor in page.anchors}
    assert {f"almoner.{name}" for name in vars(almoner)["__all__"]} <= anchors
