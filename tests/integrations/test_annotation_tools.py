"""The interfaces of annotation tools, by requests as their sources make them."""

import json
import threading
import time
from concurrent.futures import Future
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest

from arborescence.treebank import Sentence
from samples import treebank
from small_parsers import small_parser

pytest.importorskip("starlette", reason="needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="needs the extra 'serve'")

from serving import Serving


@pytest.fixture
def client(tmp_path):
    with Serving({"small": small_parser("linear")}, tmp_path) as client:
        yield client


def conllu(sentences):
    return "".join(map(str, sentences))


JSON = "application/json"
OWN = {"project_name": "arborescence", "model_id": "small"}


class Arborator:
    """What Arborator's backend sends, and waits for."""

    def __init__(self, client):
        self.client = client

    def get(self, path):
        return self.client.ask(f"/parser/models{path}")[1]

    def post(self, path, **asked):
        return self.client.ask(f"/parser/models{path}", json.dumps(asked), JSON)[1]

    def done(self, path, started, **asked):
        """Ask until a task is ready."""
        assert started["status"] == "success", started
        names = {name: value for name, value in started["data"].items() if "task" in name}
        while True:
            status = self.post(path, **names, **asked)
            if status["status"] == "failure" or status["data"]["ready"]:
                return status
            time.sleep(0.02)  # leaves the processor to the task

    def train(self, **asked):
        given = {"project_name": "birds", "max_epoch": 2, "base_model": None} | asked
        started = self.post("/train/start", **given)
        return self.done("/train/status", started, model_info=started["data"]["model_info"])

    def parse(self, model, samples, settings=None):
        asked = {"to_parse_samples": samples, "parsing_settings": settings}
        return self.done("/parse/status", self.post("/parse/start", model_info=model, **asked))


def test_a_project_of_arborator(client, tmp_path):
    arborator = Arborator(client)
    [own] = arborator.get("/list")["data"]
    assert own["model_info"] == OWN
    samples = {"first": conllu(treebank() * 2), "second": conllu(treebank())}
    found = arborator.train(train_samples=samples)["data"]
    assert found["scores_best"]["n_sentences_test"] == 2
    assert found["scores_best"]["n_sentences_train"] == 3 * len(treebank()) - 2
    _, listed = arborator.get("/list")["data"]
    assert listed["model_info"] == found["model_info"]
    assert listed["scores_best"] == found["scores_best"]
    bare = conllu(one.replace(heads=None, deprels=None) for one in treebank())
    [parsed] = arborator.parse(found["model_info"], {"a": bare})["data"]["parsed_samples"].values()
    assert parsed.count("\troot\t") == len(treebank())
    again = arborator.train(train_samples=samples, base_model=found["model_info"])["data"]
    assert again["model_info"] != found["model_info"]
    for info in (found["model_info"], again["model_info"]):
        path = quote("/parser/models/list/{project_name}/{model_id}".format(**info))
        assert client.ask(path, method="DELETE")[1]["status"] == "success"
    assert len(arborator.get("/list")["data"]) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("heads", ["NONE", "EXISTING", "ALL"])
def test_what_arborator_keeps(client, heads):
    given = treebank()[0].replace(heads=[-1, 3, -1, 0, -1, -1], deprels=["x"] + ["_"] * 5)
    settings = {"keep_upos": "ALL", "keep_heads": heads, "keep_deprels": heads}
    answer = Arborator(client).parse(OWN, {"a": conllu([given])}, settings)
    parsed = answer["data"]["parsed_samples"]["a"]
    rows = [line.split("\t") for line in parsed.splitlines() if line]
    assert [row[3] for row in rows] == given.upos
    if heads == "ALL":
        assert [row[6] for row in rows] == ["_", "3", "_", "0", "_", "_"]
    else:
        assert "_" not in [row[6] for row in rows]
    assert (rows[0][7] == "x") == (heads != "NONE")


def test_what_arborator_is_refused(client):
    arborator = Arborator(client)
    for path, asked, said in [
        ("/train/start", {"project_name": "a"}, "train_samples must be of the type dict"),
        ("/parse/start", {"model_info": {"project_name": "../..", "model_id": "etc"},
                          "to_parse_samples": {}}, "there is no model 'etc'"),
        ("/parse/start", {"model_info": OWN, "to_parse_samples": {"s": "1\tx"}}, "2 columns"),
        ("/parse/status", {"parse_task_id": "none"}, "no such task"),
        ("/train/start", {"project_name": "a", "train_samples": {"s": ""}, "max_epoch": 0,
                          "base_model": None}, "max_epoch must be at least 1"),
    ]:  # fmt: skip
        answer = arborator.post(path, **asked)
        assert answer["status"] == "failure"
        assert said in answer["error"]
    asked = {"model_info": OWN, "to_parse_samples": {"s": conllu(treebank())}}
    wrong = arborator.post("/parse/start", parsing_settings="all", **asked)
    assert "parsing_settings must be" in wrong["error"]
    assert client.ask("/parser/models/parse/status", "[]")[1]["status"] == "failure"
    assert "empty" in arborator.train(train_samples={"s": ""})["error"]


DKPRO = "http:///de/tudarmstadt/ukp/dkpro/core/api"
DEPENDENCY = "de.tudarmstadt.ukp.dkpro.core.api.syntax.type.dependency.Dependency"


def xmi(sentences, edges=True):
    """Write sentences as INCEpTION does: a CAS, with places in UTF-16."""
    text, tokens, others, number = "", [], [], 10
    for sentence in sentences:
        begin, ids = len(text.encode("utf-16-le")) // 2, []
        for form, tag in zip(sentence.forms, sentence.upos, strict=True):
            start = len(text.encode("utf-16-le")) // 2
            text += form
            end = len(text.encode("utf-16-le")) // 2
            text += " "
            ids.append(number)
            tokens.append(f'<s:Token xmi:id="{number}" sofa="1" begin="{start}" end="{end}"/>')
            number += 1
            if tag != "_":
                others.append(
                    f'<p:POS_X xmi:id="{number + 1000}" sofa="1" begin="{start}" end="{end}" '
                    f'PosValue="{tag}"/>'
                )
        others.append(f'<s:Sentence xmi:id="{number}" sofa="1" begin="{begin}" end="{end}"/>')
        number += 1
        for word, (head, deprel) in enumerate(zip(sentence.heads, sentence.deprels, strict=True)):
            if edges and head >= 0:
                governor = ids[head - 1] if head else ids[word]
                others.append(
                    f'<d:Dependency xmi:id="{number}" sofa="1" begin="0" end="0" Governor="'
                    f'{governor}" Dependent="{ids[word]}" DependencyType="{deprel}"/>'
                )
                number += 1
    members = " ".join(map(str, range(10, number)))
    return (
        '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        f'xmlns:cas="http:///uima/cas.ecore" xmlns:s="{DKPRO}/segmentation/type.ecore" '
        f'xmlns:p="{DKPRO}/lexmorph/type/pos.ecore" '
        f'xmlns:d="{DKPRO}/syntax/type/dependency.ecore" xmi:version="2.0"><cas:NULL xmi:id="0"/>'
        f'{"".join(tokens)}{"".join(others)}<cas:Sofa xmi:id="1" sofaNum="1" '
        f'sofaID="_InitialView" mimeType="text" sofaString="{text}"/>'
        f'<cas:View sofa="1" members="{members}"/></xmi:XMI>'
    )


def request(document, layer=DEPENDENCY, feature="DependencyType"):
    metadata = {"layer": layer, "feature": feature, "projectId": 1}
    metadata |= {"anchoringMode": "tokens", "crossSentence": False}
    one = {"xmi": document, "documentId": 2, "userId": "ann"}
    return {"metadata": metadata, "typeSystem": "", "document": one, "documents": [one]}


def predicted(answer, name):
    status, found = answer
    assert status == 200
    root = ElementTree.fromstring(found["document"])
    members = root.find("{http:///uima/cas.ecore}View").get("members").split()
    found = [one for one in root.iter(name) if one.get("inception_internal_predicted") == "true"]
    assert {one.get("{http://www.omg.org/XMI}id") for one in found} <= set(members)
    assert len(members) == len(set(members))
    return found


def test_inception_s_predictions(client):
    given = [Sentence.from_words(["🌳", "grow"]), treebank()[1]]
    given[1] = given[1].replace(heads=[-1, -1, 0, -1, -1, -1], deprels=["_"] * 6)
    answer = client.ask("/small/predict", json.dumps(request(xmi(given))))
    found = predicted(answer, f"{{{DKPRO}/syntax/type/dependency.ecore}}Dependency")
    parsed = list(small_parser("linear").parse(given, keep=True))
    governors = [int(one.get("Governor")) for one in found]
    dependents = [int(one.get("Dependent")) for one in found]
    heads = [*parsed[0].heads, *np.delete(parsed[1].heads, 2)]  # what is given is not predicted
    firsts = [10, 10, *[13] * 5]
    assert dependents == [10, 11, 13, 14, 16, 17, 18]
    assert governors == [
        first + head - 1 if head else word
        for first, head, word in zip(firsts, heads, dependents, strict=True)
    ]
    names = [*parsed[0].deprels, *np.delete(parsed[1].deprels, 2)]
    assert [one.get("DependencyType") for one in found] == names
    assert all(0 <= float(one.get("DependencyType_score")) <= 1 for one in found)
    assert found[1].get("begin") == "3"  # in UTF-16, the tree is two


def test_inception_s_training(client, tmp_path):
    taught = request(xmi([*treebank()] * 3))
    before = client.ask("/birds/predict", json.dumps(request(xmi(treebank(), edges=False))))
    name = f"{{{DKPRO}/syntax/type/dependency.ecore}}Dependency"
    assert predicted(before, name) == []
    assert client.ask("/birds/train", json.dumps(taught), JSON)[0] == 204
    inception = client.service.app.routes[-1].endpoint.__self__
    [task] = inception._running.values()
    assert task.result()["scores_best"]["n_sentences_test"] == 2
    after = client.ask("/birds/predict", json.dumps(request(xmi(treebank(), edges=False))))
    assert len(predicted(after, name)) == sum(map(len, treebank()))
    inception._running = dict.fromkeys(inception._running, Future())
    assert client.ask("/birds/train", json.dumps(taught), JSON)[0] == 429


def test_inception_s_tags(client):
    layer = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
    given = xmi([Sentence.from_words(["Birds", "sing"])])
    answer = client.ask("/small/predict", json.dumps(request(given, layer, "PosValue")))
    found = predicted(answer, f"{{{DKPRO}/lexmorph/type/pos.ecore}}POS")
    [tree] = small_parser("linear").parse([["Birds", "sing"]])
    assert [one.get("PosValue") for one in found] == tree.upos


def broken(**changed):
    return request(xmi(treebank()), **changed)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "not JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "metadata must be"),
        ("[" * 900_000, "nested too deeply"),
        (json.dumps(request("<a")), "XMI is broken"),
        (json.dumps(request("<!DOCTYPE a []><a/>")), "document type"),
        (json.dumps(request("<a>" * 5000 + "</a>" * 5000)), "nested more than"),
        (json.dumps(request(xmi(treebank()).replace('begin="4"', 'begin="x"'))), "'x' stands"),
        (json.dumps(request(xmi(treebank()).replace('begin="4"', 'begin="-4"'))), "'-4' stands"),
        (json.dumps(request(xmi(treebank()).replace('xmi:id="11"', 'xmi:id="x"'))), "'x' stands"),
        (
            json.dumps(request(xmi(treebank()).replace('xmi:id="11"', f'xmi:id="{"9" * 5000}"'))),
            "stands where a number is expected",
        ),
        (json.dumps(broken(layer=3)), "layer must be of the type str"),
        (json.dumps(broken(layer="a b")), "layer must be a name"),
        (json.dumps(broken(feature='x="1" y')), "feature must be a name"),
        (json.dumps(broken() | {"document": {"xmi": 3}}), "xmi must be of the type str"),
        (json.dumps(broken()).replace("ann", "a" * 300), "more than 200 bytes"),
        (json.dumps(broken()).replace("ann", "\\ud800"), "half a character"),
    ],
)  # fmt: skip
def test_what_inception_is_refused(client, body, said):
    status, answer = client.ask("/small/predict", body)
    assert status == 400
    assert said in answer["error"]


