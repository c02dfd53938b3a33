"""The bytes of a model: what is damaged is a `CodecError`, soon and without much memory."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb import CodecError, GaussianNB
from streamnb.provenance import Counters, Provenance, Range

from .verbs import same, state

MEMORY = 50 * 2**20  # what loading may take beyond the file's own size


def model_of(features: int, classes: int = 3) -> GaussianNB:
    """A model with labels and names of each kind, parameters of each kind, and a provenance."""
    rng = random.Random(7)
    model = GaussianNB(
        prior={"a": 0.25, 7: 0.25, 2.5: 0.5},
        prior_count={"a": 1.0},
        known_labels=["a", "zz", True],
        background=0.5,
        shared_variance=True,
    )
    labels = ["a", 7, 2.5, True, *range(10, 10 + max(0, classes - 4))][:classes]
    names: list[Any] = [f"feature {j}" for j in range(features - 2)]
    for _ in range(4):
        for label in labels:
            model.learn_one({n: rng.gauss(5, 2) for n in [*names, 3, ("n", "gram", 1)]}, label)
    model.provenance = Provenance(
        (Range("topic", 0, 0, 12, "kafka:cluster:id"), Range("topic", 3, 5, 9, "kafka:cluster:id")),
        Counters(ok=16, bad=1, tombstones=2, gaps=3),
    )
    return model


@pytest.fixture(scope="module")
def data() -> bytes:
    """A file of about 2 KB."""
    made = state(model_of(9))
    assert 1500 < len(made) < 3000
    return made


def refused(damaged: bytes) -> None:
    """Assert that bytes are a CodecError, and no other error."""
    with pytest.raises(CodecError):
        streamnb.loads(damaged)


def peak_of(action: Any) -> int:
    """The peak of traced memory while an action runs, in bytes."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_every_byte_flipped(data: bytes) -> None:
    """Any one byte changed, in each single bit and in all: CodecError, with bounded memory."""

    def flip_all() -> None:
        for i in range(len(data)):
            for mask in (1, 2, 4, 8, 16, 32, 64, 128, 255):
                refused(data[:i] + bytes([data[i] ^ mask]) + data[i + 1 :])

    assert peak_of(flip_all) < MEMORY + len(data)


def test_every_prefix(data: bytes) -> None:
    """Any prefix, the empty one too: CodecError, with bounded memory."""

    def cut_all() -> None:
        for n in range(len(data)):
            refused(data[:n])

    assert peak_of(cut_all) < MEMORY + len(data)


def test_something_behind_the_end(data: bytes) -> None:
    """Bytes behind the end, or the file twice: CodecError."""
    for tail in (b"\0", b"\n", data, b"x" * 1000):
        refused(data + tail)


LENGTHS = (2**31, 2**31 - 1, 2**32 - 1, 2**63, 2**63 - 1, 2**64 - 1, 2**20)


def windows(data: bytes) -> Any:
    """Every window of 4 or 8 bytes overwritten by each length, in either order of bytes."""
    for i in range(len(data)):
        for size in (4, 8):
            for length in LENGTHS:
                for order in ("little", "big"):
                    if length < 256**size and i + size <= len(data):
                        yield data[:i] + length.to_bytes(size, order) + data[i + size :]


def test_every_length_enormous(data: bytes) -> None:
    """Lengths of 2^31 and 2^63 wherever one could stand: CodecError, with bounded memory."""

    def overwrite_all() -> None:
        for damaged in windows(data):
            if damaged != data:
                refused(damaged)

    assert peak_of(overwrite_all) < MEMORY + len(data)


def test_random_bytes(data: bytes) -> None:
    """Noise, noise behind the true beginning, zeros: CodecError."""
    rng = random.Random(3)
    for n in (0, 1, 4, 8, 16, 100, 2000):
        refused(bytes(n))
        for _ in range(50):
            noise = rng.randbytes(n)
            refused(noise)
            refused(data[: rng.randrange(len(data))] + noise)


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"PK\x03\x04",
        b"\x93NUMPY\x01\x00",
        b'{"model": "GaussianNB"}',
        pickle.dumps(GaussianNB),
        pickle.dumps({"a": 1}),
        b"\x1f\x8b\x08\x00",
        b"\x80" * 5000,
        b"a line of text\n" * 100,
    ],
)
def test_what_is_no_model(other: bytes, tmp_path: Path) -> None:
    """Other people's formats, text, a pickle: CodecError; from a file, one that names it."""
    refused(other)
    path = tmp_path / "other.bin"
    path.write_bytes(other)
    with pytest.raises(CodecError, match=r"other\.bin"):
        streamnb.load(path)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_what_loads_takes(data: bytes, kind: Any) -> None:
    """Bytes of any kind; a text or a number is a TypeError."""
    assert state(streamnb.loads(kind(data))) == data
    for other in ("text", 3, None, [1]):
        with pytest.raises(TypeError):
            streamnb.loads(other)


