"""Objects from TOML and JSON files, with the path in every error message."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from almoner.errors import InvalidInput

__all__ = ["read_table"]

Built = TypeVar("Built")


def read_table(
    path: str | Path,
    what: str,
    build: Callable[[Any], Built],
    *,
    error: type[InvalidInput] = InvalidInput,
) -> Built:
    """Read a file and return ``build`` of its table; errors name the path."""
    path = Path(path)
    read = {".toml": tomllib.loads, ".json": json.loads}.get(path.suffix)
    if read is None:
        raise error(f"a {what} file must end in .toml or .json, got {path.name!r}")
    try:
        return build(read(path.read_text(encoding="utf-8-sig")))
    except OSError as reason:
        raise error(
            f"cannot read the {what} file {str(path)!r}: {reason.strerror}; check the path"
        ) from None
    except InvalidInput as refusal:
        raise error(f"{path}: {refusal}") from None
    except RecursionError:
        raise error(f"{path} is nested too deeply; see the names of the constructor") from None
    except ValueError as reason:  # not TOML, not JSON, not UTF-8
        raise error(f"{path} is not valid {path.suffix[1:].upper()}: {reason}") from None
