from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arborescence as arb
import brute_force
from arborescence.errors import TreebankError
from arborescence.treebank import Sentence, evaluate, read
from arborescence_papers.bilexical import BilexicalModel, Counts, Estimate
from samples import treebank, unparsed

LEFT, RIGHT = 0, 1
END, MORE = 0, 1


def probability(events, outcome, contexts, outcomes, backoff):
    """The formula of the docstring, over a list of (outcome, contexts), as a recursion."""
    if not contexts:
        return 1 / outcomes
    level = -len(contexts)
    seen = [x for x, of_event in events if of_event[level] == contexts[0]]
    rest = probability(events, outcome, contexts[1:], outcomes, backoff)
    if not seen:
        return rest
    t = backoff * len(set(seen))
    return (seen.count(outcome) + t * rest) / (len(seen) + t)


codes = st.integers(0, 3)


@given(
    st.lists(st.tuples(codes, codes, codes), min_size=1, max_size=20),
    st.tuples(codes, codes),
    st.sampled_from([0.5, 1.0, 5.0]),
)
def test_the_estimate_is_that_of_the_formula(events, contexts, backoff):
    outcome, *given_contexts = np.array(events).T
    estimate = Estimate.of(outcome, given_contexts, 4, backoff)
    outcomes = np.arange(4)
    logarithms = estimate.log(outcomes, [np.full(4, context) for context in contexts])
    slow = [(x, of_event) for x, *of_event in events]
    expected = [probability(slow, x, contexts, 4, backoff) for x in range(4)]
    assert np.allclose(np.exp(logarithms), expected, rtol=1e-12)
    assert np.exp(logarithms).sum() == pytest.approx(1)


def test_three_heads_and_one_tail():
    heads_or_tails, no_context = np.array([0, 0, 0, 1]), np.zeros(4, dtype=np.int64)
    coin = Estimate.of(heads_or_tails, [no_context], outcomes=2, backoff=1.0)
    found = np.exp(coin.log(np.array([0, 1]), [np.zeros(2, dtype=np.int64)]))
    assert found.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_counts():
    counts = Counts.of(np.array([7, 3, 7]))
    assert counts.look_up(np.array([[3, 7], [0, 9]])).tolist() == [[1, 2], [0, 0]]


def slow_weight(sentences, new, h, d, backoff, sides=True):
    """The weight of an edge as the class documents it, with strings in place of codes."""
    often = [form.lower() for s in sentences for form in s.forms]

    def nodes(sentence):
        words = [w if often.count(w) > 1 else "?" for w in map(str.lower, sentence.forms)]
        return [("ROOT", "ROOT"), *zip(words, sentence.upos, strict=True)]

    def contexts(head, side):
        return ((*head, side), (head[1], side), (side,))

    def contexts_of_word(head, side, tag):
        return ((*head, side, tag), (head[1], side, tag), (tag,))

    more, tags, words = [], [], []
    for sentence in sentences:
        own = nodes(sentence)
        for d_, h_ in enumerate(sentence.heads.tolist(), 1):
            (word, tag), side = own[d_], RIGHT if d_ > h_ else LEFT
            tags.append((tag, contexts(own[h_], side)))
            words.append((word, contexts_of_word(own[h_], side, tag)))
            if h_ > 0:
                more.append((MORE, side) if sides else (MORE + side, None))
                more[-1] = more[-1][0], contexts(own[h_], more[-1][1])
            more += [(END, contexts(own[d_], s)) for s in ((LEFT, RIGHT) if sides else (None,))]

    own = nodes(new)
    (word, tag), side = own[d], RIGHT if d > h else LEFT
    known_tags = len({tag for s in sentences for tag in s.upos}) + 1
    known_words = len({w for w in often if often.count(w) > 1}) + 1
    factors = [
        probability(tags, tag, contexts(own[h], side), known_tags, backoff),
        probability(words, word, contexts_of_word(own[h], side, tag), known_words, backoff),
    ]
    if h > 0 and sides:
        factors.append(probability(more, MORE, contexts(own[h], side), 2, backoff))
    elif h > 0:
        factors.append(probability(more, MORE + side, contexts(own[h], None), 3, backoff))
    return sum(map(log, factors))