def test_long_documents_are_refused(tmp_path):
    words = Sentence.from_words(["a"] * 41)
    with Serving({"small": small_parser("linear")}, tmp_path, words=40, client_words=60) as client:
        for document, said in [
            (xmi([words], edges=False), "a sentence has more than 40 words"),
            (xmi([Sentence.from_words(["a"] * 35)] * 2, edges=False), "more than 60 words"),
        ]:
            for path, kind in (("predict", None), ("train", JSON)):
                status, answer = client.ask(f"/small/{path}", json.dumps(request(document)), kind)
                assert status == 413
                assert said in answer["error"]
        arborator = Arborator(client)
        long = arborator.post("/parse/start", model_info=OWN, to_parse_samples={"s": str(words)})
        assert long == {"status": "failure", "error": "a sentence has more than 40 words"}


def test_training_has_limits(client, tmp_path):
    arborator, studio = Arborator(client), client.service.studio
    samples = {"train_samples": {"s": conllu(treebank())}, "project_name": "a", "base_model": None}
    assert "100 epochs at most" in arborator.post("/train/start", max_epoch=101, **samples)["error"]
    held = threading.Event()
    studio._trained = lambda *_: held.wait() and {}
    started = [arborator.post("/train/start", max_epoch=1, **samples) for _ in range(10)]
    assert [each["status"] for each in started] == ["success"] * 9 + ["failure"]
    assert "too many models wait" in started[-1]["error"]
    held.set()
    for each in started[:-1]:
        assert arborator.done("/train/status", each)["data"]["ready"]
    for number in range(100):
        path = studio.path("b", str(number))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    assert "100 models already" in arborator.post("/train/start", max_epoch=1, **samples)["error"]


