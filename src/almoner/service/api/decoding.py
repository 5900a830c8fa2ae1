"""Bodies: JSON into the types of `almoner.service.api.requests`, strictly.

The framework's own way would take ``"1"`` for a number and ignore the content type. A body without
``application/json`` is refused for another reason too: a page on another site can make a browser
send any other kind of body here without asking first.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, TypeVar

import msgspec
from litestar.dto import AbstractDTO, DTOFieldDefinition
from litestar.typing import FieldDefinition
from msgspec import inspect

from almoner.service.api.error_messages import objection
from almoner.service.errors import Refused

__all__ = ["Strict"]

T = TypeVar("T")

JSON = "application/json"

LONE_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
"""The first half of a pair without the second, which the decoder takes for the end of the input."""


class Strict(AbstractDTO[T]):
    """Decodes a body as ``Strict[Type]`` says."""

    decoder: msgspec.json.Decoder[Any]
    kind: inspect.Type

    def __class_getitem__(cls, annotation: Any) -> type[Strict[Any]]:
        """Return the class for bodies of one type."""
        made = super().__class_getitem__(annotation)
        if not isinstance(annotation, TypeVar):
            made.decoder = msgspec.json.Decoder(annotation)
            made.kind = inspect.type_info(annotation)
        return made

    def decode_bytes(self, value: bytes) -> Any:
        """Return the body as its type; refuse it with a sentence if it is none."""
        headers = self.asgi_connection.scope["headers"]
        kind = next((value for name, value in headers if name == b"content-type"), b"").decode(
            "latin-1"
        )
        if kind != JSON and kind.partition(";")[0].strip().lower() != JSON:
            got = f"Content-Type: {kind[:60]}" if kind else "no Content-Type"
            raise Refused(415, f"the body must be JSON, got {got}; send Content-Type: {JSON}")
        try:
            return self._decoded(value)
        except RecursionError:
            raise Refused(400, "the body is nested too deeply; see /docs for its fields") from None
        except UnicodeDecodeError:
            raise Refused(400, "the body must be JSON in UTF-8; some bytes are not") from None
        except msgspec.ValidationError:  # of what may be anything
            raise Refused(400, "the body holds a number that is too large; see /docs") from None
        except msgspec.DecodeError as reason:
            where = str(reason).removeprefix("JSON is malformed: ")
            if LONE_SURROGATE.search(value):
                where = "a \\u escape is half of a surrogate pair"
            raise Refused(400, f"the body must be JSON in UTF-8: {where}") from None

    def _decoded(self, value: bytes) -> Any:
        try:
            return self.decoder.decode(value)
        except msgspec.ValidationError as reason:  # the rest of it need not even be JSON
            found = objection(self.kind, msgspec.json.decode(value), reason=str(reason))
            raise Refused(
                400, found or "the body must be as the document says; see /docs"
            ) from None

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        """Prepare nothing: the decoder is all there is."""

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Any:
        """Describe the type itself."""
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(
        cls, model_type: type[Any]
    ) -> Generator[DTOFieldDefinition, None, None]:
        """Yield nothing: fields are not taken apart."""
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """Return that no field is looked into."""
        return False