@pytest.mark.parametrize(("backoff", "sides"), [(1.0, True), (5.0, True), (5.0, False)])
def test_scores_are_the_weights_as_documented(backoff, sides):
    lessons = treebank()
    model = BilexicalModel.train(lessons, backoff=backoff, sides=sides)
    new = Sentence.from_words(
        ["The", "old", "bird", "saw", "trees", "."],
        upos=["DET", "ADJ", "NOUN", "VERB", "NOUN", "PUNCT"],
    )
    for sentence in (new, lessons[3]):
        scores = model.scores(sentence)
        n = len(sentence)
        assert scores.shape == (n + 1, n + 1)
        assert not scores[:, 0].any()
        assert not scores.diagonal().any()
        for h in range(n + 1):
            for d in range(1, n + 1):
                if h != d:
                    expected = slow_weight(lessons, sentence, h, d, backoff, sides)
                    assert scores[h, d] == pytest.approx(expected, rel=1e-12)


def test_it_learns_which_words_go_together():
    lessons = [
        Sentence.from_words(words.split(), heads=heads)
        for words, heads in [
            ("birds sing songs", [-1, 2, 0, 2]),
            ("birds sing", [-1, 2, 0]),
            ("old birds grow old trees", [-1, 2, 3, 0, 5, 3]),
            ("trees grow", [-1, 2, 0]),
        ]
    ]
    [parsed] = BilexicalModel.train(lessons).parse([Sentence.from_words(["old", "trees", "sing"])])
    assert parsed.tree.tolist() == [-1, 2, 3, 0]


def test_without_tags_it_looks_at_words_alone():
    lessons = treebank()
    model = BilexicalModel.train(lessons, tags=False)
    for sentence in lessons:
        bare = Sentence.from_words(sentence.forms)
        assert (model.scores(bare) == model.scores(sentence)).all()
    assert (BilexicalModel.train(lessons).scores(bare) != model.scores(bare)).any()


def test_parses_are_the_best_trees_of_the_scores():
    lessons = treebank()
    model = BilexicalModel.train(lessons)
    blank = [unparsed(sentence) for sentence in lessons]
    for sentence, parsed in zip(blank, model.parse(blank), strict=True):
        heads = arb.decode(model.scores(sentence), projective=True)
        assert parsed == sentence.replace(heads=heads, deprels=["_"] * len(sentence))
        assert arb.is_projective(parsed.tree)
    crossing = model.parse(blank, root="multi", projective=False)
    for sentence, parsed in zip(blank, crossing, strict=True):
        assert parsed.tree.tolist() == arb.decode(model.scores(sentence), root="multi").tolist()


@pytest.mark.parametrize(
    ("heads", "message"), [([-1, 2, 1], "not a tree"), ([-1, 0, -1], "not a tree")]
)
def test_unusable_treebanks(heads, message):
    with pytest.raises(TreebankError, match=message):
        BilexicalModel.train([Sentence.from_words(["Trees", "grow"], heads=heads)])
    with pytest.raises(TreebankError, match="empty"):
        BilexicalModel.train([])


@pytest.mark.parametrize("backoff", [0.0, -1.0, float("nan"), float("inf")])
def test_unusable_backoff(backoff):
    with pytest.raises(ValueError, match="backoff must be a positive number"):
        BilexicalModel.train(treebank(), backoff=backoff)


def test_the_best_derivation_is_not_always_that_of_the_most_probable_tree():
    """With one distribution for left, right and stop, a head draws both sides in any order."""
    wrong = 0
    trees = brute_force.all_trees(4, single=True, projective=True)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(5, 5))
        weights = np.array([arb.tree_weight(scores, tree) for tree in trees])
        best = trees[weights.argmax()].tolist()
        assert arb.decode(scores, projective=True).tolist() == best
        orders = [log(derivations(tree.tolist())) for tree in trees]
        wrong += trees[(weights + orders).argmax()].tolist() != best
    assert wrong > 5


def derivations(heads):
    """The number of orders in which all heads can draw their dependents."""
    count = 1
    for head in range(1, len(heads)):
        left = sum(d < head for d in range(1, len(heads)) if heads[d] == head)
        count *= comb(sum(h == head for h in heads), left)
    return count


def test_real_trees(treebanks):
    folder = treebanks / "English-EWT"
    train = list(read(folder / "en_ewt-ud-train.conllu.gz"))
    dev = list(read(folder / "en_ewt-ud-dev.conllu.gz"))
    for tags, least in ((True, 0.68), (False, 0.56)):
        model = BilexicalModel.train(train, tags=tags)
        assert evaluate(dev, model.parse(dev)).uas.f1 > least
