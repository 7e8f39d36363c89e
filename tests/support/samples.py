"""A treebank of a few sentences, written for these tests."""

from arborescence.treebank import Sentence

_WORDS = """\
the/the/DET/DT/Definite=Def/2/det
old/old/ADJ/JJ/Degree=Pos/3/amod
trees/tree/NOUN/NNS/Number=Plur/4/nsubj
grow/grow/VERB/VBP/_/0/root
slowly/slowly/ADV/RB/_/4/advmod
././PUNCT/./_/4/punct

a/a/DET/DT/Definite=Ind/2/det
bird/bird/NOUN/NN/Number=Sing/3/nsubj
sings/sing/VERB/VBZ/_/0/root
in/in/ADP/IN/_/6/case
the/the/DET/DT/Definite=Def/6/det
tree/tree/NOUN/NN/Number=Sing/3/obl

Who/who/PRON/WP/PronType=Int/2/nsubj
planted/plant/VERB/VBD/Tense=Past/0/root
it/it/PRON/PRP/Case=Acc/2/obj
?/?/PUNCT/./_/2/punct

Birds/bird/NOUN/NNS/Number=Plur/4/nsubj
,/,/PUNCT/,/_/3/punct
unlike/unlike/ADP/IN/_/1/case
sing/sing/VERB/VBP/_/0/root

What/what/PRON/WP/PronType=Int/4/obj
did/do/AUX/VBD/Tense=Past/4/aux
they/they/PRON/PRP/Case=Nom/4/nsubj
say/say/VERB/VB/_/0/root
today/today/NOUN/NN/Number=Sing/4/obl:tmod

A/a/DET/DT/Definite=Ind/2/det
hearing/hearing/NOUN/NN/Number=Sing/3/nsubj
began/begin/VERB/VBD/Tense=Past/0/root
on/on/ADP/IN/_/6/case
the/the/DET/DT/Definite=Def/6/det
issue/issue/NOUN/NN/Number=Sing/2/nmod
././PUNCT/./_/3/punct

Grow/grow/VERB/VB/Mood=Imp/0/root
!/!/PUNCT/./_/1/punct
"""


def treebank():
    """The sentences of this file, with all columns and trees (the second last crosses)."""
    return [_sentence(block) for block in _WORDS.split("\n\n")]


def _sentence(block):
    forms, lemmas, upos, xpos, feats, heads, deprels = zip(
        *(word.split("/") for word in block.split()), strict=True
    )
    return Sentence.from_words(
        forms,
        lemmas=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        heads=[-1, *map(int, heads)],
        deprels=deprels,
    )


def bare(sentence):
    """The words of a sentence and nothing else."""
    return Sentence.from_words(sentence.forms)


def unparsed(sentence):
    """A sentence without its tree."""
    kept = {name: getattr(sentence, name) for name in ("lemmas", "upos", "xpos", "feats")}
    blank = Sentence.from_words(sentence.forms, **kept)
    assert (blank.heads == -1).all()
    return blank
