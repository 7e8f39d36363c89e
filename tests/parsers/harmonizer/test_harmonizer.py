"""A conversion learned from a few sentences with both annotations."""

import io
from itertools import product

import numpy as np
import pytest

from arborescence.errors import ModelError, TreebankError
from arborescence.parsers import Harmonizer, Keeper, load, pair
from arborescence.parsers.harmonizer import calibration
from arborescence.parsers.harmonizer.calibration import fit_line, on_line
from arborescence.parsers.harmonizer.features import EDGES, CandidateEdges
from arborescence.parsers.harmonizer.kernels import STEPS, UP
from arborescence.parsers.model_file import load as load_file
from arborescence.parsers.model_file import save as save_file
from arborescence.rules import LabelTags
from arborescence.treebank import Sentence, read

NOUNS = ["owls", "mice", "cats", "dogs"]
VERBS = ["sleep", "hide", "wait"]
PLACES = ["trees", "houses", "boxes"]


def old(noun, verb, place):
    """Return a sentence of a scheme in which prepositions are heads, and auxiliaries too."""
    return Sentence.from_words(
        [noun, "can", verb, "in", place, "."],
        upos=["N", "V", "V", "P", "N", "."],
        feats=["Pl", "_", "_", "_", "Pl", "_"],
        heads=[2, 0, 2, 3, 4, 2],
        deprels=["SUBJ", "ROOT", "VC", "ADV", "POBJ", "PU"],
        misc=["Old=1", "_", "_", "_", "_", "_"],
        comments=[f"# sent_id = {noun}-{verb}-{place}"],
    )


def new(noun, verb, place):
    """Return the same in Universal Dependencies."""
    return Sentence.from_words(
        [noun, "can", verb, "in", place, "."],
        upos=["NOUN", "AUX", "VERB", "ADP", "NOUN", "PUNCT"],
        feats=["Number=Plur", "_", "_", "_", "Number=Plur", "_"],
        heads=[3, 3, 0, 5, 3, 3],
        deprels=["nsubj", "aux", "root", "case", "obl", "punct"],
    )


TRIPLES = list(product(NOUNS, VERBS, PLACES))
SEEN, OTHERS = TRIPLES[::2], TRIPLES[1::2]


@pytest.fixture(scope="module")
def harmonizer():
    return Harmonizer.learn(
        pair([old(*each) for each in SEEN], [new(*each) for each in SEEN]).pairs
    )


def annotation(sentence):
    return sentence.heads.tolist(), sentence.deprels, sentence.upos, sentence.feats


def test_other_sentences_are_converted(harmonizer):
    converted = list(harmonizer.convert(old(*each) for each in OTHERS))
    assert list(map(annotation, converted)) == [annotation(new(*each)) for each in OTHERS]
    for sentence, triple in zip(converted, OTHERS, strict=True):
        assert sentence.sent_id == "-".join(triple)
        assert sentence.misc == old(*triple).misc


def test_a_value_that_was_never_seen_stays(harmonizer):
    given = old(*OTHERS[0]).replace(feats=["Pl", "Mood=New", "_", "_", "Pl", "_"])
    [converted] = harmonizer.convert([given])
    assert converted.feats[1] == "Mood=New"
    assert converted.xpos == given.xpos  # no value changed in the sample


def test_multiword_tokens_stay_and_deps_go(harmonizer):
    raw = "# text = Owlscan sleep.\n1-2\tOwlscan\t_\t_\t_\t_\t_\t_\t_\t_\n"
    raw += "1\towls\t_\tN\t_\tPl\t2\tSUBJ\t2:SUBJ\t_\n2\tcan\t_\tV\t_\t_\t0\tROOT\t0:ROOT\t_\n"
    raw += "3\tsleep\t_\tV\t_\t_\t2\tVC\t2:VC\tSpaceAfter=No\n4\t.\t_\t.\t_\t_\t2\tPU\t2:PU\t_\n\n"
    [converted] = harmonizer.convert(read(io.BytesIO(raw.encode())))
    assert converted.multiwords == [(1, 2, "Owlscan")]
    assert converted.deps == ["_"] * 4
    assert converted.comments == ["# text = Owlscan sleep."]
    assert converted.misc == ["_", "_", "SpaceAfter=No", "_"]
    assert converted.heads.tolist() == [3, 3, 0, 3]


def test_corrected_words_keep_their_annotation(harmonizer):
    given = old(*OTHERS[0])
    [first] = harmonizer.convert([given])
    misc = ["_", "_", "_", "_", "Corrected=Yes", "_"]
    heads, relations, tags = first.heads, first.deprels, first.upos
    heads[4], relations[4], tags[4] = 1, "nmod", "PROPN"
    relations[0] = "dep"  # is not marked
    corrected = first.replace(heads=heads, deprels=relations, upos=tags, misc=misc)
    [again] = harmonizer.convert([given], corrected=[corrected])
    assert again.heads.tolist() == [3, 3, 0, 5, 1, 3]
    assert again.deprels == ["nsubj", "aux", "root", "case", "nmod", "punct"]
    assert again.upos[4] == "PROPN"
    assert again.misc == misc


