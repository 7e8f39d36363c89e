"""Random trees over random cuts of a text into sentences, tokens and words."""

import io

from arborescence.treebank import read

RELATIONS = ["nsubj", "nsubj:pass", "obj", "punct", "case", "det"]


def guess(words, generator):
    """Draw a head and a relation for each word."""
    n = len(words)
    heads = [
        -1,
        *(int(generator.choice([h for h in range(n + 1) if h != d + 1])) for d in range(n)),
    ]
    return words.replace(heads=heads, deprels=generator.choice(RELATIONS, n).tolist())


def cut_at_random(characters, generator):
    """Cut a text into words and sentences, and join some words to multiword tokens."""
    sentences, forms, blocks = [], [], []
    while characters:
        size = int(generator.choice([1, 2, 3], p=[0.7, 0.2, 0.1]))
        forms.append(characters[:size])
        characters = characters[size:]
        if not characters or generator.random() < 0.2:
            sentences.append(forms)
            forms = []
    for forms in sentences:
        lines, number = [], 1
        while number <= len(forms):
            pair = forms[number - 1 : number + 1]
            if len(pair) == 2 and generator.random() < 0.2:
                lines.append(f"{number}-{number + 1}\t{''.join(pair)}" + "\t_" * 8)
                lines += [f"{number + i}\t{pair[i]}" + "\t_" * 8 for i in range(2)]
                number += 2
            else:
                lines.append(f"{number}\t{pair[0]}" + "\t_" * 8)
                number += 1
        blocks.append("\n".join(lines) + "\n\n")
    return list(read(io.BytesIO("".join(blocks).encode())))
