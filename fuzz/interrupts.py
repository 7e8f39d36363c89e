"""Runs that are interrupted, killed, or out of room: what they leave is whole or nothing."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import arborescence as arb
import small_treebanks
from arborescence import treebank
from cases import PATIENCE, Case, WrongError, examine
from command import CONTROL

SETTINGS = "--epochs 4 --patience 9 --bits 11 --seed 3 --columns form,upos --no-tagger"
WORDS = SETTINGS.split()
TRAIN = {
    "linear": ["train", "linear", "lessons.conllu", "--dev", "lessons.conllu", *WORDS],
    "transition": [
        *("train", "transition", "lessons.conllu", "--dev", "lessons.conllu", *WORDS),
        *("--beam", "2"),
    ],
}


def attack(rng):
    treebank.write(small_treebanks.sentences() * 40, "lessons.conllu")
    kind = str(rng.choice([*TRAIN]))
    case = Case((), {"kind": kind, "seed": int(rng.integers(2**31))})
    yield from examine(full_disk if rng.random() < 0.3 else stopped, case)
    yield from examine(closed, Case((), {"seed": int(rng.integers(2**31))}))


def start(*arguments, room=None, **streams):
    """Start the command in a process of its own, which may write files of so many bytes."""

    def limit():
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **streams}
    return subprocess.Popen(
        [sys.executable, "-m", "arborescence", *map(str, arguments)],
        stderr=subprocess.PIPE,
        preexec_fn=limit,
        **given,
    )


def ended(process, *, signals=()):
    """Wait for a process; check what it said. Return its status."""
    try:
        _, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise WrongError("a process that does not end") from None
    finally:
        process.kill()
        process.wait()
    err = err.decode("utf-8", "replace")
    status = process.returncode
    if status < 0 and -status not in signals:
        raise WrongError(f"ends by {signal.Signals(-status).name}", err[-1500:])
    if "Traceback" in err or "Exception ignored" in err:
        what = err.strip().splitlines()[-1].partition(":")[0]
        raise WrongError(f"a traceback on stderr: {what}", err[-1500:])
    lines = [line for line in err.splitlines() if line.startswith("arborescence: error:")]
    if status > 0 and len(lines) != 1:
        raise WrongError("a failure without its line on stderr", status, err[-1500:])
    if lines and CONTROL.search(lines[0]):
        raise WrongError("a control character reaches the terminal", ascii(lines[0]))
    return status


def stopped(case):
    """Stop a training at some time; go on; the model is that of an undisturbed run."""
    train, rng = TRAIN[case.options["kind"]], np.random.default_rng(case.options["seed"])
    stops = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
    how = stops[int(rng.integers(len(stops)))]
    out = Path("stopped.model")
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    process = start(*train, "-o", out)
    if rng.random() < 0.7:  # from the first epoch on; else anywhere, in the imports too
        while process.poll() is None and not checkpoint.exists():
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 0.3))
    else:
        time.sleep(rng.uniform(0, 5))
    process.send_signal(how)
    status = ended(process, signals=(how,))
    check_left(out, status, how)
    status = ended(start(*train, "-o", out, "--resume"))
    if status:
        raise WrongError("a training cannot be resumed", status)
    whole = Path("whole.model")
    if ended(start(*train, "-o", whole)):
        raise WrongError("an undisturbed training fails")
    if checkpoint.exists():
        raise WrongError("a checkpoint is left when all is done")
    for sentence in small_treebanks.sentences():
        one, other = (next(iter(arb.load(path).kbest([sentence], 5))) for path in (out, whole))
        if str(one) != str(other):
            raise WrongError("a resumed training makes another model", how.name)


def check_left(out, status, how):
    """Check what a stopped run leaves: a model that is whole or none, and no half files."""
    for path in (out, out.with_name(f"{out.name}.checkpoint")):
        if path.exists() and path.suffix == ".model":
            arb.load(path)
    left = [path.name for path in Path().glob(".stopped*")]
    if left and how is not signal.SIGKILL:
        raise WrongError("an interrupted run leaves a file", left)
    if status == 0 and not out.exists():
        raise WrongError("success, and no model")


def full_disk(case):
    """Let files have so many bytes and no more: an error that names the file, or success."""
    rng = np.random.default_rng(case.options["seed"])
    room = int(2 ** rng.uniform(0, 16))
    Path("out.conllu").write_text("as it was\n")
    commands = {
        "out.model": [*TRAIN[case.options["kind"]], "-o", "out.model"],
        "out.conllu": ["parse", "lessons.conllu", "-o", "out.conllu"],
        "trees.svg": ["draw", "lessons.conllu", "-o", "trees.svg"],
        "heads.npy": ["decode", "scores.npy", "-o", "heads.npy"],
    }
    np.save("scores.npy", rng.normal(size=(40, 12, 12)))
    name = str(rng.choice([*commands]))
    before = {path.name for path in Path().iterdir()}
    process = start(*commands[name], room=room)
    try:
        status = ended(process)
    except WrongError as error:
        raise WrongError(*error.args, name, room) from None
    left = {path.name for path in Path().iterdir()} - before
    if status and left - {"out.model.checkpoint"}:
        raise WrongError("a run without room leaves files", sorted(left), room)
    if status and Path("out.conllu").read_text() != "as it was\n":
        raise WrongError("a run without room spoils what was there", name, room)
    if not status and not Path(name).exists():
        raise WrongError("success, and no output", name, room)


def closed(case):
    """Run without one of the standard streams, or with outputs that are no plain files."""
    rng = np.random.default_rng(case.options["seed"])
    for name in ("loop.svg", "loop.npy"):
        Path(name).unlink(missing_ok=True)
        Path(name).symlink_to(name)
    np.save("scores.npy", rng.normal(size=(3, 4, 4)))
    some = "lessons.conllu"
    commands = [
        ["parse", some],
        ["parse"],
        ["draw", some],
        ["decode", "scores.npy"],
        ["evaluate", some, some],
        ["evaluate", some, "-"],
        ["decode", "scores.npy", "-o", "loop.npy"],
        ["decode", "scores.npy", "-o", "loop.svg/heads.npy"],
        ["draw", some, "-o", "loop.svg"],
        ["decode", "scores.npy", "-o", "/dev/full"],
        ["decode", "loop.svg"],
        ["draw", "loop.svg"],
        ["parse", some, "-o", "."],
        ["parse", "-m", "loop.svg", some],
    ]
    chosen = commands[int(rng.integers(len(commands)))]
    shut = ["", "<&-", ">&-", "2>&-", "<&- >&-", ">/dev/full"][int(rng.integers(6))]
    line = " ".join([sys.executable, "-m", "arborescence", *chosen, shut])
    process = subprocess.Popen(
        ["/bin/sh", "-c", line],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        if "2>&-" not in shut:
            ended(process)
        elif process.communicate(timeout=PATIENCE) and process.returncode < 0:
            raise WrongError("ends by a signal")
    except WrongError as error:
        raise WrongError(*error.args, " ".join([*chosen, shut])) from None
