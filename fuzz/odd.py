"""Odd files through every command: one line that says why, and little memory.

Each command runs in a process of its own, which may take one gigabyte more than this one has.
"""

from __future__ import annotations

import gzip
import io
import multiprocessing
import os
import resource
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

import treebanks
from cases import WrongError
from command import refused_or_done
from damage import as_npy, damaged, damaged_zip, members, packed_again
from rounds import Fault, described

GROWTH = 2**30  # bytes
PATIENCE = 300.0  # seconds

WORD = "{}\ta\t_\t_\t_\t_\t{}\tdep\t_\t_\n"


def attack(rng):
    """Yield the faults of some files; a run of a few minutes sees each with each command."""
    for name in rng.choice([*CONTENTS, *SPECIAL], 3, replace=False):
        path = made(str(name), rng)
        chosen = commands(path)
        for i in rng.choice(len(chosen), 4, replace=False):
            if fault := ran(chosen[i]):
                yield Fault(f"{fault[0]}", lambda c=chosen[i], f=fault: f"# {c}\n# {f[1]}")
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)


def commands(path):
    """All commands, with this file where they read one."""
    whole = Path("whole.conllu")
    whole.write_bytes(treebanks.whole())
    parse = ["parse", "-m", treebanks.model(), "-o", "out.conllu"]
    return [
        [*parse, path],
        [*parse, "--skip-invalid", path],
        [*parse, "--format", "tokens", path],
        [*parse, "--format", "lines", path],
        ["parse", "-m", "english-fast", "--format", "text", "-o", "out.conllu", path],
        ["parse", "-m", path, whole],
        ["parse", "-m", treebanks.model(), "-m", path, whole],
        ["evaluate", path, path],
        ["evaluate", whole, path],
        ["draw", path, "-o", "out.svg"],
        ["draw", path],
        ["convert", path, "-o", "out.conllu"],
        ["convert", path, "--tree"],
        ["convert", "--head-rules", path, "none.mrg"],
        ["decode", path],
        ["decode", path, "--kbest", "3"],
        ["trace", "--treebank", path, "--which", "all"],
        ["trace", "-m", path, whole],
        ["explain", path],
        ["train", path, "-o", "out.model", "--no-text"],
        [
            *("train", "linear", whole, "--dev", path, "-o", "out.model"),
            *("--epochs", "1", "--bits", "10"),
        ],
    ]


def ran(arguments):
    """Run a command in a process with little memory; return what is wrong, or None."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    worker = context.Process(target=limited, args=(arguments, theirs))
    worker.start()
    theirs.close()
    said = ours.recv() if ours.poll(PATIENCE) else f"takes more than {PATIENCE:.0f} s"
    worker.kill()
    worker.join()
    return (f"{arguments[0]}: {said}", said) if isinstance(said, str) else said


def limited(arguments, pipe):
    """Send what is wrong with a command that has `GROWTH` bytes to grow."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGESIZE") + GROWTH
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        refused_or_done(*arguments)
        pipe.send(None)
    except MemoryError:
        pipe.send(f"more than {GROWTH >> 20} MB")
    except WrongError as error:
        pipe.send((error.args[0], str(error.args[1:])[:2000]))
    except BaseException as error:
        pipe.send(described(error))


def made(name, rng):
    """Make a file of this name: as it is, or compressed, or damaged."""
    path = Path(name)
    if name in SPECIAL:
        SPECIAL[name](path)
        return path
    data = CONTENTS[name]()
    turn = int(rng.integers(5))
    if turn == 1:
        data = gzip.compress(data, 1)
    elif turn == 2:
        data = gzip.compress(data, 1)
        data = damaged(rng, data) if rng.random() < 0.5 else data[: -int(rng.integers(1, 12))]
    elif turn == 3 and len(data) < 2**20:
        data = damaged_zip(rng, data) if data.startswith(b"PK") else damaged(rng, data)
    path.write_bytes(data)
    return path


def chain(words, head):
    """A sentence of so many words in CoNLL-U."""
    return "".join(WORD.format(i, head(i)) for i in range(1, words + 1)).encode() + b"\n"


def trained():
    return treebanks.model().read_bytes()


def with_member(name, data):
    """Return a model with a member more."""
    return packed_again({**members(trained()), name: data})