def test_the_tree_is_the_best_one_around_corrected_words(harmonizer):
    given = old(*OTHERS[0])
    misc = ["Corrected=Yes", *["_"] * 5]
    [first] = harmonizer.convert([given])
    heads = [0, *first.heads[1:]]
    heads[2] = 1
    [again] = harmonizer.convert([given], corrected=[first.replace(heads=heads, misc=misc)])
    assert again.heads[0] == 0
    assert (again.heads == 0).sum() == 1


@pytest.mark.parametrize(
    ("corrected", "message"),
    [
        ([], "no corrected sentence is left"),
        ([Sentence.from_words(["one"])], "1 words, but the sentence to convert .* has 6"),
        ([old(*OTHERS[0])] * 2, "more corrected sentences"),
        (
            [old(*OTHERS[0]).replace(heads=[2, 1, 0, 3, 3, 3], misc=["Corrected=Yes"] * 6)],
            "no part of a tree",
        ),
    ],
)
def test_corrections_that_do_not_fit(harmonizer, corrected, message):
    with pytest.raises(TreebankError, match=message):
        list(harmonizer.convert([old(*OTHERS[0])], corrected=corrected))


def test_probabilities(harmonizer):
    [sure] = harmonizer.convert([old(*OTHERS[0])], confidence=True)
    shares = [dict(x.split("=") for x in entry.split("|")) for entry in sure.misc]
    assert all(0.5 < float(each["EdgeProb"]) <= 1 for each in shares)
    assert all(0.5 < float(each["RelationProb"]) <= 1 for each in shares)
    assert shares[0]["Old"] == "1"


def test_saved_and_loaded(harmonizer, tmp_path):
    path = tmp_path / "mapping.model"
    harmonizer.save(path)
    again = Harmonizer.load(path)
    given = [old(*each) for each in OTHERS]
    assert list(again.convert(given, confidence=True)) == list(
        harmonizer.convert(given, confidence=True)
    )
    assert again.table == harmonizer.table
    with pytest.raises(ModelError, match="harmonizer"):
        load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "linear"),
        ("relations", []),
        ("roots", [1]),
        ("temperature", 0.0),
        ("edge_line", [1.0]),
        ("rules", "all"),
        ("parser", {"kind": "combined"}),
        ("parser_weight", -1.0),
        ("columns", {"upos": "all"}),
        ("columns", {"form": ["a"]}),
        ("table", [["nsubj", 1]]),
        ("version_of_kind", 99),
    ],
)
def test_damaged_files(harmonizer, tmp_path, name, value):
    path = tmp_path / "mapping.model"
    harmonizer.save(path)
    header, arrays = load_file(path)
    save_file(path, {**header, name: value}, arrays)
    with pytest.raises(ModelError, match=r"mapping\.model"):
        Harmonizer.load(path)


def test_damaged_arrays(harmonizer, tmp_path):
    path = tmp_path / "mapping.model"
    harmonizer.save(path)
    header, arrays = load_file(path)
    for name in ("heads/gaps", "relations/weights"):
        save_file(path, header, {key: each for key, each in arrays.items() if key != name})
        with pytest.raises(ModelError, match="is missing"):
            Harmonizer.load(path)


def test_signs_are_scored_by_the_new_tree_too(harmonizer):
    given = [old(*OTHERS[0])]
    scorer = harmonizer._scorer
    with_signs = scorer.scored(given)
    [matrix] = with_signs.matrices
    signs, scorer._signs = scorer._signs, None
    try:
        before = scorer.scored(given)
    finally:
        scorer._signs = signs
    settled = before.candidates.with_new_trees(before.trees[0][1:], new(*OTHERS[0]).deprels)
    assert settled.trees.tolist() == [-1, 3, 3, 0, 5, 3, 2]  # the sign hangs from its old head
    logs = signs.logs(settled.places(EDGES), settled.groups)
    cells = np.full(49, np.float32(-25))
    cells[settled.cells()] = logs
    [after] = settled.matrices(cells)
    mean = (before.matrices[0][:, 6] + after[:, 6]) / 2
    assert matrix[:6, 6] == pytest.approx(mean[:6], abs=1e-4)
    assert (matrix[:, :6] == before.matrices[0][:, :6]).all()


@pytest.fixture(scope="module")
def with_parser():
    """Return a conversion of trees that say too little: each word hangs from the first one."""
    flat = [old(*each).replace(heads=[0, *[1] * 5], deprels=["R"] * 6) for each in TRIPLES]
    pairs = pair(flat[::2], [new(*each) for each in SEEN]).pairs
    return flat[1::2], [Harmonizer.learn(pairs, parser=each) for each in (False, True)]


