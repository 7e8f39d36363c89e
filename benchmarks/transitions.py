"""How good and how fast is transition-based parsing, beside the graph-based parser?

``python benchmarks/transitions.py`` trains parsers of four treebanks with every system, oracle and
beam, which takes an hour or two; models and results are kept in ``--folder``, and what is there
is not done again (remove the folder when the library has changed). Then it measures one parser
after the other on the test part, and prints tables of all that it finds there. ``--tables`` trains
nothing, ``--speed`` only takes the times of parsers of English-EWT apart.

Gold words and tags. Times are processor time of one thread; for parsing, the least of several runs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import arborescence as arb
from arborescence.core.tree import is_projective, is_tree
from arborescence.parsers import CombinedParser, LinearParser, TransitionParser
from arborescence.parsers.shared.base import annotated
from arborescence.parsers.shared.given import batches
from arborescence.treebank import evaluate, read, write
from arborescence_papers.common.experiment import Results
from inputs import TREEBANKS
from recording import table
from timing import least_seconds

NAMES = ["English-EWT", "Gothic-PROIEL", "Turkish-IMST", "Greek-GDT"]
SYSTEMS = [
    ("arc-standard", "static"),
    ("arc-eager", "static"),
    ("arc-eager", "dynamic"),
    ("arc-hybrid", "static"),
    ("arc-hybrid", "dynamic"),
    ("swap", "static"),
]
LINEAR = {"any": False, "projective": True, "pseudo-projective": "pseudo"}
CROSSING = "Gothic-PROIEL"  # where edges cross often enough to try pseudo-projective parsing


class Job(NamedTuple):
    """A parser to train: a graph-based one for `kind` trees, or a transition system's."""

    treebank: str
    kind: str
    oracle: str = ""
    beam: int = 0
    pseudo: bool = False
    seed: int = 1
    epochs: int = 10

    @property
    def name(self):
        words = [self.kind, self.oracle, str(self.beam or ""), "pseudo" * self.pseudo]
        return "-".join(filter(None, words)) + f".{self.seed}"

    @property
    def title(self):
        if self.kind in LINEAR:
            return f"graph-based, {self.kind}"
        pseudo = ", pseudo-projective" * self.pseudo
        return f"{self.kind}, {self.oracle}, beam {self.beam}{pseudo}"

    def model(self, folder):
        return folder / self.treebank / f"{self.name}.model"

    def train(self, folder):
        """Train the parser and keep it, unless it is there."""
        path = self.model(folder)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        training, held_out = (
            [sentence for sentence in part(self.treebank, which) if is_tree(sentence.tree)]
            for which in ("train", "dev")
        )
        if self.kind in LINEAR:
            learn = partial(LinearParser.train, projective=LINEAR[self.kind])
        else:
            learn = partial(
                TransitionParser.train,
                system=self.kind,
                oracle=self.oracle,
                beam=self.beam,
                projective="pseudo" if self.pseudo else False,
            )
        learn(training[:20], dev=held_out[:20], epochs=1)  # compiles
        start = time.process_time()
        parser = learn(training, dev=held_out, rng=self.seed, epochs=self.epochs)
        parser.info["seconds"] = time.process_time() - start
        parser.save(path)
        print(f"{path}: {parser.info['seconds']:.1f} s", flush=True)


def part(treebank, which):
    [file] = (TREEBANKS / treebank).glob(f"*-{which}.conllu*")
    return list(read(file))


def jobs_of(treebanks, beams, seeds, epochs):
    """All parsers to train, the slowest last."""
    jobs = []
    for treebank in treebanks:
        kinds = LINEAR if treebank == CROSSING else list(LINEAR)[:2]
        jobs += [Job(treebank, kind) for kind in kinds]
        jobs += [Job(treebank, *system, beam) for system in SYSTEMS for beam in beams]
        if treebank == CROSSING:
            jobs += [
                Job(treebank, *system, beam, pseudo=True)
                for system in SYSTEMS[:-1]
                for beam in beams
                if beam <= 8
            ]
    jobs = [job._replace(seed=seed, epochs=epochs) for seed in seeds for job in jobs]
    return sorted(jobs, key=lambda job: (job.beam > 8, job.beam > 8 and job.treebank == NAMES[0]))


