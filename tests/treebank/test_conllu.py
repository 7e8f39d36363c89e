"""CoNLL-U files: byte for byte through reading and writing, and broken ones told exactly."""

import gzip
import io
import os
import re
import sys

import pytest

from arborescence.errors import ArborescenceWarning, OptionError, TreebankError
from arborescence.treebank import Sentence, conllu, read, read_broken, write, write_kbest
from real import TREEBANKS

FILES = sorted(TREEBANKS.glob("*/*.conllu.gz"))

BIRDS = b"1\tBirds\tbird\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsing\tsing\tVERB\t_\t_\t0\troot\t_\t_\n"
RAIN = b"# text = Rain\n1\tRain\train\tNOUN\t_\t_\t0\troot\t_\t_\n"


def everything(data: bytes) -> list[Sentence]:
    return list(read(io.BytesIO(data)))


@pytest.mark.skipif(not FILES, reason="needs the treebanks in ../shared/ud")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".conllu.gz"))
def test_real_files_round_trip(path):
    copy = io.BytesIO()
    write(read(path), copy)
    assert copy.getvalue() == gzip.decompress(path.read_bytes())


@pytest.mark.parametrize(
    ("data", "sentences"),
    [
        (b"", 0),
        (BIRDS + b"\n", 1),
        (BIRDS, 1),
        (BIRDS[:-1], 1),
        (BIRDS + b"\n" + RAIN + b"\n", 2),
        (b"\n\n" + BIRDS + b"\n\n\n" + RAIN + b"\n\n", 2),
        (BIRDS + b"\n" + RAIN, 2),
        (BIRDS + b"\n" + RAIN[:-1], 2),
    ],
)
@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 20])
def test_round_trip_whatever_the_blank_lines(monkeypatch, data, sentences, chunk):
    monkeypatch.setattr(conllu, "_CHUNK", chunk)
    for stream in (data, gzip.compress(data)):
        found = everything(stream)
        assert len(found) == sentences
        assert b"".join(sentence.raw for sentence in found) == data


def test_only_blank_lines_hold_no_sentence():
    assert everything(b"\n\n\n") == []


def test_lines_and_sources(tmp_path):
    path = tmp_path / "two.conllu"
    path.write_bytes(BIRDS + b"\n\n" + RAIN + b"\n")
    assert [(s.source, s.line) for s in read(path)] == [(str(path), 1), (str(path), 5)]
    with path.open("rb") as file:
        assert [s.source for s in read(file)] == [str(path)] * 2


def test_spaces_inside_forms_and_lemmas():
    [sentence] = everything(b"1\t10 000\t10 000\tNUM\t_\t_\t_\t_\t_\t_\n\n")
    assert sentence.forms == ["10 000"]
    assert sentence.tree.tolist() == [-1, -1]


def test_cycles_are_read():
    [sentence] = everything(BIRDS.replace(b"\t0\troot", b"\t1\tdep") + b"\n")
    assert sentence.tree.tolist() == [-1, 2, 1]


def test_standard_streams(monkeypatch, tmp_path):
    source = tmp_path / "in.conllu"
    source.write_bytes(BIRDS + b"\n")
    with source.open() as stdin, (tmp_path / "out.conllu").open("w") as stdout:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stdout", stdout)
        sentences = list(read("-"))
        write(sentences, "-")
    assert sentences[0].source == "<stdin>"
    assert (tmp_path / "out.conllu").read_bytes() == BIRDS + b"\n"


def test_a_pipe_gives_a_sentence_as_soon_as_the_next_begins():
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as source, os.fdopen(writer, "wb") as target:
        target.write(BIRDS + b"\n" + RAIN)
        target.flush()
        assert next(read(source)).forms == ["Birds", "sing"]


def test_write_to_paths(tmp_path):
    sentences = everything(BIRDS + b"\n" + RAIN + b"\n")
    plain, packed = tmp_path / "a.conllu", tmp_path / "a.conllu.gz"
    write(sentences, plain)
    write(sentences, str(packed))
    assert plain.read_bytes() == BIRDS + b"\n" + RAIN + b"\n"
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert list(read(packed)) == sentences
    first = packed.read_bytes()
    write(sentences, packed)
    assert packed.read_bytes() == first


