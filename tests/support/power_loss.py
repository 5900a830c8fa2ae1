"""Replay recorded file I/O up to a loss of power.

A write is durable once its file was synced after it; until then it may be present, missing or torn,
independently of others. Directories are those of a journaled file system: files are created and
removed in order, and every sync makes earlier changes of directories durable.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

WRITE, TRUNCATE, SYNC, CREATE, UNLINK, ACKNOWLEDGED = "wtscua"
SECTOR = 512
DRAWS = 2
"""Random states for each moment, beside the one where nothing unsynced survives."""

_HEAD = struct.Struct("<cqqqq")


class Call(NamedTuple):
    """One recorded call."""

    kind: str
    name: str
    offset: int
    size: int
    data: bytes


def read_calls(path: Path) -> list[Call]:
    """Return the calls that the library recorded."""
    recorded, start, calls = path.read_bytes(), 0, []
    while start < len(recorded):
        kind, offset, size, name_length, data_length = _HEAD.unpack_from(recorded, start)
        start += _HEAD.size
        name = recorded[start : start + name_length].decode()
        start += name_length
        calls.append(Call(kind.decode(), name, offset, size, recorded[start : start + data_length]))
        start += data_length
    return calls


def states(
    calls: Sequence[Call], rng: random.Random, *, volatile: bool = False
) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Yield moments of a loss of power, each with the files that remain.

    The worst moments are just before a sync, with the most unsynced writes, and just after an
    acknowledgement, with the most that must be durable. If ``volatile``, syncs have no effect.
    """
    moments = [at for at, call in enumerate(calls) if call.kind == SYNC]
    moments += [at + 1 for at, call in enumerate(calls) if call.kind == ACKNOWLEDGED]
    for at in sorted(moments):
        before = [call for call in calls[:at] if not (volatile and call.kind == SYNC)]
        for survival in (0.0, *[0.5] * DRAWS):
            yield at, left_behind(before, rng, survival)


def left_behind(calls: Sequence[Call], rng: random.Random, survival: float) -> dict[str, bytes]:
    """Return the files after a loss of power; unsynced writes survive with a probability."""
    synced = {call.name: at for at, call in enumerate(calls) if call.kind == SYNC}
    durable = max(synced.values(), default=0)
    listed = durable if survival == 0 else rng.randint(durable, len(calls))
    files: dict[str, bytearray] = {}
    missing: set[str] = set()  # created, but in no directory yet
    for at, call in enumerate(calls):
        if call.kind == CREATE and at < listed:
            files[call.name] = bytearray()
        elif call.kind == CREATE:
            missing.add(call.name)
        elif call.kind == UNLINK and at < listed:
            files.pop(call.name, None)
        elif call.kind in {WRITE, TRUNCATE} and call.name not in missing:
            if at < synced.get(call.name, 0) or rng.random() < survival:
                apply(files, call)
            elif call.kind == WRITE and rng.random() < survival:
                apply(files, torn(call, rng))
    return {name: bytes(content) for name, content in files.items() if not name.endswith("-shm")}


def torn(call: Call, rng: random.Random) -> Call:
    """Return the first sectors of a write, as many as were written."""
    return call._replace(data=call.data[: SECTOR * rng.randint(0, len(call.data) // SECTOR)])


def apply(files: dict[str, bytearray], call: Call) -> None:
    """Write to a file, or set its length."""
    content = files.get(call.name)
    if content is None:  # removed since
        return
    if call.kind == TRUNCATE:
        del content[call.size :]
        content.extend(bytes(call.size - len(content)))
        return
    content.extend(bytes(max(0, call.offset - len(content))))
    content[call.offset : call.offset + len(call.data)] = call.data