@cache
def swollen():
    """A model with a member that nobody needs, of a gigabyte and a half when it is unpacked."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, data in members(trained()).items():
            packed.writestr(name, data)
        head = as_npy(np.zeros(0, np.int8)).replace(b"(0,)", b"(1610612736,)")
        head = head[:8] + (len(head) - 10).to_bytes(2, "little") + head[10:]
        with packed.open("other.npy", "w", force_zip64=True) as member:
            member.write(head)
            for _ in range(1536):
                member.write(bytes(2**20))
    return out.getvalue()


CONTENTS = {
    "empty": lambda: b"",
    "newline": lambda: b"\n",
    "newlines": lambda: b"\n" * 65536,
    "many-newlines": lambda: b"Trees" + b"\n" * 3_000_000 + b"grow",
    "spaces": lambda: b" " * 3_000_000,
    "tabs": lambda: b"\t" * 300_000 + b"\n",
    "zeros": lambda: bytes(3_000_000),
    "mark": lambda: b"\xef\xbb\xbf",
    "marked": lambda: b"\xef\xbb\xbf" + treebanks.whole(),
    "returns": lambda: treebanks.whole().replace(b"\n", b"\r\n"),
    "old-returns": lambda: treebanks.whole().replace(b"\n", b"\r"),
    "utf16": lambda: treebanks.whole().decode().encode("utf-16"),
    "utf32": lambda: treebanks.whole().decode().encode("utf-32-be"),
    "latin": lambda: "Bäume wachsen.\n".encode("latin-1") * 1000,
    "surrogates": lambda: b"Trees \xed\xa0\x80 grow.\n\n",
    "every-byte": lambda: bytes(range(256)) * 100,
    "no-spaces": lambda: b"a" * 5_000_000,
    "one-line": lambda: b"a " * 5_000_000,
    "signs": lambda: "…!?\"'".encode() * 500_000,
    "comment": lambda: b"# " + b"x" * 10_000_000 + b"\n" + chain(1, lambda _: 0),
    "column": lambda: chain(1, lambda _: 0).replace(b"\ta\t", b"\t" + b"a" * 10_000_000 + b"\t"),
    "columns": lambda: b"\n".join([b"1" + b"\t_" * 200_000] * 3),
    "endless": lambda: chain(2000, lambda i: i - 1)[:-1] * 1000,
    "long": lambda: chain(6000, lambda i: i - 1),
    "star": lambda: chain(4000, lambda i: int(i > 1)),
    "cycle": lambda: chain(3000, lambda i: i % 3000 + 1),
    "headless": lambda: chain(20, lambda _: "_") * 100,
    "far": lambda: chain(3, lambda _: 99_999_999),
    "range": lambda: b"1-99999999\ta" + b"\t_" * 8 + b"\n" + chain(2, lambda i: i - 1),
    "number": lambda: chain(2, lambda _: "9" * 100_000),
    "short": lambda: chain(1, lambda _: 0) * 30_000,
    "deep": lambda: b"(S " * 60_000 + b"(NN a)" + b")" * 60_000,
    "deep-lines": lambda: b"(S\n" * 300_000,
    "deep-pairs": lambda: b"(S " * 20_000 + b"(NN a)" + b" (NN b))" * 20_000,
    "wide": lambda: b"(S" + b" (NN a)" * 100_000 + b")",
    "brackets": lambda: b"(" * 1_000_000,
    "closed": lambda: b")" * 1_000_000,
    "bomb.gz": lambda: gzip.compress(bytes(2**29), 1),
    "text-bomb.gz": lambda: gzip.compress(b"a " * 2**21, 1),
    "twice.gz": lambda: gzip.compress(gzip.compress(treebanks.whole())),
    "many.gz": lambda: gzip.compress(b"") * 30_000,
    "json": lambda: b'{"a": ' * 100_000,
    "elf": lambda: b"\x7fELF" + bytes(1000),
    "pickle": lambda: b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07os.exit\x94.",
    "scores.npy": lambda: as_npy(np.zeros((3, 3))),
    "nan.npy": lambda: as_npy(np.full((3, 3), np.nan)),
    "huge.npy": lambda: as_npy(np.zeros((3, 3))).replace(b"(3, 3), }  ", b"(99999, 99999)}"),
    "wide.npy": lambda: as_npy(np.zeros((1, 2000, 2000), np.float32)),
    "flat.npy": lambda: as_npy(np.zeros((1_000_000, 1, 1))),
    "object.npy": lambda: as_npy(np.array([None, "a"], dtype=object)),
    "scores.npz": lambda: packed_again({"scores.npy": as_npy(np.zeros((2, 9, 9)))}),
    "bomb.npz": swollen,
    "model.npz": trained,
    "half.npz": lambda: trained()[: len(trained()) // 2],
    "more.npz": lambda: with_member("other.npy", as_npy(np.zeros(9))),
    "longer.npz": lambda: with_member("other.npy", as_npy(np.zeros(9)) + bytes(10**7)),
    "no-array.npz": lambda: with_member("other.npy", b"no array"),
    "empty.npz": lambda: packed_again({}),
}

SPECIAL = {
    "folder": lambda path: path.mkdir(exist_ok=True),
    "nothing": lambda path: path,
    "dangling": lambda path: path.symlink_to("nowhere"),
    "itself": lambda path: path.symlink_to("itself"),
    "null": lambda path: path.symlink_to("/dev/null"),
    "unreadable": lambda path: (path.write_bytes(b"a"), path.chmod(0)),
    "n" * 250: lambda path: path.write_bytes(treebanks.whole()),
}