def test_write_is_all_or_nothing(tmp_path):
    path, source = tmp_path / "a.conllu", tmp_path / "b.conllu"
    path.write_bytes(RAIN)
    source.write_bytes(BIRDS + b"\n" + b"1\tbroken\n\n")
    with pytest.raises(TreebankError):
        write(read(source), path)
    assert path.read_bytes() == RAIN
    assert sorted(tmp_path.iterdir()) == [path, source]


def names_of(path):
    """Return other names of a file: by a folder, a link to it, to its folder, and a hard link."""
    folder = path.parent
    names = {name: folder / name for name in ("link", "hard", "folder")}
    names["link"].symlink_to(path.name)
    names["hard"].hardlink_to(path)
    names["folder"].symlink_to(".")
    return [
        path,
        folder / ".." / folder.name / path.name,
        *list(names.values())[:2],
        names["folder"] / path.name,
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="other links")
@pytest.mark.parametrize("ending", ["conllu", "conllu.gz"])
def test_what_is_read_is_not_overwritten(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    write(everything(BIRDS), path)
    before = path.read_bytes()
    for name in names_of(path):
        with pytest.raises(OptionError, match="writing would destroy the input; write into ano"):
            write(read(path), name)
        with pytest.raises(OptionError, match="destroy"):
            write_kbest(([(sentence, 1.0)] for sentence in read(path)), str(name))
    assert path.read_bytes() == before
    write(read(path), tmp_path / "copy.conllu")


@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize("before", [b"", b"\n\n"])
def test_write_ends_each_sentence_with_one_empty_line(cut, before):
    unended = before + (BIRDS + b"\n")[: len(BIRDS) + 1 - cut]
    copy = io.BytesIO()
    write(everything(unended) + everything(RAIN), copy)
    assert copy.getvalue() == BIRDS + b"\n" + RAIN + b"\n"


def word(number="1", form="a", head="0", columns=10):
    return "\t".join([number, form, "_", "_", "_", "_", head, "_", "_", "_", "_"][:columns]) + "\n"


BROKEN = {
    "too few columns": (word(columns=9), 1, "9 columns where CoNLL-U has 10"),
    "one column": ("text\n", 1, "1 column where"),
    "too many columns": (word(columns=11), 1, "11 columns"),
    "spaces for tabs": (word().replace("\t", "    "), 1, "separated by single tabs"),
    "second number": (word() + word("3"), 2, "word number '3'"),
    "first number": (word("0"), 1, "word number '0'"),
    "leading zero": (word("01"), 1, "word number '01'"),
    "number is a word": (word("one"), 1, "word number 'one'"),
    "huge number": (word("9" * 30), 1, "word number '9+'"),
    "empty form": (word(form=""), 1, "column FORM of word 1 is empty"),
    "empty number": (word(number=""), 1, "column ID is empty: give the word 'a' its number"),
    "empty misc": (word()[:-2] + "\n", 1, "column MISC of word 1 is empty"),
    "head is a word": (word(head="root"), 1, "head 'root' of word 1 is not a number"),
    "negative head": (word(head="-1"), 1, "head '-1' of word 1 is negative: use 0 for the root"),
    "head minus": (word(head="-"), 1, "head '-' of word 1 is not a number"),
    "own head": (word() + word("2", head="2"), 2, "word 2 is its own head"),
    "head outside": (word() + word("2", head="3") + word("3", head="4"), 3, "head 4 of word 3"),
    "late comment": (word() + "# late\n" + word("2", head="1"), 2, "a comment after the first"),
    "comment after the last word": (word() + "# late\n", 2, "a comment after the first"),
    "only comments": ("# one\n# two\n", 2, "without a word"),
    "only an empty node": (word("0.1", head="_"), 1, "without a word"),
    "range starts late": (word("2-3", head="_") + word(), 1, "multiword token '2-3'"),
    "range backwards": (word() + word("2-1", head="_"), 2, "'2-1' ends before it begins"),
    "range of words": (word("1-b", head="_"), 1, "'1-b' is not two numbers of words, such as"),
    "ranges overlap": (
        word("1-2", head="_") + word() + word("2-3", head="_") + word("2") + word("3"),
        3,
        "multiword token '2-3'",
    ),
    "range outside": (word() + word("2-3", head="_") + word("2", head="1"), 2, "ends outside"),
    "empty node too far": (word() + word("2.1", head="_"), 2, "empty node '2.1'"),
    "empty node not counted": (word() + word("1.2", head="_"), 2, "empty node '1.2'"),
    "a carriage return in a line": (word(form="a\rb"), 1, "carriage return that ends no line"),
    "no empty line before a comment": (RAIN.decode() * 2, 3, "an empty line must end the sentence"),
    "no empty line before a word": (word() * 2, 2, "an empty line must end the sentence"),
}


@pytest.mark.parametrize(("text", "line", "fault"), BROKEN.values(), ids=BROKEN)
def test_broken_sentences_are_told_and_skipped(tmp_path, text, line, fault):
    path = tmp_path / "broken.conllu"
    path.write_bytes(BIRDS + b"\n" + text.encode() + b"\n" + RAIN + b"\n")
    with pytest.raises(TreebankError, match=f"^{re.escape(str(path))}:{3 + line}: .*{fault}"):
        list(read(path))
    errors = []
    sentences = list(read(path, skip_invalid=errors.append))
    assert [s.forms for s in sentences] == [["Birds", "sing"], ["Rain"]]
    assert sentences[1].text == "Rain"
    assert len(errors) == 1


NINE_TABS = 9 * b"\t"
#: What is written by other programs, and read as if it were plain.
ODD = {
    "CR LF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR LF, but not at the end": lambda data: data.replace(b"\n", b"\r\n")[:-3],
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "all of them": lambda data: (
        b"\xef\xbb\xbf" + data.replace(b"\n\n", b"\n \n").replace(b"\n", b"\r\n")
    ),
    "byte order marks of files in a row": lambda data: data.replace(b"1\tB", b"\xef\xbb\xbf1\tB"),
    **{
        f"blanks {blanks!r}": lambda data, blanks=blanks: data.replace(b"\n\n", b"\n%b\n" % blanks)
        for blanks in (b" ", b"\t", b" \t  ", NINE_TABS, "\u00a0".encode(), "\u3000 ".encode())
    },
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 20])
@pytest.mark.filterwarnings("ignore::arborescence.ArborescenceWarning")
def test_odd_lines_are_read_as_plain_ones(monkeypatch, odd, chunk):
    monkeypatch.setattr(conllu, "_CHUNK", chunk)
    plain = (BIRDS + b"\n" + RAIN + b"\n") * 3
    for stream in (odd(plain), gzip.compress(odd(plain))):
        found = everything(stream)
        assert [sentence.line for sentence in found] == [1, 4, 7, 10, 13, 16]
        copy = io.BytesIO()
        write(found, copy)
        assert copy.getvalue().rstrip() == plain.rstrip()
    assert [s.raw for s in read_broken(io.BytesIO(odd(plain)))] == [s.raw for s in found]


