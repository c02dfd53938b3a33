"""What a record's bytes may hold, and what of it is an event."""

import json
import time

import pytest

from streamnb import ConfigError
from streamnb.stream.records import (
    AHEAD,
    REFUSED,
    event_decoder,
    event_time,
    question_decoder,
)
from streamnb.stream.settings import EventFormat


def decoded(value: bytes, **names: str) -> tuple[object, ...]:
    event = event_decoder(EventFormat(**names), pytest.fail)(value)
    return event.x, event.y, event.w, event.t


@pytest.mark.parametrize(
    ("value", "event"),
    [
        (b'{"x": {"a": 1.5}, "y": "spam"}', ({"a": 1.5}, "spam", 1.0, None)),
        (b'{"y": 1, "x": {}, "w": 2, "t": 3}', ({}, 1, 2.0, 3.0)),
        (b'{"x": {"a": null}, "y": true, "t": null}', ({"a": None}, True, 1.0, None)),
        (
            b'{"x": {"a": "b", "c": true, "d": 3}, "y": 0}',
            ({"a": "b", "c": True, "d": 3}, 0, 1, None),
        ),
        (b'{"x": {"a": 1, "a": 2}, "y": "b", "y": "c"}', ({"a": 2}, "c", 1.0, None)),
        (b' {"x": {}, "y": "", "z": {"q": [1]}, "id": 4} ', ({}, "", 1.0, None)),
        ('{"x": {"größe": 1}, "y": "ß\\u00e4"}'.encode(), ({"größe": 1}, "ßä", 1.0, None)),
    ],
)
def test_an_event(value: bytes, event: tuple[object, ...]) -> None:
    assert decoded(value) == event


@pytest.mark.parametrize("value", [b"1", b"1.0", b"true", b'"1"'])
def test_labels_and_features_keep_their_kinds(value: bytes) -> None:
    x, y, _, _ = decoded(b'{"x": {"a": ' + value + b'}, "y": ' + value + b"}")
    kind = type(json.loads(value))
    assert type(y) is kind
    assert isinstance(x, dict)
    assert type(x["a"]) is kind


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b"{}",
        b'{"x": {}}',
        b'{"y": "a"}',
        b'{"x": {}, "y": null}',
        b'{"x": {}, "y": []}',
        b'{"x": {}, "y": {"a": 1}}',
        b'{"x": null, "y": "a"}',
        b'{"x": [], "y": "a"}',
        b'{"x": {"a": [1]}, "y": "a"}',
        b'{"x": {"a": {}}, "y": "a"}',
        b'{"x": {"a": NaN}, "y": "a"}',
        b'{"x": {"a": Infinity}, "y": "a"}',
        b'{"x": {"a": 1e999}, "y": "a"}',
        b'{"x": {"a": 01}, "y": "a"}',
        b'{"x": {}, "y": "a", "w": "1"}',
        b'{"x": {}, "y": "a", "w": true}',
        b'{"x": {}, "y": "a", "w": null}',
        b'{"x": {}, "y": "a", "t": "now"}',
        b'{"x": {}, "y": "a"} {}',
        b'{"x": {}, "y": "a"}\n{"x": {}, "y": "a"}',
        b'{"x": {}, "y": "a",}',
        b"{'x': {}, 'y': 'a'}",
        b'{"x": {}, "y": "\xff"}',
        b'{"x": {}, "y": "a", "z": "\xff"}',
        b'{"x": {}, "y": "a", "id": ["\xff"]}',
        b'{"x": {}, "y": "a", "\xff": 1}',
        b'{"x": {"\xff": 1}, "y": "a"}',
        b'{"x": {}, "y": "\\ud800"}',
        b'{"x": {}, "y": "a", "z": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
@pytest.mark.parametrize("label", [None, "y"])
def test_no_event(value: bytes, label: str | None) -> None:
    if label is not None and value in TAKEN_WHERE_FLAT:
        return
    with pytest.raises(REFUSED) as caught:
        event_decoder(EventFormat(label=label), lambda _: None)(value)
    assert str(caught.value)


TAKEN_WHERE_FLAT = {
    b'{"y": "a"}',
    b'{"x": null, "y": "a"}',
    b'{"x": [], "y": "a"}',
    b'{"x": {"a": [1]}, "y": "a"}',
    b'{"x": {"a": {}}, "y": "a"}',
    b'{"x": {}, "y": "a", "w": "1"}',
    b'{"x": {}, "y": "a", "w": true}',
    b'{"x": {}, "y": "a", "w": null}',
    b'{"x": {}, "y": "a", "t": "now"}',
}