def measure(parser, gold):
    """Parse the test part: accuracy in percent, crossing trees too, and words a second."""
    parsed = list(parser.parse(gold))
    result = evaluate(gold, parsed)
    seconds = least(lambda: list(parser.parse(gold)))
    return {
        "uas": 100 * result.uas.f1,
        "las": 100 * result.las.f1,
        "crossing": crossing_trees(parsed),
        "speed": sum(map(len, gold)) / seconds,
    }


class Bench:
    """The parsers of a treebank that a folder holds, and what has been measured of them."""

    def __init__(self, options, treebank):
        self.options = options
        self.treebank = treebank
        self.results = Results(options.folder)
        self.gold = part(treebank, "test")

    def job(self, kind, *more, **named):
        return Job(self.treebank, kind, *more, **named, epochs=self.options.epochs)

    def measured(self, *team):
        """What is measured of a parser, or of several combined: the mean over seeds.

        None if they have not been trained.
        """
        cells = self.by_seed(*team)
        return (
            {key: sum(cell[key] for cell in cells) / len(cells) for key in cells[0]}
            if cells
            else None
        )

    def by_seed(self, *team):
        teams = [[job._replace(seed=seed) for job in team] for seed in self.options.seeds]
        if not all(job.model(self.options.folder).exists() for team in teams for job in team):
            return []
        return [self._once(team) for team in teams]

    def _once(self, team):
        def make():
            parsers = [arb.load(job.model(self.options.folder)) for job in team]
            if len(parsers) > 1:
                return measure(CombinedParser(parsers), self.gold)
            [parser] = parsers
            dev = parser.info["dev"][parser.info["epoch"] - 1]["las"]
            return measure(parser, self.gold) | {"dev": dev, "seconds": parser.info["seconds"]}

        name = f"{self.treebank}/" + "+".join(job.name for job in team)
        return self.results.once(name, {"team": [list(job) for job in team]}, make)

    def best(self, jobs):
        """Of those that have been trained, the parser with the highest LAS on dev."""
        there = [job for job in jobs if self.measured(job)]
        return max(there, key=lambda job: self.measured(job)["dev"], default=None)

    def print(self):
        beams = self.options.beams
        words = sum(map(len, self.gold))
        print(f"### {self.treebank}, test: {len(self.gold):,} sentences, {words:,} words\n")
        self.systems(beams, pseudo=False)
        if self.treebank == CROSSING:
            print("Pseudo-projective:\n")
            self.systems([beam for beam in beams if beam <= 8], pseudo=True)
        self.beside(beams)
        self.training(beams)

    def systems(self, beams, pseudo):
        """A row for each system and oracle: UAS, LAS and speed with each beam."""
        header = ["system", "oracle"]
        for beam in beams:
            header += [f"beam {beam}", "words a second"]
        rows = []
        for system in SYSTEMS:
            row = [*system]
            for beam in beams:
                cell = self.measured(self.job(*system, beam, pseudo))
                row += [accuracy(cell), f"{cell['speed']:,.0f}"] if cell else ["", ""]
            if any(row[2:]):
                rows.append(row)
        table(header, rows)

    def beside(self, beams):
        """The graph-based parsers, the best transition-based one, and combinations of them."""
        graph = [self.job(kind) for kind in LINEAR]
        plain = [self.job(*system, beam) for system in SYSTEMS for beam in beams]
        eager, swap = (
            self.best(job for job in plain if job.kind == kind) for kind in ("arc-eager", "swap")
        )
        singles = [*graph, self.best(plain)]
        teams = [[job] for job in singles if job]
        teams += [[self.best(graph), self.best(plain)], [self.best(graph), eager, swap]]
        rows = []
        for team in teams:
            cell = self.measured(*team) if all(team) else None
            if cell:
                names = " + ".join(job.title for job in team)
                crossing = f"{cell['crossing']:.1f} %"
                rows.append([names, accuracy(cell), crossing, f"{cell['speed']:,.0f}"])
        rows.append(["gold", "", f"{crossing_trees(self.gold):.1f} %", ""])
        table(["parser", "UAS, LAS", "crossing trees", "words a second"], rows)

    def training(self, beams):
        """LAS on dev, and how long training took."""
        rows = []
        for system in SYSTEMS:
            cells = [self.measured(self.job(*system, beam)) for beam in beams]
            rows.append([*system, *(trained(cell) for cell in cells)])
        for kind in LINEAR:
            rows.append([f"graph-based, {kind}", "", trained(self.measured(self.job(kind)))])
            rows[-1] += [""] * (len(beams) - 1)
        table(["LAS on dev, seconds", "", *(f"beam {beam}" for beam in beams)], rows)


