"""Damage of a write-ahead log, in the format of https://www.sqlite.org/fileformat2.html#walformat.

SQLite takes a log up to the first frame whose checksum is wrong, and says nothing of the rest.
"""

import struct
from pathlib import Path

HEADER_BYTES, FRAME_BYTES = 32, 24
MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # and the order of bytes in which checksums are made

Sums = tuple[int, int]


def is_log_damaged(path: Path) -> bool:
    """Return whether the log of a database has a frame that is not as it was written."""
    try:
        data = Path(f"{path}-wal").read_bytes()
    except OSError:
        return False
    if not data:
        return False
    if len(data) < HEADER_BYTES or (order := MAGIC.get(int.from_bytes(data[:4], "big"))) is None:
        return True
    sums = add_up(data[:24], order, (0, 0))
    if sums != struct.unpack(">2I", data[24:HEADER_BYTES]):
        return True
    step, is_whole = FRAME_BYTES + int.from_bytes(data[8:12], "big"), True
    for start in range(HEADER_BYTES, len(data) - step + 1, step):
        head, page = data[start : start + FRAME_BYTES], data[start + FRAME_BYTES : start + step]
        if head[8:16] != data[16:24]:  # the salt of a former log, whose frames may stand behind
            is_whole = False
            continue
        sums = add_up(head[:8] + page, order, sums)
        is_whole = is_whole and sums == struct.unpack(">2I", head[16:])
        if not is_whole:
            return True
    return False


def add_up(data: bytes, order: str, sums: Sums) -> Sums:
    """Return SQLite's checksum of bytes, going on from one of the bytes before."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
