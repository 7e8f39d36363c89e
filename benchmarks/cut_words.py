"""Text whose words are cut at the ends of lines, and right trees to compare with.

Words are cut between a vowel and a consonant with a vowel, as a typesetter might.
"""

from __future__ import annotations

import io
import re

from arborescence.treebank import raw_text, read

#: Where a word may be cut: two letters before it or more, three after it or more.
PLACE = re.compile(r"(?<=[^\W\d_][aeiouyáéíóúâêôãõèà])(?=[^\W\d_aeiouy][aeiouyáéíóúâêôãõèà]\w)")


def cut(gold, width=70):
    """Return the text of sentences in lines, and the places of the characters after cuts.

    Places are counted without white space and the hyphens of cuts.
    """
    pieces, places = [], []
    line = count = 0
    for paragraph in raw_text(gold).split("\n\n"):
        for chunk in paragraph.split():
            fits = [at.start() for at in PLACE.finditer(chunk) if line + at.start() + 1 < width]
            if line + len(chunk) > width and fits and chunk.strip(".,;:!?()").isalpha():
                pieces += [chunk[: fits[-1]], "-\n", chunk[fits[-1] :], " "]
                places.append(count + fits[-1])
                line = len(chunk) - fits[-1] + 1
            else:
                if line + len(chunk) > width:
                    pieces[-1] = "\n"
                    line = 0
                pieces += [chunk, " "]
                line += len(chunk) + 1
            count += len(chunk)
        pieces[-1] = "\n\n"
        line = 0
    return "".join(pieces), places


def compared(gold, found, places):
    """Return the right sentences as they can be compared, and how many words were joined.

    A word that was not joined has its hyphen in the right sentences, too.
    """
    text = "".join("".join(raw_form.split()) for one in found for raw_form in _tokens(one))
    left = []
    for place in places:
        if text[place + len(left)] == "-":
            left.append(place)
    right, count = [], 0
    for sentence in gold:
        lines = []
        for line, form in _lines(sentence):
            if form:
                inside = [at - count for at in left if count < at < count + len(form)]
                count += len(form)
                for at in reversed(inside):
                    line = line.replace(f"\t{form}\t", f"\t{form[:at]}-{form[at:]}\t", 1)
            lines.append(line)
        right.append("\n".join(lines).strip("\n"))
    text = "".join(f"{one}\n\n" for one in right)
    return list(read(io.BytesIO(text.encode()))), len(places) - len(left)


def _tokens(sentence):
    return (form for _, form in _lines(sentence) if form)


def _lines(sentence):
    """Yield the lines of a sentence, each with the form of its token, or nothing."""
    last = 0
    for line in str(sentence).split("\n"):
        number, _, rest = line.partition("\t")
        first, _, end = number.partition("-")
        form = ""
        if first.isdecimal() and int(first) > last:
            last = int(end or first)
            form = "".join(rest.partition("\t")[0].split())
        yield line, form
