"""Whether two different words are one word with a slip of the finger.

Promises to forgive a missing, extra or swapped letter in words of five letters or more, and in longer ones a wrong
letter whose key is a neighbour. Forgives neither the first letter nor a digit: "Ireland" and "Iceland" stay two.
"""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEAR = {
    (a, b)
    for row, keys in enumerate(_ROWS)
    for at, a in enumerate(keys)
    for other, there in enumerate(_ROWS)
    for place, b in enumerate(there)
    if abs(row - other) <= 1 and abs(at - place) <= 1
} | {(a, b) for a in "aeiou" for b in "aeiou"}


def same_word(one: str, two: str) -> bool:
    """Whether the words differ by one slip."""
    short, long = sorted((one, two), key=len)
    if len(short) < 4 or len(long) < 5 or len(long) - len(short) > 1 or one[0] != two[0]:
        return False
    if not (one.isalpha() and two.isalpha()):
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at:] == long[at + 1 : at + 2] + long[at : at + 1] + long[at + 2 :]
    return swapped or (len(short) >= 7 and short[at + 1 :] == long[at + 1 :] and (short[at], long[at]) in _NEAR)
