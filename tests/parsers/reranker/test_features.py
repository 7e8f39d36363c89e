"""The hashed features of trees against a recomputation from strings and lists."""

import numpy as np
import pytest

from arborescence.parsers.reranker import features as trees
from arborescence.parsers.shared import features
from arborescence.treebank import Sentence
from ranked_lists import ALL, prepare, ranked
from samples import treebank
from slow_features import slow_hash, slow_relatives, slow_side

MASK = np.uint64((1 << 31) - 1)  # so many weights that no two features share one


def slow_bin(length):
    return sum(length >= least for least in (1, 2, 3, 4, 6, 9, 14))


class SlowTree:
    """What `reranker_features` says of its fields and roles, as values that can be compared."""

    def __init__(self, sentence):
        self.sentence = sentence
        self.heads = sentence.tree.tolist()
        self.deprels = ["", *sentence.deprels]
        self.tags = ["", *sentence.upos]
        nodes = range(len(self.heads))
        self.children = [[c for c in nodes if self.heads[c] == h] for h in nodes]

    def size(self, node):
        return 1 + sum(map(self.size, self.children[node]))

    def frame(self, node, values):
        """Values of the children in order, and where among them, or before them, the head is."""
        found = [values[c] for c in self.children[node]]
        if any(c > node for c in self.children[node]):
            found.insert(sum(c < node for c in self.children[node]), "HEAD")
        return found

    def field(self, node, name):
        if node is None:
            return None
        h = self.heads[node]
        side = "none" if h <= 0 else "left" if node < h else "right"
        between = range(max(min(h, node), 0) + 1, max(h, node))
        return {
            "R": self.deprels[node],
            "I": side,
            "O": (side, slow_bin(abs(h - node)) if h > 0 else 0),
            "K": any(not min(h, node) <= self.heads[j] <= max(h, node) for j in between),
            "V": [
                min(7, sum(c < node for c in self.children[node])),
                min(7, sum(c > node for c in self.children[node])),
            ],
            "F": self.frame(node, self.deprels),
            "T": self.frame(node, self.tags),
            "Z": slow_bin(self.size(node)),
        }[name]

    def around(self, d):
        found = slow_relatives(self.heads, d)
        previous, head, grandparent = found["p"], found["h"], found["g"]
        found["q"] = slow_relatives(self.heads, previous)["p"] if previous else None
        found["a"] = self.heads[grandparent] if grandparent else None
        found["u"] = slow_relatives(self.heads, head)["p"] if head else None
        return found

    def feature(self, d, template):
        around = self.around(d)
        found = [template]
        for role, side in features.split_template(template).items():
            node = around[role]
            for atom in side.split(","):
                of_tree = atom in trees.FIELDS
                found.append(
                    self.field(node, atom) if of_tree else slow_side(self.sentence, node, atom)
                )
        return repr(found)


def spelled(columns):
    names = [name for group in trees.TEMPLATES.values() for name in group]
    of_tree = set(trees.FIELDS)
    known = {field for column in columns for field in features.COLUMNS[column]} | of_tree
    return [
        name
        for name in names
        if all(
            atom[0] in known
            for side in features.split_template(name).values()
            for atom in side.split(",")
        )
    ]


@pytest.mark.parametrize(
    "columns", [ALL, ("form", "upos"), ("upos",), ("form",), ("form", "lemma")], ids="+".join
)
def test_two_features_are_the_same_number_where_their_strings_are_the_same(columns):
    lists = ranked()
    batch, arrays, templates, work = prepare(lists, columns)
    names = spelled(columns)
    assert len(names) == len(templates.looks.roles)
    number_of, string_of = {}, {}
    for b, of_sentence in enumerate(lists):
        trees.find_parts(batch, arrays, b, templates, MASK, work)
        for i, (sentence, _) in enumerate(of_sentence):
            slow = SlowTree(sentence)
            for d in range(1, len(sentence) + 1):
                for t, name in enumerate(names):
                    number = int(work.rows[work.parts[i, d], t])
                    string = slow.feature(d, name)
                    assert number_of.setdefault(string, number) == number
                    assert string_of.setdefault(number, string) == string
    assert len(number_of) > 500


