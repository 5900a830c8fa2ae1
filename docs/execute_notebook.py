"""Execute the code cells of a notebook in this process, without Jupyter.

``python docs/execute_notebook.py`` stores the outputs in the notebook; a test executes it again and
compares.
"""

from __future__ import annotations

import ast
import base64
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def execute(notebook: dict[str, Any]) -> None:
    """Execute all code cells in one namespace, and replace their outputs."""
    import matplotlib

    matplotlib.use("Agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        cell["execution_count"] = count
        cell["outputs"] = _outputs("".join(cell["source"]), namespace, count)


def _outputs(source: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the printed text, the value of the last expression, and the figures of a cell."""
    printed, value = io.StringIO(), None
    statements = ast.parse(source).body
    last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(ast.Module(statements, []), f"cell {count}", "exec"), namespace)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), namespace)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None and not source.rstrip().endswith(";"):
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "data": data,
                "metadata": {},
            }
        )
    return [*outputs, *_figures()]


def _figures() -> list[dict[str, Any]]:
    """Return the open figures as PNG, and close them."""
    from matplotlib import pyplot as plt

    outputs = []
    for number in plt.get_fignums():
        image = io.BytesIO()
        plt.figure(number).savefig(image, format="png", dpi=80, metadata={"Software": None})
        data = {"image/png": base64.b64encode(image.getvalue()).decode()}
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    plt.close("all")
    return outputs


def main() -> None:
    """Execute the notebook and store its outputs."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    execute(notebook)
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
