"""Bytes with a true digest and a false content: still a `CodecError`, or a model that is sound.

A digest keeps accidents out, not intent: here each change is sealed again as docs/format.md says
(8 bytes of magic, version as uint32, length of the body as uint64, the body in MessagePack, the
sha256 of all before it; little-endian).
"""

from __future__ import annotations

import copy
import hashlib
import math
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import streamnb
from streamnb import CodecError
from streamnb.likelihoods import Bag, Text

from .test_codec import MEMORY, model_of, refused
from .verbs import state

HEAD, TAIL = 20, 32
Thinned = Callable[[Sequence[Any]], Sequence[Any]]


def sealed(body: bytes, version: int = 1, length: int | None = None) -> bytes:
    """A file of this body with the digest that belongs to it."""
    data = state(streamnb.GaussianNB())[:8]
    data += struct.pack("<IQ", version, len(body) if length is None else length) + body
    return data + hashlib.sha256(data).digest()


@pytest.fixture(scope="module")
def body() -> bytes:
    """The body of a file of about 2 KB."""
    return state(model_of(9))[HEAD:-TAIL]


def fading() -> Any:
    """A model whose weights fade, one class of which has faded to nothing."""
    model = streamnb.GaussianNB(half_life=10)
    for n in range(5):
        model.learn_one({"x": 1.0 * n, 3: 2.0}, "ab"[n % 2], t=1e6 * (n > 0) + n)
    model.learn_one({"x": 1.0}, "faded", t=0)
    return model


def fading_counts() -> Any:
    """Blocks of all kinds whose weights fade, one class of which has faded to nothing."""
    model = streamnb.MixedNB({"bag": Bag(), "mail": Text("mail", event="bernoulli")}, half_life=10)
    for n in range(5):
        x = {"x": 1.0 * n, 3: "red", "bag": {"u": n, "v": 0.5}, "mail": "win money", "z": n > 2}
        model.learn_one(x, "ab"[n % 2], t=1e6 * (n > 0) + n)
    model.learn_one({"x": 1.0}, "faded", t=0)
    return model


def windowed() -> Any:
    """A window of three panes of such a model."""
    model = streamnb.Windowed(streamnb.GaussianNB(half_life=10, prior={"a": 1.0}), 10, 5)
    for n in range(5):
        model.learn_one({"x": 1.0 * n, 3: 2.0}, "ab"[n % 2], t=1e6 + n)
    return model


def scatter() -> Any:
    """A scatter of pairs, beside one of complete events, some of them in the block."""
    model = streamnb.LDA(prior_scatter={3: 1.0})
    for x, z in [(0.0, None), (1.0, 2.0), (2.0, 2.0), (4.0, 3.0), (None, 1.0)]:
        model.learn_one({"feature 0": x, 3: z}, "a")
    return model


@pytest.fixture(
    scope="module",
    params=[lambda: model_of(9), fading, fading_counts, windowed, scatter],
    ids=["gaussian", "fading", "fading counts", "windowed", "scatter"],
)
def any_body(request: pytest.FixtureRequest) -> bytes:
    """The body of a file of one kind or another."""
    return state(request.param())[HEAD:-TAIL]


def sound(data: bytes) -> None:
    """Assert that bytes are a CodecError, or a model whose bytes and answers are whole.

    Either way they take no more memory than `MEMORY` to read.
    """
    tracemalloc.start()
    try:
        model = streamnb.loads(data)
    except CodecError:
        model = None
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MEMORY
    if model is None:
        return
    again = streamnb.loads(state(model))
    assert state(again) == state(model)
    proba = model.predict_proba_one({"feature 0": 1.0, 3: 2.0})
    assert not any(math.isnan(p) for p in proba.values())
    assert not proba or math.fsum(proba.values()) == pytest.approx(1.0, rel=1e-9, abs=0)


def test_the_seal_is_the_one_written(body: bytes) -> None:
    """Sealing a body that was not changed gives the file that was written."""
    assert sealed(body) == state(model_of(9))


@pytest.mark.parametrize("version", [0, 2, 3, 255, 2**31, 2**32 - 1])
def test_other_versions(body: bytes, version: int) -> None:
    """A file of a later (or no) version: CodecError that names the version."""
    with pytest.raises(CodecError, match=str(version)):
        streamnb.loads(sealed(body, version))


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**32, 2**63, 2**64 - 1])
def test_a_false_length_of_the_body(body: bytes, length: int) -> None:
    """The length of the body is that of the body."""
    refused(sealed(body, length=length))


def test_every_byte_of_the_body(any_body: bytes, thinned: Thinned) -> None:
    """Each byte changed in turn under a true digest: CodecError or a sound model, in 50 MB."""
    for i in thinned(range(len(any_body))):
        for mask in (1, 255):
            sound(sealed(any_body[:i] + bytes([any_body[i] ^ mask]) + any_body[i + 1 :]))


def test_every_length_in_the_body(any_body: bytes, thinned: Thinned) -> None:
    """2^31 and 2^63 wherever a length could stand, under a true digest: the same, in 50 MB.

    MessagePack's own lengths are big-endian, those within our arrays little-endian.
    """
    lengths = [
        (2**31).to_bytes(4, "big"),
        (2**63).to_bytes(8, "big"),
        (2**31).to_bytes(8, "little"),
        (2**63).to_bytes(8, "little"),
    ]
    for i in thinned(range(len(any_body))):
        new = lengths[i % 2]
        sound(sealed(any_body[:i] + new + any_body[i + len(new) :]))
        new = lengths[2 + i % 2]
        sound(sealed(any_body[:i] + new + any_body[i + len(new) :]))
        new = lengths[1 - i % 2]
        sound(sealed(any_body[:i] + new + any_body[i + len(new) :]))


