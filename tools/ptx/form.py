"""A form of PTX with its reference, and the kinds of operands that forms have."""
from typing import Callable, NamedTuple

from exact import BF16, F16, F32, F64

FORMATS = {'f16': F16, 'bf16': BF16, 'f32': F32, 'f64': F64}
INTEGERS = ['u16', 's16', 'u32', 's32', 'u64', 's64']
COMPARE = {
    'eq': lambda a, b: a == b,
    'ne': lambda a, b: a != b,
    'lt': lambda a, b: a < b,
    'le': lambda a, b: a <= b,
    'gt': lambda a, b: a > b,
    'ge': lambda a, b: a >= b,
}


class Form(NamedTuple):
    text: str  # $d is the result, $0 and so on are the operands
    result: str  # kind of the result
    operands: list  # their kinds
    reference: Callable  # of the operands' bits; None where PTX names no result
    since: int = 75  # the first SM that has it


def bits(kind):
    """Bits of a kind: of u16, f16x2, b64; what else there is has 32."""
    if kind in SPECIAL:
        return 32
    base, _, packed = kind.partition('x')
    return int(base.lstrip('usbf')) * int(packed or 1)


def register(kind):
    """The PTX type of a register that holds it."""
    return kind if kind in ('f32', 'f64') else f'b{bits(kind)}'


def mask(width):
    return (1 << width) - 1


def signed(x, width):
    x &= mask(width)
    return x - (1 << width) if x >> (width - 1) else x


def number(x, kind):
    """The value of an integer of a type, from its bits."""
    width = bits(kind)
    return signed(x, width) if kind[0] == 's' else x & mask(width)


def limits(kind):
    width = bits(kind)
    return (-(1 << (width - 1)), mask(width - 1)) if kind[0] == 's' else (0, mask(width))


def clamp(x, kind):
    low, high = limits(kind)
    return max(low, min(high, x))


def draw_integer(width, rng):
    edges = [0, 1, mask(width), mask(width - 1), 1 << (width - 1), (1 << (width - 1)) + 1, 0x7f, 0x80, 0xff, 0x100]
    if width > 16:
        edges += [31, 32, 33, 0x7f80, 0xff80, 0xffff, 0x10000, 0x800000, 0xffffff]
    if width > 32:
        edges += [mask(31), 1 << 31, mask(32), 1 << 32, mask(32) << 32]
    choice = rng.random()
    if choice < 0.35:
        return rng.choice(edges)
    if choice < 0.5:
        return rng.getrandbits(rng.randint(1, width))
    if choice < 0.6:
        return -rng.getrandbits(rng.randint(1, width)) & mask(width)
    return rng.getrandbits(width)


def draw_exponent(fmt, rng):
    top = mask(fmt.exponent)
    near = min(top - 1, max(0, fmt.bias + rng.randint(-8, 8)))
    far = min(top - 1, max(0, fmt.bias + rng.randint(-70, 70)))
    choices = [0, 1, top - 1, near, far, rng.randint(0, top - 1)]
    return rng.choices(choices, weights=[12, 6, 6, 35, 15, 10])[0]


def draw_float(fmt, rng):
    sign = rng.getrandbits(1)
    digits = rng.getrandbits(fmt.mantissa)
    if rng.random() < 0.3:
        digits &= rng.choice([0, 1, 1 << (fmt.mantissa - 1), mask(5) << (fmt.mantissa - 5)])
    special = rng.random()
    if special < 0.06:
        return fmt.signed(sign, 0)
    if special < 0.12:
        return fmt.signed(sign, fmt.infinity)
    if special < 0.16:
        return fmt.signed(sign, fmt.infinity | (digits or 1))
    return fmt.signed(sign, draw_exponent(fmt, rng) << fmt.mantissa | digits)


def draw_shift(rng):
    return rng.choice([rng.randint(0, 70), rng.randint(0, 40), 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, mask(32)])


def draw_position(rng):
    return rng.choice([rng.randint(0, 70), rng.randint(0, 40), 0, 31, 32, 33, 63, 64, 65, 255])


SPECIAL = {
    'shift': draw_shift,
    'lane shift': draw_shift,  # in a register of each lane, always
    'position': draw_position,
    'index': lambda rng: rng.randint(0, 31),
    'offset': lambda rng: rng.randint(-20, 20) & mask(32),
    'flag': lambda rng: rng.getrandbits(1),
    'zero': lambda rng: 0,
}


def draw(kind, rng):
    """Bits of an operand: the edges of its type more often than others, and some pairs of the same number twice."""
    if kind in SPECIAL:
        return SPECIAL[kind](rng)
    base, _, packed = kind.partition('x')
    if base not in FORMATS:
        return draw_integer(bits(kind), rng)
    fmt = FORMATS[base]
    value = draw_float(fmt, rng)
    if not packed:
        return value
    other = value if rng.random() < 0.2 else draw_float(fmt, rng)
    return value << fmt.bits | other


def halves(function, width=16):
    """The function on both halves of packed operands; None when either half is."""
    def both(*operands):
        low = function(*[x & mask(width) for x in operands])
        high = function(*[x >> width for x in operands])
        return None if low is None or high is None else low | high << width
    return both