def test_lines_of_blanks_are_said_once(tmp_path):
    path = tmp_path / "blanks.conllu"
    path.write_bytes((BIRDS + NINE_TABS + b"\n") * 3 + BIRDS)
    with pytest.warns(ArborescenceWarning) as said:
        assert len(list(read(path))) == 4
    [warning] = said
    assert str(warning.message).startswith(f"{path}:3: the line holds only blanks or tabs: it ends")


def test_what_is_skipped_beside_lines_of_blanks_is_counted():
    broken = RAIN.replace(b"1\tRain", b"3\tRain")
    data = BIRDS + b" \n" + broken + b" \n" + BIRDS + b"# a\n" + BIRDS + b"\t\n" + RAIN
    errors = []
    with pytest.warns(ArborescenceWarning, match="only blanks"):
        found = list(read(io.BytesIO(data), skip_invalid=errors.append))
    assert [len(sentence) for sentence in found] == [2, 1]
    # the last of these lacks the empty line between two sentences
    assert [error.lost for error in errors] == [(1, 1, 2), (2, 4, 5)]


def test_heads_with_leading_zeros_are_numbers():
    [sentence] = everything(BIRDS.replace(b"\t2\t", b"\t02\t").replace(b"\t0\t", b"\t00\t"))
    assert sentence.heads.tolist() == [2, 0]


