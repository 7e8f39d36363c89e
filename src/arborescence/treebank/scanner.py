"""The scanner of CoNLL-U: one pass over the bytes that finds all columns and checks the format.

Ten columns, none of them empty; words numbered 1, 2, 3; multiword tokens and empty nodes in their
places; heads that are other words, 0 or ``_``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arborescence.compiling.kernels import kernel, takes
from arborescence.treebank.encodings import REMEDY
from arborescence.treebank.sentence import COLUMNS, DEPREL, HEAD, ID, MISC

if TYPE_CHECKING:
    import numpy as np

_TAB, _NEWLINE, _RETURN, _HASH, _HYPHEN, _DOT, _ZERO, _UNDERSCORE = b"\t\n\r#-.0_"

_CARRIAGE_RETURN = 1
_LATE_COMMENT = 2
COLUMN_COUNT = 3
_EMPTY_COLUMN = 4
_BAD_ID = 5
_BAD_RANGE = 6
_BAD_EMPTY_NODE = 7
_BAD_HEAD = 8
_OWN_HEAD = 9
_HEAD_OUTSIDE = 10
_RANGE_OUTSIDE = 11
_NO_WORDS = 12
#: A fault that `scan` does not check: decoding the bytes finds it at no extra cost.
NOT_UTF8 = 13

_MISSING_LINE = (
    "an empty line must end the sentence before, and comments stand before the first word"
)


def describe(fault: int, data: bytes, at: int) -> str:
    """Return a message about a fault in the line of `data` that contains byte `at`."""
    start = data.rfind(b"\n", 0, at) + 1
    line = data[start:].partition(b"\n")[0]
    columns = line.decode(errors="replace").split("\t")
    column = dict(zip(COLUMNS, columns, strict=False))
    number, head = column["ID"], column.get("HEAD", "")
    if fault == COLUMN_COUNT:
        noun = "column" if len(columns) == 1 else "columns"
        shown = line[:60].decode(errors="replace")
        return f"{len(columns)} {noun} where CoNLL-U has 10, separated by single tabs: {shown!r}"
    if fault == _EMPTY_COLUMN:
        empty = next(key for key, value in column.items() if not value)
        if empty == "ID":
            return f"column ID is empty: give the word {column['FORM']!r} its number"
        return f"column {empty} of word {number} is empty: use '_' for none"
    if fault == _BAD_RANGE:
        return _of_range(number)
    if fault == _BAD_ID and number == "1":
        return f"word number 1 within a sentence: {_MISSING_LINE}"
    if fault == _BAD_HEAD:
        fault_of_head = "negative" if head[1:].isdecimal() and head[0] == "-" else "not a number"
        return (
            f"head '{head}' of word {number} is {fault_of_head}: use 0 for the root, '_' for none"
        )
    return {
        _CARRIAGE_RETURN: "has a carriage return that ends no line: lines end in LF or CR LF; "
        "remove it",
        _LATE_COMMENT: f"a comment after the first word of a sentence: {_MISSING_LINE}",
        _BAD_ID: f"word number '{number}' where words must be numbered 1, 2, 3 and so on",
        _BAD_EMPTY_NODE: f"empty node '{number}' does not follow its word or its neighbour",
        _OWN_HEAD: f"word {number} is its own head",
        _HEAD_OUTSIDE: f"head {head} of word {number} lies outside the sentence",
        _RANGE_OUTSIDE: f"multiword token '{number}' ends outside the sentence",
        _NO_WORDS: "comments, multiword tokens or empty nodes without a word",
        NOT_UTF8: f"byte {at - start + 1} of the line is not valid UTF-8: {REMEDY}",
    }[fault]


def _of_range(number: str) -> str:
    """Return a message about the invalid number of a multiword token."""
    first, _, last = number.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        return f"multiword token '{number}' is not two numbers of words, such as 2-3"
    if int(last) < int(first):
        return f"multiword token '{number}' ends before it begins: its first word stands first"
    return (
        f"multiword token '{number}' does not start at the next word, or overlaps another: "
        "it stands before its first word"
    )


@kernel
def _number(data: np.ndarray, start: int, stop: int, padded: bool) -> int:
    """Return a decimal number, or -1 if it is invalid; leading zeros are valid if `padded`."""
    if not 0 < stop - start < 9 or (data[start] == _ZERO and stop - start > 1 and not padded):
        return -1
    number = 0
    for at in range(start, stop):
        digit = int(data[at]) - _ZERO
        if not 0 <= digit <= 9:
            return -1
        number = 10 * number + digit
    return number


@kernel
@takes("uint8[::1], out int32[:, ::1], out int64[:, ::1]")
def scan(data: np.ndarray, spans: np.ndarray, blocks: np.ndarray) -> int:
    """Find and check all sentences in `data`, in one pass; return their number. O(size).

    `data`, uint8 (size,), has whole sentences; blank lines may precede the first. `spans`, int32
    (1 + number of words or more, 11), gets for each word the starts of its columns and of the next
    line, relative to the start of the sentence; an invalid sentence has no rows. `blocks`, int64
    (number of sentences + 1 or more, 5), gets for each sentence its first byte, its first row of
    `spans`, the number of lines before it, its first fault (0 for none) and a byte of the invalid
    line. The last row has the ends in its first three columns.
    """
    at = 0
    row = 0
    line = 0
    count = 0
    while at < data.size:
        start = at
        first_row = row
        first_line = line
        fault = 0
        fault_at = start
        words = 0  # the number of the last word
        empty_nodes = 0  # the number of empty nodes after the last word
        covered = 0  # the last word of the last multiword token
        covered_at = start
        highest_head = 0
        highest_head_at = start
        body = False  # whether the comments have ended
        while at < data.size and data[at] == _NEWLINE:
            at += 1
            line += 1
        line_start = at
        while at < data.size and data[at] != _NEWLINE:
            line_start = at
            column = 0
            returns = False
            spans[row, 0] = at - start
            while at < data.size:
                byte = data[at]
                if byte <= _RETURN:  # a shortcut: most bytes are higher
                    if byte == _TAB:
                        column += 1
                        if column <= MISC:
                            spans[row, column] = at + 1 - start
                    elif byte == _NEWLINE:
                        break
                    elif byte == _RETURN:
                        returns = True
                at += 1
            spans[row, MISC + 1] = at + 1 - start
            if at < data.size:
                at += 1
                line += 1
            if fault:
                continue

            if returns:
                fault = _CARRIAGE_RETURN
            elif data[line_start] == _HASH:
                if body:
                    fault = _LATE_COMMENT
            elif column != MISC:
                fault = COLUMN_COUNT
            else:
                body = True
                for c in range(MISC + 1):
                    if spans[row, c + 1] - 1 == spans[row, c]:
                        fault = _EMPTY_COLUMN
                separator = line_start
                id_stop = start + spans[row, ID + 1] - 1
                while separator < id_stop and data[separator] not in (_HYPHEN, _DOT):
                    separator += 1
                first = _number(data, line_start, separator, False)
                if fault:
                    pass
                elif separator == id_stop:
                    words += 1
                    empty_nodes = 0
                    head_start = start + spans[row, HEAD]
                    head_stop = start + spans[row, DEPREL] - 1
                    head = _number(data, head_start, head_stop, True)
                    if first != words:
                        fault = _BAD_ID
                    elif head == words:
                        fault = _OWN_HEAD
                    elif head < 0:
                        if head_stop - head_start > 1 or data[head_start] != _UNDERSCORE:
                            fault = _BAD_HEAD
                    elif head > highest_head:
                        highest_head = head
                        highest_head_at = line_start
                    row += 1
                elif data[separator] == _HYPHEN:
                    last = _number(data, separator + 1, id_stop, False)
                    if first != words + 1 or last < first or first <= covered:
                        fault = _BAD_RANGE
                    covered = last
                    covered_at = line_start
                else:
                    empty_nodes += 1
                    last = _number(data, separator + 1, id_stop, False)
                    if first != words or last != empty_nodes:
                        fault = _BAD_EMPTY_NODE
            if fault:
                fault_at = line_start
        if line_start == data.size:
            break  # only blank lines
        while at < data.size and data[at] == _NEWLINE:
            at += 1
            line += 1

        if not fault:
            fault_at = line_start
            if words == 0:
                fault = _NO_WORDS
            elif highest_head > words:
                fault = _HEAD_OUTSIDE
                fault_at = highest_head_at
            elif covered > words:
                fault = _RANGE_OUTSIDE
                fault_at = covered_at
        if fault:
            row = first_row
        blocks[count, 0] = start
        blocks[count, 1] = first_row
        blocks[count, 2] = first_line
        blocks[count, 3] = fault
        blocks[count, 4] = fault_at
        count += 1
    blocks[count, 0] = data.size
    blocks[count, 1] = row
    blocks[count, 2] = line
    return count
