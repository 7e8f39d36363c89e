"""Hashed features, recomputed from strings: what the kernels are compared with."""

MASK = (1 << 64) - 1
ROOT, OUTSIDE = 0x243F6A8885A308D3, 0x13198A2E03707344


def slow_step(state):
    return (state & 0xFFFFFFFF) * 0xCC9E2D51 + (state >> 32)


def slow_mix(first, second):
    state = slow_step(slow_step(first ^ 0x9E3779B97F4A7C15) ^ second)
    state = slow_step(state ^ (state >> 29))
    state = slow_step(state ^ (state >> 31))
    return state ^ (state >> 32)


def slow_hash(text):
    state = 0x9E3779B97F4A7C15
    for byte in text:
        state = slow_step(state ^ byte)
    return slow_mix(state, len(text))


def slow_shape(form):
    bits = 0
    for i, character in enumerate(form):
        if character in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            bits |= 1 if i == 0 else 2
        elif character in "abcdefghijklmnopqrstuvwxyz":
            bits |= 4
        elif character in "0123456789":
            bits |= 8
        elif character == "-":
            bits |= 16
        else:
            bits |= 32 if ord(character) < 128 else 64
    return bits


def slow_field(sentence, node, field):
    if node == 0:
        return ROOT
    if not 0 < node <= len(sentence):
        return OUTSIDE
    i = node - 1
    form = sentence.forms[i]
    folded = form.encode().lower()
    given = {
        "l": sentence.lemmas[i],
        "p": sentence.upos[i],
        "x": sentence.xpos[i],
        "m": sentence.feats[i],
    }
    if field == "c":
        return slow_mix(OUTSIDE, slow_shape(form))
    if field == "w":
        return slow_hash(folded)
    if field == "s":
        return slow_hash(form[-3:].encode().lower())
    if given[field] != "_":
        return slow_hash(given[field].encode())
    return slow_hash(folded) if field == "l" else 0


def slow_side(sentence, node, side):
    value = slow_hash(side.encode())
    for atom in side.split(","):
        absent = node is None
        place = None if absent else node + int(atom[1:] or 0)
        value = slow_mix(value, OUTSIDE if absent else slow_field(sentence, place, atom[0]))
    return value


def slow_rotate(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & MASK


def slow_relatives(heads, d):
    children = [[c for c in range(1, len(heads)) if heads[c] == h] for h in range(len(heads))]
    h = heads[d]
    siblings = children[h]
    place = siblings.index(d)
    return {
        "d": d,
        "h": h,
        "g": heads[h] if h > 0 else None,
        "l": children[d][0] if children[d] else None,
        "r": children[d][-1] if children[d] else None,
        "p": siblings[place - 1] if place > 0 else None,
        "n": siblings[place + 1] if place + 1 < len(siblings) else None,
    }
