"""`streamnb show`: what is in a model, a checkpoint or a state folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import click

from streamnb import load
from streamnb.cli.parameters import set_flag, set_readings
from streamnb.cli.progress import counted
from streamnb.cli.settings import Command, NamedPath, argument, flag
from streamnb.models import BayesClassifier
from streamnb.provenance import Provenance
from streamnb.stream.predictions import label_keys

__all__ = ["command"]


@click.command("show", cls=Command)
@argument("input", type=NamedPath(), metavar="INPUT")
@flag("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@set_flag("A reading of the model.")
def command(parameters: dict[str, object], **values: Any) -> None:
    """Show a model: its classes, its parameters, and which events it has learned.

    INPUT is a model file, a checkpoint file or a state folder.
    """
    model = load(values["input"])
    set_readings(model, parameters)
    if values["as_json"]:
        click.echo(json.dumps(_described(model), ensure_ascii=False))
    else:
        click.echo("\n".join(_table(model)))


def _described(model: BayesClassifier) -> dict[str, Any]:
    keys = label_keys(model.classes)
    counters = model.provenance.counters
    return {
        "model": model.description()["model"],
        "classes": list(model.classes),
        "class_weight": {keys[label]: weight for label, weight in model.class_weight.items()},
        "features": len(model.features),
        "parameters": model.description()["parameters"],
        "positions": _positions(model.provenance),
        "counters": None if counters is None else vars(counters),
        "provenance": [
            [each.source, each.partition, each.start, each.next] for each in model.provenance.ranges
        ],
    }


def _positions(provenance: Provenance) -> dict[str, dict[str, int]]:
    """Return where each partition would be gone on with."""
    positions: dict[str, dict[str, int]] = {}
    for each in provenance.ranges:
        partitions = positions.setdefault(each.source, {})
        number = str(each.partition)
        partitions[number] = max(partitions.get(number, 0), each.next)
    return positions


def _table(model: BayesClassifier) -> Iterator[str]:
    shown = _described(model)
    classes = "1 class" if len(model.classes) == 1 else f"{len(model.classes):,} classes"
    yield f"{shown['model']}: {classes}, {counted(len(model.features), 'feature')}"
    if (counters := shown["counters"]) is None:
        yield "learned in a program, which keeps no record of the events"
    else:
        yield (
            f"{counters['ok']:,} learned, {counters['bad']:,} bad, "
            f"{counters['tombstones']:,} tombstones, {counters['gaps']:,} lost in gaps"
        )
    yield ""
    weights = [(label, f"{weight:,.15g}") for label, weight in shown["class_weight"].items()]
    yield from _columns([("class", "weight"), *weights])
    yield ""
    parameters = [(name, json.dumps(value)) for name, value in shown["parameters"].items()]
    yield from _columns([("parameter", "value"), *parameters])
    if model.provenance.ranges:
        yield ""
        header = ("source", "partition", "from", "to", "")
        yield from _columns([header, *_ranges_and_holes(model.provenance)])


def _ranges_and_holes(provenance: Provenance) -> Iterator[Sequence[str]]:
    """Yield the rows of what was learned, and between them of what is missing."""
    before = (*provenance.ranges[:1], *provenance.ranges)
    for last, each in zip(before, provenance.ranges, strict=False):
        place = each.source, str(each.partition)
        is_same = (last.identity, last.partition) == (each.identity, each.partition)
        if is_same and last.next < each.start:
            yield (*place, f"{last.next:,}", f"{each.start:,}", "hole")
        yield (*place, f"{each.start:,}", f"{each.next:,}", "")


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table: the first column and texts to the left, the rest to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