def test_every_prefix_of_the_body(body: bytes, thinned: Thinned) -> None:
    """A body cut short, or with something behind it, under a true digest: CodecError."""
    for n in thinned(range(len(body))):
        refused(sealed(body[:n]))
    refused(sealed(body + b"\xc0"))
    refused(sealed(body + body))


def tree(body: bytes) -> Any:
    """The body as plain data, extensions as they are."""
    return msgspec.msgpack.decode(
        body, ext_hook=lambda code, data: msgspec.msgpack.Ext(code, bytes(data))
    )


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value within a tree."""
    yield path
    if isinstance(node, dict):
        for key in node:
            yield from places(node[key], (*path, key))
    elif isinstance(node, list):
        for i in range(len(node)):
            yield from places(node[i], (*path, i))


ODD = [
    None, True, 0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.5, math.nan, math.inf, -1e300, "", "text",
    "\x00", b"bytes", [], [[]], [None], ["a", "a"], {}, {"a": 1}, [1, True], [1.5, None],
    msgspec.msgpack.Ext(1, b""), msgspec.msgpack.Ext(1, b"-"), msgspec.msgpack.Ext(1, b"12"),
    msgspec.msgpack.Ext(1, b"9" * 5000), msgspec.msgpack.Ext(1, b"\xff"),
    msgspec.msgpack.Ext(2, b""), msgspec.msgpack.Ext(2, b"\x00"), msgspec.msgpack.Ext(2, b"\xff"),
    msgspec.msgpack.Ext(2, b"\x01" + struct.pack("<Q", 2**63)),
    msgspec.msgpack.Ext(2, b"\x02" + struct.pack("<2Q", 2**32, 0)),
    msgspec.msgpack.Ext(2, b"\x02" + struct.pack("<2Q", 2**62, 4)),
    msgspec.msgpack.Ext(2, b"\x01" + struct.pack("<Qd", 1, math.nan)),
    msgspec.msgpack.Ext(2, b"\x01" + struct.pack("<Q", 1) + b"1234567"),
    msgspec.msgpack.Ext(77, b"1234"), msgspec.msgpack.Ext(-1, b"\x00\x00\x00\x01"),
]  # fmt: skip


def test_other_values_in_every_place(any_body: bytes, thinned: Thinned) -> None:
    """Each value within the body replaced by values of every kind: CodecError or a sound model."""
    whole = tree(any_body)
    for path, odd in thinned([(path, odd) for path in places(whole) for odd in ODD]):
        changed: Any = copy.deepcopy(whole)
        if path:
            node = changed
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = odd
        else:
            changed = odd
        sound(sealed(msgspec.msgpack.encode(changed)))


def test_keys_taken_away_or_added(any_body: bytes) -> None:
    """A mapping that lacks a key, or has one more: CodecError.

    Only a parameter may be lacking: it then has its default, so that files stay readable when a
    model gets another one.
    """
    whole = tree(any_body)
    for path in places(whole):
        node: Any = whole
        for step in path:
            node = node[step]
        if not isinstance(node, dict):
            continue
        for key in [*node, "one more"]:
            changed = copy.deepcopy(whole)
            inner = changed
            for step in path:
                inner = inner[step]
            if key in inner:
                del inner[key]
            else:
                inner[key] = 1
            if path and path[-1] == "parameters" and key in node:
                sound(sealed(msgspec.msgpack.encode(changed)))
            else:
                refused(sealed(msgspec.msgpack.encode(changed)))


def test_ranges_that_overlap(body: bytes) -> None:
    """The same events twice within one file: CodecError, as all that no model can have."""
    whole = tree(body)
    for second in (
        ["topic", 0, 5, 20, "kafka:cluster:id"],
        ["topic", 0, 5, 3, "kafka:cluster:id"],
        ["topic", 0, -5, 3, "kafka:cluster:id"],
    ):
        changed = copy.deepcopy(whole)
        changed["ranges"].append(second)
        refused(sealed(msgspec.msgpack.encode(changed)))


def test_nesting(body: bytes) -> None:
    """A body, a name or a parameter that is nested without end: CodecError, no RecursionError."""
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    for path in (("state", "names"), ("state", "labels"), ("parameters", "prior")):
        changed = tree(body)
        changed[path[0]][path[1]] = deep
        refused(sealed(msgspec.msgpack.encode(changed)))
    for n in (100, 5000, 200_000):
        refused(sealed(b"\x91" * n + b"\x01"))
        refused(sealed(b"\x81\xa1a" * n + b"\x01"))
    names = tree(body)["state"]["names"]
    changed = tree(body)
    place = next(i for i, name in enumerate(names) if isinstance(name, list))
    changed["state"]["names"][place] = deep
    sound(sealed(msgspec.msgpack.encode(changed)))


def test_random_bodies(any_body: bytes, thinned: Thinned) -> None:
    """Noise under a true digest, alone or in the place of a part: CodecError or a sound model."""
    for seed in thinned(range(300)):
        rng = random.Random(seed)
        start, size = rng.randrange(len(any_body)), rng.randrange(1, 12)
        sound(sealed(any_body[:start] + rng.randbytes(size) + any_body[start + size :]))
        sound(sealed(rng.randbytes(rng.randrange(60))))


def test_a_sealed_file_names_itself(body: bytes, tmp_path: Path) -> None:
    """From a file the error names the file."""
    path = tmp_path / "later.snb"
    path.write_bytes(sealed(body, 2))
    with pytest.raises(CodecError, match=r"later\.snb.*2"):
        streamnb.load(path)
