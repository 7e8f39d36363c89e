"""Likely errors of a treebank, by cross-trained parsers, rules and variation n-grams.

A parser and a tagger that have not seen a sentence give the probability of its annotation, and the
most probable other annotation. Rules say what is forbidden. Variation n-grams show the annotation
of the same words elsewhere (Dickinson and Meurers 2003).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from arborescence.core.checks import check_count
from arborescence.core.random import as_generator
from arborescence.drawing.gallery import GalleryEntry, Picture, gallery
from arborescence.drawing.svg import Marks
from arborescence.errors import TreebankError
from arborescence.inference.decode import decode
from arborescence.parsers.recipe import train
from arborescence.parsers.shared.confidence import fit_choices, fit_temperature, softmax
from arborescence.parsers.shared.training_trees import checked, folds_of
from arborescence.parsers.tagger.tagger import Tagger
from arborescence.rules.sets import rules_of
from arborescence.treebank.validation import validate
from arborescence.treebank.variation import Variation, variations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from arborescence.core.random import Rng
    from arborescence.parsers.shared.graph_parser import GraphParser
    from arborescence.parsers.shared.options import Progress
    from arborescence.rules.kinds import Rule
    from arborescence.rules.sets import AnyRules
    from arborescence.treebank import Sentence

_LEAST: Final = 1e-6  # the smallest probability that is counted
_BROKEN: Final = 5.0  # a broken rule counts as odds of e^5
_TAGS: Final = 20  # more than the number of UPOS tags


class Odds(NamedTuple):
    """The evidence against an annotation: logarithms of odds, 0 without evidence.

    Attributes
    ----------
    edge : float
        Of another head or relation against the annotation.
    tag : float
        Of another tag against the given tag.
    rules : float
        5 for each broken rule.
    words : float
        Of another analysis of the same words against the given analysis, by their frequencies.
    """

    edge: float
    tag: float
    rules: float
    words: float


class Finding(NamedTuple):
    """A word whose annotation may be wrong.

    Attributes
    ----------
    odds : Odds
        The evidence against the annotation.
    sentence : Sentence
        The sentence, with its given annotation.
    word : int
        The number of the word, from 1.
    head, deprel, upos : int, str, str
        The most probable other head and relation, and the most probable other tag.
    edge_probs, tag_probs : tuple of float
        The probabilities of the given edge (or tag) and of the other edge (or tag).
    rules : tuple of str
        The rules that the edge breaks, alone or together with other edges.
    variations : tuple of Variation
        Other analyses of the same words.
    parser : GraphParser
        A parser that has not seen the sentence.
    """

    odds: Odds
    sentence: Sentence
    word: int
    head: int
    deprel: str
    upos: str
    edge_probs: tuple[float, float]
    tag_probs: tuple[float, float]
    rules: tuple[str, ...]
    variations: tuple[Variation, ...]
    parser: GraphParser

    @property
    def value(self) -> float:
        """The sum of all evidence against the annotation."""
        return sum(self.odds)

    def proposed(self) -> Sentence:
        """Return the parser's best tree with the more probable edge, and the more probable tag."""
        at, words = self.word - 1, len(self.sentence)
        heads, deprels, upos = [-1] * words, ["_"] * words, self.sentence.upos
        heads[at], deprels[at] = int(self.sentence.heads[at]), self.sentence.deprels[at]
        if self.odds.edge:
            heads[at], deprels[at] = self.head, self.deprel
        edge_alone = self.sentence.replace(heads=heads, deprels=deprels)
        [parsed] = self.parser.parse([edge_alone], keep=True, rules="none")
        if self.odds.tag:
            upos[at] = self.upos
        return parsed.replace(upos=upos)

    def corrected(self) -> Sentence:
        """Return the given sentence with the more probable edge, and the more probable tag.

        If neither is more probable, the sentence gets the most probable other edge. Heads of other
        words change only if there would be no tree: as few heads as possible, the least probable.
        """
        at, upos = self.word - 1, self.sentence.upos
        if self.odds.tag:
            upos[at] = self.upos
            if not self.odds.edge:
                return self.sentence.replace(upos=upos)
        heads = self._nearest()
        deprels = [
            deprel if head == given else "_"
            for deprel, head, given in zip(
                self.sentence.deprels, heads, self.sentence.heads, strict=True
            )
        ]
        deprels[at] = self.deprel
        given = self.sentence.replace(heads=heads, deprels=deprels)
        [labelled] = self.parser.parse([given], keep=True, rules="none")
        return self.sentence.replace(heads=heads, deprels=labelled.deprels, upos=upos)

    def _nearest(self) -> NDArray[np.int64]:
        """Return the heads of the tree that has the other edge and is nearest to the given tree."""
        n = len(self.sentence)
        weights = np.asarray(self.parser.scores(self.sentence), dtype=np.float64)
        weights = weights - weights.max(initial=0.0, where=np.isfinite(weights))
        weights = np.exp(weights) / (n + 1)  # all edges together weigh less than one given edge
        weights[self.sentence.heads, np.arange(1, n + 1)] += 1
        weights[self.head, self.word] += n + 1
        heads: NDArray[np.int64] = decode(weights)[1:]
        return heads

    def changes(self, corrected: Sentence) -> list[dict[str, Any]]:
        """Return the changes of the corrected sentence, word by word, ready for JSON."""
        now, was = (
            list(zip(one.heads.tolist(), one.deprels, one.upos, strict=True))
            for one in (corrected, self.sentence)
        )
        return [
            {"word": word, "form": form, "was": list(old), "now": list(new)}
            for word, (form, old, new) in enumerate(
                zip(self.sentence.forms, was, now, strict=True), 1
            )
            if old != new
        ]

    def __str__(self) -> str:
        forms = ["ROOT", *self.sentence.forms]
        at = self.word - 1
        edges = [
            f"{deprel} of {forms[head]} ({head}) {share:.2f}"
            for deprel, head, share in (
                (self.sentence.deprels[at], self.sentence.heads[at], self.edge_probs[0]),
                (self.deprel, self.head, self.edge_probs[1]),
            )
        ]
        names = self.sentence.upos[at], self.upos
        tags = [f"{tag} {share:.2f}" for tag, share in zip(names, self.tag_probs, strict=True)]
        likely = [
            " / ".join(both)
            for both, odds in ((edges, self.odds.edge), (tags, self.odds.tag))
            if odds
        ]
        evidence = "; ".join([*likely, *self.rules, *map(str, self.variations)])
        place = f"{self.sentence.source}:{self.sentence.line}"
        text = " ".join(forms[1:])
        return f"{self.value:.2f}  {place}  {forms[self.word]} ({self.word}): {evidence}  |  {text}"


