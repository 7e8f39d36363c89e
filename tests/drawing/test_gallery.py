"""Pages of drawings, as text; `tests/explaining/page` opens one in a browser."""

import json
import re
from html import unescape

from arborescence.drawing.gallery import GalleryEntry, Picture, gallery
from arborescence.drawing.svg import Marks
from arborescence.treebank import Sentence

BIRDS = Sentence.from_words(["</script>", "sing"], heads=[2, 0], deprels=["<!--", "root"])


def test_entries_are_escaped_and_drawn_as_they_come():
    asked = []

    def entries():
        for number in range(3):
            asked.append(number)
            change = {"text": "\"</script>'", "number": number}
            yield GalleryEntry(
                "a <b>\nc", [Picture(BIRDS, Marks([1], [2]), "x < y")], ["k", "a"], change
            )

    parts = gallery("T & U", ["1 < 2"], entries())
    next(parts)
    assert asked == []
    next(parts)
    assert asked == [0]
    page = "".join(gallery("T & U", ["1 < 2"], entries()))
    items = re.findall(r'<script type="text/html".*?data-change="(.*?)">(.*?)</script>', page, re.S)
    assert [json.loads(unescape(change))["number"] for change, _ in items] == [0, 1, 2]
    assert all("<p>a &lt;b&gt;</p><p>c</p>" in text and "<svg" in text for _, text in items)
    assert page.count("</script>") == 4  # three entries, and what shows them
    assert "<!--" not in page
    assert page.count("<style>") == 1
    assert "<title>T &amp; U</title>" in page