ENCODED = {
    "utf-16": "begins with the byte order mark of UTF-16, .* give encoding='utf-16'",
    "utf-32": "begins with the byte order mark of UTF-32, .* give encoding='utf-32'",
    "utf-16-le": "zeros, as in UTF-16, which is not UTF-8: give encoding='utf-16-le'",
    "utf-16-be": "give encoding='utf-16-be'",
    "latin-1": "byte 6 of the line is not valid UTF-8: .* such as encoding='cp1252'",
    "cp1252": "such as encoding='cp1252'",
}


@pytest.mark.parametrize(("encoding", "fault"), ENCODED.items())
@pytest.mark.parametrize("chunk", [3, 1 << 20])
def test_other_encodings_are_told_and_read(monkeypatch, encoding, fault, chunk):
    text = (BIRDS.decode().replace("Birds", "Bir\u00e9s") + "\n") * 9
    data = text.encode(encoding)
    with pytest.raises(TreebankError, match=fault):
        everything(data)
    monkeypatch.setattr(conllu, "_CHUNK", chunk)
    for stream in (data, gzip.compress(data)):
        found = list(read(io.BytesIO(stream), encoding=encoding))
        assert "".join(map(str, found)) == text
        assert "".join(map(str, read_broken(io.BytesIO(stream), encoding=encoding))) == text


def test_bytes_of_no_encoding_are_told(monkeypatch):
    monkeypatch.setattr(conllu, "_CHUNK", 5)
    data = (BIRDS.decode() + "\n").encode("utf-16-be") + b"\xd8\x00\x00\x41"
    with pytest.raises(TreebankError, match="<stream>:4: byte 0xd8 is not utf-16-be: name the enc"):
        list(read(io.BytesIO(data), encoding="utf-16-be"))
    for name in ("klingon", "hex", "a\0b"):
        with pytest.raises(OptionError, match="encoding must be an encoding that Python knows"):
            list(read(io.BytesIO(BIRDS), encoding=name))


def test_invalid_utf8_is_told_and_skipped():
    broken = RAIN.replace(b"Rain\train", b"R\xe9n\train")
    data = BIRDS + b"\n" + broken + b"\n" + RAIN + b"\n"
    with pytest.raises(TreebankError, match=r"^<stream>:5: byte 4 of the line is not valid UTF-8"):
        everything(data)
    errors = []
    assert len(list(read(io.BytesIO(data), skip_invalid=errors.append))) == 2
    assert len(errors) == 1


def test_line_numbers_hold_across_chunks(monkeypatch):
    monkeypatch.setattr(conllu, "_CHUNK", 100)
    with pytest.raises(TreebankError, match=f"<stream>:{3 * 50 + 2}: 1 column"):
        everything((BIRDS + b"\n") * 50 + b"# a comment\nbroken\n\n")


def test_damaged_gzip_cannot_be_skipped(tmp_path):
    path = tmp_path / "cut.gz"
    data = gzip.compress((BIRDS + b"\n") * 1000)
    for damaged, fault in [(data[:-20], "cut off"), (data[:60] + b"xxxx" + data[64:], "damaged")]:
        path.write_bytes(damaged)
        with pytest.raises(TreebankError, match=f"cut.gz: the gzip data is {fault}"):
            list(read(path, skip_invalid=lambda error: None))


def test_chained_and_padded_gzip():
    data = gzip.compress(BIRDS + b"\n") + gzip.compress(RAIN + b"\n") + b"\0" * 512
    assert len(everything(data)) == 2


def test_a_file_without_sentence_ends_is_no_treebank(monkeypatch):
    monkeypatch.setattr(conllu, "_CHUNK", 1000)
    monkeypatch.setattr(conllu, "_LONGEST_SENTENCE", 5000)
    with pytest.raises(TreebankError, match="no end of a sentence"):
        list(read(io.BytesIO(b"some text\n" * 1000), skip_invalid=lambda error: None))


def test_text_files_and_missing_files(tmp_path):
    with pytest.raises(OptionError, match="binary mode"):
        list(read(io.StringIO("1\t_\n")))
    with pytest.raises(FileNotFoundError, match="missing"):
        list(read(tmp_path / "missing.conllu"))
