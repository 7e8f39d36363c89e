"""Documents of INCEpTION: UIMA's CAS in XMI, with tokens, sentences, tags and edges."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

from arborescence.errors import OptionError
from arborescence.integrations.service.lanes import gathered, in_steps
from arborescence.parsers.shared.confidence import edge_probs
from arborescence.treebank.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arborescence.integrations.service.admission import Ticket
    from arborescence.integrations.service.lanes import Steps

_XMI: Final = "{http://www.omg.org/XMI}"
_SEGMENTS: Final = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_TAGS: Final = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
_PREDICTED: Final = "inception_internal_predicted"
_DEEPEST: Final = 100  # elements within each other; a CAS has four


def _name(layer: str) -> str:
    """Return the name of a type in XMI."""
    package, _, name = layer.rpartition(".")
    return f"{{http:///{package.replace('.', '/')}.ecore}}{name}"


class _LimitedBuilder(ElementTree.TreeBuilder):
    """Builds the elements of a document; OptionError if they are nested too deeply."""

    depth = 0

    def start(self, tag: Any, attrs: Any) -> Any:
        """Open an element."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise OptionError(f"the XMI is nested more than {_DEEPEST} deep")
        return super().start(tag, attrs)

    def end(self, tag: Any) -> Any:
        """Close an element."""
        self.depth -= 1
        return super().end(tag)


class Document:
    """A document with its tokens, and the edges of a layer.

    `layer` is the name of a type of annotations: dependencies or parts of speech. `feature` is the
    name of the feature that has its values: relations or tags.
    """

    def __init__(self, xmi: str, layer: str, feature: str) -> None:
        if "<!DOCTYPE" in xmi:
            raise OptionError("the XMI has a document type, which is not read")
        for name, value in (("layer", layer), ("feature", feature)):
            if not re.fullmatch(r"[^\W\d]\w*(\.\w+)*", value, re.ASCII):
                raise OptionError(f"{name} must be a name, and is {value!r}")
        try:
            parser = ElementTree.XMLParser(target=_LimitedBuilder())  # noqa: S314
            self.root = ElementTree.fromstring(xmi, parser)  # noqa: S314
        except ElementTree.ParseError as error:
            raise OptionError(f"the XMI is broken: {error}") from None
        self.layer, self.feature = layer, feature
        sofas = self.root.iter(_name("uima.cas.Sofa"))
        self._sofa = next(sofas, ElementTree.Element("none"))
        # Places are counted in UTF-16, as in Java.
        self._text = self._sofa.get("sofaString", "").encode("utf-16-le")

    def sentences(self) -> Iterator[tuple[list[ElementTree.Element], Sentence]]:
        """Yield the tokens of each sentence, and the sentence with its edges."""
        tokens = sorted(self.root.iter(_name(f"{_SEGMENTS}.Token")), key=_span)
        begins = [_span(token)[0] for token in tokens]
        edges = {
            edge.get("Dependent"): edge
            for edge in self.root.iter(_name(self.layer))
            if edge.get(_PREDICTED) != "true"
        }
        tags = {
            _span(tag): tag.get("coarseValue") or tag.get("PosValue") or "_"
            for tag in self.root
            if tag.tag.startswith(_name(_TAGS)) and tag.get(_PREDICTED) != "true"
        }
        for sentence in sorted(self.root.iter(_name(f"{_SEGMENTS}.Sentence")), key=_span):
            first, last = (bisect_left(begins, place) for place in _span(sentence))
            inside = tokens[first:last]
            numbers = {token.get(f"{_XMI}id"): number for number, token in enumerate(inside, 1)}
            heads, deprels = [], []
            for name in numbers:
                edge = edges.get(name)
                head = None if edge is None else edge.get("Governor")
                # An edge from a word to itself stands for the edge from the root.
                heads.append(0 if head == name else numbers.get(head, -1))
                deprels.append("_" if edge is None else edge.get(self.feature) or "_")
            if inside:
                forms = [self._covered(*_span(token)) for token in inside]
                upos = [tags.get(_span(token), "_") for token in inside]
                yield inside, Sentence.from_words(forms, upos=upos, heads=heads, deprels=deprels)

    def __str__(self) -> str:
        return ElementTree.tostring(self.root, encoding="unicode")

    def _covered(self, begin: int, end: int) -> str:
        text = self._text[2 * begin : 2 * end].decode("utf-16-le", "replace")
        return " ".join(text.split()) or "_"

    def predict(self, parser: Any, ticket: Ticket) -> Steps:
        """Add the predictions of a parser where the document has no annotation."""
        ids = [_number(element.get(f"{_XMI}id", "0")) for element in self.root.iter()]
        view = next(self.root.iter(_name("uima.cas.View")), ElementTree.Element("none"))
        members, last = view.get("members", "").split(), max(ids, default=0)
        tokens_of_sentences: list[list[ElementTree.Element]] = []

        def sentences_alone() -> Iterator[Sentence]:
            for tokens, sentence in self.sentences():
                tokens_of_sentences.append(tokens)
                yield sentence

        sentences = yield from gathered(ticket.admitted(sentences_alone()), ticket.budget)
        is_tags, has_probs = self.layer == _TAGS, getattr(parser, "probabilistic", False)
        keep: Any = (
            "anyway" if any((sentence.heads >= 0).any() for sentence in sentences) else False
        )
        trees = yield from in_steps(
            sentences,
            lambda batch, budget: list(
                parser.parse(batch, confidence=has_probs, keep=keep, budget=budget)
            ),
            ticket.budget,
        )
        for tokens, annotated, tree in zip(tokens_of_sentences, sentences, trees, strict=True):
            probs = edge_probs(tree) if has_probs and not is_tags else [None] * len(tree)
            values = tree.upos if is_tags else tree.deprels
            for word, (token, value, prob) in enumerate(zip(tokens, values, probs, strict=True)):
                if annotated.upos[word] != "_" if is_tags else annotated.heads[word] >= 0:
                    continue
                last += 1
                begin, end = map(str, _span(token))
                attributes = {f"{_XMI}id": str(last), "begin": begin, "end": end}
                if not is_tags:
                    head = tokens[tree.heads[word] - 1] if tree.heads[word] else token
                    attributes |= {"Governor": head.get(f"{_XMI}id", "")}
                    attributes |= {"Dependent": token.get(f"{_XMI}id", "")}
                attributes |= {"sofa": self._sofa.get(f"{_XMI}id", "1"), self.feature: value}
                attributes |= {_PREDICTED: "true"}
                attributes |= {} if prob is None else {f"{self.feature}_score": str(prob)}
                ElementTree.SubElement(self.root, _name(self.layer), attributes)
                members.append(str(last))
            yield
        view.set("members", " ".join(members))


def _span(element: ElementTree.Element) -> tuple[int, int]:
    begin, end = _number(element.get("begin", "")), _number(element.get("end", ""))
    if begin > end:
        raise OptionError("the XMI is broken: a token, tag or sentence ends before it begins")
    return begin, end


def _number(text: str) -> int:
    """Read a place or a number of an element."""
    if not re.fullmatch("[0-9]{1,9}", text):
        raise OptionError(f"the XMI is broken: {text!r} stands where a number is expected")
    return int(text)
