"""Conformance check of a store: the promises of `almoner.store.base`."""

from __future__ import annotations

from collections.abc import Callable

from almoner.store.base import Store
from almoner.testing.store_checks import CHECKS
from almoner.testing.store_opener import Opener

__all__ = ["check_store"]


def check_store(open_store: Callable[[], Store]) -> list[str]:
    """Check everything in a store that an agent relies on; return the names of the checks.

    A promise that it breaks raises an AssertionError that names it. Campaigns and a key whose names
    begin with ``check`` are left behind in the store.

    Parameters
    ----------
    open_store
        Opens the store; called several times, it opens the same one, as other processes would. A
        store that cannot be opened twice, as one in memory, is returned each time.

    Examples
    --------
    >>> from almoner.store import open_store
    >>> store = open_store("memory:")
    >>> check_store(lambda: store)[:2]
    ['campaigns', 'unknown campaigns']
    """
    opener = Opener(open_store)
    for name, check in CHECKS.items():
        try:
            check(opener)
        except AssertionError as broken:
            raise AssertionError(f"{name}: the store {broken}") from broken
        except Exception as error:
            raise AssertionError(f"{name}: the store fails: {error!r}") from error
    return [*CHECKS]
