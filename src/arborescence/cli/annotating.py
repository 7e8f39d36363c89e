"""``arborescence rank`` and ``audit``: sentences to annotate next, and words to check again."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from arborescence.cli.options import (
    Arguments,
    EncodingOption,
    JsonOption,
    QuietOption,
    WordsOption,
)
from arborescence.cli.outputs import check_kind, into
from arborescence.cli.progress import note, say, steps
from arborescence.cli.sentences import Format, deliver, hinted, readers_of, sentences_of
from arborescence.parsers.shared.options import Doubt
from arborescence.treebank.encodings import UTF8


def rank(
    files: Arguments = None,
    model: Annotated[str | None, typer.Option("--model", "-m", show_default="english")] = None,
    by: Doubt = "loss",
    words: bool = False,
    written: bool = False,
    budget: Annotated[int | None, typer.Option(min=1, metavar="WORDS")] = None,
    format: Format = "conllu",  # noqa: A002
    encoding: EncodingOption = UTF8,
    output: WordsOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the sentences about which a parser has most doubt, or words with their two best edges.

    Each line has the doubt, file and line, and the sentence. Given heads are kept, and sentences
    with all heads are left out.

    Parameters
    ----------
    files
        The sentences to rank; '-' or nothing: the standard input.
    model
        A graph-based parser.
    by
        The expected share of wrong heads, the entropy of the trees for each word, the lead of the
        best tree (less is more doubt), or the differences of the 10 best trees.
    words
        Rank words, by the probability that the best head is wrong.
    written
        Rank by the probabilities in MISC that 'parse --confidence' or 'convert --confidence' wrote,
        without a parser.
    budget
        Stop after this number of words.
    format
        CoNLL-U; a sentence a line with spaces between the words; raw text; raw text with a
        sentence on each line; or raw text whose sentences continue from line to line.
    output
        Write the sentences in this order, as CoNLL-U, to be annotated.
    as_json
        Write JSON, an entry a line.

    Examples
    --------
    arborescence rank treebank.conllu --budget 500 -o next.conllu
    arborescence rank -m my.model treebank.conllu --words | head -20
    arborescence rank --written converted.conllu --words --budget 100
    """
    from arborescence.parsers import load, ranking

    if written:
        trees = sentences_of(files, readers_of("conllu", None, None, encoding))
        ranked = ranking.rank_written(trees, words=words, budget=budget)
    else:
        parser = load(model)
        sentences = hinted(files, format, parser, encoding)
        ranked = ranking.rank(parser, sentences, by=by, words=words, budget=budget)
    if not ranked and not written:
        note("no head is missing (_ in HEAD), so there is nothing to rank")
    if output:
        once = {id(each.sentence): each.sentence for each in ranked}
        deliver(([sentence] for sentence in once.values()), output=output)
        return
    for each in ranked:
        place = {"source": each.sentence.source, "line": each.sentence.line}
        entry = {**place, **each._asdict(), "sentence": " ".join(each.sentence.forms)}
        say(json.dumps(entry, ensure_ascii=False) if as_json else str(each))


def audit(
    files: Arguments = None,
    kind: Literal["linear", "neural"] = "linear",
    folds: Annotated[int, typer.Option(min=2)] = 5,
    rules: Annotated[str, typer.Option(metavar="ud|FILE.toml")] = "ud",
    budget: Annotated[int | None, typer.Option(min=1, metavar="WORDS")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    encoding: EncodingOption = UTF8,
    decisions: Annotated[str | None, typer.Option("--apply", metavar="DECISIONS")] = None,
    output: Annotated[str | None, into("html", "conllu")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the words of a treebank that are most likely annotated wrongly.

    Parsers and taggers that are trained on the rest of the treebank give the probabilities of each
    edge and tag, and of the best other edge and tag. Each line also has broken rules, and n-grams
    whose words have another annotation elsewhere.

    Parameters
    ----------
    files
        The treebank (CoNLL-U); '-' or nothing: the standard input.
    kind
        The kind of the parsers.
    folds
        The number of parts of the treebank.
    rules
        The rules: the rules of UD, or of a file.
    budget
        The number of words to list; by default all words with evidence against them.
    seed
        The seed for the folds and for training.
    decisions
        Apply these decisions, from the page that -o wrote, and write the corrected treebank.
    output
        Write a page with both trees of each word, on which you accept or reject corrections; with
        --apply, CoNLL-U.
    as_json
        Write JSON, a word a line.

    Examples
    --------
    arborescence audit treebank.conllu --budget 100
    arborescence audit treebank.conllu --budget 100 -o audit.html
    arborescence audit --apply decisions.jsonl treebank.conllu -o corrected.conllu
    """
    sentences = sentences_of(files, readers_of("conllu", None, None, encoding))
    if decisions:
        from arborescence.treebank import decided

        check_kind(output or "-", ("conllu",))
        deliver(([each] for each in decided(sentences, decisions)), output=output or "-")
        return
    if output:
        check_kind(output, ("html",))
    from arborescence.parsers.auditing import audit as audited
    from arborescence.parsers.auditing import audit_html
    from arborescence.system.files import writing
    from arborescence.treebank.dictionaries import edges_of

    with steps(quiet=quiet) as step:
        findings = audited(
            sentences,
            kind=kind,
            folds=folds,
            rules=rules,
            budget=budget,
            rng=seed,
            progress=step,
        )
    if output:
        with writing(output) as file:
            file.write(audit_html(findings).encode())
        note(f"{len(findings):,} words to check, in {output}", quiet=quiet)
        return
    for finding in findings:
        if not as_json:
            say(str(finding))
            continue
        entry = {
            "source": finding.sentence.source,
            "line": finding.sentence.line,
            "value": finding.value,
            **finding._asdict(),
            "odds": finding.odds._asdict(),
            "variations": [each._asdict() for each in finding.variations],
            "sentence": finding.sentence.to_dict(),
            "proposed": edges_of(finding.proposed()),
        }
        del entry["parser"]
        say(json.dumps(entry, ensure_ascii=False))