FLAT = {"label": "kind", "weight_field": "n", "time_field": "at", "id_field": "key"}


class TestFlat:
    def test_all_other_scalars_are_features(self) -> None:
        value = (
            b'{"kind": "a", "n": 2, "at": 7, "key": "k", "b": 1, "c": "d", "e": null, "f": false}'
        )
        x = {"b": 1, "c": "d", "e": None, "f": False}
        assert decoded(value, **FLAT) == (x, "a", 2.0, 7.0)

    def test_weight_time_and_id_may_be_missing(self) -> None:
        assert decoded(b'{"kind": 3, "b": 1}', **FLAT) == ({"b": 1}, 3, 1.0, None)

    def test_nested_values_are_left_out_with_one_warning(self) -> None:
        warnings: list[str] = []
        decode = event_decoder(EventFormat(label="kind"), warnings.append)
        for _ in range(3):
            assert decode(b'{"kind": "a", "b": 1, "tags": ["c"], "more": {"d": 1}}').x == {"b": 1}
        assert warnings == ["flat events hold nested values, which are left out: 'tags' is one"]

    @pytest.mark.parametrize(
        "value",
        [
            b'{"b": 1}',
            b'{"kind": null}',
            b'{"kind": ["a"]}',
            b'{"kind": "a", "n": "2"}',
            b'{"kind": "a", "n": null}',
            b'{"kind": "a", "n": true}',
            b'{"kind": "a", "at": "noon"}',
        ],
    )
    def test_refused(self, value: bytes) -> None:
        with pytest.raises((TypeError, ValueError), match=r"'kind'|'n'|'at'"):
            decoded(value, **FLAT)

    def test_fields_without_the_label_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="weight_field and id_field"):
            event_decoder(EventFormat(weight_field="n", id_field="key"), pytest.fail)


class TestQuestions:
    def test_needs_no_label(self) -> None:
        decode = question_decoder(EventFormat(), pytest.fail)
        question = decode(b'{"x": {"a": 1}, "y": [1], "w": "no", "id": {"b": 2}}')
        assert (question.x, bytes(question.id)) == ({"a": 1}, b'{"b": 2}')
        assert bytes(decode(b'{"x": {}}').id) == b"null"

    @pytest.mark.parametrize("label", [None, "y"])
    def test_an_id_is_one_line(self, label: str | None) -> None:
        names = {} if label is None else {"label": label, "id_field": "id"}
        decode = question_decoder(EventFormat(**names), lambda _: None)
        value = b'{"x": {},\n"id": {\r\n\t"a b": [1.0e5,\n1],\n"c": "d\\n\xc3\xa4"\n}\n}'
        assert bytes(decode(value).id) == b'{"a b":[1.0e5,1],"c":"d\\n\xc3\xa4"}'

    @pytest.mark.parametrize("label", [None, "y"])
    @pytest.mark.parametrize("key", [b"id", b"z"])
    def test_what_is_no_utf8_is_refused(self, label: str | None, key: bytes) -> None:
        names = {} if label is None else {"label": label, "id_field": "id"}
        decode = question_decoder(EventFormat(**names), lambda _: None)
        with pytest.raises(REFUSED, match="utf-8"):
            decode(b'{"x": {}, "' + key + b'": "\xff"}')

    def test_flat_without_what_learning_reads(self) -> None:
        decode = question_decoder(EventFormat(**FLAT), lambda _: None)
        question = decode(b'{"kind": "a", "n": 1, "at": 2, "key": [3], "b": 4}')
        assert (question.x, bytes(question.id)) == ({"b": 4}, b"[3]")
        assert bytes(decode(b'{"b": 4}').id) == b"null"

    def test_flat_without_an_id(self) -> None:
        decode = question_decoder(EventFormat(label="kind"), pytest.fail)
        question = decode(b'{"kind": "a", "id": 1}')
        assert (question.x, bytes(question.id)) == ({"id": 1}, b"null")


class TestTime:
    def test_its_own_then_the_records(self) -> None:
        assert event_time(5.0, None) == 5.0
        assert event_time(None, None) is None
        assert event_time(None, -1) is None
        assert event_time(5.0, -1) == 5.0
        assert event_time(None, 1_700_000_000_123) == 1_700_000_000.123

    def test_at_most_an_hour_after_its_record(self) -> None:
        now = int(time.time() * 1000)
        assert event_time(now / 1000 + 1e9, now) == now / 1000 + AHEAD
        assert event_time(now / 1000 + AHEAD - 1, now) == now / 1000 + AHEAD - 1
        assert event_time(0.0, now) == 0.0
