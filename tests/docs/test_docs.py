"""Commands in the documentation print the output shown, and links lead to pages and headings."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from almoner.cli import main
from almoner.cli.reference import command_reference

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]

FILE = re.compile(r"^```toml\n# (\S+\.toml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SESSION = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STORE = re.compile(r"sqlite:///(\w+\.db)")
WRITTEN = re.compile(r"sqlite:///|open\(\"\w+\.csv\", \"w\"")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

LEFT_OUT = "…"
"""Line that stands for any number of lines of output."""


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Return the commands on a page, each with the lines of output shown under it."""
    sessions: list[tuple[str, list[str]]] = []
    for session in SESSION.findall(text):
        for line in session.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                sessions.append((line.removeprefix("$ "), []))
            elif line.strip():
                sessions[-1][1].append(line)
    return [(command, shown) for command, shown in sessions if command.split()[0] == "almoner"]


def alike(shown: str, printed: str) -> bool:
    """Return whether words are equal, and numbers differ by rounding only."""
    words, others = shown.split(), printed.split()
    return len(words) == len(others) and all(map(same_word, words, others))


def same_word(word: str, other: str) -> bool:
    if word == other or set(word + other) == {"─"}:
        return True
    try:
        number, wanted = (float(text.strip("(,;%.)").replace(",", "")) for text in (word, other))
    except ValueError:
        return False
    return number == pytest.approx(wanted, rel=0.01, abs=0.02)


def run_examples(text: str, name: str) -> None:
    examples = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    doctest.DocTestRunner().run(
        examples, out=lambda _: None
    )  # what they print is checked elsewhere


WITH_COMMANDS = {
    page.relative_to(ROOT).as_posix(): text
    for page in PAGES
    if commands(text := page.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("guide", WITH_COMMANDS)
def test_the_commands_of_a_page_do_what_it_shows(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILE.findall(WITH_COMMANDS[guide]):
        (tmp_path / name).write_text(content, encoding="utf-8")
    if re.search(WRITTEN, WITH_COMMANDS[guide]):  # its commands read what its Python writes
        run_examples(WITH_COMMANDS[guide], guide)
    for command, shown in commands(WITH_COMMANDS[guide]):
        result = CliRunner().invoke(main, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{guide}: $ {command}\n{result.output}"
        printed = iter(result.stdout.splitlines())
        for line in shown:
            assert line.strip() == LEFT_OUT or any(alike(line, other) for other in printed), (
                f"{guide} shows, in this order, a line that the command does not print:\n{line}\n"
                f"$ {command}\n{result.stdout}"
            )


def test_no_two_pages_write_the_same_file() -> None:
    """Following one guide after another in one folder must not conflict."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS]
    names = [
        name
        for text in texts
        for name in {*STORE.findall(text), *(name for name, _ in FILE.findall(text))}
    ]
    assert {"shop.db", "shop.toml"} <= set(names)
    assert not {name for name in names if names.count(name) > 1}


def test_the_tutorial_and_the_guides_show_commands() -> None:
    assert {"docs/tutorial.md", "docs/howto/own-problem.md"} <= set(WITH_COMMANDS)


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        (" thrifty  27.14  1.71", " thrifty    27.15     1.71 ", True),
        (" thrifty  27.14  1.71", " thrifty  28.14  1.71", False),
        (" thrifty  27.14", " greedy  27.14", False),
        (" thrifty  27.14", " thrifty  27.14  1.71", False),
        ("───", "─────", True),
        ("budget 2,500, 200 runs", "budget 2,500, 200 runs", True),
        ("budget 2,500, 200 runs", "budget 2,600, 200 runs", False),
    ],
)
def test_numbers_are_compared_as_numbers(shown: str, printed: str, expected: bool) -> None:
    assert alike(shown, printed) is expected


def test_the_page_of_commands_is_up_to_date() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert page == command_reference(), "docs/commands.md is out of date; run `make reference`"


def test_every_command_and_option_is_in_the_reference() -> None:
    text = command_reference()
    for name, command in main.commands.items():
        section = text.partition(f"\n## almoner {name}\n")[2].partition("\n## ")[0]
        assert f"almoner {name} " in section
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else []:
                assert f"`{option}`" in section


@pytest.mark.parametrize("guide", LINKED, ids=lambda guide: guide.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(guide: Path) -> None:
    for target in LINK.findall(guide.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (guide.parent / path).resolve() if path else guide
        assert file.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in anchors(file), f"{target}: there is no such heading"


def anchors(file: Path) -> set[str]:
    headings = HEADING.findall(file.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {
        (index.parent / target.partition("#")[0]).resolve()
        for target in LINK.findall(index.read_text(encoding="utf-8"))
    }
    assert set(DOCS) - {index} <= linked
