"""What the official validator of Universal Dependencies (udtools) finds: its errors of syntax."""

import io


def faults_of_level_1(text):
    """The messages of level 1: the format of lines and columns."""
    return [incident.message for incident in _incidents(text, 1) if incident.is_error()]


def broken_rules(text):
    """The set of (line, rule) and (word, rule) by sentence of level 3, class SYNTAX, errors only.

    The validator names a word by its number, or by its line only.
    """
    from udtools.incident import TestClass

    return {
        (incident.sentid, incident.testid, *_place(incident))
        for incident in _incidents(text, 3)
        if incident.level == 3 and incident.testclass == TestClass.SYNTAX and incident.is_error()
    }


def _incidents(text, level):
    from udtools.state import State
    from udtools.validator import Validator

    state = State()
    # A file ends its lines with LF only, while StringIO would end them at a lone CR, too.
    Validator(lang="ud", level=level, output=None).validate_file_handle(
        io.StringIO(text, newline="\n"), state
    )
    return list(state.error_tracker)


def _place(incident):
    return ("line", incident.lineno) if incident.nodeid is None else ("word", incident.nodeid)


def agree(official, ours):
    """Compare them with `Broken`s, in the validator's own terms."""
    by_word = {(sentence, rule) for sentence, rule, kind, _ in official if kind == "word"}
    rules_by_word = {rule for _, rule in by_word}
    found = {
        (one.sentence, one.rule, "word", one.word)
        if one.rule in rules_by_word
        else (one.sentence, one.rule, "line", one.line)
        for one in ours
    }
    return official ^ found
