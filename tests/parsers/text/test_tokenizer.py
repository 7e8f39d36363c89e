"""Raw text to sentences and words: what is learned, what is kept, and hostile text."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import random
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import arborescence as arb
from arborescence.errors import ModelError, TreebankError
from arborescence.parsers.text import Text, Tokenizer
from arborescence.parsers.text import tokenizer as module
from arborescence.parsers.text.tokenizer import TrainingText, tokens_of
from arborescence.parsers.text.writing import LONGEST_SENTENCE
from arborescence.treebank import Sentence, raw_text, read, write
from hostile import changed
from official_validator import faults_of_level_1
from raw_texts import TREEBANK


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(TREEBANK)


def forms(sentences):
    return [sentence.forms for sentence in sentences]


def text_again(sentences):
    """Put the text together again from tokens and MISC; a paragraph ends where one begins."""
    text = ""
    for sentence in sentences:
        if "# newpar" in sentence.comments and text:
            text = text.rstrip(" ") + "\n\n"
        for token in tokens_of([sentence])[0][0]:
            text += token.form + " " * token.spaced
    return text.strip()


def test_learns_what_it_is_taught(tokenizer):
    paragraphs = tokens_of(TREEBANK[: len(TREEBANK) // 4])
    text = TrainingText.of(paragraphs, np.random.default_rng(0), plain=True).text
    assert forms(tokenizer.split(text)) == forms(TREEBANK[: len(TREEBANK) // 4])


def test_new_text(tokenizer):
    found = list(tokenizer.split("Mrs. Oak don't sing. Do trees\n grow?\n\nShe goes du tree!"))
    assert forms(found) == [
        ["Mrs.", "Oak", "do", "n't", "sing", "."],
        ["Do", "trees", "grow", "?"],
        ["She", "goes", "de", "le", "tree", "!"],
    ]
    assert found[2].multiwords == [(3, 4, "du")]
    assert [sentence.text for sentence in found] == [
        "Mrs. Oak don't sing.", "Do trees grow?", "She goes du tree!",
    ]  # fmt: skip
    assert [sentence.sent_id for sentence in found] == ["1", "2", "3"]
    assert ["# newpar" in sentence.comments for sentence in found] == [True, False, True]
    assert found[0].misc == ["_", "_", "SpaceAfter=No", "_", "SpaceAfter=No", "_"]
    assert found[1].misc[1] == r"SpacesAfter=\n\s"
    assert found[0].tree.tolist() == [-1] * 7


def test_case_is_kept(tokenizer):
    [sentence] = tokenizer.split("DU TREES DON'T GROW.")
    assert sentence.forms[:2] == ["DE", "LE"]
    assert "N'T" in sentence.forms


def test_lines_are_sentences(tokenizer):
    found = list(tokenizer.split("The trees. Birds sing\nThey grow.\n\n\nOak", lines=True))
    assert [sentence.text for sentence in found] == ["The trees. Birds sing", "They grow.", "Oak"]
    assert not any("# newpar" in sentence.comments for sentence in found)


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n", "\u2028\u3000"])
def test_nothing_gives_nothing(tokenizer, text):
    assert list(tokenizer.split(text)) == []
    assert list(tokenizer.split(text, lines=True)) == []


def test_much_white_space(tokenizer):
    """However much there is, it separates words, and only that."""
    spaces = ["\n", "\n\n", " ", "\n ", "\n" * 7 + "\t"]
    for space in spaces:
        for count in (1 << 15, 1 << 16, (1 << 16) + 3):
            blank = (space * count)[:count]
            assert list(tokenizer.split(blank)) == []
            texts = [
                "Birds sing.",
                f"{blank}Birds sing.",
                f"Birds{blank}sing.",
                f"Birds sing.{blank}",
            ]
            for text in [*texts, f"They grow.{blank}{blank}Birds sing."]:
                found = [word for sentence in tokenizer.split(text) for word in sentence.forms]
                assert found[-3:] == ["Birds", "sing", "."]
                assert found[:-3] in ([], ["They", "grow", "."])
    assert list(tokenizer.split("\n" * 65536, lines=True)) == []


def test_every_character_is_kept(tokenizer):
    """White space aside, whatever the text holds comes out again, in the same order."""
    generator = random.Random(1)
    pool = [
        *"abcXYZ019.,!?'\"()[]-#@_|\\=", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\0", "\x07",
        "\x1c", "\x85", "\xa0", "\ufeff", "\u200d", "\u0301", "\u2028", "\u3000", "é", "ß", "İ",
        "中", "ア", "ـ", "🙂", "👩\u200d🚒", "\U0010ffff", "du", "n't", "1-2",
        "# text = x", "\ue000",
    ]  # fmt: skip
    for _ in range(300):
        text = "".join(generator.choices(pool, k=generator.randrange(1, 60)))
        for lines in (False, True):
            found = list(tokenizer.split(text, lines=lines))
            tokens = [t.form for p in tokens_of(found) for s in p for t in s]
            assert "".join(tokens) == "".join(text.split())
            assert [s.text for s in found if s.text != text_again([s])] == []


def test_line_ends_and_byte_order_marks(tokenizer):
    for text in (b"\xef\xbb\xbfThey grow.\r\n\r\nBirds sing.\r\n", b"They grow.\n \nBirds\rsing."):
        found = list(Text(tokenizer, None).read(io.BytesIO(text)))
        assert forms(found) == [["They", "grow", "."], ["Birds", "sing", "."]]
        assert found[0].comments[:2] == ["# newdoc", "# newpar"]


def test_files_and_gzip(tokenizer, tmp_path):
    plain, packed = tmp_path / "my letter.txt", tmp_path / "a.txt.gz"
    plain.write_text("They grow. Birds sing.")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    found = list(Text(tokenizer, None).read(plain))
    assert found[0].comments[:3] == [
        "# newdoc id = my-letter",
        "# newpar",
        "# sent_id = my-letter-1",
    ]
    assert forms(found) == forms(Text(tokenizer, None).read(packed))
    packed.write_bytes(packed.read_bytes()[:-5])
    with pytest.raises(TreebankError, match="cut off"):
        list(Text(tokenizer, None).read(packed))


def test_bytes_that_are_no_text(tokenizer):
    with pytest.raises(TreebankError, match=r"<stream>:3: byte 0xff is not UTF-8"):
        list(Text(tokenizer, None).read(io.BytesIO(b"fine\nfine\nno\xff\n")))
    with pytest.raises(TreebankError, match="half of a character"):
        list(tokenizer.split("a \ud800 b"))


def test_a_text_in_pieces_is_the_same_text(tokenizer, monkeypatch):
    """However it is cut up, and where paragraphs are longer than what is looked at at once."""
    text = "They grow. Do birds sing? He went du park. " * 40 + "\n\n" + "Oak sang.\n\n" * 30
    whole = [s.text for s in tokenizer.split(text)]
    assert len(whole) == 150
    monkeypatch.setattr(module, "_PIECE", 300)
    monkeypatch.setattr(module, "_AGAIN", 60)
    for size in (1, 7, 1000, len(text)):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        found = list(tokenizer.stream(pieces))
        assert [s.text for s in found] == whole
        assert [s.sent_id for s in found] == [str(i) for i in range(1, 151)]
        assert sum("# newpar" in s.comments for s in found) == 31


def test_long_sentences_are_cut_with_one_warning(tokenizer):
    text = "trees, " * 900 + "birds.\n\n" + "parks " * 1200
    with pytest.warns(UserWarning, match="sentence 1 has 1802 words: it was cut") as caught:
        found = list(tokenizer.split(text, lines=True))
    assert len(caught) == 1
    assert max(map(len, found)) <= LONGEST_SENTENCE
    assert sum(map(len, found)) == 1802 + 1200
    told = []
    list(tokenizer.stream([text], lines=True, name="x", warn=told.append))
    assert [message.partition(" ")[0] for message in told] == ["x:"]


def test_much_text_without_spaces(tokenizer):
    """Time and memory stay linear, and nothing is lost."""
    text = "x" * 300_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(tokenizer.split(text))
    assert "".join(form for s in found for form in s.forms) == text


def test_words_with_spaces():
    taught = [Sentence.from_words(["He", "has", "10 000", "trees", "."])] * 20
    tokenizer = Tokenizer.train(taught)
    assert forms(tokenizer.split("He has 10  000 trees ."))[0][2] == "10 000"


def test_the_same_seed_gives_the_same_tokenizer(tokenizer):
    again = Tokenizer.train(TREEBANK)
    (header, arrays), (again_header, again_arrays) = tokenizer.to_file(), again.to_file()
    for name, array in arrays.items():
        assert np.array_equal(array, again_arrays[name])
    assert header == again_header


def test_line_ends_mean_something_where_the_next_word_would_have_fitted(tokenizer):
    lines = "The trees grow\nBirds do not sing\nThey said he went"
    assert len(list(tokenizer.split(lines))) >= 2


def test_survives_its_model_file():
    text = Text.train(TREEBANK)
    header, arrays = text.to_file()
    again = Text.from_file(json.loads(json.dumps(header)), arrays)
    raw = "They don't grow. He went du park!\n\nBirds sang."
    assert list(again.tokenizer.split(raw)) == list(text.tokenizer.split(raw))
    assert again.lemmatizer
    assert text.lemmatizer
    assert list(again.lemmatizer.lemmatize(TREEBANK, overwrite=True)) == list(
        text.lemmatizer.lemmatize(TREEBANK, overwrite=True)
    )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tokenizer/words/gaps", lambda gaps: np.full(10**5, 255, dtype=np.uint8)),
        ("tokenizer/words/gaps", lambda gaps: gaps[1:]),
        ("tokenizer/words/gaps", lambda gaps: gaps * 0),
        ("tokenizer/sentences/weights", lambda weights: weights.astype(np.float64)),
        ("tokenizer/multiwords/known", lambda known: known.astype(np.float32)),
        ("lemmatizer/known", lambda known: known[np.newaxis]),
        ("lemmatizer/weights", None),
    ],
)
def test_damaged_arrays_are_refused(name, change):
    text = Text.train(TREEBANK)
    header, arrays = text.to_file()
    with pytest.raises(ModelError):
        Text.from_file(header, changed(arrays, name, change))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 99),
        (("tokenizer",), None),
        (("tokenizer", "with_spaces"), 1),
        (("tokenizer", "multiwords"), []),
        (("tokenizer", "multiwords", "rules"), [[0, "", "x", "no stem"]]),
        (("tokenizer", "multiwords", "rules"), [[7, "", "x", "\0 le"]]),
        (("tokenizer", "multiwords", "rules"), [[0, "", "x", "\0\tle"]]),
        (("tokenizer", "multiwords", "rules"), [[0, "", "x", "\0  le"]]),
        (("tokenizer", "multiwords", "rules"), [[0, "", "x", "\0\0"]]),
        (("tokenizer", "multiwords", "exceptions"), {"du": ["de\nle"]}),
        (("tokenizer", "multiwords", "exceptions"), {"du": "de le"}),
        (("lemmatizer", "exceptions"), {"du": ["\ud800"]}),
        (("lemmatizer", "rules"), 3),
    ],
)
def test_damaged_headers_are_refused(path, value):
    text = Text.train(TREEBANK)
    header, arrays = text.to_file()
    header = json.loads(json.dumps(header))
    inner = header
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(ModelError):
        Text.from_file(header, arrays)


def test_nothing_to_learn_from():
    with pytest.raises(TreebankError, match="no sentences"):
        Tokenizer.train([])


def test_sentences_of_tokens_cut_elsewhere():
    tokenizer = arb.load("english").text.tokenizer
    text = " Mrs. Oak\nsings.\n\nDo trees grow? She goes home\n"
    found = list(tokenizer.split(text))
    assert len(found) == 3
    starts, stops, at = [], [], 0
    for form in (form for sentence in found for form in sentence.forms):
        starts.append(text.index(form, at))
        at = starts[-1] + len(form)
        stops.append(at)
    ends = np.cumsum([len(sentence) for sentence in found]).tolist()
    assert tokenizer.sentence_stops(text, starts, stops) == ends
    assert tokenizer.sentence_stops(" ", [], []) == []


#: White space, text with marks and controls, and words.
PIECES = [
    *"ab.X!'|\\", " ", "  ", "\n", "\n\n", "\n \n", "\r\n", "\r", "\t", "\v", "\f", "\x1c", "\x85",
    "\u00a0", "\u202f", "\u2028", "\u2029", "\u3000", "\u00ad", "\u200b", "\ufeff", "\0", "\x07",
    "Birds sing.", "They don't", "du", "10\u00a0000", "- ", "_", "# text = x", "1-2",
    "SpaceAfter=No",
]  # fmt: skip


@pytest.fixture(scope="module")
def with_spaces():
    taught = [Sentence.from_words(["He", "has", "10 000", "trees", "."])] * 20
    return Tokenizer.train(taught)


@given(
    text=st.lists(st.sampled_from(PIECES)).map("".join), lines=st.sampled_from([None, False, True])
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.parametrize("piece", [1 << 15, 7])
def test_the_text_comes_back_from_conllu(tokenizer, with_spaces, monkeypatch, piece, text, lines):
    """Character by character, from what is written into a file, wherever pieces are cut."""
    monkeypatch.setattr(module, "_PIECE", piece)
    monkeypatch.setattr(module, "_AGAIN", min(module._AGAIN, piece // 2))
    for each in (tokenizer, with_spaces):
        file = io.BytesIO()
        write(each.split(text, lines=lines), file)
        file.seek(0)
        found = raw_text(read(file))
        if piece > len(text):
            assert found == (text if text.split() else "")
        else:  # white space at the very end may be longer than what is looked at at once
            assert found.rstrip() == text.rstrip()


def test_the_official_validator_takes_all_white_space(tokenizer, with_spaces):
    generator = random.Random(1)
    text = "".join(generator.choices(PIECES, k=4000))
    for each in (tokenizer, with_spaces):
        assert faults_of_level_1("".join(map(str, each.split(text)))) == []


def test_white_space_that_is_not_one_space(tokenizer):
    text = " \ufeff\u00a0Birds\u00a0sing .\u202f\u3000Trees\u2028grow\v.\r\n\r\nOak\f sang.\n"
    first, second, third = tokenizer.split(text)
    assert first.misc[:3] == [r"SpacesAfter=\u00A0|SpacesBefore=\s", r"SpacesAfter=\u00A0", "_"]
    assert first.misc[-1] == r"SpacesAfter=\u202F\u3000"
    assert second.misc == [r"SpacesAfter=\u2028", r"SpacesAfter=\u000B", r"SpacesAfter=\r\n\r\n"]
    assert third.misc == [r"SpacesAfter=\u000C\s", "SpaceAfter=No", r"SpacesAfter=\n"]
    assert raw_text([first, second, third]) == text


ITEMS = ["The birds sing", "They grow"] * 4


def test_lines_that_are_items(tokenizer):
    text = "\n".join(ITEMS) + "\n\nHe went\r\nDr. Oak sang\r\n"
    told = []
    found = list(tokenizer.stream([text], warn=told.append))
    assert [sentence.text for sentence in found] == [*ITEMS, "He went", "Dr. Oak sang"]
    assert ["# newpar" in sentence.comments for sentence in found] == [
        True,
        *[False] * 7,
        True,
        False,
    ]
    assert found[0].misc[-1] == r"SpacesAfter=\n"
    assert raw_text(found) == text
    assert len(told) == 1
    assert told[0].startswith("short lines are read as items")
    joined = list(tokenizer.stream([text], lines=False, warn=told.append))
    assert forms(joined) == forms(tokenizer.split(text, lines=False))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(tokenizer.split(text)) == found
    starts, stops, at = [], [], 0
    for form in (token.form for p in tokens_of(found) for s in p for token in s):
        starts.append(text.index(form, at))
        at = starts[-1] + len(form)
        stops.append(at)
    sizes = [len(paragraph) for sentence in found for paragraph in tokens_of([sentence])[0]]
    assert tokenizer.sentence_stops(text, starts, stops) == np.cumsum(sizes).tolist()


@pytest.mark.parametrize("blank", ["\n", "\n\n"])
def test_items_without_end(tokenizer, blank):
    """They are read in pieces: a stream needs no end, and memory does not grow."""
    item = "\n".join(ITEMS) + blank
    for size in (999, len(item)):
        endless = ((item * 1000)[:size] for _ in itertools.count())
        first = list(itertools.islice(tokenizer.stream(endless), 10))
        assert first[0].text == ITEMS[0]
    pieces = [item] * 1500  # more than is looked at at once
    found = [sentence.text for sentence in tokenizer.stream(pieces)]
    assert found == ITEMS * 1500


def test_a_line_for_each_sentence_keeps_white_space(tokenizer):
    text = "\n Birds sing\n\n\tThey grow. He went\n\u00a0\nOak sang  \n"
    found = list(tokenizer.split(text, lines=True))
    assert len(found) == 3
    assert raw_text(found) == text
    assert not any("# newpar" in sentence.comments for sentence in found)


def test_text_for_training_is_also_without_punctuation_and_paragraphs():
    paragraphs = tokens_of(TREEBANK * 20)
    plain = TrainingText.of(paragraphs, np.random.default_rng(0), plain=True)
    text = TrainingText.of(paragraphs, np.random.default_rng(0), plain=False)
    again = TrainingText.of(paragraphs, np.random.default_rng(0), plain=False)
    assert text.text == again.text
    assert plain.text.count("\n\n") == len(paragraphs)
    shares = {
        "joined": 1 - text.text.count("\n\n") / len(paragraphs),
        "bare": 1 - text.text.count(",") / plain.text.count(","),
        "lower": 1 - text.text.count("Trees") / plain.text.count("Trees"),
    }
    expected = {"joined": module._JOINED, "bare": module._BARE, "lower": module._BARE / 2}
    assert shares == pytest.approx(expected, abs=0.06)
    # No sentence is lost, and each ends with its last token.
    assert text.sentence_ends.sum() == len(TREEBANK) * 20
    assert (text.token_ends | ~text.sentence_ends).all()


def test_text_without_punctuation_is_cut(tokenizer):
    """The model has learned other signs of ends than full stops."""
    text = " ".join(["he walked", "she talked", "they jumped", "birds landed"] * 5)
    assert len(list(tokenizer.split(text))) > 5