def crossing_trees(sentences):
    return 100 * sum(not is_projective(s.tree) for s in sentences) / len(sentences)


def accuracy(cell):
    return f"{cell['uas']:.2f}, {cell['las']:.2f}"


def trained(cell):
    return f"{cell['dev']:.2f}, {cell['seconds']:.0f} s" if cell else ""


def seeds(benches):
    """The means over seeds of greedy and graph-based parsers, and how far LAS varies."""
    kinds = [(*system, 1) for system in SYSTEMS] + [(kind,) for kind in list(LINEAR)[:2]]
    rows = []
    for kind in kinds:
        row = list(kind[:2]) if kind[1:] else [f"graph-based, {kind[0]}", ""]
        for bench in benches:
            las = [cell["las"] for cell in bench.by_seed(bench.job(*kind))]
            mean = accuracy(bench.measured(bench.job(*kind))) if las else ""
            row.append(f"{mean} ({max(las) - min(las):.2f})" if las else "")
        rows.append(row)
    table(["greedy", "oracle", *(bench.treebank for bench in benches)], rows)


def speed(folder, epochs):
    """Where the time goes: each part of parsing by itself, from a file and into one."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "gold.conllu"
        write(part(NAMES[0], "test"), plain)
        for job in jobs_of([NAMES[0]], [1, 8, 32], [1], epochs):
            if job.model(folder).exists():
                rows.append([job.title, *times(arb.load(job.model(folder)), plain)])
        words = sum(map(len, read(plain)))
    print(f"### English-EWT, test: {words:,} words\n")
    header = ["milliseconds", "reading", "hashing", "searching", "sentences", "writing"]
    table([*header, "words a second", "with files"], rows)


def times(parser, plain):
    """Milliseconds of each part, and words a second, without and with reading and writing."""
    gold = list(read(plain))
    parsed = list(parser.parse(gold))
    trees = [laid_out(batch, parser.labels) for batch in batches(parsed)]
    reading = least(lambda: list(read(plain)))
    parsing = least(lambda: list(parser.parse(gold)))
    hashing = least(lambda: [parser._prepare(batch) for batch in batches(gold)])
    making = least(
        lambda: [
            annotated(s, *tree, parser.labels) for s, tree in zip(batches(gold), trees, strict=True)
        ]
    )
    writing = least(lambda: write(parsed, plain.with_name("out.conllu")))
    seconds = [reading, hashing, parsing - hashing - making, making, writing]
    words = sum(map(len, gold))
    speeds = [f"{words / total:,.0f}" for total in (parsing, sum(seconds))]
    return [*(f"{1e3 * each:.1f}" for each in seconds), *speeds]


def laid_out(sentences, labels):
    """Return where sentences begin, their trees in a row, and the numbers of the relations."""
    numbers = {label: number for number, label in enumerate(labels)}
    relations = [[-1, *(numbers[deprel] for deprel in s.deprels)] for s in sentences]
    starts = np.cumsum([0, *map(len, relations)])
    heads = np.concatenate([sentence.tree for sentence in sentences])
    return starts, heads[None], np.concatenate(relations)[None]


def least(call):
    return least_seconds(call, budget=1, clock=time.process_time)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--folder", type=Path, default=Path("build/transitions"))
    arguments.add_argument("--treebanks", nargs="+", default=NAMES)
    arguments.add_argument("--beams", nargs="+", type=int, default=[1, 8, 32])
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1])
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--workers", type=int, default=2, help="parsers to train at once")
    arguments.add_argument("--tables", action="store_true", help="train nothing")
    arguments.add_argument("--speed", action="store_true", help="where the time goes")
    options = arguments.parse_args()
    if not TREEBANKS.is_dir():
        print("(no ../shared/ud: nothing to parse)\n")
        return
    if options.speed:
        speed(options.folder, options.epochs)
        return
    if not options.tables:
        jobs = jobs_of(options.treebanks, options.beams, options.seeds, options.epochs)
        with ProcessPoolExecutor(options.workers) as pool:
            list(pool.map(partial(Job.train, folder=options.folder), jobs))
    benches = [Bench(options, treebank) for treebank in options.treebanks]
    for bench in benches:
        bench.print()
    if len(options.seeds) > 1:
        seeds(benches)


if __name__ == "__main__":
    main()
