"""The tables, charts and figures of docs/performance.md and README."""

from charts import Chart, Points
from figures import chart, number, results, rows, times, view

#: Names of peers, as pages write them.
PEERS = {"ufal.chu-liu-edmonds": "ufal.chu-liu-edmonds (no root constraint)", "stanza": "Stanza"}


def sizes(table):
    """Return the numbers of words that a table has, in their order."""
    return list(dict.fromkeys(row["n"] for row in rows(table)))


def peers():
    """Return the peers of which there are calls."""
    return [name for name in PEERS if name in rows("decoding/calls")[0]]


def beside(figure, other):
    """Return a figure, and in brackets how many times another one it is."""
    return f"{number(figure)} ({times(figure / other)})"


def on(name):
    """Return a sentence that says on what a file of results was measured."""
    content = results(name)
    if "recorded" in content:
        return f"Measured {content['date']}: {content['recorded']}."
    names = ("python", "numpy", "numba", *PEERS)
    found = ", ".join(
        f"{each} {version}" for each, version in content["versions"].items() if each in names
    )
    return f"{content['date']}, commit {content['commit']}, {content['processor']}; {found}."


@view("performance/machine")
def machine():
    return on("decoding")


@view("performance/batches")
def batches():
    """Microseconds, and multiples of the greedy pass."""
    columns = sizes("decoding/batches")[:-1]  # a chart has the longest sentences
    kinds = [
        ("model-like", "float32", "single", "model-like"),
        ("model-like", "float32", "single, [dependent, head]", "the same as `[dependent, head]`"),
        ("model-like", "float32", "multi", "the same, any number of root edges"),
        ("uniform", "float32", "single", "uniform"),
        ("masked", "float32", "single", "30 % masked with the lowest float"),
        ("whole numbers", "float32", "single", "whole numbers from -9 to 9"),
        ("model-like", "float64", "single", "model-like, float64"),
    ]
    found = {(row["scores"], row["type"], row["n"]): row for row in rows("decoding/batches")}
    plain = [found["model-like", "float32", n] for n in columns]
    lines = [["greedy pass", *(row["greedy pass"] for row in plain)]]
    for kind, dtype, column, name in kinds:
        if (kind, dtype, columns[0]) in found:
            some = [found[kind, dtype, n] for n in columns]
            lines.append([
                name,
                *(beside(row[column], row["greedy pass"]) for row in some),
            ])  # fmt: skip
    return ["scores, float32", *(f"n = {n}" for n in columns)], lines


@view("performance/calls")
def calls():
    """One call a sentence, and how many times as long the peers take."""
    header = ["words", "Arborescence"]
    lines = []
    for row in rows("decoding/calls"):
        ours = row["arborescence"]
        lines.append([row["n"], ours, *(beside(row[name], ours) for name in peers())])
    return [*header, *(PEERS[name] for name in peers())], lines


@chart("time-by-length")
def time_by_length():
    batch = rows("decoding/batches", scores="model-like", type="float32")
    one = rows("decoding/calls")
    names = {"stanza": "Stanza", "ufal.chu-liu-edmonds": "ufal, any number of roots"}
    lines = [(names[name], [(row["n"], row[name]) for row in one]) for name in reversed(peers())]
    return Chart(
        "The best tree with one root edge: microseconds a sentence, one core",
        "words in the sentence",
        "microseconds",
        [
            ("Arborescence, in a batch", [(row["n"], row["single"]) for row in batch]),
            ("reading each score once", [(row["n"], row["greedy pass"]) for row in batch]),
            *lines,
            ("Arborescence, one call", [(row["n"], row["arborescence"]) for row in one]),
        ],
    )


@view("performance/wrong")
def wrong():
    """Of how many graphs with masked edges each decoder finds a wrong tree, in words."""
    names = {"arborescence": "Arborescence", "reweighted": "reweighting in float64", **PEERS}
    return ", ".join(
        f"{names[row['decoder']]} {row['wrong trees'] + row['errors']}"
        for row in rows("decoding/wrong")
    )


