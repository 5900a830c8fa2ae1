from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

import pytest

import almoner
from almoner import errors

KEYWORD = inspect.Parameter.KEYWORD_ONLY
PUBLIC: list[str] = vars(almoner)["__all__"]  # not in the stub, or "import *" would know no name
CALLABLES = [name for name in PUBLIC if callable(getattr(almoner, name))]


def in_a_fresh_interpreter(code: str) -> Any:
    """Run code in a process of its own and return the JSON it prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def stub() -> dict[str, str]:
    """Return each name in the stub of the package with the module it is imported from."""
    tree = ast.parse(Path(almoner.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        name.name: f"almoner.{statement.module}"
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves_and_is_public_in_its_module(name: str) -> None:
    value = getattr(almoner, name)
    module = sys.modules[stub()[name]]
    assert value is getattr(module, name)
    assert name in module.__all__


def test_all_is_exact() -> None:
    assert sorted(stub()) == PUBLIC
    assert dir(almoner) == sorted([*PUBLIC, "__version__"])
    names: dict[str, Any] = {}
    exec("from almoner import *", names)  # noqa: S102
    assert set(names) - {"__builtins__"} == set(PUBLIC)


def test_a_public_name_is_looked_up_once() -> None:
    assert almoner.Problem is vars(almoner)["Problem"]


@pytest.mark.slow
def test_type_checkers_know_the_public_names_and_no_others(tmp_path: Path) -> None:
    program = "import almoner as al\nfrom almoner import *\nthrifty()\n"
    program += "".join(f"al.{name}\n" for name in [*PUBLIC, "__version__"])
    (tmp_path / "user.py").write_text(program + "al.simulat\n", encoding="utf-8")
    stub_file = str(Path(almoner.__file__).with_suffix(".pyi"))
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    command += ["--follow-imports=skip", "user.py", stub_file]  # all of them would take 10 s
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"user.py:{len(PUBLIC) + 5}: error: Module has no attribute")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'almoner' has no attribute 'simulat'"):
        _ = almoner.simulat  # type: ignore[attr-defined]


def test_no_module_hides_a_public_name() -> None:
    """Importing a submodule sets it as an attribute of the package, over any other value."""
    modules = {module.name for module in pkgutil.iter_modules(almoner.__path__)}
    assert "simulation" in modules
    assert modules.isdisjoint(PUBLIC)


@pytest.mark.slow
def test_simulate_is_the_function_even_after_its_module_was_imported_first() -> None:
    result = in_a_fresh_interpreter(
        "import almoner.simulation.simulate, json\n"
        "print(json.dumps([almoner.simulate.__module__, almoner.simulate.__name__]))"
    )
    assert result == ["almoner.simulation.simulate", "simulate"]


def test_importing_almoner_imports_nothing_heavy() -> None:
    loaded = in_a_fresh_interpreter("import almoner, sys, json; print(json.dumps([*sys.modules]))")
    assert "almoner" in loaded
    assert {"numpy", "numba", "scipy", "matplotlib", "rich", "click"}.isdisjoint(loaded)


def test_a_public_name_is_imported_at_its_first_use() -> None:
    loaded = in_a_fresh_interpreter(
        "import almoner, sys, json; almoner.thrifty(); print(json.dumps([*sys.modules]))"
    )
    assert "almoner.policy.recipes" in loaded
    assert {"numba", "almoner.kernels", "almoner.simulation.simulate", "matplotlib"}.isdisjoint(
        loaded
    )


def test_the_version_is_that_of_the_distribution() -> None:
    assert almoner.__version__ == version("almoner")


def test_the_console_script_is_the_command_line() -> None:
    from almoner.cli import main

    (script,) = entry_points(group="console_scripts", name="almoner")
    assert script.load() is main


@pytest.mark.parametrize("name", CALLABLES)
def test_every_public_function_class_and_method_is_documented(name: str) -> None:
    value = getattr(almoner, name)
    members = [
        member
        for key, member in vars(value).items()
        if not key.startswith("_") and (callable(member) or isinstance(member, property))
    ]
    for thing in [value, *(members if inspect.isclass(value) else [])]:
        text = inspect.getdoc(thing)
        assert text
        assert text.splitlines()[0].endswith((".", ":")), "a docstring starts with a sentence"
        assert not text.startswith(f"{name}("), "a dataclass documents itself by its signature"


def documented(text: str, section: str) -> list[str]:
    """Return the names that a numpydoc section of a docstring explains."""
    match = re.search(rf"^{section}\n-+\n(.*?)(?=\n\n\w+\n--|\Z)", text, re.DOTALL | re.MULTILINE)
    lines = match.group(1).splitlines() if match else []
    return [name for line in lines if re.match(r"\w", line) for name in line.split(", ")]


def test_documented_names_are_parsed() -> None:
    text = inspect.getdoc(almoner.Problem) or ""
    assert documented(text, "Parameters")[:2] == ["context_probs", "reward_means"]
    assert documented(text, "Parameters")[-2:] == ["actions", "fit"]
    assert documented(text, "Attributes") == []


@pytest.mark.parametrize("name", [name for name in CALLABLES if name not in errors.__all__])
def test_no_docstring_explains_a_missing_parameter_or_attribute(name: str) -> None:
    value = getattr(almoner, name)
    text = inspect.getdoc(value) or ""
    assert set(documented(text, "Parameters")) <= set(inspect.signature(value).parameters)
    assert set(documented(text, "Attributes")) <= {*dir(value), *inspect.get_annotations(value)}


@pytest.mark.parametrize("name", [name for name in CALLABLES if name[0].islower()])
def test_public_functions_take_keywords_beyond_their_subject(name: str) -> None:
    parameters = inspect.signature(getattr(almoner, name)).parameters.values()
    positional = [parameter.name for parameter in parameters if parameter.kind is not KEYWORD]
    assert set(positional) <= {"problem", "log", "policy", "name"}


RAISED = [value for value in vars(errors).values() if inspect.isclass(value)]
ERRORS = [value for value in RAISED if not issubclass(value, Warning)]


def drawn_tree() -> dict[str, str | None]:
    """Return each class in the tree drawn in errors.py, with its parent."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        branch = re.match(r"    ([│├└─ ]*)(\w+)", line)
        if branch:
            depth = len(branch[1]) // 4
            path[depth:] = [branch[2]]
            parents[branch[2]] = path[depth - 1] if depth else None
    return parents


def test_the_drawing_of_errors_is_the_tree_of_errors() -> None:
    bases = {error.__name__: error.__bases__[0].__name__ for error in RAISED}
    assert bases.pop("AlmonerError") == "Exception"
    assert {name: parent for name, parent in drawn_tree().items() if parent} == bases
    assert sorted(errors.__all__) == sorted(error.__name__ for error in RAISED)
    assert set(errors.__all__) <= set(PUBLIC)


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_every_error_is_an_almoner_error_and_public(error: type[Exception]) -> None:
    assert issubclass(error, errors.AlmonerError)
    assert error.__name__ in PUBLIC
    assert issubclass(error, ValueError) == issubclass(error, errors.InvalidInput)
