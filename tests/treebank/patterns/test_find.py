"""Search for patterns, against trying all words for all nodes."""

from itertools import permutations

import numpy as np
import pytest

from arborescence.errors import OptionError, TreebankError, TreeError
from arborescence.treebank import Sentence, write
from arborescence.treebank.patterns.find import count, search
from arborescence.treebank.patterns.matching import COLUMNS_OF, value_of
from arborescence.treebank.patterns.pattern import ANY, parse
from modes import some

UPOS = ["NOUN", "VERB", "PRON"]
RELATIONS = ["nsubj", "obj", "nsubj:pass", "nsubj:outer", "punct"]
LEMMAS = ["a", "b", "c"]
PATTERNS = [
    "A [upos=VERB]; B [upos=NOUN|PRON]; A -[nsubj]-> B",
    "A -> B; B -> C; A << C",
    "A [upos=VERB]; A -[nsubj|obj]-> *",
    "A -[^nsubj|punct]-> B; B << A",
    "A -[1=nsubj]-> B",
    "A -[1=nsubj, 2=pass]-> B; A > B",
    "A -[1=nsubj, 2<>pass]-> B",
    "A -[1=nsubj, !2]-> B",
    "* -[root]-> A; A ->> B; B [lemma=a]",
    "* -[obj]-> A",
    "A < B; A.lemma = B.lemma",
    "A << B; A.lemma <> B.lemma; A.upos = B.upos",
    "A [upos=NOUN]; B [Number=Sing]; without { A -> B }",
    "A [upos=VERB]; without { A -[nsubj]-> S } without { A -[obj]-> O; O [lemma=b] }",
    "A []; without { B << A }",
    "A -> B; without { A -> C; B << C }",
    "A -> B; without { A.Number = B.Number }",
    "A [lemma=a] | [upos=PRON]; A -> B",
    "A [!Number]; A < B; B [Number, lemma<>c]",
    'A [form=re"w[12]"]; A >> B; B [Odd=Yes]',
    "pattern { A -> B; B.upos = VERB } without { * -[root]-> A }",
    "A ->> B; B ->> C; C << A",
    "A -> B; C -> D; A << C; B >> D",
    'A [upos="NOUN"]; B [upos="NOUN"]; C [upos="VERB"]; A << C; C << B',
]


def drawn(rng):
    """A sentence with a random tree, which may have several roots; some heads are unknown."""
    n = int(rng.integers(1, 7))
    order = rng.permutation(n) + 1
    heads = [0] * n
    for at, word in enumerate(order):
        heads[word - 1] = int(rng.choice([0, *order[:at]])) if rng.random() < 0.95 else -1
    names = ["root" if head == 0 else str(rng.choice(RELATIONS)) for head in heads]
    return Sentence.from_words(
        [f"w{i}" for i in range(n)],
        lemmas=rng.choice([*LEMMAS, "_"], n).tolist(),
        upos=rng.choice(UPOS, n).tolist(),
        feats=rng.choice(["_", "Number=Sing", "Number=Plur|Odd=No"], n).tolist(),
        misc=rng.choice(["_", "Odd=Yes"], n).tolist(),
        heads=heads,
        deprels=names,
    )


def feature_of(sentence, word, name):
    """The value of a feature of a word."""
    if name in COLUMNS_OF:
        columns = {
            "form": sentence.forms, "lemma": sentence.lemmas, "upos": sentence.upos,
            "xpos": sentence.xpos, "deprel": sentence.deprels,
        }  # fmt: skip
        return value_of(columns[name][word - 1], name)
    value = value_of(sentence.feats[word - 1], name)
    return value_of(sentence.misc[word - 1], name) if value is None else value


def holds(sentence, block, words):
    """Whether all conditions of a block hold."""
    heads = [-1, *sentence.heads.tolist()]

    def above(word):
        while heads[word] > 0:
            word = heads[word]
            yield word

    return (
        all(
            any(
                all(f.holds(feature_of(sentence, words[name], f.name)) for f in features)
                for features in node.choices or [[]]
            )
            for name, node in block.nodes.items()
        )
        and all(
            (
                heads[words[edge.dependent]] == words[edge.head]
                if edge.head != ANY
                else heads[words[edge.dependent]] >= 0
            )
            and edge.relation.holds(feature_of(sentence, words[edge.dependent], "deprel"))
            for edge in block.edges
        )
        and all(words[path.above] in above(words[path.below]) for path in block.paths)
        and all(
            words[order.first] + 1 == words[order.second]
            if order.adjacent
            else words[order.first] < words[order.second]
            for order in block.orders
        )
        and all(
            None not in pair and (pair[0] == pair[1]) != equal.differ
            for equal in block.equal
            for pair in [
                (
                    feature_of(sentence, words[equal.one], equal.one_feature),
                    feature_of(sentence, words[equal.other], equal.other_feature),
                )
            ]
        )
    )