@view("performance/threads")
def threads():
    one, two = (row["milliseconds"] for row in rows("decoding/threads"))
    return f"{one:.0f} ms on one thread, {two:.0f} ms on two"


@chart("growth-hard")
def growth_hard():
    found = rows("growth/growth", type="float32")
    graphs = list(dict.fromkeys(row["graph"] for row in found))
    lines = [
        (graph, [(row["n"], row["single"]) for row in found if row["graph"] == graph])
        for graph in graphs
    ]
    turned = [(row["n"], row["transpose"]) for row in found if row["graph"] == graphs[0]]
    return Chart(
        "Graphs that are made to be hard: milliseconds a graph",
        "words",
        "milliseconds",
        [*lines, ("turning the matrix round", turned)],
    )


@view("performance/growth")
def growth():
    """By which factor the time per score grows from the smallest to the largest graph."""
    factors = []
    found = rows("growth/growth", type="float32")
    for graph in dict.fromkeys(row["graph"] for row in found):
        some = [row for row in found if row["graph"] == graph]
        first, last = some[0], some[-1]
        each = [row["single"] / row["n"] ** 2 for row in (first, last)]
        factors.append(each[1] / each[0])
    ratio = last["n"] / first["n"]
    return (
        f"from n = {first['n']:,} to {last['n']:,} by a factor of {min(factors):.1f} to "
        f"{max(factors):.1f}, depending on the graph; a factor n would show as {ratio:.0f}"
    )


@chart("growth-kbest")
def growth_kbest():
    found = rows("kbest/batches", scores="model-like", root="single")
    ks = [int(name.removeprefix("k = ")) for name in found[0] if name.startswith("k = ")]
    return Chart(
        "The k best trees: microseconds a sentence",
        "k",
        "microseconds",
        [(f"{row['n']} words", [(k, row[f"k = {k}"]) for k in ks]) for row in reversed(found)],
    )


@view("performance/kbest-camerini")
def kbest_camerini():
    """How many times as long the original algorithm takes, without the first tree."""
    ratios = []
    for root in ("single", "multi"):
        some = {row["k"]: row for row in rows("kbest/real", root=root)}
        for k, row in some.items():
            if k > 1:
                ours, theirs = (row[name] - some[1][name] for name in ("kbest", "Camerini et al."))
                ratios.append(theirs / ours)
    return f"{min(ratios):.1f} to {max(ratios):.1f} times as long"


@view("performance/sums")
def sums():
    """Marginals beside LAPACK and torch-struct, sentences of one length."""
    lines = []
    for row in rows("distributions/sums", root="single"):
        line = [
            row["n"], row["LAPACK's inverse"],
            beside(row["marginals"], row["LAPACK's inverse"]),
            row["log_partition"], row["projective marginals"],
        ]  # fmt: skip
        for ours, theirs in (
            ("marginals", "torch-struct"), ("projective marginals", "projective torch-struct"),
        ):  # fmt: skip
            if theirs in row:
                line.append(beside(row[theirs], row[ours]))
        lines.append(line)
    header = ["words", "LAPACK's inverse", "`marginals`", "`log_partition`"]
    header += ["projective `marginals`", "torch-struct", "torch-struct, projective"]
    return header[: len(lines[0])], lines


@chart("growth-sums")
def growth_sums():
    found = rows("distributions/sums", root="single")
    best = rows("distributions/eisner")
    lines = [
        ("best tree", [(row["n"], row["decode"]) for row in best]),
        ("best projective tree", [(row["n"], row["single"]) for row in best]),
        ("marginals", [(row["n"], row["marginals"]) for row in found]),
        ("projective marginals", [(row["n"], row["projective marginals"]) for row in found]),
    ]
    if "torch-struct" in best[0]:
        lines.append(
            ("torch-struct, projective tree", [(row["n"], row["torch-struct"]) for row in best])
        )
    return Chart(
        "One tree, and sums over all trees: microseconds a sentence, in batches",
        "words in the sentence",
        "microseconds",
        lines,
    )


