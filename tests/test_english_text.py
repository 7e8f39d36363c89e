"""Which text a small English model learns from (``models/english_text.py``)."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

from arborescence.treebank import Sentence

SCRIPT = Path(__file__).parents[1] / "models" / "english_text.py"
if not SCRIPT.exists():
    pytest.skip("the source archive leaves it out", allow_module_level=True)
spec = importlib.util.spec_from_file_location("english_text", SCRIPT)
english_text = importlib.util.module_from_spec(spec)
spec.loader.exec_module(english_text)


@pytest.fixture
def repository(tmp_path):
    """Make a git repository with files, and return it as the script reads it."""

    def make(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "texts"]):
            subprocess.run([*git, *command], check=True)
        return english_text.Repository(tmp_path)

    return make


def test_markdown_becomes_plain_paragraphs(repository):
    page = "---\nt: x\n---\nOwls [hunt](https://a.b) *at night*.\n\n* They sleep.\n\n| a | b |\n"
    made = repository(content__posts__one_DOT_md=page, other_DOT_md="Not read.")
    found = list(filter(None, english_text.pages(r"content/posts/.*\.md$")(made)))
    assert found == ["Owls hunt at night.", "They sleep."]


def test_the_paragraphs_of_a_book(repository):
    page = "<h2>One</h2><p>“Owls,” said <i>she</i>.<a epub:type='noteref'>1</a></p>\n<p>Rest.</p>"
    made = repository(**{"src__epub__text__chapter-1_DOT_xhtml": page})
    assert list(english_text.books(made)) == ["“Owls,” said she.", "Rest."]


def test_sentences_of_usual_length_made_of_words_are_kept():
    words = ["Owls", "hunt", "at", "night"]
    assert english_text.plain(Sentence.from_words(words))
    assert not english_text.plain(Sentence.from_words(words[:2]))
    assert not english_text.plain(Sentence.from_words(["1", "2", "|", "Owls"]))
    assert not english_text.plain(Sentence.from_words(words * 16))
    assert not english_text.plain(Sentence.from_words([*words, "o" * 30]))
