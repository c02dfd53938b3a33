# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""How often each token was seen in each class, learned in place: a sparse table.

Only cells that were seen take room. The cells of a token, a count and its class each, stand side by
side in a place for 1, 2, 4, 8, ... of them; a token that outgrows its place moves to a larger one,
and its old place is used again. So learning a token is one look-up and a short walk, and a question
finds all that a token says in one place.

Counts are plain doubles: exact for whole weights. The weights of the classes and the sums of their
counts are kept as hi + lo (D. E. Knuth's TwoSum), so that long streams of other weights keep their
digits.

For Bernoulli's questions the table also keeps, for each class, how many tokens have which count,
while all weights are whole: what all tokens that are absent say is a sum over these.

Where weights fade, all that is stored is of the landmark of a `streamnb._kernels.fading.Fading`,
and moves with it by powers of two. A count below its `least` is none: of a cell, or of what an
event would add to one. A class whose weight has fallen below has no counts.
"""

from __future__ import annotations

try:
    import cython
except ModuleNotFoundError:
    from streamnb._kernels._oracle import cython

from math import fsum
from threading import Lock
from typing import Any

import numpy as np

from streamnb.values import as_event, check_weight, count, event_time, needed_time

if cython.compiled:
    from cython.cimports.libc.math import ldexp
else:
    from math import ldexp

    from streamnb._kernels._oracle.arrays import doubles_of, longs_of
    from streamnb._kernels._oracle.fp import sum_error
    from streamnb._kernels._oracle.names import enter_names, read_tokens

# A class's numbers: weight hi and lo, sum of counts hi and lo, tokens seen, counts in its spread.
HEAD = 6
_HEAD = cython.declare(cython.Py_ssize_t, HEAD)
_LARGE = cython.declare(cython.double, 1e300)
_INFINITY = cython.declare(cython.double, float("inf"))
_LARGE_COUNT = cython.declare(cython.double, 1e140)
_LARGE_WEIGHT = cython.declare(cython.double, 1e15)
# A token's cells: where they begin, and their number, which is that of its classes, in one word.
_SHIFT = cython.declare(cython.longlong, 20)
_NUMBERS = cython.declare(cython.longlong, (1 << 20) - 1)
_NOISE = cython.declare(cython.double, 1e-9)
_MOST_COUNTS = cython.declare(cython.Py_ssize_t, 8192)


@cython.cclass
class CountsTable:
    """The cells of all tokens and classes, and the reading of one event.

    `classes` and `tokens` are the indexes that give labels and tokens their slots (see
    `streamnb.stats.index`). Counts at or below `threshold` are no counts; with `binary` each above
    it counts as 1. `translate`, if given, makes the mapping of tokens to counts of an event; its
    tokens are canonical. Where the index says which token owns which (`owners`, -1 for none), the
    table keeps how many tokens that have a count each of them owns, the count of an owner is the
    sum of theirs, and sums over all tokens mean nothing and are 0. `fading` is given where weights
    fade.
    """

    _classes: Any
    _tokens: Any
    _translate: Any
    _labels: dict[Any, Any]
    _shown: list[Any]
    _names: dict[Any, Any]
    _table_array: Any
    _table: cython.p_longlong  # of the names that are texts, by their hashes: see names.h
    _table_size: cython.longlong
    _entered: cython.Py_ssize_t  # so many of the names are in there
    _owners: Any
    _trusted: cython.bint
    _binary: cython.bint
    _threshold: cython.double
    _fading: Any
    _least: cython.double  # what counts less is nothing; 0 where nothing fades
    _heads_array: Any
    _places_array: Any
    _cells_array: Any
    _slots_array: Any
    _values_array: Any
    _spread_array: Any
    _free_array: Any
    _clock_array: Any
    _groups_array: Any
    _heads: cython.p_double  # class, HEAD numbers
    # token: where its cells begin, times 2^20, plus their number; the address of a text
    _places: cython.p_longlong
    _cells: cython.p_double  # cell, (count, class slot)
    _slots: cython.p_longlong  # the event that was read: token slots
    _values: cython.p_double  # and their counts
    _spread: cython.p_double  # class, (count, tokens that have it), in order of the counts
    _free: cython.p_longlong  # for each power of two the first place that is free, or -1
    _clock: cython.p_longlong
    _groups: cython.p_longlong  # token, (its owner, the tokens that it owns)
    _class_capacity: cython.Py_ssize_t
    _token_capacity: cython.Py_ssize_t
    _cell_capacity: cython.Py_ssize_t
    _event_capacity: cython.Py_ssize_t
    _spread_capacity: cython.Py_ssize_t
    _used: cython.longlong  # how far the cells are in use
    _vocabulary: cython.longlong  # tokens that have a count
    _sum: cython.double  # of the counts in the event that was read
    _lock: Any

    def __init__(
        self,
        classes: Any,
        tokens: Any,
        translate: Any,
        binary: cython.bint,
        threshold: cython.double,
        fading: Any = None,
    ) -> None:
        self._classes = classes
        self._tokens = tokens
        self._translate = translate
        self._labels = classes.slots
        self._shown = classes.order
        self._names = tokens.slots
        self._owners = getattr(tokens, "owners", None)
        self._trusted = translate is not None
        self._binary = binary
        self._threshold = threshold
        self._fading = fading
        self._least = 0.0 if fading is None else fading.least
        self._heads_array = np.zeros(0)
        self._places_array = np.zeros(0, dtype=np.int64)
        self._cells_array = np.zeros(0)
        self._slots_array = np.zeros(0, dtype=np.int64)
        self._values_array = np.zeros(0)
        self._spread_array = np.zeros(0)
        self._groups_array = np.zeros(0, dtype=np.int64)
        self._table_size = self._entered = 0
        self._free_array = np.full(64, -1, dtype=np.int64)
        self._clock_array = np.zeros(2, dtype=np.int64)
        self._class_capacity = self._token_capacity = 0
        self._cell_capacity = self._event_capacity = 0
        # counts that fade are as many as there are tokens
        self._spread_capacity = 16 if binary and fading is None else 0
        self._used = self._vocabulary = 0
        self._sum = 0.0
        self._lock = Lock()
        self._clock = longs_of(self._clock_array)
        self._free = longs_of(self._free_array)
        self.reserve(max(1, len(self._shown)), max(16, len(tokens.slots)))
        self._reserve_cells(32)
        self._reserve_event(32)

    # -- storage ---------------------------------------------------------------------------

    @cython.ccall
    def reserve(self, classes: cython.Py_ssize_t, tokens: cython.Py_ssize_t) -> None:
        """Makes room for so many classes and tokens; what is there stays."""
        if classes > self._class_capacity:
            n: cython.Py_ssize_t = max(classes, 2 * self._class_capacity)
            self._heads_array = _longer(self._heads_array, _HEAD * n)
            self._class_capacity = n
            self._heads = doubles_of(self._heads_array)
            self._lay_spread(self._spread_capacity)
            self._clock[1] += 1
        if tokens > self._token_capacity:
            m: cython.Py_ssize_t = max(tokens, self._token_capacity + self._token_capacity // 4)
            self._places_array = _longer(self._places_array, 2 * m)
            self._token_capacity = m
            self._places = longs_of(self._places_array)
            if self._owners is not None:
                self._groups_array = _longer(self._groups_array, 2 * m)
                self._groups = longs_of(self._groups_array)
            self._clock[1] += 1

    @cython.cfunc
    def _reserve_cells(self, cells: cython.longlong) -> None:
        if cells <= self._cell_capacity:
            return
        n: cython.Py_ssize_t = max(cells, self._cell_capacity + self._cell_capacity // 4)
        self._cells_array = _longer(self._cells_array, 2 * n)
        self._cell_capacity = n
        self._cells = doubles_of(self._cells_array)
        self._clock[1] += 1

    @cython.cfunc
    def _lay_spread(self, capacity: cython.Py_ssize_t) -> None:
        """Gives the spread of each class so much room; 0 gives it up."""
        old = self._spread_array.reshape(-1, max(1, 2 * self._spread_capacity))
        new = np.zeros((self._class_capacity, 2 * capacity))
        width = min(old.shape[1], new.shape[1])
        new[: old.shape[0], :width] = old[:, :width]
        self._spread_array = new.reshape(-1)
        self._spread_capacity = capacity
        if capacity:
            self._spread = doubles_of(self._spread_array)
        self._clock[1] += 1

    @cython.cfunc
    def _reserve_event(self, tokens: cython.Py_ssize_t) -> None:
        if tokens <= self._event_capacity:
            return
        # All is made before any of it takes the place of what is there: another thread may ask.
        n: cython.Py_ssize_t = max(tokens, 2 * self._event_capacity)
        slots: Any = np.zeros(n, dtype=np.int64)
        values: Any = np.zeros(n)
        if cython.compiled:
            slots_view: cython.longlong[::1] = slots
            values_view: cython.double[::1] = values
            if n <= self._event_capacity:
                return
            self._slots = cython.address(slots_view[0])
            self._values = cython.address(values_view[0])
        else:
            self._slots = memoryview(slots)
            self._values = memoryview(values)
        self._event_capacity = n
        self._slots_array = slots
        self._values_array = values
        self._clock[1] += 1

    def buffers(self) -> Any:
        """What a scorer reads in place, until the second number of the clock changes.

        Returns
        -------
        heads, (K, HEAD) flat, with room to spare;
        places, (V, 2) flat: where the cells of a token begin, times 2^20, plus their number; and
        a number that is ours;
        cells, (n, (count, class slot)) flat;
        slots and values: the tokens and counts of the event that `read` has read;
        spread, (K, C, (count, tokens that have it)) flat, in order; empty where it is not kept;
        clock, (2,): changes of the statistics, and those of labels or places.
        """
        return (
            self._heads_array,
            self._places_array,
            self._cells_array,
            self._slots_array,
            self._values_array,
            self._spread_array,
            self._clock_array,
        )

    def groups(self) -> Any:
        """(token, (the slot of its owner or -1, the tokens with a count that it owns)), flat.

        Read in place as `buffers`; a token that has no count may lack its owner.
        """
        return self._groups_array

    def present(self) -> Any:
        """What stored weights are multiplied by to be those of the newest time, (1,), in place."""
        return np.ones(1) if self._fading is None else self._fading.present()

    def vocabulary(self) -> int:
        """How many tokens have a count in any class."""
        return int(self._vocabulary)

    def heads(self) -> Any:
        """The classes' numbers, (class slot, HEAD): a view, not a copy."""
        return self._heads_array.reshape(-1, HEAD)[: len(self._shown)]

    def cells(self) -> Any:
        """All cells: (token slots, class slots, counts), by token slot; copies."""
        places = self._places_array[: 2 * len(self._names) : 2]
        sizes = places & _NUMBERS
        tokens = np.repeat(np.arange(len(places)), sizes)
        first = np.cumsum(sizes) - sizes
        cells = self._cells_array.reshape(-1, 2)[
            np.repeat((places >> _SHIFT) - first, sizes) + np.arange(len(tokens))
        ]
        return tokens, cells[:, 1].astype(np.int64), cells[:, 0].copy()

    def changed(self) -> None:
        """Says that labels have come from elsewhere: what is derived is out of date."""
        self._clock[1] += 1

    def put(self, tokens: Any, classes: Any, counts: Any) -> None:
        """Adds counts to the cells (tokens[i], classes[i]), slots that have room."""
        t: cython.longlong[::1] = tokens
        k: cython.longlong[::1] = classes
        c: cython.double[::1] = counts
        i: cython.Py_ssize_t
        for i in range(tokens.shape[0]):
            self._add(t[i], k[i], c[i])
        self._clock[0] += 1
        self._clock[1] += 1

    # -- reading one event -----------------------------------------------------------------

    @cython.ccall
    def read(self, x: Any) -> cython.Py_ssize_t:
        """Reads the tokens of an event that have slots into `slots` and `values`; their number.

        Raises `TypeError` or `ValueError` as learning would.
        """
        return self._read(x, None)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _read(self, x: Any, new: Any) -> cython.Py_ssize_t:
        """`read`; tokens without a slot go to the list `new`, and their counts, if it is there."""
        event: dict[Any, Any]
        if self._translate is not None:
            event = self._translate(x)
        else:
            event = x if type(x) is dict else as_event(x)
        self._reserve_event(len(event) + 1)
        if self._entered != len(self._names) or self._table_size == 0:
            self._enter()
        n: cython.Py_ssize_t = read_tokens(
            event,
            self._names,
            new,
            self._table,
            self._table_size - 1,
            self._places,
            self._cells,
            self._threshold,
            _LARGE_COUNT,
            self._binary,
            self._trusted,
            self._event_capacity,
            self._slots,
            self._values,
        )
        if n < 0:
            if new is not None:
                new.clear()
            return self._read_any(event, new)
        self._sum = self._values[n] if self._owners is None else 0.0
        return n

    @cython.cfunc
    def _enter(self) -> None:
        """Puts the names that have come since into the table of hashes, at most 4/5 full."""
        size: cython.longlong = max(64, self._table_size)
        while 5 * len(self._names) > 4 * size:
            size *= 2
        if size > self._table_size:
            # All is made before any of it takes the place of what is there: another may ask.
            array: Any = np.zeros(size, dtype=np.int64)
            if cython.compiled:
                view: cython.longlong[::1] = array
                table: cython.p_longlong = cython.address(view[0])
            else:
                table = memoryview(array)
            if size > self._table_size:
                self._entered = enter_names(self._names, 0, table, size - 1, self._places)
                self._table = table
                self._table_size = size
                self._table_array = array
                return
        self._entered = enter_names(
            self._names, self._entered, self._table, self._table_size - 1, self._places
        )

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _read_any(self, event: dict[Any, Any], new: Any) -> cython.Py_ssize_t:
        """`_read` for tokens and counts of any kind. All that may run Python comes first."""
        slots: list[Any] = []
        numbers: list[Any] = []
        v: cython.double
        s: cython.double
        total: cython.double = 0.0
        rest: cython.double = 0.0
        for name, value in event.items():
            slot = self._tokens.find(name)
            v = count(value, name)
            if v <= self._threshold:
                continue
            if self._binary:
                v = 1.0
            s = total + v
            rest += sum_error(total, v, s)
            total = s
            if slot is not None:
                slots.append(slot)
                numbers.append(v)
            elif new is not None:
                new.append((name, v))
        i: cython.Py_ssize_t
        self._reserve_event(len(slots) + 1)
        for i in range(len(slots)):
            self._slots[i] = slots[i]
            self._values[i] = numbers[i]
        if total < _INFINITY:
            total += rest
        self._sum = total if self._owners is None else 0.0
        return len(slots)

    # -- learning --------------------------------------------------------------------------

    @cython.cfunc
    def learn(self, x: Any, y: Any, w: Any, t: Any) -> None:
        """Learns one event; raises and changes nothing where any part of it is refused."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        total: cython.double
        weight: cython.double = w if type(w) is float else -1.0
        if not 0.0 <= weight <= _LARGE_WEIGHT:
            weight = check_weight(w)
        ms: Any = None
        if self._fading is not None:
            ms = needed_time(t)
        elif t is not None:
            event_time(t)
        slot = self._labels.get(y) if type(y) is str or type(y) is int else None
        if slot is None:
            slot = self._classes.find(y)
        new: list[Any] = []
        n: cython.Py_ssize_t = self._read(x, new)
        if self._fading is not None:
            shift = self._fading.shift(ms)
            faded: cython.double = self._fading.weigh(weight, ms)
            if weight == 0.0:
                return
            weight = faded
            n = self._without_faded(n, new, weight)
            self._check(y, slot, self._sum, weight, shift)
            if shift:
                self.fade(shift, self._least)
                new.clear()
                n = self._read(x, new)
                n = self._without_faded(n, new, weight)
            self._fading.move(ms)
        elif weight == 0.0:
            return
        else:
            self._check(y, slot, self._sum, weight, 0)
        total = self._sum
        if slot is None or new:
            slot = self._admit(y, new)
        k = slot
        if type(y) is not type(self._shown[k]):
            self._show(y, k)
        for i in range(n):
            self._add(self._slots[i], k, weight * self._values[i])
        for name, value in new:
            self._add(self._tokens.add(name), k, weight * value)
        _add_to(self._heads, k * _HEAD, weight)
        _add_to(self._heads, k * _HEAD + 2, weight * total)
        self._clock[0] += 1

    def learn_event(self, x: Any, y: Any, w: Any, t: Any) -> None:
        """`learn`, for callers that are not compiled."""
        self.learn(x, y, w, t)

    def check_event(self, x: Any, y: Any, w: cython.double, t: Any) -> None:
        """Raises what `learn` would for an event of weight w, and changes nothing."""
        slot = self._classes.find(y)
        new: list[Any] = []
        n: cython.Py_ssize_t = self._read(x, new)
        shift = 0
        if self._fading is not None:
            ms = needed_time(t)
            shift = self._fading.shift(ms)
            w = self._fading.weigh(w, ms)
            self._without_faded(n, new, w)
        self._check(y, slot, self._sum, w, shift)

    @cython.cfunc
    def _check(
        self, y: Any, slot: Any, total: cython.double, w: cython.double, shift: cython.longlong
    ) -> None:
        """Raises `ValueError` where counts of this sum would make a statistic infinite.

        `shift`: how many half-lives later the landmark will be.
        """
        k: cython.Py_ssize_t
        seen: cython.double = 0.0
        weight: cython.double = 0.0
        if slot is not None:
            k = slot
            weight = self._heads[k * _HEAD]
            seen = self._heads[k * _HEAD + 2]
        if seen + total * w <= _LARGE and weight + w <= _LARGE:
            return
        seen = ldexp(seen, -min(shift, 3000))
        weight = ldexp(weight, -min(shift, 3000))
        if not (np.isfinite(seen + total * w) and np.isfinite(weight + w)):
            msg = f"counts of {total!r} with w={w!r} would make statistics of class {y!r} infinite"
            raise ValueError(msg)

    def _show(self, y: Any, k: int) -> None:
        """Lets a class be shown as y where that is a higher kind than before."""
        before = self._shown[k]
        self._classes.add(y)
        if self._shown[k] is not before:
            self._clock[1] += 1

    def _admit(self, y: Any, new: list[Any]) -> int:
        """Makes room for new tokens, and gives a label its slot; answers that."""
        with self._lock:
            self.reserve(len(self._shown) + 1, len(self._names) + len(new))
            slot = self._classes.find(y)
            if slot is None:
                slot = self._classes.add(y)
                self._clock[1] += 1
        return int(slot)

    @cython.cfunc
    def _add(self, token: cython.longlong, k: cython.longlong, c: cython.double) -> None:
        """Adds c to the count of a token in a class."""
        if c != 0.0:
            i: cython.longlong = self._cell(token, k)
            self._set(k, i, self._cells[2 * i] + c)

    @cython.cfunc
    def _set(self, k: cython.longlong, i: cython.longlong, c: cython.double) -> None:
        """Makes c the count in cell i, of class k."""
        if self._spread_capacity:
            self._respread(k, self._cells[2 * i], c)
        self._cells[2 * i] = c

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _cell(self, token: cython.longlong, k: cython.longlong) -> cython.longlong:
        """The cell of a token and a class, a new one if need be."""
        i: cython.longlong
        start: cython.longlong = self._places[2 * token] >> _SHIFT
        n: cython.longlong = self._places[2 * token] & _NUMBERS
        for i in range(start, start + n):
            if self._cells[2 * i + 1] == k:
                return i
        if n == _NUMBERS:
            msg = f"a token is in {n} classes, and in no more"
            raise ValueError(msg)
        if n == 0:
            self._vocabulary += 1
            if self._owners is not None:
                self._join_group(token)
            start = self._moved(token, 0, 1)
        elif n & (n - 1) == 0:  # the place is full
            i = start
            start = self._moved(token, n, n + 1)
            self._release(i, n)
        self._cells[2 * (start + n)] = 0.0
        self._cells[2 * (start + n) + 1] = k
        self._places[2 * token] += 1
        self._heads[k * _HEAD + 4] += 1.0
        return start + n

    @cython.cfunc
    def _join_group(self, token: cython.longlong) -> None:
        """A token has its first count: its owner has one more."""
        owner: cython.longlong = self._owners[token]
        self._groups[2 * token] = owner
        if owner >= 0:
            self._groups[2 * owner + 1] += 1

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _moved(
        self, token: cython.longlong, n: cython.longlong, least: cython.longlong
    ) -> cython.longlong:
        """Moves the n cells of a token to a place for at least so many; answers where it begins."""
        i: cython.longlong
        size: cython.Py_ssize_t = 0  # of the new place, as a power of two
        room: cython.longlong = 1
        while room < least:
            room *= 2
            size += 1
        start: cython.longlong = self._places[2 * token] >> _SHIFT
        to: cython.longlong = self._free[size]
        if to >= 0:
            self._free[size] = _index(self._cells[2 * to])
        else:
            to = self._used
            self._reserve_cells(to + room)
            self._used = to + room
        for i in range(2 * n):
            self._cells[2 * to + i] = self._cells[2 * start + i]
        self._places[2 * token] = (to << _SHIFT) | n
        return to

    @cython.cfunc
    def _respread(self, k: cython.longlong, before: cython.double, after: cython.double) -> None:
        """A token's count in class k has changed: counts of 0 are not in the spread."""
        if before > 0.0:
            self._spread_by(k, before, -1.0)
        if self._spread_capacity and after > 0.0:
            self._spread_by(k, after, 1.0)

    @cython.cfunc
    def _spread_by(self, k: cython.longlong, c: cython.double, by: cython.double) -> None:
        """Adds `by` to the number of tokens that have the count c in class k."""
        n: cython.Py_ssize_t = _index(self._heads[k * _HEAD + 5])
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = n
        at: cython.Py_ssize_t
        if n == self._spread_capacity:
            # other weights than whole ones have as many counts as there are tokens
            self._lay_spread(2 * n if 2 * n <= _MOST_COUNTS else 0)
            if not self._spread_capacity:
                return
        o: cython.Py_ssize_t = 2 * k * self._spread_capacity
        s = self._spread
        while low < high:
            at = (low + high) // 2
            if s[o + 2 * at] < c:
                low = at + 1
            else:
                high = at
        if low < n and s[o + 2 * low] == c:
            s[o + 2 * low + 1] += by
            if s[o + 2 * low + 1] == 0.0:
                for at in range(o + 2 * low, o + 2 * (n - 1)):
                    s[at] = s[at + 2]
                self._heads[k * _HEAD + 5] = n - 1
            return
        for at in range(o + 2 * n - 1, o + 2 * low - 1, -1):
            s[at + 2] = s[at]
        s[o + 2 * low] = c
        s[o + 2 * low + 1] = by
        self._heads[k * _HEAD + 5] = n + 1

    # -- fading ----------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _without_faded(
        self, n: cython.Py_ssize_t, new: list[Any], w: cython.double
    ) -> cython.Py_ssize_t:
        """Leaves out of the n tokens that were read, and of `new`, what counts nothing."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t = 0
        for i in range(n):
            if w * self._values[i] >= self._least:
                self._slots[j] = self._slots[i]
                self._values[j] = self._values[i]
                j += 1
        kept = [(name, v) for name, v in new if w * v >= self._least]
        if j < n or len(kept) < len(new):
            new[:] = kept
            if self._owners is None:
                self._sum = fsum([self._values[i] for i in range(j)] + [v for _, v in kept])
        return j

    def fade(self, shift: cython.longlong, least: cython.double) -> None:
        """Moves what was seen to a landmark that is so many half-lives later.

        That is by a power of two, and exact, but for what is below `least` then, which is nothing.
        Where a count goes, the sum that it was part of is made anew of those that stay: a class's,
        or its owner's. Where a class has no weight its counts go.
        """
        k: cython.Py_ssize_t
        token: cython.Py_ssize_t
        i: cython.longlong
        start: cython.longlong
        c: cython.double
        by: cython.int = -max(min(shift, 3000), -3000)
        gone: list[Any] = []
        for k in range(len(self._shown)):
            c = ldexp(self._heads[k * _HEAD], by)
            for i in range(k * _HEAD, k * _HEAD + 4):
                self._heads[i] = ldexp(self._heads[i], by) if c >= least else 0.0
        for token in range(len(self._names)):
            start = self._places[2 * token] >> _SHIFT
            for i in range(start, start + (self._places[2 * token] & _NUMBERS)):
                k = _index(self._cells[2 * i + 1])
                c = ldexp(self._cells[2 * i], by)
                if c >= least and self._heads[k * _HEAD] != 0.0:
                    self._cells[2 * i] = c
                else:
                    gone.append((token, k))
        for each, slot in gone:
            self._take(each, slot, 0.0)
        if gone:
            self._sum_anew(gone)
        self._clock[0] += 1

    def _sum_anew(self, gone: list[Any]) -> None:
        """Makes sums anew that counts which are gone were part of, given by (token, class slot).

        They are rounded once, so that the order of the tokens does not show.
        """
        tokens, classes, found = (array.tolist() for array in self.cells())
        owners = [-1] * len(self._names) if self._owners is None else self._owners
        sums: dict[Any, list[Any]] = {(owners[token], k): [] for token, k in gone}
        for token, k, c in zip(tokens, classes, found, strict=True):
            part = sums.get((owners[token], k))
            if part is not None:
                part.append(c)
        for (owner, k), part in sums.items():
            total = fsum(part)
            if self._owners is None:
                self._heads[k * HEAD + 2] = total
                self._heads[k * HEAD + 3] = fsum([*part, -total])
            elif owner >= 0 and self._rest(owner, k, 0.0) > 0.0:
                self._take(owner, k, total)

    # -- unlearning ------------------------------------------------------------------------

    @cython.cfunc
    def unlearn(self, x: Any, y: Any, w: Any, t: Any) -> cython.bint:
        """Takes back one event; tells whether its class has no weight left.

        Raises, and changes nothing, where it cannot have been learned.
        """
        i: cython.Py_ssize_t
        weight: cython.double = check_weight(w)
        faded: cython.double = weight
        ms: Any = None
        if self._fading is not None:
            ms = needed_time(t)
        elif t is not None:
            event_time(t)
        slot = self._classes.find(y)
        new: list[Any] = []
        n: cython.Py_ssize_t = self._read(x, new)
        if self._fading is not None:
            if weight > 0.0 and (self._fading.newest is None or ms > self._fading.newest):
                msg = f"an event of t={t!r} cannot unlearn: it is later than all that was learned"
                raise ValueError(msg)
            faded = self._fading.weigh(weight, ms)
            n = self._without_faded(n, new, faded)
        if weight == 0.0:
            return False
        if slot is None:
            msg = f"class {y!r} cannot unlearn: it has learned nothing"
            raise ValueError(msg)
        if faded == 0.0:
            return False
        weight = faded
        if new:
            msg = f"class {y!r} cannot unlearn {new[0][0]!r}: it was never learned"
            raise ValueError(msg)
        k: cython.Py_ssize_t = slot
        h: cython.Py_ssize_t = k * _HEAD
        total: cython.double = weight * self._sum
        left: cython.double = _left(self._heads[h], self._heads[h + 1], weight)
        sums: cython.double = _left(self._heads[h + 2], self._heads[h + 3], total)
        if left < 0.0 or sums < 0.0:
            msg = f"class {y!r} cannot unlearn with w={w!r}: it has less weight, or fewer counts"
            raise ValueError(msg)
        for i in range(n):
            if self._rest(self._slots[i], k, weight * self._values[i]) < 0.0:
                msg = f"class {y!r} cannot unlearn the event: it has fewer counts of a token"
                raise ValueError(msg)
        bounded: cython.bint = self._binary or self._owners is not None
        least: cython.double = max(left, _NOISE * weight)
        if (left == 0.0 and sums != 0.0) or (bounded and self._most(k, n, weight) > least):
            msg = f"class {y!r} would have less weight than one of its tokens with w={w!r} gone"
            raise ValueError(msg)
        for i in range(n):
            self._take(self._slots[i], k, self._rest(self._slots[i], k, weight * self._values[i]))
        if left == 0.0:
            for i in range(4):
                self._heads[h + i] = 0.0
        else:
            _add_to(self._heads, h, -weight)
            if sums == 0.0:
                self._heads[h + 2] = self._heads[h + 3] = 0.0
            else:
                _add_to(self._heads, h + 2, -total)
        self._clock[0] += 1
        return left == 0.0

    def unlearn_event(self, x: Any, y: Any, w: Any, t: Any) -> bool:
        """`unlearn`, for callers that are not compiled."""
        return bool(self.unlearn(x, y, w, t))

    @cython.cfunc
    def _rest(self, token: cython.longlong, k: cython.longlong, c: cython.double) -> cython.double:
        """What is left of a token's count without c: 0 within rounding, -1 where there is less."""
        i: cython.longlong
        start: cython.longlong = self._places[2 * token] >> _SHIFT
        for i in range(start, start + (self._places[2 * token] & _NUMBERS)):
            if self._cells[2 * i + 1] == k:
                return _left(self._cells[2 * i], 0.0, c)
        return -1.0

    @cython.cfunc
    def _most(self, k: cython.longlong, n: cython.Py_ssize_t, w: cython.double) -> cython.double:
        """The largest count in a class once an event of n tokens is gone, less what is rounding.

        Only its tokens lose w, so it is enough to look at those that are not in the event.
        """
        token: cython.Py_ssize_t
        i: cython.longlong
        start: cython.longlong
        most: cython.double = 0.0
        gone = {self._slots[token] for token in range(n)}
        if self._spread_capacity:
            i = 2 * k * self._spread_capacity + 2 * (_index(self._heads[k * _HEAD + 5]) - 1)
            if _index(self._heads[k * _HEAD + 5]) > 0:
                most = self._spread[i]
            if most <= _left(self._heads[k * _HEAD], self._heads[k * _HEAD + 1], w):
                return most
        most = 0.0
        for token in range(len(self._names)):
            start = self._places[2 * token] >> _SHIFT
            for i in range(start, start + (self._places[2 * token] & _NUMBERS)):
                if self._cells[2 * i + 1] == k and token not in gone:
                    most = max(most, self._cells[2 * i])
        return most * (1.0 - _NOISE)

    @cython.cfunc
    def _take(self, token: cython.longlong, k: cython.longlong, c: cython.double) -> None:
        """Makes c, less than before, the count of a token in a class that has one."""
        i: cython.longlong = self._cell(token, k)
        self._set(k, i, c)
        if c != 0.0:
            return
        start: cython.longlong = self._places[2 * token] >> _SHIFT
        n: cython.longlong = (self._places[2 * token] & _NUMBERS) - 1
        self._cells[2 * i] = self._cells[2 * (start + n)]
        self._cells[2 * i + 1] = self._cells[2 * (start + n) + 1]
        self._places[2 * token] -= 1
        self._heads[k * _HEAD + 4] -= 1.0
        if n == 0:
            self._vocabulary -= 1
            if self._owners is not None and self._groups[2 * token] >= 0:
                self._groups[2 * self._groups[2 * token] + 1] -= 1
            self._release(start, 1)
        elif n & (n - 1) == 0:  # half the place is enough
            self._moved(token, n, n)
            self._release(start, 2 * n)

    @cython.cfunc
    def _release(self, start: cython.longlong, room: cython.longlong) -> None:
        """Lets a place be used again."""
        size: cython.Py_ssize_t = 0
        while (1 << size) < room:
            size += 1
        self._cells[2 * start] = self._free[size]
        self._free[size] = start

    # -- learning many events --------------------------------------------------------------

    def learn_rows(
        self,
        bounds: Any,
        columns: Any,
        values: Any,
        tokens: Any,
        labels: Any,
        classes: Any,
        weights: Any,
    ) -> None:
        """Learns the rows of a sparse table, one after the other, as `learn` would.

        Where the table is not too sparse its cells are added up in an array (column, class) that
        begins with what is there: each cell takes the same sums in the same order.

        Parameters
        ----------
        bounds
            (n + 1,) int64: row r has the cells bounds[r] to bounds[r + 1].
        columns
            (m,) int64, the column of each cell.
        values
            (m,) float64, the counts, above the threshold and finite; 1 where `binary`.
        tokens
            (U,) int64, the token slot of each column, -1 where no row with a weight has it.
        labels
            (n,) int64, the place of each row's class in `classes`.
        classes
            (L,) int64, class slots, all different.
        weights
            (n,) float64, finite and not negative, as they count at the landmark; rows of weight 0
            are passed over.
        """
        b: cython.longlong[::1] = bounds
        u: cython.longlong[::1] = columns
        v: cython.double[::1] = values
        t: cython.longlong[::1] = tokens
        y: cython.longlong[::1] = labels
        k: cython.longlong[::1] = classes
        w: cython.double[::1] = weights
        r: cython.Py_ssize_t
        i: cython.longlong
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t = classes.shape[0]
        s: cython.double
        c: cython.double
        total: cython.double
        rest: cython.double
        whole: cython.bint
        last: cython.Py_ssize_t = bounds.shape[0] - 1
        dense: cython.bint = tokens.shape[0] * n <= 4 * (b[last] - b[0])
        array = np.zeros((tokens.shape[0], n) if dense else (1, 1))
        sums: cython.double[:, ::1] = array
        if dense:
            self._gather(tokens, classes, array)
        for r in range(last):
            if w[r] == 0.0:
                continue
            if dense:
                _add_row(sums, u, v, b[r], b[r + 1], y[r], w[r], self._least)
            total = rest = 0.0
            whole = True
            for i in range(b[r], b[r + 1]):
                c = w[r] * v[i]
                if c < self._least:
                    whole = False
                    continue
                if not dense:
                    self._add(t[u[i]], k[y[r]], c)
                s = total + v[i]
                rest += sum_error(total, v[i], s)
                total = s
            if not whole:
                row = values[b[r] : b[r + 1]]
                total = fsum(row[w[r] * row >= self._least].tolist())
                rest = 0.0
            j = k[y[r]] * _HEAD
            _add_to(self._heads, j, w[r])
            if self._owners is None:
                _add_to(self._heads, j + 2, w[r] * (total + rest))
        if dense:
            self._put_back(tokens, classes, array)
        self._clock[0] += 1

    @cython.cfunc
    def _gather(self, tokens: Any, classes: Any, array: Any) -> None:
        """Copies the counts of tokens (-1: none) and classes into an array of zeros."""
        t: cython.longlong[::1] = tokens
        sums: cython.double[:, ::1] = array
        i: cython.Py_ssize_t
        j: cython.longlong
        at: cython.longlong
        start: cython.longlong
        places = np.full(self._class_capacity, -1, dtype=np.int64)
        places[classes] = np.arange(len(classes))
        of_class: cython.longlong[::1] = places
        for i in range(tokens.shape[0]):
            if t[i] >= 0:
                start = self._places[2 * t[i]] >> _SHIFT
                for at in range(start, start + (self._places[2 * t[i]] & _NUMBERS)):
                    j = of_class[_index(self._cells[2 * at + 1])]
                    if j >= 0:
                        sums[i, j] = self._cells[2 * at]

    @cython.cfunc
    def _put_back(self, tokens: Any, classes: Any, array: Any) -> None:
        """Puts counts from an array, which become 0, in the place of those that `_gather` found."""
        t: cython.longlong[::1] = tokens
        k: cython.longlong[::1] = classes
        sums: cython.double[:, ::1] = array
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        at: cython.longlong
        found: cython.longlong
        start: cython.longlong
        places = np.full(self._class_capacity, -1, dtype=np.int64)
        places[classes] = np.arange(len(classes))
        of_class: cython.longlong[::1] = places
        for i in range(tokens.shape[0]):
            if t[i] < 0:
                continue
            start = self._places[2 * t[i]] >> _SHIFT
            for at in range(start, start + (self._places[2 * t[i]] & _NUMBERS)):
                found = of_class[_index(self._cells[2 * at + 1])]
                if found >= 0 and sums[i, found] != 0.0:
                    if self._cells[2 * at] != sums[i, found]:
                        self._set(k[found], at, sums[i, found])
                    sums[i, found] = 0.0
            for j in range(classes.shape[0]):
                if sums[i, j] != 0.0:
                    at = self._cell(t[i], k[j])
                    self._set(k[j], at, sums[i, j])


