"""A shard depends on its records and on nothing else."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb import GaussianNB
from streamnb.provenance import Counters
from streamnb.stream.records import event_decoder
from streamnb.stream.settings import EventFormat
from streamnb.stream.shard import Shard
from streamnb.stream.sources import Batch
from streamnb.testing.driver import events

decode = event_decoder(EventFormat(), print)


class Kafka(NamedTuple):
    """A record of a topic."""

    offset: int
    value: bytes | None
    timestamp: int = 1_700_000_000_000
    key: bytes | None = None
    headers: tuple[()] = ()


VALUES: list[bytes | None] = [*events(60, seed=1)]
VALUES[7], VALUES[8], VALUES[40] = b"{", None, b'{"x": {"f0": "text"}, "y": "a"}'
RECORDS = [Kafka(10 + 2 * place, value) for place, value in enumerate(VALUES)]  # compacted
END = 200


def new() -> Shard:
    return Shard(GaussianNB(), "t", 3, "kafka:c:t", 10)


def whole() -> bytes:
    shard = new()
    shard.learn(Batch(RECORDS, END), decode)
    return shard.dumps()


@given(
    cuts=st.lists(st.tuples(st.integers(0, len(RECORDS)), st.booleans(), st.integers(0, 9))),
)
def test_neither_cuts_nor_restarts_nor_repetitions_show(
    cuts: list[tuple[int, bool, int]],
) -> None:
    shard, begin = new(), 0
    for cut, is_restarted, repeated in sorted(cuts):
        begin = max(0, begin - repeated)
        some = RECORDS[begin:cut]
        shard.learn(Batch(some, some[-1].offset + 1 if some else shard.next), decode)
        begin = max(begin, cut)
        if is_restarted:
            shard = Shard.restored(streamnb.loads(shard.dumps()))
    shard.learn(Batch(RECORDS[max(0, begin - 5) :], END), decode)
    assert shard.dumps() == whole()


def test_counts_and_ranges() -> None:
    model = streamnb.loads(whole())
    assert model.provenance.counters == Counters(ok=57, bad=2, tombstones=1)
    assert [str(each) for each in model.provenance.ranges] == ["t[3] 10..200"]


def test_letters_keep_their_records() -> None:
    _, letters = new().learn(Batch(RECORDS, END), decode)
    assert [letter.record for letter in letters] == [RECORDS[7], RECORDS[40]]
    assert "'f0'" in letters[1].reason


def test_a_gap_stands_between_two_ranges() -> None:
    shard = new()
    shard.learn(Batch(RECORDS[:5], 20), decode)
    shard.skip(15)
    shard.skip(60)
    shard = Shard.restored(streamnb.loads(shard.dumps()))
    shard.learn(Batch(RECORDS, END), decode)
    provenance = streamnb.loads(shard.dumps()).provenance
    assert [str(each) for each in provenance.ranges] == ["t[3] 10..20", "t[3] 60..200"]
    assert provenance.counters.gaps == 40
    learned = [each for each in RECORDS if each.offset < 20 or each.offset >= 60]
    assert provenance.counters.ok + provenance.counters.bad + provenance.counters.tombstones == len(
        learned
    )


def test_more_records_than_positions_would_be_a_fault() -> None:
    shard = new()
    shard.learn(Batch(RECORDS[:5], 12), decode)
    with pytest.raises(RuntimeError, match=r"5 records were counted in t \[3\] 10\.\.12"):
        shard.dumps()
