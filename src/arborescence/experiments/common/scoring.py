"""Parsers for many treebanks and what they make of the test parts, some at the same time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import arborescence
from arborescence.core.errors import ArborescenceError, ModelError
from arborescence.experiments.common.scores import Scored, is_score_file
from arborescence.experiments.common.treebanks import Corpus, LeftOut, digest
from arborescence.parsers import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.synchronize import Event
    from pathlib import Path

    from arborescence.experiments.common.recipes import Recipe
    from arborescence.parsers.shared.base import Progress
    from arborescence.treebank import Sentence


class Exam(NamedTuple):
    """A test to take: which parser on which treebank."""

    corpus: Corpus
    recipe: Recipe


def take(
    exams: Sequence[Exam],
    folder: Path,
    *,
    models: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Exam, Scored | LeftOut]]:
    """Train the parsers and score the test parts, or read what is there from an earlier run.

    Each result is kept as ``<folder>/<recipe>/<treebank>.npz`` (see `scored`) as soon as it is
    there. It is used again if it comes from the same recipe, bytes of the treebank, model and
    version of this library.

    Parameters
    ----------
    exams
        What to do; those of one treebank together, so that it is read once.
    folder
        Where the score files are; made if it is missing.
    models
        A folder with parsers, ``<treebank>.npz``: where there is one, it is loaded, and nothing is
        trained. It may also be a score file, from a parser that this library does not know.
    jobs
        How many processes train and score at the same time. Called with more than 1 from a script,
        the script's own work must stand under ``if __name__ == "__main__":``.
    progress
        Called as ``progress(what, done, total)``.

    Yields
    ------
    Exam, Scored or LeftOut
        In the order of `exams`. What went wrong with a treebank (it is broken or empty, or its
        score file could not be written) is named, and the rest goes on.

    Raises
    ------
    ArborescenceError
        If a process was killed, which happens when memory is short.
    OSError
        If `folder` cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        takers: Iterator[Path | LeftOut] = _one_by_one(exams, folder, models, progress)
    else:
        takers = _side_by_side(exams, folder, models, jobs, progress)
    for exam, taken in zip(exams, takers, strict=True):
        yield exam, taken if isinstance(taken, LeftOut) else Scored.read(taken)
    if progress:
        progress("parsers: all done", len(exams), len(exams))


def model_of(corpus: Corpus, models: Path | None) -> Path | None:
    """Return the file of the parser, or of the scores, that was given for a treebank, if any."""
    if models is None:
        return None
    path = models / f"{corpus.name}.npz"
    return path if path.exists() else None


def _one_by_one(
    exams: Sequence[Exam], folder: Path, models: Path | None, progress: Progress | None
) -> Iterator[Path | LeftOut]:
    def step(what: str, done: int, total: int) -> None:
        if progress:
            progress(f"this one: {what}", done, total)

    for done, exam in enumerate(exams):
        if progress:
            progress(f"parsers: {exam.corpus.name}, {exam.recipe.name}", done, len(exams))
        yield _take_one(exam, folder, models, step)


def _side_by_side(
    exams: Sequence[Exam], folder: Path, models: Path | None, jobs: int, progress: Progress | None
) -> Iterator[Path | LeftOut]:
    with _workers(jobs) as pool:
        running = [pool.submit(_work, exam, folder, models) for exam in exams]
        for exam, mine in zip(exams, running, strict=True):
            while not mine.done():
                if progress:
                    done = sum(future.done() for future in running)
                    progress(f"parsers: {exam.corpus.name}", done, len(exams))
                pending = [future for future in running if not future.done()]
                wait(pending, return_when=FIRST_COMPLETED)
            try:
                taken = mine.result()
            except BrokenProcessPool as error:
                raise ArborescenceError(
                    "a process was killed from outside: if memory was short, run the command again "
                    "with fewer jobs; it goes on where it was"
                ) from error
            yield taken


def _take_one(exam: Exam, folder: Path, models: Path | None, progress: Progress) -> Path | LeftOut:
    """Return the score file of an exam, making it if need be; or what went wrong."""
    corpus, recipe = exam
    path = folder / recipe.name / f"{corpus.name}.npz"
    model = model_of(corpus, models)
    try:
        settings: dict[str, Any] = {
            "library": arborescence.__version__,
            "treebank": digest(*corpus.lesson_files, *corpus.exam_files),
        }
        settings |= {"model": digest(model)} if model else {"recipe": asdict(recipe)}
        if not _is_kept(path, settings):
            scored = _score(exam, model, settings, progress)
            path.parent.mkdir(exist_ok=True)
            scored.write(path)
    except (ArborescenceError, OSError) as error:
        return LeftOut.because(corpus.name, error)
    return path


def _score(exam: Exam, model: Path | None, settings: dict[str, Any], progress: Progress) -> Scored:
    corpus, recipe = exam
    lessons, questions = _read(corpus)
    if model and is_score_file(model):
        scored = Scored.read(model)
        gold = [sentence.heads for sentence in questions]
        if len(gold) != len(scored.gold) or not all(map(np.array_equal, gold, scored.gold)):
            raise ModelError(
                f"{model}: scores of other sentences, or for other trees, than those "
                f"of {', '.join(map(str, corpus.exam_files))}"
            )
        return replace(scored, treebank=corpus.name, split=corpus.split, settings=settings)
    parser = load(model) if model else recipe.train(lessons, progress)
    return Scored.by(
        parser,
        questions,
        treebank=corpus.name,
        split=corpus.split,
        settings=settings,
        progress=progress,
    )


def _is_kept(path: Path, settings: dict[str, Any]) -> bool:
    if not path.exists():
        return False
    try:
        return Scored.read(path).settings == settings
    except ModelError:  # damaged by someone else: made anew
        return False


@lru_cache(maxsize=1)  # exams of one treebank come together
def _read(corpus: Corpus) -> tuple[list[Sentence], list[Sentence]]:
    return corpus.read()


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Give processes that end when this one is interrupted or killed."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, context, _begin, (stop,))
    try:
        yield pool
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


_stop: Event | None = None


def _begin(stop: Event) -> None:
    """Prepare a process for `_work`."""
    global _stop
    _stop = stop
    # The terminal interrupts all processes; this one ends when the first one says so.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Where the first one is killed, it can say nothing.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _work(exam: Exam, folder: Path, models: Path | None) -> Path | LeftOut:
    def step(_what: str, _done: int, _total: int) -> None:
        if _stop is not None and _stop.is_set():
            raise KeyboardInterrupt

    return _take_one(exam, folder, models, step)
