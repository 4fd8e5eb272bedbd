"""How many queries and keys a tile of attention may have, by the local memory of a core."""

from __future__ import annotations

import msgspec

from checks.fit.cards import Chip
from checks.fit.model import Model
from checks.fit.wish import Wish

_FLOAT = 4


class Tile(msgspec.Struct, frozen=True):
    """The side of a square tile of scores, and what it takes of each local memory, in bytes."""

    side: int
    operands: int
    vector: int
    products: int
    source: str


def tile(chip: Chip, model: Model, wish: Wish) -> Tile | None:
    """The largest tile that a core can hold; None where not even the smallest one fits.

    With B rows of a tile and d elements of a head: the operands are Q and twice K and V, so that
    the next tiles are loaded while these are used (5 B d values). The vector memory holds the
    scores in float32 and as probabilities of the model's dtype (B B of both), the output so far
    (B d in float32), and for each row its maximum, its sum and the factor that rescales the output.
    A product of Q and K leaves B B in float32.
    """
    d, size = model.head_size, wish.size
    longest = -(-wish.seq // chip.granule) * chip.granule  # a longer tile would be padding
    best = None
    for side in range(chip.granule, longest + 1, chip.granule):
        needed = Tile(
            side, 5 * side * d * size,
            side * side * (_FLOAT + size) + side * (d + 3) * _FLOAT, side * side * _FLOAT,
            chip.source,
        )  # fmt: skip
        if (needed.operands > chip.operands or needed.vector > chip.vector
                or needed.products > chip.products):  # fmt: skip
            break
        best = needed
    return best