def test_a_parser_is_trained_and_kept_if_it_helps(with_parser, tmp_path, monkeypatch):
    given, [plain, parsing] = with_parser
    assert plain.parser_weight == 0
    assert plain._scorer.parser is None
    monkeypatch.setattr(calibration, "_WEIGHTS", (0.4,))
    pairs = pair(given, [new(*each) for each in OTHERS]).pairs
    forced = Harmonizer.learn(pairs, parser=True)
    assert forced.parser_weight == 0.4
    [matrix] = forced._scorer.scored(given[:1]).matrices
    scores = forced._scorer.parser.scores(given[0].replace(xpos=["R"] * 6, heads=None))
    forced._scorer.weight = 0.0
    [without] = forced._scorer.scored(given[:1]).matrices
    assert matrix - without == pytest.approx(0.4 * scores, abs=1e-3)
    forced._scorer.weight = 0.4
    forced.save(tmp_path / "m.model")
    again = Harmonizer.load(tmp_path / "m.model")
    assert list(again.convert(given)) == list(forced.convert(given))
    assert again.parser_weight == 0.4
    assert list(map(annotation, parsing.convert(given))) == [annotation(new(*o)) for o in OTHERS]


def test_trees_keep_the_rules_of_the_new_scheme(harmonizer):
    assert harmonizer.rules == "ud"
    given = [old(*each) for each in OTHERS]
    no_subject = LabelTags("no-subject", ("nsubj",), ("X",))
    keeper = Keeper([no_subject])
    found = list(harmonizer.convert(given, rules=keeper))
    assert not any("nsubj" in each.deprels for each in found)
    assert keeper.counts.changed == keeper.counts.sentences == len(given)
    assert [each.upos for each in found] == [new(*each).upos for each in OTHERS]
    with_probabilities = list(harmonizer.convert(given, rules=keeper, confidence=True))
    assert [each.heads.tolist() for each in with_probabilities] == [
        each.heads.tolist() for each in found
    ]
    plain = list(harmonizer.convert(given, rules="none"))
    assert all("nsubj" in each.deprels for each in plain)


def test_rules_and_corrected_words(harmonizer):
    misc = ["Corrected=Yes", *["_"] * 5]
    corrected = new(*OTHERS[0]).replace(heads=[3, 3, 0, 5, 3, 3], misc=misc)
    rule = LabelTags("no-subject", ("nsubj",), ("X",))
    [found] = harmonizer.convert([old(*OTHERS[0])], corrected=[corrected], rules=[rule])
    assert (found.heads[0], found.deprels[0]) == (3, "nsubj")


def test_rules_are_kept_if_they_help():
    pairs = pair([old(*each) for each in SEEN], [new(*each) for each in SEEN]).pairs
    for rule, helps in (
        (LabelTags("no-subject", ("nsubj",), ("X",)), False),
        (LabelTags("subjects", ("nsubj",), ("NOUN",)), True),
    ):
        rng = np.random.default_rng(1)
        found = calibration.fitted(pairs, 8, rng, parser=False, keeper=Keeper([rule]))
        assert found.rules_help == helps


def test_schemes_without_rules():
    pairs = pair([new(*each) for each in SEEN], [old(*each) for each in SEEN]).pairs
    assert Harmonizer.learn(pairs).rules == "none"


def test_a_line_is_fitted():
    rng = np.random.default_rng(1)
    given = rng.uniform(0.02, 0.98, 20_000)
    right = rng.random(given.size) < on_line(given, (0.6, 0.8))
    assert fit_line(given, right) == pytest.approx((0.6, 0.8), abs=0.08)
    assert fit_line(np.ones(3), np.ones(3, np.bool_)) == pytest.approx((1, 0), abs=0.01)


def test_the_table(harmonizer):
    assert ["POBJ", "reversed", "case", 18] not in harmonizer.table
    assert ["SUBJ", "another head", "nsubj", len(SEEN)] in harmonizer.table
    assert ["VC", "reversed", "root", len(SEEN)] in harmonizer.table
    assert ["ADV", "another head", "case", len(SEEN)] in harmonizer.table
    assert sum(row[-1] for row in harmonizer.table) == 6 * len(SEEN)


def test_nothing_to_learn_from():
    with pytest.raises(TreebankError, match="nothing can be learned"):
        Harmonizer.learn([])


def test_candidates_are_those_of_short_paths():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(1, 12))
        heads = [0, *(int(rng.integers(0, i + 1)) for i in range(1, n))]
        sentence = Sentence.from_words(list("abcdefghijkl"[:n]), heads=heads)
        edges = CandidateEdges([sentence])
        assert set(map(tuple, edges.ends.tolist())) == set(near(heads))


def near(heads):
    """Yield the edges between words with a short path, by following all ancestors."""

    def ancestors(word):
        found = [word]
        while found[-1]:
            found.append(heads[found[-1] - 1])
        return found

    for d in range(1, len(heads) + 1):
        for h in range(len(heads) + 1):
            ups, downs = ancestors(d), ancestors(h)
            common = next(each for each in ups if each in downs)
            up, down = ups.index(common), downs.index(common)
            if h != d and up <= UP and down <= UP and up + down <= STEPS:
                yield h, d