@view("performance/parsing")
def parsing():
    """Words a second of reading, writing and parsing."""
    return ["job", "words a second"], [
        [row["job"], f"{round(row['words a second'], -3):,.0f}"]
        for row in rows("parsing/speed")
        if "no tags" not in row["job"]  # a chart has the speed from raw text
    ]


#: What the parts of `parts_of_parsing` belong to, by how they begin.
GROUPS = {
    "network: products": "products",
    "network: LSTMs": "products",
    "encoder": "other scores",
    "network": "other scores",
    "forms": "other scores",
    "scores": "other scores",
    "decoding": "trees and rules",
    "rules": "trees and rules",
}


@view("performance/parts")
def parts():
    """Microseconds a word by part, and the limit of products: before, and now."""
    names = [*dict.fromkeys(GROUPS.values()), "text, tags, lemmas"]
    shown = []
    for row in rows("earlier/parts-of-parsing/before"):
        times_of, limit = dict.fromkeys(names, 0.0), 0.0
        [all_of_it, *of_model] = rows(f"parts_of_parsing/{row['model']}")
        for each in of_model:
            group = next((GROUPS[k] for k in GROUPS if each["part"].startswith(k)), names[-1])
            times_of[group] += each["time"]
            limit += float(each["limit"]) if group == "products" else 0
        cells = [f"{times_of[name]:.0f}" if times_of[name] else "–" for name in names]
        cells[0] += f" ({limit:.0f})" if limit else ""
        shown.append(
            [f"`{row['model']}`", f"{row['time']:.0f}", f"{all_of_it['time']:.0f}", *cells]
        )
    return ["µs a word", "before", "now", *names], shown


#: Parsers that are not measured here: the LAS is published, the speed is not.
PUBLISHED = ("Stanza 1.5", "UDPipe 2")


def published(treebank, names=PUBLISHED):
    """Return the LAS from raw text that others published, with their names."""
    [row] = rows("earlier/published/languages", treebank=treebank)
    return [(f"{name}, published", float(row[name])) for name in names]


def measured(treebank):
    """Return each parser's name, words a second, and LAS.

    UDPipe 1 has the published LAS: few iterations of training show its speed, but not its trees.
    """
    [(_, of_udpipe)] = published(treebank, ["UDPipe 1"])
    for row in rows("las_and_speed/raw text", treebank=treebank):
        las = of_udpipe if row["parser"] == "UDPipe 1" else float(row["LAS"])
        yield row["parser"], row["words/s"], las


def las_chart(treebank):
    """Return the chart of LAS against words a second on a treebank."""
    return Points(
        f"{treebank}, raw text: LAS and words a second, one core",
        "words a second",
        "LAS",
        sorted(measured(treebank), key=lambda point: -point[2]),
        sorted(published(treebank), key=lambda level: -level[1]),
    )


@chart("las-english")
def las_english():
    return las_chart("English-EWT")


@chart("las-french")
def las_french():
    return las_chart("French-Sequoia")


@view("performance/decode-25")
def decode_25():
    """One sentence of 25 words in a batch: ours, and the greedy pass."""
    [row] = rows("decoding/batches", scores="model-like", type="float32", n=25)
    return f"{row['single']:.1f} µs"


@view("distribution/errors")
def errors():
    """The largest error of a marginal, non-projective, by graph and method."""
    found = rows("distributions/errors")
    header = [name for name in found[0] if not name.startswith("projective")]
    shown = (row for row in found if row["graph"] != "a cycle of margin 35")
    return header, [[row[name] for name in header] for row in shown]


@view("performance/marginals-25")
def marginals_25():
    [row] = rows("distributions/sums", n=25, root="single")
    return f"{row['marginals']:.0f} µs"
