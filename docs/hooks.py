"""Hooks of mkdocs: pages from files outside docs/, and a page from the notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"

ABOVE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CITATION.cff": "CITATION.cff",
}
"""Files at the root, and their names in the site."""

LINK = re.compile(rf"\]\((?:\.\./)?((?:\.\./)*)({'|'.join(ABOVE)})")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages whose sources are not Markdown files in docs/."""
    for source, page in ABOVE.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "notebook.md", content=notebook_page()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Point links to files at the root at their pages."""
    markdown = markdown.replace("](notebook.ipynb)", "](notebook.md)")
    return LINK.sub(lambda match: f"]({match[1]}{ABOVE[match[2]]}", markdown)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Remove the page for missing addresses: its links work at the root of a server only."""
    Path(config.site_dir, "404.html").unlink()


def notebook_page() -> str:
    """Return the notebook as Markdown, with its figures inside."""
    parts = []
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += map(_output, cell["outputs"])
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    if "image/png" in output.get("data", {}):
        return f"![figure](data:image/png;base64,{output['data']['image/png']})"
    lines = output.get("text") or output["data"]["text/plain"]
    return f"```text\n{''.join(lines).rstrip()}\n```"