def test_models_have_room(tmp_path):
    with Serving({"small": small_parser("linear")}, tmp_path, disk=10) as client:
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "b.model").write_bytes(b"x" * 11)
        status, answer = client.ask("/small/train", json.dumps(request(xmi(treebank()))), JSON)
        assert status == 507
        assert "the models have more than 10 bytes" in answer["error"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_foreign_page_cannot_train(client, tmp_path, kind):
    asked = {"project_name": "a", "train_samples": {"s": conllu(treebank())}, "max_epoch": 1}
    for path, body in [
        ("/parser/models/train/start", asked | {"base_model": None}),
        ("/small/train", request(xmi(treebank()))),
    ]:
        status, answer = client.ask(path, json.dumps(body), kind)
        assert status == 415
        assert "application/json" in answer["error"]
        status, answer = client.ask(path, json.dumps(body), JSON, Origin="http://evil.example")
        assert status == 403
    assert not list(tmp_path.iterdir())


@pytest.mark.races
def test_a_task_that_takes_too_long():
    held = threading.Event()

    class Held:
        text = tagger = None

        def parse(self, sentences, **_):
            held.wait()
            return sentences

    with Serving({"small": Held()}, timeout=0.2) as client:
        arborator = Arborator(client)
        samples = {"s": "".join(conllu([Sentence.from_words(["a"] * 600)]) for _ in range(3))}
        started = arborator.post("/parse/start", model_info=OWN, to_parse_samples=samples)
        while not client.service.lanes.busy:
            time.sleep(0.001)
        [task] = client.service.admission._running
        while not task.budget.over:
            time.sleep(0.001)
        held.set()
        assert "it took more than 0.2 s" in arborator.done("/parse/status", started)["error"]
        assert client.metrics()["arborescence_inside"] == 0
