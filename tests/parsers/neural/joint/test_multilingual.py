"""A parser of several languages: as the network that was trained, in one file, by language."""

from dataclasses import replace

import numpy as np
import pytest

import arborescence
from arborescence.errors import ArborescenceWarning, ModelError, OptionError
from arborescence.parsers import model_file, train
from arborescence.parsers.neural import stored
from arborescence.parsers.packaging import package
from arborescence.parsers.ranking import rank
from arborescence.parsers.shared.reading import Reading
from arborescence.parsers.text import Text
from arborescence.parsers.text.identifier import LanguageIdentifier
from arborescence.parsers.text.xpos import XposTable
from arborescence.treebank import Sentence, write
from small_treebanks import sentences
from tiny_encoders import make_bert
from ways import WAYS

for needed in ("torch", "transformers", "tokenizers"):
    pytest.importorskip(needed, reason=f"encoders are trained by {needed}")

import torch  # noqa: E402

from arborescence.parsers.neural.bert.encoder import BertEncoder  # noqa: E402
from arborescence.parsers.neural.devices import moved, own_threads  # noqa: E402
from arborescence.parsers.neural.encoder import Encoder  # noqa: E402
from arborescence.parsers.neural.joint.auto import language_of  # noqa: E402
from arborescence.parsers.neural.joint.export import parser_of  # noqa: E402
from arborescence.parsers.neural.joint.inventory import Inventory, TreebankValues  # noqa: E402
from arborescence.parsers.neural.joint.languages import Language  # noqa: E402
from arborescence.parsers.neural.joint.network import JointInputs, JointNetwork  # noqa: E402

FEW = [
    each.replace(
        lemmas=[form.lower() for form in each.forms],
        xpos=[tag[:2] for tag in each.upos],
        feats=[f"Case={each.upos[i][0]}|Odd=Yes" if i % 2 else "_" for i in range(len(each))],
    )
    for each in sentences()
]
#: The same words in another annotation, without tags.
OTHER = [
    each.replace(
        deprels=["root" if head == 0 else "obj:other" for head in each.heads],
        upos=None,
        xpos=None,
        feats=None,
    )
    for each in FEW
]
XPOS = XposTable.train(FEW)
LONG = ["Birds", "under", "old", "trees", "sing", "!"] * 12  # several windows
NEW = [Sentence.from_words(words) for words in (LONG, ["Sing"], ["Old", "cats", "hear"])]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = make_bert(tmp_path_factory.mktemp("encoders") / "bert")
    return Encoder.load(folder, layers=3, fine_tune=True)


@pytest.fixture(scope="module")
def inventory():
    treebanks = {"Birdish-Few": ("bi", FEW), "Catish-Other": ("ca", OTHER)}
    return Inventory({name: TreebankValues.of(*each) for name, each in treebanks.items()})


@pytest.fixture(scope="module")
def network(encoder, inventory):
    """A network with random weights, rounded above the encoder as in a model file."""
    torch.manual_seed(1)
    made = JointNetwork(encoder, inventory, arc=8, label=6, dropout=0).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if not name.startswith("encoder."):
                weights = {name: (torch.randn_like(parameter) / 4).numpy()}
                arrays = stored.to_arrays(weights, "int8")
                rounded = stored.from_arrays(arrays, {name: tuple(parameter.shape)})
                parameter.copy_(torch.from_numpy(rounded[name]))
    return made


@pytest.fixture(scope="module")
def parser(encoder, inventory, network):
    languages = {
        "bi": Language(
            "Birdish-Few", 1.5, 1.2, 1.1, "none", Reading.of(FEW), Text.train(FEW), XPOS
        ),
        "ca": Language("Catish-Other"),
    }
    weights = {name: each.detach().numpy() for name, each in network.named_parameters()}
    return parser_of(encoder, inventory, weights, languages, bits=None)


