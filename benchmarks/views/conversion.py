"""Tables of papers/reports/conversion.md and docs/old-treebanks.md."""

from statistics import fmean

from figures import rows, table, view

SIZES = ("25", "50", "100", "200", "400")
CONVERSION, PARSER = "experiment-conversion/conversion", "experiment-conversion/parser"
#: Their old schemes are not versions of Universal Dependencies.
OTHERS = ("Danish-DDT", "Norwegian-Bokmaal", "Norwegian-Nynorsk")


def means(name, *columns, other=False):
    """Return means over treebanks with all sizes, by whether both schemes are versions of UD."""
    found = [
        row for row in rows(name) if row["400"] != "–" and (row["treebank"] in OTHERS) == other
    ]
    return [f"{fmean(float(row[column]) for row in found):.1f}" for column in columns]


@view("conversion/page")
def page():
    """Return LAS by the number of sentences."""
    return ["", *SIZES], [
        ["versions of one scheme (mean of five)", *means(CONVERSION, *SIZES)],
        ["different schemes (mean of three)", *means(CONVERSION, *SIZES, other=True)],
    ]


@view("conversion/curve")
def curve():
    """Return the curves of conversions, beside the old annotation and a converter by hand."""
    columns = ("treebank", "as it is", "by hand", *SIZES)
    return list(columns), [[row[name] for name in columns] for row in rows(CONVERSION)]


@view("conversion/parsers")
def parsers():
    """Return the curves of parsers."""
    columns = ("treebank", *SIZES)
    return list(columns), [[row[name] for name in columns] for row in rows(PARSER)]


@view("conversion/hundred")
def hundred():
    """Return the mean LAS of conversion and of a parser, from 100 sentences."""
    [conversion], [parser] = means(CONVERSION, "100"), means(PARSER, "100")
    return f"{conversion}, a parser {parser}"


@view("conversion/whole")
def whole():
    """Return figures of test parts, as all of dev teaches."""
    return table("experiment-conversion/whole")


@view("conversion/worth")
def worth():
    """Return what converted parts are worth."""
    return table("experiment-conversion/worth-linear")


@view("conversion/worth-neural")
def worth_neural():
    """Return what converted parts are worth to neural parsers."""
    return table("conversion-neural/worth-neural")
