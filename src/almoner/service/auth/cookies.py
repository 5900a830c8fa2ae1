"""Parse the Cookie header in linear time."""

from __future__ import annotations

from urllib.parse import unquote

__all__ = ["cookies_in"]


def cookies_in(header: bytes) -> dict[str, str]:
    """Return the cookies of a header by name; of several of one name, the first.

    ``http.cookies`` takes time quadratic in the number of backslashes. Values that this service
    sets are never quoted, so quotation marks are removed and backslashes kept.

    Examples
    --------
    >>> cookies_in(b'theme=dark; almoner_key="a%20b"; almoner_key=c; nonsense')
    {'theme': 'dark', 'almoner_key': 'a b'}
    """
    cookies: dict[str, str] = {}
    for piece in header.decode("latin-1").split(";"):
        name, equals, value = piece.partition("=")
        if equals:
            cookies.setdefault(name.strip(), unquote(value.strip().strip('"')))
    return cookies
