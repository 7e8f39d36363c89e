"""`once`: equal sentences are parsed once, and the output is the same."""

import pickle
from functools import partial
from itertools import islice

import numpy as np
import pytest

import arborescence as arb
from arborescence.parsers import GraphParser, Keeper, LinearParser, Repeats
from arborescence.parsers.shared.base import Options
from arborescence.parsers.shared.repeats import Once
from arborescence.rules import AtMostOne
from arborescence.treebank import Sentence
from modes import UNCOMPILED
from samples import bare, treebank, unparsed
from small_parsers import KINDS, small_parser

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="takes minutes without compiled kernels")
K = 3
#: White space and places, as raw text has them.
PLACES = ("_", r"SpacesAfter=\n", "SpaceAfter=No", r"SpacesAfter=\n|TokenRange=3:7")


def corpus(sentences, times=3):
    """Sentences several times, in some order, each with comments and spaces of its own."""
    numbers = np.random.default_rng(5).permutation(len(sentences) * times) % len(sentences)
    return [
        sentences[number]
        .replace(
            misc=[*sentences[number].misc[:-1], PLACES[place % len(PLACES)]],
            deps=[f"{place}:dep"] * len(sentences[number]),
            comments=[f"# sent_id = {place}", "# text = that's it"],
        )
        .derived(source="some.conllu", line=place, item=place)
        for place, number in enumerate(numbers.tolist())
    ]


def given():
    """Sentences without and with tags, without and with trees."""
    return corpus([*map(bare, treebank()), *map(unparsed, treebank()), *treebank()])


def written(results):
    """All of the results that a caller sees."""
    lists = [[(each, 0.0)] if isinstance(each, Sentence) else each for each in results]
    return [
        [(tree.raw, tree.spans.tolist(), tree.source, tree.line, tree.item, w) for tree, w in trees]
        for trees in lists
    ]


class Counting:
    """Counts the sentences that a parser parses in batches."""

    def __init__(self, monkeypatch, parser, name="_parse_batch"):
        self.sentences = []
        parse = getattr(parser, name)

        def counted(sentences, *rest, **options):
            self.sentences += sentences
            return parse(sentences, *rest, **options)

        monkeypatch.setattr(parser, name, counted)


@pytest.mark.parametrize("kind", KINDS)
def test_the_output_is_the_same(kind):
    parser = small_parser(kind)
    only_best = kind in ("undirected", "second-order")
    settings = [{}, {"threads": 2}]
    if isinstance(parser, GraphParser) and not only_best:
        settings.append({"confidence": True})
    if kind != "undirected":
        settings.append({"rules": "ud"})
    for options in settings:
        right = written(parser.parse(given(), **options))
        assert written(parser.parse(given(), once=True, **options)) == right
        if not only_best:
            right = written(parser.kbest(given(), K, **options))
            assert written(parser.kbest(given(), K, once=True, **options)) == right


@pytest.mark.parametrize("name", ["english", "english-fast"])
def test_installed_models_and_raw_text(name):
    parser = arb.load(name)
    text = "Dear reader,\n\nbirds sing. Don't they?\n" * 3 + "Dear  reader, birds sing.\n\n"
    for options in ({}, {"confidence": True}, {"confidence": True, "rules": "none"}):
        right = written(parser.parse(text, **options))
        assert written(parser.parse(text, once=True, **options)) == right
    right = written(parser.parse(texts=[text, text], threads=2))
    assert written(parser.parse(texts=[text, text], threads=2, once=True)) == right


def test_each_sentence_is_parsed_once(monkeypatch):
    parser = small_parser("linear")
    parsed = Counting(monkeypatch, parser)
    sentences = corpus([*map(bare, treebank()), *treebank()])
    assert len(parser(sentences, once=True)) == len(sentences)
    kinds = {(*each.forms, *each.upos, each.misc[-1] == PLACES[2]) for each in sentences}
    assert len(parsed.sentences) == len(kinds) < len(sentences)


def test_labeled_trees():
    parser, sentences = small_parser("linear"), given()
    right = written(parser.kbest_labeled(sentences, K))
    assert written(parser.kbest_labeled(sentences, K, once=True)) == right


@pytest.mark.parametrize("keep", [True, "anyway"])
@pytest.mark.parametrize("confidence", [False, True])
def test_what_is_fixed(keep, confidence):
    parser = small_parser("joint")
    words = bare(treebank()[3])
    several = [words.replace(heads=[-1] * 3 + [head]) for head in (0, 1, 2)]
    several += [words.replace(deprels=["_", name, "_", "_"]) for name in ("punct", "unseen")]
    if keep == "anyway":
        several.append(words.replace(heads=[2, 1, -1, -1]))
    sentences, options = corpus(several), {"keep": keep, "confidence": confidence}
    right = written(parser.parse(sentences, **options))
    assert written(parser.parse(sentences, once=True, **options)) == right
    gave_up = [b"# gave_up = " in tree for [(tree, *_)] in right]
    assert sum(gave_up) == (3 if keep == "anyway" else 0)
    right = written(parser.kbest(sentences, K, **options))
    assert written(parser.kbest(sentences, K, once=True, **options)) == right


def test_comments_that_parsing_replaces():
    parser, [words] = small_parser("linear"), map(bare, treebank()[:1])
    sentences = [
        words.replace(comments=comments)
        for comments in (["# a"], ["# tree_prob = 0.5", "# b"], ["# c"], ["# tree_prob = 0.5"])
    ]
    right = written(parser.parse(sentences, confidence=True))
    assert written(parser.parse(sentences, confidence=True, once=True)) == right


