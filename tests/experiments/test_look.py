"""The look of figures: axes with plain numbers, and files that repeat."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import pytest

from arborescence import MissingExtraError
from arborescence.experiments import look

pytest.importorskip("matplotlib", reason="needs the extra 'experiments'")


def drawn(path, x, y):
    """Draw points over sizes and rates; return the labels of both, and the text of the file."""
    with look.figure(4, 3) as figure:
        axes = figure.subplots()
        axes.scatter(x, y, color=look.TEAL)
        look.log_axis(axes.xaxis)
        look.rate_axis(axes.yaxis)
        look.save(figure, path)
        labels = []
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            labels.append(
                [
                    label.get_text()
                    for place, label in zip(
                        axis.get_majorticklocs(), axis.get_ticklabels(), strict=True
                    )
                    if low <= place <= high
                ]
            )
    return *labels, "".join(ET.fromstring(path.read_bytes()).itertext())


def test_plain_numbers(tmp_path):
    sizes, rates, text = drawn(tmp_path / "a.svg", [19, 12544], [0.13, 23.57])
    assert sizes == ["100", "1,000", "10,000"]
    assert rates == ["1", "10"]
    assert "10,000" in text  # text, and not its outlines


def test_narrow_axes_have_numbers_too(tmp_path):
    sizes, rates, _ = drawn(tmp_path / "a.svg", [10, 60], [1.1, 4.4])
    assert sizes == ["10", "20", "50"]
    assert all(1 <= float(rate) <= 5 for rate in rates)
    assert len(rates) > 1


def test_zeros_have_a_place(tmp_path):
    for least, decades in ((0.13, ["0.1", "1", "10"]), (0.0002, ["0.01", "0.1", "1", "10"])):
        _, rates, _ = drawn(tmp_path / "a.svg", [19, 500, 12544], [0, 23.57, least])
        assert rates == ["0", *decades]
    _, rates, _ = drawn(tmp_path / "a.svg", [19, 12544], [0, 0])
    assert rates[0] == "0"


def test_the_same_data_give_the_same_bytes(tmp_path):
    for name in ("a.svg", "b.svg"):
        drawn(tmp_path / name, [19, 12544], [0.13, 23.57])
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


@pytest.mark.parametrize("missing", ["matplotlib", "matplotlib.figure", "scipy", "scipy.stats"])
def test_what_is_missing_is_named(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'arborescence\[experiments\]'"):
        look.require()


def test_settings_end_with_the_figure():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with look.figure(4, 3):
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert dict(mpl.rcParams) == before
