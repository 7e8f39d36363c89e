"""Train parsers on many treebanks, in parallel processes, and score the test sets."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import asdict, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arborescence.errors import ArborescenceError, ModelError
from arborescence.parsers import load
from arborescence.system.workers import Failure, in_processes
from arborescence.version import __version__
from arborescence_papers.common.scores import Scores, is_score_file
from arborescence_papers.common.treebanks import LeftOut, Treebank, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence
    from arborescence_papers.common.recipes import Recipe

    #: A treebank, and the recipe of the parser to train on it.
    Task = tuple[Treebank, Recipe]


def score(
    tasks: Sequence[Task],
    folder: Path,
    *,
    models: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Task, Scores | LeftOut]]:
    """Train parsers and score test sets, or reuse the score files of an earlier run.

    Each result is saved at once as ``<folder>/<recipe>/<treebank>.npz`` (see `scores`). It is
    reused if the recipe, the bytes of the treebank, the model and the version of this library are
    the same.

    Parameters
    ----------
    tasks
        Pairs of a treebank and a recipe. Tasks of one treebank should be adjacent, so that it is
        read only once.
    folder
        The folder of score files; created if missing.
    models
        As in `Experiment`.
    jobs
        The number of parallel processes.
    progress
        Called as ``progress(what, done, total)``.

    Yields
    ------
    task, Scores or LeftOut
        In the order of `tasks`. A `LeftOut` gives the error of a treebank (it is broken or empty,
        or its score file could not be written); the other treebanks continue.

    Raises
    ------
    ArborescenceError
        If a process was killed, usually because memory ran out.
    OSError
        If `folder` cannot be created.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if jobs == 1:
        files: Iterator[Path | LeftOut] = _one_by_one(tasks, folder, models, progress)
    else:
        files = _side_by_side(tasks, folder, models, jobs, progress)
    for task, file in zip(tasks, files, strict=True):
        yield task, file if isinstance(file, LeftOut) else Scores.read(file)
    if progress:
        progress("parsers: all done", len(tasks), len(tasks))


def model_of(treebank: Treebank, models: Path | None) -> Path | None:
    """Return the given model file or score file of a treebank, or None."""
    if models is None:
        return None
    path = models / f"{treebank.name}.npz"
    return path if path.exists() else None


def _one_by_one(
    tasks: Sequence[Task], folder: Path, models: Path | None, progress: Progress | None
) -> Iterator[Path | LeftOut]:
    def step(what: str, done: int, total: int) -> None:
        if progress:
            progress(f"this one: {what}", done, total)

    for done, (treebank, recipe) in enumerate(tasks):
        if progress:
            progress(f"parsers: {treebank.name}, {recipe.name}", done, len(tasks))
        yield _score_file((treebank, recipe), folder, models, step)


def _side_by_side(
    tasks: Sequence[Task], folder: Path, models: Path | None, jobs: int, progress: Progress | None
) -> Iterator[Path | LeftOut]:
    done: dict[int, Path | LeftOut] = {}
    threads = max(1, (os.cpu_count() or 1) // jobs)
    make = partial(_job, folder, models)
    results = in_processes(make, list(enumerate(tasks)), jobs, threads=threads)
    with closing(results):
        for number, (treebank, _) in enumerate(tasks):
            while number not in done:
                if progress:
                    progress(f"parsers: {treebank.name}", len(done), len(tasks))
                (finished, (failed, _)), result = next(results)
                if isinstance(result, Failure):
                    raise ArborescenceError(
                        f"{failed.name}: {result.reason} The same command goes on where it was; "
                        "fewer jobs need less memory"
                    )
                done[finished] = result
            yield done[number]


def _job(folder: Path, models: Path | None) -> Callable[[tuple[int, Task]], Path | LeftOut]:
    """Make the job of a process: a task by its number."""
    return lambda item: _score_file(item[1], folder, models, lambda _what, _done, _total: None)


def _score_file(
    task: Task, folder: Path, models: Path | None, progress: Progress
) -> Path | LeftOut:
    """Return the score file of a task, made now if needed; or the error."""
    treebank, recipe = task
    path = folder / recipe.name / f"{treebank.name}.npz"
    model = model_of(treebank, models)
    try:
        settings: dict[str, Any] = {
            "library": __version__,
            "treebank": digest(*treebank.training_files, *treebank.test_files),
        }
        settings |= {"model": digest(model)} if model else {"recipe": asdict(recipe)}
        if not _is_kept(path, settings):
            scores = _score(task, model, settings, progress)
            path.parent.mkdir(exist_ok=True)
            scores.write(path)
    except (ArborescenceError, OSError) as error:
        return LeftOut.because(treebank.name, error)
    return path


def _score(task: Task, model: Path | None, settings: dict[str, Any], progress: Progress) -> Scores:
    treebank, recipe = task
    training, test = _read(treebank)
    about: dict[str, Any] = {
        "treebank": treebank.name,
        "split": treebank.split,
        "settings": settings,
    }
    if model and is_score_file(model):
        scores = Scores.read(model)
        gold = [sentence.tree for sentence in test]
        if len(gold) != len(scores.gold) or not all(map(np.array_equal, gold, scores.gold)):
            raise ModelError(
                f"{model}: scores of other sentences, or for other trees, than those "
                f"of {', '.join(map(str, treebank.test_files))}"
            )
        return replace(scores, **about)
    parser = load(model) if model else recipe.train(training, progress)
    return Scores.by(parser, test, **about, progress=progress)


def _is_kept(path: Path, settings: dict[str, Any]) -> bool:
    if not path.exists():
        return False
    try:
        return Scores.read(path).settings == settings
    except ModelError:  # damaged file: it is made again
        return False


@lru_cache(maxsize=1)  # tasks of one treebank are adjacent
def _read(treebank: Treebank) -> tuple[list[Sentence], list[Sentence]]:
    return treebank.read()
