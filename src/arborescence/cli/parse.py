"""``arborescence parse`` and ``demo``."""

from __future__ import annotations

from importlib import resources

from arborescence.cli.options import DrawingOption, taking, usage_errors
from arborescence.cli.parsing import ParseArguments, analyses, loaded, reader_of
from arborescence.cli.progress import counted, note
from arborescence.cli.sentences import (
    Skipped,
    deliver,
    documents_of,
    given_sentence,
    is_of_spacy,
    sentences_of,
)


@taking(ParseArguments)
def parse(options: ParseArguments) -> None:
    """Parse sentences; write CoNLL-U, JSON or a table of words, or draw the trees.

    Examples
    --------
    arborescence parse --sentence 'We vigorously wash our cats who stink.' --tree
    arborescence parse --format text letter.txt -o letter.conllu
    arborescence parse --format lines sentences.txt.gz -m turkish.model > parsed.conllu
    zcat test.conllu.gz | arborescence parse -m turkish.model > parsed.conllu
    arborescence parse --kbest 10 test.conllu -o kbest.conllu
    arborescence parse --kbest 3 --json test.conllu | jq '.analyses[].weight'
    arborescence parse --confidence test.conllu | grep EdgeProb=0.[0-4]
    arborescence parse --rules ud test.conllu -o parsed.conllu
    arborescence parse -m graph.model -m transition.model test.conllu -o parsed.conllu
    arborescence parse --shards texts parsed --workers 8
    arborescence parse --ray auto --parquet texts parsed
    arborescence parse documents.spacy -o parsed.spacy
    arborescence parse --format text book.txt -o words.parquet --features Case,Number
    arborescence parse --column review reviews.csv -o words.csv
    arborescence parse --ranges --format text book.txt -o book.conllu
    """
    from arborescence.parsers.shared.keeping import Keeper, keeper_of
    from arborescence.treebank.conllu import ranked
    from arborescence.treebank.dictionaries import ranked_trees

    options.check()
    with usage_errors():
        rules = keeper_of(options.rules)
    if options.shards or options.ray:
        from arborescence.cli.shards import parse_folder

        parse_folder(options, rules)
        return
    files, output, tree, quiet = options.files, options.output, options.tree, options.quiet
    skipped = Skipped() if options.skip_invalid else None
    with usage_errors():
        parser = loaded(options)
    documents = documents_of(files, output, parser)
    if options.sentence is None:
        read = reader_of(options, parser, skipped)
        sentences = sentences_of(files, read, documents)
    else:
        sentences = given_sentence(options.sentence, options.format, parser)
    analysed = analyses(sentences, parser, options, skipped, rules)
    analysed = skipped.left(analysed) if skipped else analysed
    parsed = map(ranked, analysed) if options.kbest else ([best] for [(best, _)] in analysed)
    output = output or (None if tree else "-")
    deliver(
        counted(parsed, "sentences parsed", printed=tree or output == "-", quiet=quiet),
        output=output,
        as_json=options.as_json,
        describe=ranked_trees if options.kbest else None,
        columns=options.columns,
        write=documents.write if documents and is_of_spacy(output) else None,
        text=tree,
    )
    if isinstance(rules, Keeper):
        note(str(rules.counts), quiet=quiet)
    if skipped:
        skipped.report()


def demo(output: DrawingOption = None) -> None:
    """Parse sentences that ship with the package, and draw the trees.

    Examples
    --------
    arborescence demo
    arborescence demo -o trees.svg
    """
    with resources.as_file(resources.files("arborescence.cli") / "demo.txt") as sentences:
        parse(files=[str(sentences)], format="tokens", tree=True, output=output)