def audit(
    treebank: Iterable[Sentence],
    *,
    kind: Literal["linear", "neural"] = "linear",
    folds: int = 5,
    rules: AnyRules = "ud",
    budget: int | None = None,
    rng: Rng = 1,
    progress: Progress | None = None,
) -> list[Finding]:
    """Return the words of a treebank whose annotation should be checked, the worst first.

    Parameters
    ----------
    treebank
        Sentences with tags and trees; sentences that lack heads are left out.
    kind
        The kind of parser.
    folds
        The number of parts: a parser and a tagger judge each part, and learn from all other parts.
    rules
        As for `validate`.
    budget
        The largest number of words; by default all words with evidence against them.
    rng
        A seed or a generator, for the folds and for training.
    progress
        Called as ``progress(phase, done, total)``.

    Returns
    -------
    list of Finding
        The words in the order of the sums of their `Odds`, the largest first.

    Raises
    ------
    TreebankError
        If the heads of a sentence are not a tree, or there are fewer sentences than folds.
    OptionError
        If an option is invalid.

    Notes
    -----
    The temperatures of heads, relations and tags are fitted on the part that is judged.

    Examples
    --------
    >>> from arborescence.treebank import Sentence
    >>> birds = Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"], heads=[2, 0],
    ...                             deprels=["nsubj", "root"])
    >>> wrong = birds.replace(deprels=["obj", "root"])
    >>> [finding] = audit([birds] * 19 + [wrong], budget=1)
    >>> finding.sentence.deprels[finding.word - 1], finding.deprel
    ('obj', 'nsubj')
    """
    sentences, _ = checked((each for each in treebank if (each.heads >= 0).all()), None, "single")
    check_count(folds, "folds", 2)
    if len(sentences) < folds:
        raise TreebankError(f"{len(sentences)} sentences cannot be split into {folds} folds")
    kept, generator = rules_of(rules), as_generator(rng)
    varying = defaultdict(list)
    for each in variations(sentences):
        varying[each.sentence, each.word].append(each)
    findings: list[Finding] = []
    for fold, (part, rest) in enumerate(folds_of(range(len(sentences)), folds, generator)):
        taught, judged = ([sentences[i] for i in numbers] for numbers in (rest, part))
        if progress:
            step = f"fold {fold + 1} of {folds}, by a parser that learns from the other folds"
            progress(f"judging: {step} ({len(taught):,} sentences)", fold, folds)
        options: Any = {"tagger": False, "text": False, "projective": False}
        parser: Any = train(taught, kind=kind, rng=int(generator.integers(2**31)), **options)
        tagger = Tagger.train(taught, columns=["upos"], rng=generator).tempered(judged)
        tags = _tags(tagger, judged)
        for number, edges in zip(part, _edges(parser, judged), strict=True):
            sentence = sentences[number]
            broken = _broken(sentence, kept)
            for word, edge in enumerate(edges, 1):
                others = tuple(varying[number, word])
                finding = _finding(sentence, word, edge, next(tags), broken[word], others, parser)
                findings += [finding] if any(finding.odds) else []
    if progress:
        progress(f"judging: all {len(sentences):,} sentences", folds, folds)
    return sorted(findings, key=lambda finding: -finding.value)[:budget]


