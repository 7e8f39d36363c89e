"""The look of figures: axes with plain numbers, and files that repeat."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from arborescence_papers.common import style


def draw(figure, sizes, rates):
    """Draw points over sizes and rates, and return the axes."""
    axes = figure.subplots()
    axes.scatter(sizes, rates, color=style.TEAL)
    style.log_axis(axes.xaxis)
    style.rate_axis(axes.yaxis)
    return axes.xaxis, axes.yaxis


def labels(sizes, rates):
    """Return the labels along both axes."""
    found = []
    with style.figure(4, 3) as figure:
        for axis in draw(figure, sizes, rates):
            low, high = axis.get_view_interval()
            ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
            found.append([label.get_text() for place, label in ticks if low <= place <= high])
    return found


def test_plain_numbers():
    assert labels([19, 12544], [0.13, 23.57]) == [["100", "1,000", "10,000"], ["1", "10"]]


def test_narrow_axes_have_numbers_too():
    sizes, rates = labels([10, 60], [1.1, 4.4])
    assert sizes == ["10", "20", "50"]
    assert all(1 <= float(rate) <= 5 for rate in rates)
    assert len(rates) > 1


def test_zeros_have_a_place():
    for least, decades in ((0.13, ["0.1", "1", "10"]), (0.0002, ["0.01", "0.1", "1", "10"])):
        _, rates = labels([19, 500, 12544], [0, 23.57, least])
        assert rates == ["0", *decades]
    _, rates = labels([19, 12544], [0, 0])
    assert rates[0] == "0"
    with style.figure(4, 3) as figure:
        axes = figure.subplots()
        axes.scatter([0, 5], [1, 2])
        style.rate_axis(axes.xaxis)
        assert axes.get_xlim()[0] < 0 < axes.get_ylim()[0]


def test_the_same_data_give_the_same_bytes(tmp_path):
    pictures = []
    for name in ("a.svg", "b.svg"):
        with style.figure(4, 3) as figure:
            draw(figure, [19, 12544], [0.13, 23.57])
            style.save(figure, tmp_path / name)
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    assert "10,000" in "".join(ET.fromstring(pictures[0]).itertext())  # and not its outlines


def test_settings_end_with_the_figure():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with style.figure(4, 3):
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert dict(mpl.rcParams) == before