@pytest.fixture(scope="module")
def model(parser, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "two.npz"
    parser.save(path)
    return path


def test_as_the_network(parser, encoder, inventory, network):
    """Up to the rounding of numbers to bytes."""
    for treebank, (language, gold) in enumerate((("bi", FEW), ("ca", OTHER))):
        own = parser.in_language(language)
        texts = [each.forms for each in NEW]
        batch = moved(JointInputs.of(encoder, texts, [treebank] * len(NEW)), "cpu")
        with torch.inference_mode(), own_threads(1):
            outputs = network(batch)
        for b, (sentence, scores) in enumerate(zip(NEW, own.scores_of(NEW), strict=True)):
            n = len(sentence) + 1
            expected = outputs.edges[b, :n, :n].numpy()
            edges = ~np.eye(n, dtype=bool)
            edges[:, 0] = False
            spread = expected[edges].std() + 0.1
            assert np.abs(scores - expected)[edges].max() < 0.15 * spread
        assert set(own.labels) == {name for each in gold for name in each.deprels}


def test_letter_case_changes_scores(parser):
    """The tiny encoder reads lower-cased words, as many large ones do."""
    texts = [["Old", "cats", "hear"], ["old", "cats", "hear"], ["old", "Cats", "hear"]]
    sentences = [Sentence.from_words(words) for words in texts]
    first, *others = parser.in_language("bi").scores_of(sentences)
    assert all(np.abs(other - first)[:, 1:].max() > 1e-3 for other in others)


def test_a_model_of_before_knows_no_letter_case(parser, tmp_path):
    kept = {name: each for name, each in parser.weights.items() if not name.startswith("case_")}
    zeros = {name: np.zeros_like(each) for name, each in parser.weights.items()}
    before = replace(parser, weights=kept)
    same = replace(parser, weights=zeros | kept)
    before.save(tmp_path / "before.npz")
    loaded = arborescence.load(tmp_path / "before.npz", language="bi")
    expected = same.in_language("bi").scores_of(NEW)
    for found, wanted in zip(loaded.scores_of(NEW), expected, strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("way", WAYS)
def test_transport(parser, way):
    own = parser.in_language("bi")
    assert list(map(str, WAYS[way](own).parse(NEW))) == list(map(str, own.parse(NEW)))


def test_tags_are_those_of_the_treebank(parser):
    birds, cats = (list(parser.in_language(code).parse(NEW)) for code in ("bi", "ca"))
    known = {tag for each in FEW for tag in each.upos}
    assert all(set(each.upos) <= known for each in birds)
    features = {piece for each in FEW for value in each.feats for piece in value.split("|")}
    assert {p for each in birds for value in each.feats for p in value.split("|")} <= features
    assert all(set(each.upos) == set(each.feats) == {"_"} for each in cats)
    assert all(set(each.lemmas) != {"_"} for each in birds)
    tags = {tag for each in FEW for tag in each.xpos}
    assert all(set(each.xpos) <= tags for each in birds)
    assert all(set(each.xpos) == {"_"} for each in cats)
    [parsed] = parser.parse([NEW[2].replace(xpos=["X", "Y", "Z"])])
    assert parsed.xpos == ["X", "Y", "Z"]
    kept = NEW[2].replace(upos=["X", "Y", "Z"])
    [parsed] = parser.parse([kept])
    assert (parsed.upos, parsed.feats) == (["X", "Y", "Z"], ["_"] * 3)


def test_xpos_of_a_model_of_before_is_that_of_its_table(parser, inventory, tmp_path):
    header = inventory.to_file()
    for each in header.values():
        del each["xpos"]
    weights = {name: each for name, each in parser.weights.items() if "xpos." not in name}
    replace(parser, inventory=Inventory.from_file(header), weights=weights).save(
        tmp_path / "before.npz"
    )
    loaded = arborescence.load(tmp_path / "before.npz", language="bi")
    for found, each in zip(loaded.parse(NEW), parser.in_language("bi").parse(NEW), strict=True):
        assert found == each.replace(xpos=XPOS.xpos(each))
    assert loaded.tagger.columns == ("upos", "xpos", "feats")


def test_tagging_is_that_of_parsing(parser):
    parsed, tagged = list(parser.parse(NEW)), list(parser.tag(NEW))
    assert [each.upos for each in tagged] == [each.upos for each in parsed]
    assert [each.feats for each in tagged] == [each.feats for each in parsed]
    assert [each.xpos for each in tagged] == [each.xpos for each in parsed]
    assert [each.lemmas for each in tagged] == [each.lemmas for each in parsed]
    given = [each.replace(upos=["X"] * len(each)) for each in NEW]
    assert [each.upos for each in parser.tag(given)] == [each.upos for each in given]
    again = parser.tag(given, overwrite=True)
    assert [each.upos for each in again] == [each.upos for each in parsed]


def test_everything_else_works(parser):
    [found] = parser("Old cats hear birds.", confidence=True)
    assert "RelationProb=" in found.misc[0]
    [ranked] = parser.kbest([NEW[2]], 3)
    assert len({tuple(each.sentence.heads) for each in ranked}) == 3
    held = NEW[2].replace(heads=[0, -1, -1], deprels=["root", "_", "_"])
    [completed] = parser.parse([held], keep=True)
    assert (completed.heads[0], completed.deprels[0]) == (0, "root")
    one, two = (list(parser.parse(NEW * 40, threads=threads)) for threads in (1, 2))
    assert [each.raw for each in one] == [each.raw for each in two]


def test_one_file_has_all_languages(parser, model):
    loaded = arborescence.load(model, language="ca")
    assert (loaded.language, loaded.treebank) == ("ca", "Catish-Other")
    expected = [each.raw for each in parser.in_language("ca").parse(NEW)]
    assert [each.raw for each in loaded.parse(NEW)] == expected
    birds = arborescence.load(f"{model}:bi")
    assert [each.raw for each in birds.parse(NEW)] == [each.raw for each in parser.parse(NEW)]
    assert (birds.temperature, birds.reading.known) == (1.5, parser.reading.known)
    with pytest.raises(ModelError, match="has not learned to cut raw text"):
        loaded("Birds sing.")


def test_temperatures_are_those_of_a_language(parser, model, tmp_path):
    loaded = arborescence.load(model, language="ca")
    loaded.fit(OTHER, "single")
    assert loaded.temperature != 1
    loaded.save(tmp_path / "fitted.npz")
    again = arborescence.load(tmp_path / "fitted.npz", language="ca")
    assert (again.temperature, again.info) == (loaded.temperature, {"fitted": len(OTHER)})
    assert again.in_language("bi").temperature == 1.5
    assert arborescence.load(tmp_path / "fitted.npz").language == "ca"  # as it was saved


def test_languages_that_it_lacks(parser, model, tmp_path):
    with pytest.raises(
        ModelError, match=r"does not read 'xx': choose one of bi, ca, or auto \(language="
    ):
        arborescence.load(model, language="xx")
    with pytest.raises(ModelError, match="does not read 'xx'"):
        arborescence.load(f"{model}:xx")
    header, arrays = model_file.load(model)
    model_file.save(tmp_path / "none.npz", header | {"language": None}, arrays)
    with pytest.raises(ModelError, match="it reads several languages: choose one of bi, ca"):
        arborescence.load(tmp_path / "none.npz")


@pytest.fixture(scope="module")
def auto(parser, tmp_path_factory):
    """The model, with what tells words of birds from words of cats."""
    own = replace(parser, languages=parser.languages | {"ca": with_text(parser.languages["ca"])})
    own.identifier = LanguageIdentifier.train(
        {"bi": ["Birds sing under old trees. "], "ca": ["Zwölf Katzen jagen Mäuse. "]}
    )
    path = tmp_path_factory.mktemp("models") / "auto.npz"
    own.save(path)
    return path


def with_text(stored):
    header, arrays = Text.train(OTHER).to_file()
    return stored[0] | {"text": header}, arrays


BIRDS, CATS = "Old birds sing.", "Katzen jagen Mäuse."


@pytest.mark.parametrize("way", WAYS)
def test_each_document_is_read_in_its_language(auto, way):
    parser = WAYS[way](arborescence.load(auto, language="auto"))
    found = parser(texts=[BIRDS, CATS, BIRDS])
    for sentence, text, code in zip(found, [BIRDS, CATS, BIRDS], ["bi", "ca", "bi"], strict=True):
        [alone] = arborescence.load(f"{auto}:{code}")(text)
        assert sentence.comments[-1] == f"# language = {code}"
        assert (sentence.forms, sentence.deprels) == (alone.forms, alone.deprels)
        assert sentence.heads.tolist() == alone.heads.tolist()
        assert sentence.upos == alone.upos


def test_the_encoder_reads_each_sentence_once(auto, monkeypatch):
    parser = arborescence.load(auto, language="auto")
    read = []
    features = BertEncoder.features

    def counted(self, sentences, **how):
        read.extend(sentences)
        return features(self, sentences, **how)

    monkeypatch.setattr(BertEncoder, "features", counted)
    list(parser.parse(parser.split(texts=[BIRDS, CATS, BIRDS, CATS])))
    read = [words for words in read if len(words) > 1]  # an encoder is tried with one word
    assert len(read) == 4


def test_documents_begin_where_they_are_marked(auto):
    parser = arborescence.load(auto, language="auto")
    birds, cats = (
        Sentence.from_words(words, comments=["# newdoc"])
        for words in (["Birds", "sing"], ["Katzen", "jagen"])
    )
    next_one = Sentence.from_words(["Mäuse"])
    told = Sentence.from_words(["Birds"], comments=["# language = ca"])
    found = [language_of(each) for each in parser.parse([birds, cats, next_one, birds, told])]
    assert found == ["bi", "ca", "ca", "bi", "ca"]
    [ranked] = parser.kbest([birds], 2)
    assert [language_of(each.sentence) for each in ranked] == ["bi", "bi"]
    [tagged] = parser.tag([birds])
    assert tagged.upos == next(arborescence.load(f"{auto}:bi").tag([birds])).upos
    assert parser.scores(birds).shape == (3, 3)


def test_auto_needs_a_model_of_languages(model, auto, tmp_path):
    with pytest.raises(ModelError, match="cannot find the language of a text: name the language"):
        arborescence.load(model, language="auto")
    header, arrays = model_file.load(auto)
    model_file.save(
        tmp_path / "bad",
        header | {"identifier": header["identifier"] | {"languages": ["bi", "bi"]}},
        arrays,
    )
    with pytest.raises(ModelError, match="a language is twice"):
        arborescence.load(tmp_path / "bad", language="auto")


def test_what_needs_one_language(auto):
    parser = arborescence.load(auto, language="auto")
    with pytest.raises(ModelError, match="name the language, such as multi:de, not auto"):
        rank(parser, NEW)
    with pytest.raises(ModelError, match="goes on with one language: name it"):
        train(FEW, kind="neural", start=parser)
    with pytest.raises(ModelError, match="goes on with one language: name it"):
        train(FEW, kind="neural", start=f"{auto}:auto")
    assert list(parser.beginning("ca").languages) == ["ca"]


def test_a_language_that_was_not_learned_is_read_as_another_one(parser, model):
    with pytest.warns(ArborescenceWarning, match="not learned 'xx': it reads it as 'bi'"):
        loaded = arborescence.load(model, language="xx=bi")
    assert [each.raw for each in loaded.parse(NEW)] == [each.raw for each in parser.parse(NEW)]
    with pytest.raises(ModelError, match="reads 'ca' itself: leave out '=bi'"):
        arborescence.load(f"{model}:ca=bi")
    with pytest.raises(ModelError, match="does not read 'yy'"):
        arborescence.load(f"{model}:xx=yy")


def test_a_language_for_another_kind(tmp_path):
    from arborescence.parsers import LinearParser

    LinearParser.train(FEW, epochs=1).save(tmp_path / "plain.npz")
    with pytest.raises(ModelError, match="reads one language: leave out the language 'de'"):
        arborescence.load(tmp_path / "plain.npz", language="de")
    plain = arborescence.load(tmp_path / "plain.npz")
    assert plain.beginning() is plain
    with pytest.raises(ModelError, match="reads one language: leave out the language 'de'"):
        plain.beginning("de")


def test_damaged_files(model, tmp_path):
    header, arrays = model_file.load(model)

    def refused(arrays=arrays, **fields):
        model_file.save(tmp_path / "bad", header | fields, arrays)
        with pytest.raises(ModelError) as error:
            arborescence.load(tmp_path / "bad")
        return str(error.value)

    assert "languages is None" in refused(languages=None)
    assert "does not read 'bi'" in refused(languages={})
    assert "bi is 1, not an object" in refused(languages={"bi": 1})
    own = header["languages"]["bi"]
    assert "treebank Nowhere" in refused(languages={"bi": own | {"treebank": "Nowhere"}})
    assert "temperature is 0.0" in refused(languages={"bi": own | {"temperature": 0.0}})
    assert "text is 1" in refused(languages={"bi": own | {"text": 1}})
    assert "array '" in refused(label=7)
    assert "format is missing" in refused(encoder={"name": "x"})
    norm = "encoder.embeddings.LayerNorm.bias"
    assert f"array '{norm}' is missing" in refused(
        {name: each for name, each in arrays.items() if name != f"encoder/{norm}"}
    )
    for name in arrays:
        if name.startswith("network/"):
            assert refused({key: each for key, each in arrays.items() if key != name})


#: What stands in the header of a damaged or hostile file, and what the error says.
HEADERS = [
    ("inventory", {}, "inventory has no treebank"),
    ("inventory", {"Birdish-Few": 1}, "Birdish-Few is 1, not an object"),
    ("inventory", [], "inventory"),
    ("languages", [1, 2], "languages"),
    ("languages", {"bi": {"treebank": {"treebank": 1}}}, "treebank"),
    ("identifier", {"languages": {"bi": []}}, "languages"),
    ("encoder", None, "encoder"),
    ("encoder", {"format": {"format": 1}}, "format"),
    ("size", 7, "do not fit to 7"),
    ("size", -1, "size"),
    ("arc", 10**9, "arc"),
    ("arc", "8", "arc"),
    ("label", [8], "label"),
    ("language", {"bi": 1}, "language"),
    ("language", 3, "language"),
]


@pytest.mark.parametrize(("field", "value", "said"), HEADERS)
def test_hostile_headers(model, tmp_path, field, value, said):
    header, arrays = model_file.load(model)
    model_file.save(tmp_path / "bad", header | {field: value}, arrays)
    with pytest.raises(ModelError, match=said):
        arborescence.load(tmp_path / "bad")


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut(model, tmp_path, share):
    whole = model.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ModelError):
        arborescence.load(tmp_path / "cut", language="bi")


def test_arrays_of_wrong_shapes_and_types(model, tmp_path):
    header, arrays = model_file.load(model)
    for name, array in arrays.items():
        if not name.startswith(("network/", "encoder/")):
            continue
        for other in (array[..., None], array.astype(np.complex64), array.reshape(-1)[:0]):
            model_file.save(tmp_path / "bad", header, arrays | {name: other})
            with pytest.raises(ModelError):
                arborescence.load(tmp_path / "bad").parse([NEW[1]]).__next__()


README = "# Birds\nLicense: {}\nGenre: news\nContributors: Bird, Small\n"


def treebank_in(folder, licence, sentences):
    folder.mkdir()
    (folder / "README.md").write_text(README.format(licence), encoding="utf-8")
    (folder / "LICENSE.txt").write_text(licence, encoding="utf-8")
    for part in ("train", "test"):
        write(sentences, folder / f"xx-ud-{part}.conllu")
    return folder


def test_a_package_of_several_treebanks(model, tmp_path):
    folders = [
        treebank_in(tmp_path / "UD_Birdish-Few", "CC BY-SA 4.0", FEW[:4]),
        treebank_in(tmp_path / "UD_Catish-Other", "CC BY 4.0", OTHER[:4]),
    ]
    made = package([model], folders, name="two", output=tmp_path / "two")
    assert made.licence == "CC-BY-4.0 AND CC-BY-SA-4.0"
    card = (made.folder / "README.md").read_text(encoding="utf-8")
    for said in ("[Birdish](languages/bi.md)", "[Catish](languages/ca.md)", "UD_Catish-Other"):
        assert said in card
    cards = {path.name for path in (made.folder / "languages").iterdir()}
    assert cards == {"bi.md", "ca.md"}
    own = (made.folder / "languages" / "ca.md").read_text(encoding="utf-8")
    assert "| words |" in own
    assert "| raw text |" not in own  # it cannot cut raw text
    assert {path.name for path in made.folder.glob("LICENSE*")} == {
        "LICENSE-Birdish-Few",
        "LICENSE-Catish-Other",
    }
    with pytest.raises(OptionError, match="ca: give the folder of Catish-Other, too"):
        package([model], folders[0], name="two", output=tmp_path / "less")
    assert not (tmp_path / "less").exists()
    copy = tmp_path / "other.npz"
    copy.write_bytes(model.read_bytes())
    with pytest.raises(OptionError, match="make a package of it alone"):
        package([model, copy], folders, name="two", output=tmp_path / "less")