def tried(sentence, pattern):
    """The matches, by trying all words for all nodes."""
    numbers = range(1, len(sentence) + 1)
    found = set()
    nodes = list(pattern.demanded.nodes)
    for chosen in permutations(numbers, len(nodes)):
        words = dict(zip(nodes, chosen, strict=True))
        if not holds(sentence, pattern.demanded, words):
            continue
        forbidden = False
        for block in pattern.forbidden:
            new = [name for name in block.nodes if name not in words]
            rest = [number for number in numbers if number not in chosen]
            forbidden |= any(
                holds(sentence, block, words | dict(zip(new, more, strict=True)))
                for more in permutations(rest, len(new))
            )
        if not forbidden:
            found.add(tuple(words[name] for name in nodes if not name.startswith(ANY)))
    return found


@pytest.mark.parametrize("text", PATTERNS)
def test_all_matches_are_found(text):
    rng = np.random.default_rng(len(text))
    sentences = [drawn(rng) for _ in range(max(some(160), 75))]
    pattern = parse(text)
    found = [set() for _ in sentences]
    numbered = [
        sentence.replace(comments=[f"# sent_id = {at}"]) for at, sentence in enumerate(sentences)
    ]
    before = (-1, ())
    for match in search(numbered, text):
        at, words = int(match.sentence.sent_id), tuple(match.words.values())
        assert words not in found[at]
        found[at].add(words)
        assert (at, words) > before  # in order
        before = at, words
    assert found == [tried(sentence, pattern) for sentence in sentences]
    assert any(found), "a pattern without a match shows nothing"


def test_files_as_sentences(tmp_path):
    rng = np.random.default_rng(0)
    sentences = [drawn(rng) for _ in range(3000)]  # more than a megabyte in parts
    write(sentences, tmp_path / "all.conllu.gz")
    pattern = "e: A -> B; A [upos=VERB]"
    from_file = [
        (match.sentence.raw, match.words) for match in search(tmp_path / "all.conllu.gz", pattern)
    ]
    assert from_file == [(match.sentence.raw, match.words) for match in search(sentences, pattern)]
    counted = count(tmp_path / "all.conllu.gz", pattern, ["A.lemma", "e.label", "B.Number"])
    assert counted.total() == len(from_file)
    for match in search(sentences, pattern):
        b = match.words["B"]
        number = value_of(match.sentence.feats[b - 1], "Number") or "_"
        key = match.sentence.lemmas[match.words["A"] - 1], match.sentence.deprels[b - 1], number
        counted[key] -= 1
    assert not any(counted.values())


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "names no node"),
        ("* -[root]-> *", "names no node"),
        ("A [upos=", "character 9: 'the end' stands where a value is expected"),
        ("A [upos=VERB", "character 13: 'the end' stands where ',' is expected"),
        ("A [upos VERB]", "character 9: 'VERB]' stands where ',' is expected"),
        ("A -[nsubj] B", "stands where '->' is expected"),
        ("e: A", "stands where an edge is expected"),
        ("A B", "is ';' missing?"),
        ("A & B", "character 3: '& B' is not understood here"),
        ("without { A -> B", "comes before '}'"),
        ('A [form=re"("]', "is no regular expression"),
        ("[upos=VERB]", "stands where the name of a node is expected"),
    ],
)
def test_a_pattern_that_cannot_be_read_names_the_place(text, part):
    with pytest.raises(OptionError, match="pattern") as caught:
        parse(text)
    assert part in str(caught.value)


def test_counts_name_nodes_of_the_pattern():
    with pytest.raises(OptionError, match=r"no such node; try A.lemma, B.lemma, e.label"):
        count([Sentence.from_words(["a", "b"], heads=[2, 0])], "e: A -> B", ["C.lemma"])


def test_a_cycle_ends_the_search():
    broken = Sentence.from_words(["a", "b", "c"], heads=[2, 1, 0])
    assert [match.words for match in search([broken], "A -> B")] == [
        {"A": 1, "B": 2},
        {"A": 2, "B": 1},
    ]
    for pattern in ("A ->> B; A [form=c]", "A ->> B", "A ->> B; A -> B", "A; without { A ->> B }"):
        with pytest.raises(TreeError, match=r"'a' \(sentence 1, word 1\) is in or below a cycle"):
            list(search([broken], pattern))
    assert broken.subtree(1) == [1, 2]
    assert broken.depth.tolist() == [0, 0, 1]
    with pytest.raises(TreeError, match="in or below a cycle"):
        _ = broken.word(1).depth


def test_only_probable_matches():
    words = Sentence.from_words(["Dogs", "chase", "cats"], heads=[2, 0, 2])
    probable = words.replace(misc=["EdgeProb=0.9", "EdgeProb=0.6", "EdgeProb=0.8"])
    for least, first in ((0.5, [1, 3]), (0.7, []), (None, [1, 3])):
        found = list(search([probable], "V -> N", least=least))
        assert [match.words["N"] for match in found] == first
        assert count([probable], "V -> N", ["N.form"], least=least).total() == len(first)
    with pytest.raises(TreebankError, match=r"'chase' \(sentence 1, word 2\) has no probability"):
        list(search([words], "V -> N", least=0.5))