@cython.cfunc
@cython.exceptval(check=False)
def _add_row(
    sums: cython.double[:, ::1],
    u: cython.longlong[::1],
    v: cython.double[::1],
    first: cython.longlong,
    last: cython.longlong,
    column: cython.longlong,
    w: cython.double,
    least: cython.double,
) -> cython.void:
    """Adds one row's counts v, w times each where that is not below the least, to a column."""
    i: cython.longlong
    c: cython.double
    for i in range(first, last):
        c = w * v[i]
        if c >= least:
            sums[u[i], column] += c


def _longer(array: Any, n: int) -> Any:
    """A copy of an array that has n numbers, the new ones 0."""
    longer = np.zeros(n, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _index(v: cython.double) -> cython.longlong:
    """A whole number that is kept among doubles."""
    if cython.compiled:
        return cython.cast(cython.longlong, v)
    else:  # noqa: RET505 - the compiler must not see it
        return int(v)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _add_to(h: cython.p_double, i: cython.Py_ssize_t, w: cython.double) -> cython.void:
    """Adds w to the sum h[i] + h[i + 1], which stays normalised."""
    s: cython.double = h[i] + w
    e: cython.double = sum_error(h[i], w, s) + h[i + 1]
    h[i] = s + e
    h[i + 1] = e - (h[i] - s)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _left(a: cython.double, a_lo: cython.double, c: cython.double) -> cython.double:
    """What is left of a + a_lo without c: 0 within rounding, -1 where there is less."""
    rest: cython.double = (a - c) + a_lo
    if -_NOISE * c <= rest <= _NOISE * c:
        return 0.0
    return rest if rest > 0.0 else -1.0


def unlearn_one(self: Any, x: Any, y: Any, w: Any = 1.0, t: Any = None) -> None:
    """Takes back one event that was learned, as if it had never been.

    Bound as a method by the models whose `_table` is a `CountsTable`. Whole weights and counts are
    exact; of others a rest within 1e-9 of what is taken away is rounding, and read as 0.

    Parameters
    ----------
    x, y, w, t
        the event as it was learned; with a half-life also its time. What has faded to nothing is
        not there to be taken back, and the newest time stays as it is.

    Raises
    ------
    TypeError
        something is of the wrong kind.
    ValueError
        this cannot have been learned: the class or a token is unknown, a weight or a count would
        become negative, or a class's weight less than a token's in it. Nothing was changed.
    """
    table: CountsTable = self._table
    if table.unlearn(x, y, w, t):
        self._forget(y)


def learn_one(self: Any, x: Any, y: Any, w: Any = 1.0, t: Any = None) -> None:
    """Learns one event; bound as a method by the models whose `_table` is a `CountsTable`.

    Parameters
    ----------
    x
        a mapping of tokens (str, int or tuples of them) to counts, finite and not negative; a
        count of 0 (for BernoulliNB: up to `threshold`) is the same as none. With `text`, a mapping
        that has a text in that field.
    y
        the label: a str, int, bool or float. A label that was never seen is a new class.
    w
        the event's weight, finite and not negative. 0 changes nothing.
    t
        the event's time: seconds since the epoch, or a `datetime` (a naive one is in UTC); needed
        with a half-life.

    Raises
    ------
    TypeError
        something is of the wrong kind.
    ValueError
        a count is negative, infinite or missing; a weight is out of range, or a statistic would
        be; with a half-life there is no time. Whatever is raised, nothing was learned.
    """
    table: CountsTable = self._table
    table.learn(x, y, w, t)