def _finding(
    sentence: Sentence,
    word: int,
    edge: tuple[int, str, tuple[float, float]],
    tag: tuple[str, tuple[float, float]],
    broken: Collection[str],
    others: tuple[Variation, ...],
    parser: GraphParser,
) -> Finding:
    """Return the evidence against the annotation of a word."""
    rules, most = _BROKEN * len(broken), max((each.odds for each in others), default=0.0)
    odds = Odds(_odds(*edge[2]), _odds(*tag[1]), rules, most)
    of_word = (sentence, word, *edge[:2], tag[0], edge[2], tag[1])
    return Finding(odds, *of_word, tuple(sorted(broken)), others, parser)


def _odds(own: float, other: float) -> float:
    """Return the logarithm of the odds of another annotation against the given one, at least 0."""
    return max(float(np.log(max(other, _LEAST) / max(own, _LEAST))), 0.0)


def _edges(
    parser: GraphParser, sentences: list[Sentence]
) -> Iterator[list[tuple[int, str, tuple[float, float]]]]:
    """Yield each word's most probable other head and relation, and both edges' probabilities."""
    codes = {label: code for code, label in enumerate(parser.labels)}
    codes_of_labels = [np.array([codes.get(each, -1) for each in one.deprels]) for one in sentences]
    trees = [one.tree for one in sentences]
    options: Any = {"root": "single", "projective": bool(parser.projective)}
    parser.temperature = fit_temperature(parser.scores_of(sentences), trees, **options)
    rows = [
        table[one.heads, np.arange(1, len(one) + 1)]
        for one, table in zip(sentences, parser.labeled_scores_of(sentences), strict=True)
    ]
    weights = np.concatenate(rows)
    heat = fit_choices(weights, weights.argmax(axis=1) == np.concatenate(codes_of_labels))
    tables = parser.labeled_scores_of(sentences)
    for one, labels, table in zip(sentences, codes_of_labels, tables, strict=True):
        marginals = parser.distribution(one).marginals()
        likely = (softmax(table / heat) * marginals[..., None]).swapaxes(0, 1)[1:]
        words = np.arange(len(one))
        places = words, one.heads, labels
        own = np.where(labels < 0, 0, likely[places])
        likely[places] = np.where(labels < 0, likely[places], -1)
        best = likely.reshape(len(one), -1).argmax(axis=1)
        heads, relations = np.divmod(best, len(codes))
        other = likely[words, heads, relations]
        values = (each.tolist() for each in (heads, relations, own, other))
        yield [
            (head, parser.labels[relation], (of_own, of_other))
            for head, relation, of_own, of_other in zip(*values, strict=True)
        ]


