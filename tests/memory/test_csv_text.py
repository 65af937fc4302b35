"""Lines of CSV."""

from memory.csv_text import write_line


def test_a_line_that_is_written_within_another_mixes_with_none() -> None:
    """As where a thread writes a file of somebody else while this one reads a cell."""

    class Cell:
        def __str__(self) -> str:
            assert write_line(["of another", "file"]) == "of another,file\r\n"
            return "own"

    assert write_line(["first", Cell(), "last"]) == "first,own,last\r\n"
