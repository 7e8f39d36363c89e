import numpy as np
import pytest

import arborescence as arb
from arborescence.transitions import SYSTEMS, Transition, get_system

# we vigorously wash our cats who stink: the tree of the lecture's actions, cats → who → stink
STINK = [-1, 3, 3, 0, 5, 3, 5, 6]
LABELS = ["nsubj", "advmod", "root", "nmod", "obj", "acl", "comp"]
# a hearing is scheduled on the issue today
HEARING = [-1, 2, 3, 0, 3, 2, 7, 5, 4]


def spelled(name, heads, root="single"):
    short = {"SHIFT": "S", "LEFT-ARC": "L", "RIGHT-ARC": "R", "REDUCE": "D", "SWAP": "W"}
    return "".join(short[t.action] for t in get_system(name).derivation(heads, root=root))


def test_names_and_numbers():
    assert SYSTEMS == ("arc-standard", "arc-eager", "arc-hybrid", "swap")
    for number, name in enumerate(SYSTEMS):
        assert (get_system(name).name, get_system(name).number) == (name, number)
    assert [name for name in SYSTEMS if get_system(name).dynamic] == ["arc-eager", "arc-hybrid"]
    assert [name for name in SYSTEMS if not get_system(name).projective] == ["swap"]
    with pytest.raises(ValueError, match=r"must be 'arc-standard', .* or 'swap', not 'eager'"):
        get_system("eager")


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("arc-standard", "SSSLLSSLSSRRRR"),  # the lecture's own
        ("arc-hybrid", "SSLLSSLSSSRRRR"),
        ("arc-eager", "SSLLSSLRRRDDDL"),
        ("swap", "SSSLLSSLSSRRRR"),
    ],
)
def test_the_lectures_sentence(name, actions):
    assert spelled(name, STINK) == actions


def test_components_are_swapped_rather_than_words():
    # The issue is that of the hearing: in the projective order, three words go before two others.
    assert spelled("swap", HEARING).count("W") == 2


def test_the_empty_sentence_and_one_word():
    for name in SYSTEMS:
        assert get_system(name).derivation([-1]) == []
        made = get_system(name).replay(0, [])
        assert (made.heads.tolist(), made.tree.tolist(), made.deprels) == ([], [-1], [])
        assert spelled(name, [-1, 0]) == ("SL" if name == "arc-eager" else "SR")


def test_several_root_edges():
    for name in SYSTEMS:
        transitions = get_system(name).derivation([-1, 0, 0], root="multi")
        assert get_system(name).replay(2, transitions, root="multi").heads.tolist() == [0, 0]
        with pytest.raises(arb.TreeError, match="not a tree with one root edge"):
            get_system(name).derivation([-1, 0, 0])


def test_labels_belong_to_transitions_that_make_edges():
    hybrid = get_system("arc-hybrid")
    transitions = hybrid.derivation(STINK, LABELS)
    assert [str(t) for t in transitions[:4]] == [
        "SHIFT",
        "SHIFT",
        "LEFT-ARC(advmod)",
        "LEFT-ARC(nsubj)",
    ]
    assert hybrid.replay(7, transitions).deprels == LABELS
    transitions[-1] = Transition("RIGHT-ARC")
    assert hybrid.replay(7, transitions).deprels == [*LABELS[:2], None, *LABELS[3:]]


def test_a_state_does_not_change():
    start = get_system("swap").start(2)
    one = start.apply(Transition("SHIFT"))
    two = one.apply(Transition("SHIFT"))
    left = two.apply(Transition("LEFT-ARC", "nsubj"))
    assert (start.stack, start.buffer) == ([0], [1, 2])
    assert (two.stack, two.buffer, two.tree.tolist()) == ([0, 1, 2], [], [-1, -1, -1])
    assert (left.stack, left.tree.tolist(), left.deprels) == ([0, 2], [-1, 2, -1], ["nsubj", None])
    left.tree[2] = left.deprels[1] = 7
    assert (left.tree.tolist(), left.deprels) == ([-1, 2, -1], ["nsubj", None])
    assert two.legal == ("LEFT-ARC", "RIGHT-ARC", "SWAP")
    swapped = two.apply(Transition("SWAP"))
    assert (swapped.stack, swapped.buffer) == ([0, 2], [1])
    assert not left.finished
    assert left.apply(Transition("RIGHT-ARC")).finished


def test_what_is_not_legal_is_named():
    hybrid = get_system("arc-hybrid")
    start = hybrid.start(2)
    with pytest.raises(ValueError, match=r"^LEFT-ARC is not legal in <State \[0\] \[1, 2\]>; S"):
        start.apply(Transition("LEFT-ARC"))
    with pytest.raises(ValueError, match="REDUCE is not legal"):
        start.apply(Transition("REDUCE"))
    with pytest.raises(ValueError, match=r"SHIFT\(obj\) adds no edge, so it takes no label"):
        start.apply(Transition("SHIFT", "obj"))
    shift = Transition("SHIFT")
    with pytest.raises(
        ValueError, match=r"^step 2: RIGHT-ARC is not legal.*; SHIFT or LEFT-ARC is"
    ):
        hybrid.replay(2, [shift, Transition("RIGHT-ARC")])
    with pytest.raises(ValueError, match="not finished after step 1: SHIFT or LEFT-ARC comes next"):
        hybrid.replay(2, [shift])
    with pytest.raises(ValueError, match=r"^step 3: SHIFT is not legal.*; nothing is"):
        hybrid.replay(1, [shift, Transition("RIGHT-ARC"), shift])
    with pytest.raises(ValueError, match="cannot have -1 words"):
        hybrid.start(-1)
    with pytest.raises(ValueError, match="root must be 'single' or 'multi'"):
        hybrid.start(2, root="one")


@pytest.mark.parametrize(
    ("heads", "deprels", "message"),
    [
        ([-1, 2, 1], None, "not a tree with one root edge"),
        ([0, 0], None, "heads\\[0\\] is -1"),
        ([[-1, 0]], None, "not a tree"),
        ([], None, "at least an entry for the root"),
        ([-1, 0.5], None, "whole numbers"),
        ([-1, 2, 0, 1], None, "cross, and arc-hybrid builds only projective trees: projectivize"),
        ([-1, 2, 0], ["nsubj"], "1 labels do not fit 2 words; the root has none"),
    ],
)
def test_unusable_trees(heads, deprels, message):
    with pytest.raises(arb.TreeError, match=message):
        get_system("arc-hybrid").derivation(heads, deprels)


def test_costs_that_cannot_be_told():
    with pytest.raises(ValueError, match="swap has no dynamic oracle; take arc-eager"):
        get_system("swap").start(1).costs([-1, 0])
    state = get_system("arc-eager").start(2)
    with pytest.raises(arb.TreeError, match="a tree of 1 words does not fit a sentence of 2 words"):
        state.costs([-1, 0])
    with pytest.raises(arb.TreeError, match="not a tree"):
        state.costs(np.array([-1, 0, 0]))
    finished = get_system("arc-hybrid").start(0)
    assert finished.costs([-1]) == {}