def test_the_bytes_are_not_aliased(data: bytes) -> None:
    """A model that was loaded from a buffer does not see what becomes of the buffer."""
    buffer = bytearray(data)
    model = streamnb.loads(buffer)
    buffer[:] = bytes(len(buffer))
    assert state(model) == data
    model.learn_one({"feature 0": 1.0}, "a")


def test_size() -> None:
    """Under 48 bytes for each class and feature, beside the names and labels."""
    for features, classes in ((100, 10), (784, 10), (1000, 2)):
        model = GaussianNB()
        rng = random.Random(1)
        names = [f"f{j}" for j in range(features)]
        for label in range(classes):
            for _ in range(3):
                model.learn_one({n: rng.gauss(0, 1) for n in names if rng.random() < 0.9}, label)
        text = sum(len(n) + 8 for n in model.features) + 16 * classes
        assert (len(state(model)) - text - 512) / (features * classes) < 48


def test_a_large_model_round_trips() -> None:
    """10 classes of 2,000 features: the same bytes, in memory of a few times the file."""
    model = GaussianNB()
    rng = random.Random(2)
    for label in range(10):
        for _ in range(2):
            model.learn_one({f"f{j}": rng.random() for j in range(2000)}, label)
    data = state(model)
    same(streamnb.loads(data), model)
    assert peak_of(lambda: streamnb.loads(data)) < MEMORY + len(data)


def test_save_and_load(tmp_path: Path) -> None:
    """A file holds the bytes of dumps; a path may be a str or a Path; load gives the model back."""
    model = model_of(5)
    for path in (tmp_path / "model.snb", str(tmp_path / "other.snb")):
        streamnb.save(model, path)
        assert Path(path).read_bytes() == state(model)
        same(streamnb.load(path), model)
        assert streamnb.load(path).provenance == model.provenance
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.snb", "other.snb"]


def test_save_replaces_at_once(tmp_path: Path) -> None:
    """An existing file is replaced; where writing fails, the old one stays and nothing is left."""
    path = tmp_path / "model.snb"
    streamnb.save(model_of(4), path)
    streamnb.save(model_of(5), path)
    same(streamnb.load(path), model_of(5))
    kept = path.read_bytes()
    with pytest.raises(TypeError):
        streamnb.save("no model", path)
    assert path.read_bytes() == kept
    with pytest.raises(OSError, match="missing"):
        streamnb.save(model_of(4), tmp_path / "missing" / "model.snb")
    assert [p.name for p in tmp_path.iterdir()] == ["model.snb"]


SAVE_UNDER_A_LIMIT = """
import resource, sys, streamnb
model = streamnb.GaussianNB()
model.learn_one({f"f{j}": float(j) for j in range(2000)}, "a")
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    streamnb.save(model, sys.argv[1])
except OSError as error:
    print("OSError", error.errno)
"""


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """Writing that stops in the middle (a limit on file sizes): OSError, the old file whole."""
    path = tmp_path / "model.snb"
    streamnb.save(model_of(4), path)
    kept = path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", SAVE_UNDER_A_LIMIT, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.startswith("OSError")
    assert path.read_bytes() == kept
    assert [p.name for p in tmp_path.iterdir()] == ["model.snb"]


def test_saved_files_can_be_read_by_others(tmp_path: Path) -> None:
    """A saved file has the permissions that the umask gives, not those of a temporary file."""
    plain, path = tmp_path / "plain", tmp_path / "model.snb"
    plain.write_bytes(b"")
    streamnb.save(model_of(4), path)
    assert path.stat().st_mode == plain.stat().st_mode


def test_load_of_no_file(tmp_path: Path) -> None:
    """A file that is not there is Python's own FileNotFoundError."""
    with pytest.raises(FileNotFoundError):
        streamnb.load(tmp_path / "none.snb")


def test_bytes_do_not_depend_on_the_process() -> None:
    """Not on hash randomisation, nor on the day: the sha256 in new processes is the one here."""
    program = (
        "import hashlib, streamnb\n"
        "m = streamnb.GaussianNB(known_labels={'x', 'y', 'z', 'w'})\n"
        "for y in 'cab': m.learn_one(dict.fromkeys({'p', 'q', 'r', 's'}, 1.5), y)\n"
        "print(hashlib.sha256(streamnb.dumps(m)).hexdigest())\n"
    )
    found = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        found.add(done.stdout)
    model = GaussianNB(known_labels=["w", "x", "y", "z"])
    for y in "abc":
        model.learn_one(dict.fromkeys("pqrs", 1.5), y)
    assert found == {hashlib.sha256(state(model)).hexdigest() + "\n"}
