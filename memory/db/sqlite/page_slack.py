"""Bytes of a database file that no row uses: SQLite leaves old content in them, and they are set to zero.

Such are pages of the free list, the gap between the pointers and the cells of a page, cells that were freed,
and the end of the last page of a row that overflows. https://www.sqlite.org/fileformat2.html describes them.
SQLite reads none of these bytes, so they may be overwritten while others read; see ``overwriting`` for what
else must hold.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
TREE_KINDS = frozenset((INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF))
HEADER_BYTES = 100  # of the file, in its first page
LOCK_BYTE = 0x40000000  # the page around it holds nothing
# The first byte of a page with the rest of a long row is the highest of a page's number. Up to here it is 0.
MAX_PAGES = 2**24
BATCH_PAGES = 256  # read at once


class UnknownLayoutError(Exception):
    """Raised for a file of another layout than expected; nothing that a row uses was changed."""


@dataclass(frozen=True)
class Overflow:
    """The part of a long row outside of its page: the first page that holds it, and its length."""

    first: int
    length: int


class SlackCleaner:
    """Sets unused bytes of a database file to zero. The file must not change meanwhile."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._free: set[int] = set()
        self._rest: set[int] = set()  # pages with the rest of long rows
        self._ends: dict[int, int] = {}  # the last page of a long row -> the bytes of it that are used

    def clean_all(self) -> None:
        """Clean every page. Raises UnknownLayoutError."""
        self._read_header()
        self._free, self._rest, self._ends, others = set(), set(), {}, []
        self._clean_free(set())
        for number, page in self._read_pages(range(1, self.count + 1)):
            if number not in self._free and not self._clean_tree(number, page):
                others.append(number)
        if unknown := set(others) - self._rest - {self._lock_page}:
            raise UnknownLayoutError(f"pages of an unknown kind, such as {min(unknown)}")
        for number in self._ends:
            self._clean_end(number)

    def clean_pages(self, numbers: Iterable[int]) -> None:
        """Clean the pages that changed since ``clean_all``, and those that became free since then."""
        self._read_header()
        changed = {number for number in numbers if 1 <= number <= self.count}
        self._clean_free(self._free - changed)
        left, before = sorted(changed - self._free), self._ends
        self._rest, self._ends = set(), {}
        others = [number for number, page in self._read_pages(left) if not self._clean_tree(number, page)]
        # A last page that no changed page names belongs to a row whose length is what it was.
        kept = {number: before[number] for number in set(others) - self._rest if number in before}
        self._ends |= kept
        for number in self._ends:
            self._clean_end(number)

    # ---- the file ------------------------------------------------------------------------------

    def _read_header(self) -> None:
        header = os.pread(self.file, HEADER_BYTES, 0)
        if header[:16] != b"SQLite format 3\0" or header[24:28] != header[92:96]:
            raise UnknownLayoutError("a header of another kind")
        (size,) = struct.unpack_from(">H", header, 16)
        self.size = 65536 if size == 1 else size
        self.usable = self.size - header[20]
        (self.count,) = struct.unpack_from(">I", header, 28)
        self._first_free, self._free_count = struct.unpack_from(">2I", header, 32)
        self._lock_page = LOCK_BYTE // self.size + 1
        (largest_root,) = struct.unpack_from(">I", header, 52)
        if largest_root or self.count > MAX_PAGES or os.fstat(self.file).st_size < self.count * self.size:
            raise UnknownLayoutError("a file that is vacuumed by itself, too large or too short")

    def _read_pages(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the pages with their numbers, which ascend; neighbours are read together."""
        listed, at = list(numbers), 0
        while at < len(listed):
            first = listed[at]
            data = os.pread(self.file, BATCH_PAGES * self.size, (first - 1) * self.size)
            while at < len(listed) and listed[at] < first + BATCH_PAGES:
                start = (listed[at] - first) * self.size
                yield listed[at], self._check_size(data[start : start + self.size])
                at += 1

    def _read_page(self, number: int) -> bytes:
        if not 1 <= number <= self.count:
            raise UnknownLayoutError(f"page {number} of {self.count}")
        return self._check_size(os.pread(self.file, self.size, (number - 1) * self.size))

    def _check_size(self, page: bytes) -> bytes:
        if len(page) != self.size:
            raise UnknownLayoutError("the file ends early")
        return page

    def _clear(self, number: int, page: bytes, start: int, end: int) -> None:
        """Write zeros over a part of a page, unless it has nothing else."""
        if end > start and page.count(0, start, end) != end - start:
            os.pwrite(self.file, bytes(end - start), (number - 1) * self.size + start)

    # ---- pages of the free list ----------------------------------------------------------------

    def _clean_free(self, clean: set[int]) -> None:
        """Clean the pages of the free list, but for those that are clean."""
        self._free, trunk = set(), self._first_free
        while trunk:
            page = self._read_page(trunk)
            trunk = self._clean_trunk(trunk, page, clean)
        if len(self._free) != self._free_count:
            raise UnknownLayoutError("a free list of another length than stated")

    def _clean_trunk(self, trunk: int, page: bytes, clean: set[int]) -> int:
        after, count = struct.unpack_from(">2I", page, 0)
        if trunk in self._free or 8 + 4 * count > self.usable:
            raise UnknownLayoutError("a free list that has no end")
        leaves = struct.unpack_from(f">{count}I", page, 8)
        self._free |= {trunk, *leaves}
        self._clear(trunk, page, 8 + 4 * count, self.usable)
        for number in leaves:
            if number not in clean:
                self._clear(number, self._read_page(number), 0, self.size)
        return int(after)

    # ---- pages of trees ------------------------------------------------------------------------

    def _clean_tree(self, number: int, page: bytes) -> bool:
        """Clean a page of a table or index, and find its long rows; return whether it is one."""
        start = HEADER_BYTES if number == 1 else 0
        if page[start] not in TREE_KINDS:
            return False
        free, cells, content = struct.unpack_from(">3H", page, start + 1)
        pointers = start + (12 if page[start] in (INDEX_INTERIOR, TABLE_INTERIOR) else 8)
        content = content or 65536
        if not pointers + 2 * cells <= content <= self.usable:
            raise UnknownLayoutError(f"cells of page {number}")
        self._clear(number, page, pointers + 2 * cells, content)
        self._clear_freed(number, page, free)
        for one in self._find_overflows(page, page[start], pointers, cells):
            self._follow(one)
        return True

    def _clear_freed(self, number: int, page: bytes, free: int) -> None:
        """Clear cells that were freed, but for the four bytes that chain them."""
        while free:
            if free + 4 > self.usable:
                raise UnknownLayoutError(f"freed cells of page {number}")
            after, size = struct.unpack_from(">2H", page, free)
            if free + size > self.usable or (after and after < free + size):
                raise UnknownLayoutError(f"freed cells of page {number}")
            self._clear(number, page, free + 4, free + size)
            free = after

    # ---- rows that are longer than a page ------------------------------------------------------

    def _find_overflows(self, page: bytes, kind: int, pointers: int, cells: int) -> Iterator[Overflow]:
        if kind == TABLE_INTERIOR or not cells:
            return
        limit = self.usable - 35 if kind == TABLE_LEAF else (self.usable - 12) * 64 // 255 - 23
        starts = np.frombuffer(page, ">u2", cells, pointers).astype(np.intp) + 4 * (kind == INDEX_INTERIOR)
        data = np.frombuffer(page, np.uint8)
        if int(starts.max()) + 9 > len(page):
            starts = starts[starts + 9 <= len(page)]  # the others have no room for a long row
        high, low = data[starts].astype(np.intp), data[starts + 1]
        is_long = (high >= 128) & ((low >= 128) | (((high & 127) << 7 | low) > limit))
        for start in starts[is_long].tolist():
            if found := self._read_cell(page, start, kind, limit):
                yield found

    def _read_cell(self, page: bytes, start: int, kind: int, limit: int) -> Overflow | None:
        length, at = read_varint(page, start)
        if length <= limit:
            return None
        if kind == TABLE_LEAF:
            _row, at = read_varint(page, at)
        least = (self.usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (self.usable - 4)
        local = local if local <= limit else least
        if at + local + 4 > self.usable:
            raise UnknownLayoutError("a cell that leaves its page")
        return Overflow(int.from_bytes(page[at + local : at + local + 4], "big"), length - local)

    def _follow(self, one: Overflow) -> None:
        """Note the pages with the rest of a long row, and how much of the last is used."""
        number, left = one.first, one.length
        while left > self.usable - 4:
            self._rest.add(number)
            page = self._read_page(number)
            (number,) = struct.unpack_from(">I", page, 0)
            left -= self.usable - 4
        self._rest.add(number)
        self._ends[number] = 4 + left

    def _clean_end(self, number: int) -> None:
        """Clear the end of the last page of a long row."""
        page = self._read_page(number)
        if page[:4] != bytes(4):
            raise UnknownLayoutError(f"page {number} is not the last of its row")
        self._clear(number, page, self._ends[number], self.usable)


def read_varint(page: bytes, start: int) -> tuple[int, int]:
    """Return a number of up to nine bytes, and where the next value begins."""
    value = 0
    for at in range(start, start + 8):
        value = value << 7 | page[at] & 127
        if page[at] < 128:
            return value, at + 1
    return value << 8 | page[start + 8], start + 9
