"""A short text as a QR code for the terminal (ISO/IEC 18004: byte mode, level L, versions 1–5, mask 0). Pure.

Enough for an address of up to 106 bytes; `draw` gives None for more. A camera repairs about 7 % of damage.
"""

# (codewords of data, codewords of error correction) of versions 1 to 5 at level L: all of one block
_SIZES = ((19, 7), (34, 10), (55, 15), (80, 20), (108, 26))
_FORMAT = 0b111011111000100  # level L, mask 0, with its check bits
_QUIET = 4

Grid = list[list[bool | None]]


def draw(text: str) -> str | None:
    """Lines of half blocks, two rows of modules each, light on dark; None if the text is too long."""
    modules = encode(text)
    if modules is None:
        return None
    width = len(modules) + 2 * _QUIET
    blank = [[False] * width for _ in range(_QUIET)]
    side = [False] * _QUIET
    rows = [*blank, *([*side, *row, *side] for row in modules), *blank, [True] * width]
    pairs = zip(rows[0::2], rows[1::2], strict=False)
    return "\n".join("".join(_half(up, low) for up, low in zip(*pair, strict=True)) for pair in pairs)


def _half(upper: bool, lower: bool) -> str:  # noqa: FBT001  # two modules
    return " " if upper and lower else "▄" if upper else "▀" if lower else "█"


def encode(text: str) -> list[list[bool]] | None:
    """The square of modules, True for dark, without the quiet zone; None if the text is too long."""
    data = text.encode()
    version = next((n for n, (room, _) in enumerate(_SIZES, 1) if len(data) <= room - 2), None)
    if version is None:
        return None
    room, checks = _SIZES[version - 1]
    words = _codewords(data, room)
    grid = _patterns(version)
    _fill(grid, [*words, *remainder(words, checks)])
    return [[bool(module) for module in row] for row in grid]


def _codewords(data: bytes, room: int) -> list[int]:
    bits = f"0100{len(data):08b}" + "".join(f"{byte:08b}" for byte in data) + "0000"
    words = [int(bits[at : at + 8].ljust(8, "0"), 2) for at in range(0, len(bits), 8)][:room]
    padding = (0xEC, 0x11)
    return words + [padding[n % 2] for n in range(room - len(words))]


def _times(a: int, b: int) -> int:
    """Multiplication in the field of 256 elements, modulo x⁸ + x⁴ + x³ + x² + 1."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = (a << 1) ^ (0x11D if a & 0x80 else 0), b >> 1
    return product


def remainder(words: list[int], checks: int) -> list[int]:
    """The Reed–Solomon check words of a block."""
    generator, root = [1], 1
    for _ in range(checks):
        shifted = [0, *(_times(factor, root) for factor in generator)]
        generator = [a ^ b for a, b in zip([*generator, 0], shifted, strict=True)]
        root = _times(root, 2)
    rest = [*words, *([0] * checks)]
    for at in range(len(words)):
        lead = rest[at]
        for offset, factor in enumerate(generator):
            rest[at + offset] ^= _times(factor, lead)
    return rest[len(words) :]


def _patterns(version: int) -> Grid:
    """Finders, timing, alignment and format; None where data goes."""
    size = 17 + 4 * version
    grid: Grid = [[None] * size for _ in range(size)]
    for n in range(8, size - 8):
        grid[6][n] = grid[n][6] = n % 2 == 0
    for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
        _rings(grid, row, column, reach=4, light=(2, 4))
    if version > 1:
        _rings(grid, size - 7, size - 7, reach=2, light=(1,))
    _write_format(grid)
    return grid


def _rings(grid: Grid, row: int, column: int, *, reach: int, light: tuple[int, ...]) -> None:
    size = len(grid)
    for y in range(max(0, row - reach), min(size, row + reach + 1)):
        for x in range(max(0, column - reach), min(size, column + reach + 1)):
            grid[y][x] = max(abs(y - row), abs(x - column)) not in light


def _write_format(grid: Grid) -> None:
    size = len(grid)
    first = [(n, 8) for n in range(6)] + [(7, 8), (8, 8), (8, 7)] + [(8, 14 - n) for n in range(9, 15)]
    second = [(8, size - 1 - n) for n in range(8)] + [(size - 15 + n, 8) for n in range(8, 15)]
    for places in (first, second):
        for n, (y, x) in enumerate(places):
            grid[y][x] = bool(_FORMAT >> n & 1)
    grid[size - 8][8] = True


def _fill(grid: Grid, words: list[int]) -> None:
    """Write the bits in columns of two, up and down from the right, with mask 0."""
    size = len(grid)
    bits = (bool(word >> shift & 1) for word in words for shift in range(7, -1, -1))
    columns = [x for x in range(size - 1, 6, -2)] + [5, 3, 1]  # noqa: C416  # the timing column is left out
    for turn, right in enumerate(columns):
        for y in range(size) if turn % 2 else range(size - 1, -1, -1):
            for x in (right, right - 1):
                if grid[y][x] is None:
                    grid[y][x] = next(bits, False) ^ ((x + y) % 2 == 0)
