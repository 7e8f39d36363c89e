"""A small treebank with its spaces, paragraphs, multiword tokens and lemmas, for tests."""

from __future__ import annotations

import io

from arborescence.treebank import Sentence, read

# Tokens; "^" before one: no space before it; "a=b+c": a multiword token. With lemmas in LEMMAS.
_TEXTS = """
# The trees grow ^. They do ^n't sing ^. Birds sing ^!
# Do they grow ^? Do birds sing ^? The birds do ^n't grow ^.
# Dr. Oak sings ^. Oak said ^: " ^They grow ^. ^" Mrs. Elm sang ^.
# He goes du=de+le park ^. She went du=de+le garden ^. They sang du=de+le tree ^.
# Trees ^, birds ^, parks ^. Elm ^- ^Oak grew ^. He sings ^( ^they said ^) ^.
# He walked ^. She talked ^. They jumped ^. Birds landed ^. Trees planted ^.
"""
_ENDS = {".", "!", "?"}
LEMMAS = {
    "they": "they", "do": "do", "n't": "not", "birds": "bird", "trees": "tree", "parks": "park",
    "grew": "grow", "sings": "sing", "sang": "sing", "goes": "go", "went": "go", "the": "the",
    "said": "say", "he": "he", "she": "she", "walked": "walk", "talked": "talk",
    "jumped": "jump", "landed": "land", "planted": "plant",
}  # fmt: skip


def lemma_of(form: str) -> str:
    return LEMMAS.get(form.lower(), form)


def _lines(tokens: list[str]) -> str:
    lines = []
    number = 1
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        misc = "SpaceAfter=No" if after.startswith("^") else "_"
        form, _, words = token.removeprefix("^").partition("=")
        parts = words.split("+") if words else [form]
        if words:
            last = number + len(parts) - 1
            lines.append("\t".join([f"{number}-{last}", form, *["_"] * 7, misc]))
            misc = "_"
        for part in parts:
            tag = "PUNCT" if not part[0].isalnum() else "VERB" if part.endswith("ed") else "X"
            columns = [str(number), part, lemma_of(part), tag, *["_"] * 5, misc]
            head = ("0", "root") if number == 1 else ("1", "dep")
            columns[6:8] = head
            lines.append("\t".join(columns))
            number += 1
    return "\n".join(lines) + "\n\n"


def treebank() -> list[Sentence]:
    text = ""
    for line in _TEXTS.strip().split("\n"):
        sentence: list[str] = []
        new = "# newpar\n"
        tokens = line.removeprefix("# ").split()
        for place, token in enumerate(tokens):
            sentence.append(token)
            last = place + 1 == len(tokens)
            if (
                last
                or (token.removeprefix("^") in _ENDS and tokens[place + 1] not in ('^"', "^)"))
                or token == '^"'
            ):
                text += new + _lines(sentence)
                new = ""
                sentence = []
    return list(read(io.BytesIO(text.encode()))) * 4


TREEBANK = treebank()