def asked(sentences, **options):
    """The numbers of sentences that are parsed, of a batch of different sentences."""
    numbers = []

    def parse(batch, options):
        numbers.extend(sentences.index(each) for each in batch)
        return batch

    wanted = Options.of(**options)
    Once(partial(parse, options=wanted), wanted, Repeats())(sentences)
    return numbers


def test_what_makes_sentences_different():
    words = Sentence.from_words(["Trees", "TokenRange=1", "grow"])
    same = [words.replace(comments=["# sent_id = 2", "# text = language = de"])]
    same += [words.replace(deps=["_", "_", "0:root"]), words.replace(misc=["_", "_", PLACES[1]])]
    others = [
        words.with_forms(["Trees", "TokenRange=2", "grow"]),
        words.replace(lemmas=["tree", "_", "_"]),
        words.replace(upos=["NOUN", "_", "_"]),
        words.replace(xpos=["N", "_", "_"]),
        words.replace(feats=["Number=Plur", "_", "_"]),
        words.replace(heads=[3, -1, -1]),
        words.replace(deprels=["nsubj", "_", "_"]),
        words.replace(misc=["Subject=Outer", "_", "_"]),
        words.replace(misc=["_", "SpaceAfter=No", "_"]),
        words.replace(comments=["# language = de"]),
        words.replace(comments=["# RulesWaived = leaf"]),
    ]
    several = [words, *same, *others]
    assert asked(several) == [0, *range(len(several) - len(others), len(several))]
    assert asked([words, *same], confidence=True) == [0, 3]
    spaces = AtMostOne("breaks", labels=("root",), but_misc=r"SpacesAfter=\n")
    assert asked([words, *same], rules=Keeper([spaces])) == [0, 3]


def test_rules_read_spaces():
    parser = arb.load("english-fast")
    words = ["He", "went", "with", "out", "it"]
    joined = Sentence.from_words(words, misc=["_", "_", "SpaceAfter=No", "_", "_"])
    sentences = [Sentence.from_words(words), joined] * 2
    keeper, once = Keeper("ud"), Keeper("ud")
    right = written(parser.parse(sentences, rules=keeper))
    assert written(parser.parse(sentences, rules=once, once=True)) == right
    assert (keeper.counts.sentences, once.counts.sentences) == (4, 2)


def test_the_last_used_stay_in_memory(monkeypatch):
    parser = small_parser("linear")
    parsed = Counting(monkeypatch, parser)
    first, *others = (Sentence.from_words([f"word{number}"]) for number in range(40))
    repeats = Repeats(room=4000)
    for sentence in others:
        parser([first], once=repeats)
        parser([sentence], once=repeats)
    assert parsed.sentences == [first, *others]
    parser([others[-1]], once=repeats)
    parser([others[0]], once=repeats)
    assert parsed.sentences == [first, *others, others[0]]


def test_memory_is_bounded():
    import tracemalloc

    sentences = [Sentence.from_words([f"word{i}" for i in range(n, n + 20)]) for n in range(3000)]
    room, wanted = 2**18, Options.of()
    repeats = Repeats(room)
    once = Once(partial(lambda batch, options: batch, options=wanted), wanted, repeats)
    tracemalloc.start()
    try:
        for number in range(0, len(sentences), 100):
            once(sentences[number : number + 100])
        assert room // 2 < tracemalloc.get_traced_memory()[0] < 2 * room
    finally:
        tracemalloc.stop()


def test_too_little_memory_for_a_single_sentence():
    parser, sentences = small_parser("linear"), given()
    right = written(parser.parse(sentences))
    assert written(parser.parse(sentences, once=Repeats(1))) == right


def test_nothing_is_read_ahead():
    parser, sentence = small_parser("linear"), bare(treebank()[0])
    taken = []
    for once in (False, True):
        reads = []
        stream = (reads.append(1) or sentence for _ in range(10_000))
        assert len(list(islice(parser.parse(stream, once=once), 3))) == 3
        taken.append(len(reads))
    assert taken[0] == taken[1] < 10_000


def test_several_calls(monkeypatch):
    parser, sentences, repeats = small_parser("greedy"), given(), Repeats()
    parsed = Counting(monkeypatch, parser)
    first = written(parser.parse(sentences, once=repeats))
    count = len(parsed.sentences)
    assert written(parser.parse(sentences, once=repeats, threads=2)) == first
    assert len(parsed.sentences) == count
    assert not parser([], once=repeats)


@pytest.mark.parametrize(
    "options", [{"root": "multi"}, {"rules": "ud"}, {"projective": True}, {"keep": True}]
)
def test_other_options(options):
    parser, repeats = small_parser("linear"), Repeats()
    parser.parse([], once=repeats)
    with pytest.raises(arb.OptionError, match="another parser or other options"):
        parser.parse([], once=repeats, **options)
    with pytest.raises(arb.OptionError, match="another parser or other options"):
        parser.kbest([], once=repeats)
    with pytest.raises(arb.OptionError, match="another parser or other options"):
        small_parser("joint").parse([], once=repeats)
    parser.parse([], once=pickle.loads(pickle.dumps(repeats)), **options)


def test_the_same_rules():
    parser, repeats = small_parser("linear"), Repeats()
    parser.parse([], once=repeats, rules=Keeper("ud"))
    parser.parse([], once=repeats, rules="ud")
    with pytest.raises(arb.OptionError, match="other options"):
        parser.parse([], once=repeats, rules=Keeper("ud", work=1e5))


def test_what_does_not_go_together():
    parser: LinearParser = small_parser("linear")
    with pytest.raises(arb.OptionError, match="once=True does not go with a budget"):
        parser.parse([], once=True, budget=arb.Budget())
    with pytest.raises(arb.OptionError, match="room must be at least 1"):
        Repeats(0)
    with pytest.raises(arb.OptionError, match="there are threads, once, root"):
        parser.parse([], twice=True)
