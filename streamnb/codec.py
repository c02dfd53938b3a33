"""A model as bytes, and back: versioned, checksummed, typed. `docs/format.md` describes the format.

Nothing in the bytes is a name to import or code to run: the kinds of models are a closed table.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import tempfile
from dataclasses import astuple
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from streamnb.errors import CodecError, MergeError
from streamnb.models import KINDS_IN_FILES, BayesClassifier
from streamnb.provenance import Counters, Provenance, Range

__all__ = ["FORMAT_VERSION", "dumps", "load_file", "loads", "save", "write_atomically"]

MAGIC = b"\x89SNB\r\n\x1a\n"
FORMAT_VERSION = 1
_HEADER = struct.Struct("<8sIQ")  # magic, version, length of the body
_DIGEST_SIZE = hashlib.sha256().digest_size

# Extension types of MessagePack: an int beyond 64 bits as decimal digits, and an array.
_BIG_INT = 1
_ARRAY = 2
_INTS = 3
_TYPES = {_ARRAY: "<f8", _INTS: "<i4"}


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    parameters: dict[str, Any]
    state: dict[str, Any]
    ranges: list[tuple[str, int, int, int, str]]
    counters: tuple[int, int, int, int] | None


def dumps(model: BayesClassifier) -> bytes:
    """The model as bytes: parameters, statistics and provenance.

    Equal models have equal bytes, whatever the order in which their shards were merged.

    Raises
    ------
    TypeError
        no model of ours.
    ValueError
        a parameter was changed in place to what it cannot be.
    """
    if not isinstance(model, BayesClassifier) or KINDS_IN_FILES.get(model.kind) is not type(model):
        msg = f"a model of streamnb is wanted, not {type(model).__name__}"
        raise TypeError(msg)
    model.check()
    provenance = model.provenance
    counters = provenance.counters
    body = _ENCODER.encode(
        _Body(
            kind=model.kind,
            parameters=_packed(model.canonical_parameters()),
            state=_packed(model.state()),
            ranges=[
                (r.source, r.partition, r.start, r.next, r.identity) for r in provenance.ranges
            ],
            counters=None if counters is None else astuple(counters),
        )
    )
    head = _HEADER.pack(MAGIC, FORMAT_VERSION, len(body))
    return head + body + hashlib.sha256(head + body).digest()


def loads(data: bytes | bytearray | memoryview) -> Any:
    """The model that `dumps` made these bytes of.

    Raises
    ------
    CodecError
        the bytes are no model, are damaged or cut short, or of a later version.
    TypeError
        no bytes.
    """
    data = bytes(memoryview(data))
    if len(data) < _HEADER.size or not data.startswith(MAGIC):
        msg = f"not a model of streamnb: {len(data)} bytes that begin with {data[:8]!r}"
        raise CodecError(msg)
    _, version, length = _HEADER.unpack_from(data)
    if version != FORMAT_VERSION:
        msg = f"format version {version}; this streamnb reads version {FORMAT_VERSION}"
        raise CodecError(msg)
    if len(data) != _HEADER.size + length + _DIGEST_SIZE:
        msg = f"{len(data)} bytes where {_HEADER.size + length + _DIGEST_SIZE} were written"
        raise CodecError(msg)
    end = _HEADER.size + length
    if hashlib.sha256(data[:end]).digest() != data[end:]:
        msg = "the bytes are damaged: they do not have the digest that was written"
        raise CodecError(msg)
    try:
        return _model(_DECODER.decode(memoryview(data)[_HEADER.size : end]))
    except _IMPOSSIBLE as error:
        msg = f"the bytes are no state that a model can have: {error}"
        raise CodecError(msg) from error


def save(model: BayesClassifier, path: str | os.PathLike[str]) -> None:
    """Writes the model's bytes to a file, which is replaced as a whole or not at all."""
    write_atomically(Path(path), dumps(model))


def load_file(path: str | os.PathLike[str]) -> Any:
    """The model in a file: one that was saved or merged, or a checkpoint.

    Raises
    ------
    CodecError
        it holds no model, or is damaged; names the file.
    OSError
        it cannot be read.
    """
    try:
        return loads(Path(path).read_bytes())
    except CodecError as error:
        msg = f"{path}: {error}"
        raise CodecError(msg) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Puts bytes in a file's place, durably: after a crash the old bytes are there or the new."""
    path = path.resolve()  # a link stays a link
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            Path(temporary).chmod(_mode(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _mode(path: Path) -> int:
    """The permissions of a file that is to be replaced, or those of a new one."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _model(body: _Body) -> BayesClassifier:
    model = _empty(body.kind, body.parameters)
    model.set_state(body.state)
    model.provenance = Provenance(
        tuple(Range(*one) for one in body.ranges), body.counters and Counters(*body.counters)
    )
    return model


def _empty(kind: str, parameters: dict[str, Any]) -> BayesClassifier:
    """The model of a kind and its parameters, of which one may be such a model itself."""
    if kind not in KINDS_IN_FILES:
        msg = f"a model of kind {kind!r}; this streamnb knows {', '.join(KINDS_IN_FILES)}"
        raise CodecError(msg)
    nested = parameters.get("model")
    if isinstance(nested, dict):
        parameters = parameters | {"model": _empty(**nested)}
    return KINDS_IN_FILES[kind].from_canonical(parameters)


def _packed(value: Any) -> Any:
    """The value with what MessagePack has no type for as extensions."""
    if isinstance(value, np.ndarray):
        shape = struct.pack(f"<{value.ndim}Q", *value.shape)
        code = _INTS if value.dtype.kind == "i" else _ARRAY
        data = np.ascontiguousarray(value, dtype=_TYPES[code]).tobytes()
        return msgspec.msgpack.Ext(code, bytes([value.ndim]) + shape + data)
    if isinstance(value, dict):
        return {key: _packed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_packed(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return msgspec.msgpack.Ext(_BIG_INT, str(value).encode("ascii"))
    return value


def _unpacked(code: int, data: memoryview) -> Any:
    """What an extension stands for. Its size is that of the bytes that are there."""
    if code == _BIG_INT:
        return int(bytes(data).decode("ascii"))
    if code in _TYPES and data:
        shape = struct.unpack_from(f"<{data[0]}Q", data, 1)
        values = np.frombuffer(data[1 + 8 * data[0] :], dtype=_TYPES[code])
        if max(shape, default=0) > max(values.size, 2):
            msg = f"an array of {shape} in {values.size} numbers"
            raise ValueError(msg)
        return values.reshape(shape).astype(values.dtype.newbyteorder("="))
    msg = f"an unknown extension of type {code}"
    raise ValueError(msg)


# What a body that is none of ours can lead to, under a digest that is right.
_IMPOSSIBLE = (
    msgspec.DecodeError,
    struct.error,
    MergeError,
    ValueError,
    TypeError,
    KeyError,
    OverflowError,
    AttributeError,
    RecursionError,
)
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Body, ext_hook=_unpacked)