def _tags(tagger: Tagger, sentences: list[Sentence]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield each word's most probable other tag, and the probabilities of both tags."""
    names, (codes, chances) = tagger.guess(sentences, _TAGS)["upos"]
    tags = [tag for one in sentences for tag in one.upos]
    for tag, of_word, shares in zip(tags, codes.tolist(), chances.tolist(), strict=True):
        probabilities = {
            names[code]: share for code, share in zip(of_word, shares, strict=True) if code >= 0
        }
        own = probabilities.pop(tag, 0.0)
        other = max(probabilities, key=probabilities.__getitem__, default=tag)
        yield other, (own, probabilities.get(other, 0.0))


def _broken(sentence: Sentence, rules: tuple[Rule, ...]) -> dict[int, set[str]]:
    """Return the rules that each word's edge breaks, alone or together with other edges."""
    broken = defaultdict(set)
    for each in validate([sentence], rules):
        for _, _, word, *_ in each.edges:
            broken[word].add(each.rule)
    return broken


#: The meaning of a finding's number.
_INTRO: Final = """\
Each entry is a word whose annotation may be wrong, the most doubtful word first. The upper tree is
the given tree; if you accept, the lower tree replaces it. The word and the edges that differ are
coloured.

The first number is the evidence against the annotation: a sum of logarithms of odds. 0.7 means 2 to
1 that another annotation is right, 2.3 means 10 to 1, 4.6 means 100 to 1. The parts of the sum: the
edge and the tag, by parsers and taggers that learned from the rest of the treebank; 5 for each
broken rule; and other annotations of the same words elsewhere.

Keys: j and k go to the next and the previous entry and show its trees, a accepts, r rejects; the
same key again undoes this. Your browser keeps your decisions. Download them, and apply them:
arborescence audit --apply decisions.jsonl treebank.conllu -o corrected.conllu
"""


def audit_html(findings: Iterable[Finding]) -> str:
    """Write findings as a web page: each with the given tree and the corrected tree.

    The reader accepts or rejects each correction, and downloads the decisions, which
    `treebank.decided` applies.

    Parameters
    ----------
    findings
        The findings of `audit`.

    Returns
    -------
    str
        A complete HTML file.

    Examples
    --------
    >>> audit_html([]).startswith("<!DOCTYPE html>")
    True
    """
    return "".join(gallery("Words to check", _INTRO.split("\n\n"), map(_entry, findings)))


def _entry(finding: Finding) -> GalleryEntry:
    sentence, corrected = finding.sentence, finding.corrected()
    changes = finding.changes(corrected)
    differing = [each["word"] for each in changes if each["was"][:2] != each["now"][:2]]
    parts = ((name, value) for name, value in finding.odds._asdict().items() if value)
    numbers = " + ".join(f"{name} {value:.2f}" for name, value in parts)
    evidence, _, _ = str(finding).partition("  |  ")
    change = {"file": sentence.source, "line": sentence.line, "changes": changes}
    return GalleryEntry(
        f"{evidence}\n{finding.value:.2f} = {numbers}",
        [
            Picture(sentence, Marks([finding.word], differing), "given", "wrong"),
            Picture(corrected, Marks([finding.word], differing), "if you accept", "right"),
        ],
        [name for name, value in finding.odds._asdict().items() if value],
        change,
        [finding.word],
    )