def test_fields_of_a_tree_drawn_by_hand():
    #  root -> sat -> {cat -> the, on -> mat, quietly}; "quietly" stands inside "on mat"
    sentence = Sentence.from_words(
        ["the", "cat", "sat", "on", "quietly", "mat"],
        upos=["DET", "NOUN", "VERB", "ADP", "ADV", "NOUN"],
        heads=[-1, 2, 3, 0, 3, 3, 4],
        deprels=["det", "nsubj", "root", "prep", "advmod", "pobj"],
    )
    slow = SlowTree(sentence)
    assert [slow.field(3, name) for name in "RIVZ"] == ["root", "none", [1, 2], 5]
    assert slow.field(3, "F") == ["nsubj", "HEAD", "prep", "advmod"]
    assert slow.field(3, "T") == ["NOUN", "HEAD", "ADP", "ADV"]
    assert [slow.field(6, name) for name in "IOKZ"] == ["right", ("right", 2), True, 1]
    assert [d for d in range(7) if slow.field(d, "K")] == [6]
    around = {role: node for role, node in slow.around(5).items() if node is not None}
    assert around == {"d": 5, "h": 3, "g": 0, "p": 4, "q": 2}
    around = {role: node for role, node in slow.around(6).items() if node is not None}
    assert around == {"d": 6, "h": 4, "g": 3, "a": 0, "u": 2}


def test_parts_are_hashed_once():
    lists = [[(tree, 1.0), (tree, 0.5), (tree, 0.2)] for tree in treebank()]
    batch, arrays, templates, work = prepare(lists)
    for b, sentence in enumerate(treebank()):
        count = trees.find_parts(batch, arrays, b, templates, MASK, work)
        assert count == len(sentence)
        assert (work.parts[:3, 1 : count + 1] == np.arange(count)).all()


def test_the_score_of_a_tree_is_the_sum_of_its_weights():
    lists = ranked()
    batch, arrays, templates, work = prepare(lists)
    weights = np.random.default_rng(1).integers(-50, 50, 1 << 10).astype(np.float32)
    scores = np.full(len(arrays.weights), np.nan)
    trees.score_lists(batch, arrays, templates, weights, work, scores)
    mask = np.uint64(len(weights) - 1)
    at = 0
    for b, of_sentence in enumerate(lists):
        trees.find_parts(batch, arrays, b, templates, mask, work)
        for i, (tree, _) in enumerate(of_sentence):
            rows = work.rows[work.parts[i, 1 : len(tree) + 1]].reshape(-1).tolist()
            assert scores[at] == weights[rows].sum(dtype=np.float64)
            at += 1
    assert at == len(scores)


def test_lists_as_arrays():
    lists = ranked(3)
    _, arrays, _, _ = prepare(lists, gold=treebank())
    c = 0
    for b, (of_sentence, gold) in enumerate(zip(lists, treebank(), strict=True)):
        assert arrays.firsts[b + 1] - arrays.firsts[b] == 4
        for i, (tree, weight) in enumerate(of_sentence):
            start = arrays.places[b] + i * (len(tree) + 1)
            here = slice(start, start + len(tree) + 1)
            assert arrays.heads[here].tolist() == tree.tree.tolist()
            hashed = [0, *(slow_hash(name.encode()) for name in tree.deprels)]
            assert arrays.relations[here].tolist() == hashed
            assert arrays.weights[c] == weight
            attached = (tree.tree == gold.tree)[1:]
            same = [
                ours.partition(":")[0] == theirs.partition(":")[0]
                for ours, theirs in zip(gold.deprels, tree.deprels, strict=True)
            ]
            assert arrays.right[c].tolist() == [attached.sum(), (attached & same).sum()]
            c += 1
    assert c == len(arrays.weights)


def test_a_relation_without_its_subtype_is_right():
    gold = treebank()[4]
    assert gold.deprels[4] == "obl:tmod"
    other = gold.replace(deprels=[*gold.deprels[:4], "obl"])
    wrong = gold.replace(deprels=[*gold.deprels[:4], "obl_tmod"])
    _, arrays, _, _ = prepare([[(gold, 1.0), (other, 1.0), (wrong, 1.0)]], gold=[gold])
    assert arrays.right.tolist() == [[5, 5], [5, 5], [5, 4]]
