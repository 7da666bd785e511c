"""IEEE formats and their arithmetic in fractions: every result is rounded once, from its exact value.

Numbers are bit patterns (int). Modes of rounding are PTX's: rn, rz, rm, rp. NaN results are the one that PTX names for the format;
FP64 names none, so that `same` takes any quiet NaN there.
"""
import math
from fractions import Fraction


class Format:
    def __init__(self, exponent, mantissa, nan):
        self.exponent = exponent
        self.mantissa = mantissa
        self.nan = nan
        self.bits = 1 + exponent + mantissa
        self.bias = (1 << (exponent - 1)) - 1
        self.sign = 1 << (self.bits - 1)
        self.infinity = ((1 << exponent) - 1) << mantissa
        self.one = self.bias << mantissa

    def is_nan(self, x):
        return x & ~self.sign > self.infinity

    def is_infinite(self, x):
        return x & ~self.sign == self.infinity

    def is_zero(self, x):
        return x & ~self.sign == 0

    def is_subnormal(self, x):
        return 0 < x & ~self.sign < 1 << self.mantissa

    def negative(self, x):
        return x >> (self.bits - 1) & 1

    def signed(self, negative, x):
        return x | self.sign if negative else x

    def value(self, x):
        """The signed value of a finite pattern."""
        exponent = x >> self.mantissa & ((1 << self.exponent) - 1)
        digits = x & ((1 << self.mantissa) - 1)
        if exponent:
            digits += 1 << self.mantissa
        size = digits * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)
        return -size if self.negative(x) else size

    def flush(self, x, wanted=True):
        return x & self.sign if wanted and self.is_subnormal(x) else x


F16 = Format(5, 10, 0x7fff)
BF16 = Format(8, 7, 0x7fff)
F32 = Format(8, 23, 0x7fffffff)
F64 = Format(11, 52, 0x7ff8000000000000)


def same(fmt, got, want):
    if fmt is F64 and fmt.is_nan(want):
        return fmt.is_nan(got) and got >> (fmt.mantissa - 1) & 1 == 1
    return got == want


def round_integer(value, mode):
    """A signed fraction as an integer."""
    down = math.floor(value)
    rest = value - down
    if rest == 0 or mode == 'rm':
        return down
    if mode == 'rp':
        return down + 1
    if mode == 'rz':
        return down + (value < 0)
    if rest == Fraction(1, 2):
        return down + (down & 1)
    return down + (rest > Fraction(1, 2))


def exponent_of(size):
    """The e with 2^e <= size < 2^(e+1)."""
    e = size.numerator.bit_length() - size.denominator.bit_length()
    return e - 1 if Fraction(2) ** e > size else e


def flushes(fmt, value, mode):
    """Is the value, rounded as if exponents had no end, below the normal numbers?"""
    e = exponent_of(abs(value))
    digits = abs(round_integer(value / Fraction(2) ** (e - fmt.mantissa), mode))
    if digits >> (fmt.mantissa + 1):
        e += 1
    return e < 1 - fmt.bias


def encode(fmt, value, mode='rn', ftz=False, negative_zero=False):
    """The pattern of a signed fraction; a zero has the sign asked for."""
    if value == 0:
        return fmt.signed(negative_zero, 0)
    if ftz and flushes(fmt, value, mode):
        return fmt.signed(value < 0, 0)
    e = max(exponent_of(abs(value)), 1 - fmt.bias)
    digits = abs(round_integer(value / Fraction(2) ** (e - fmt.mantissa), mode))
    # A carry out of the digits is one into the exponent, and a number without the leading digit is subnormal.
    pattern = digits + ((e + fmt.bias - 1) << fmt.mantissa)
    if pattern >= fmt.infinity:
        inward = mode == 'rz' or mode == ('rp' if value < 0 else 'rm')
        pattern = fmt.infinity - 1 if inward else fmt.infinity
    return fmt.signed(value < 0, pattern)


def saturate(fmt, x):
    """.sat: to [0, 1]; NaN and -0 become 0."""
    if fmt.is_nan(x) or fmt.negative(x):
        return 0
    return min(x, fmt.one)


def relu(fmt, x):
    return 0 if fmt.negative(x) and not fmt.is_nan(x) else x


def negate(fmt, x):
    return x if fmt.is_nan(x) else x ^ fmt.sign


def fma(fmt, a, b, c, mode='rn', ftz=False, wide=None):
    """a * b + c; c and the result are of format `wide` where it is given."""
    wide = wide or fmt
    a, b, c = fmt.flush(a, ftz), fmt.flush(b, ftz), wide.flush(c, ftz)
    negative = fmt.negative(a) ^ fmt.negative(b)
    if fmt.is_nan(a) or fmt.is_nan(b) or wide.is_nan(c):
        return wide.nan
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        opposite = wide.is_infinite(c) and wide.negative(c) != negative
        if fmt.is_zero(a) or fmt.is_zero(b) or opposite:
            return wide.nan
        return wide.signed(negative, wide.infinity)
    if wide.is_infinite(c):
        return c
    product = fmt.value(a) * fmt.value(b)
    total = product + wide.value(c)
    negative_zero = mode == 'rm'
    if product == 0 and wide.is_zero(c) and negative == wide.negative(c):
        negative_zero = negative
    return encode(wide, total, mode, ftz, negative_zero)


def add(fmt, a, b, mode='rn', ftz=False):
    return fma(fmt, a, fmt.one, b, mode, ftz)


def subtract(fmt, a, b, mode='rn', ftz=False):
    return add(fmt, a, negate(fmt, b), mode, ftz)


def multiply(fmt, a, b, mode='rn', ftz=False):
    """As a * b + 0 with the zero of the product's sign, which changes nothing."""
    return fma(fmt, a, b, (a ^ b) & fmt.sign, mode, ftz)


def divide(fmt, a, b, mode='rn', ftz=False):
    a, b = fmt.flush(a, ftz), fmt.flush(b, ftz)
    negative = fmt.negative(a) ^ fmt.negative(b)
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    if fmt.is_infinite(a):
        return fmt.nan if fmt.is_infinite(b) else fmt.signed(negative, fmt.infinity)
    if fmt.is_infinite(b):
        return fmt.signed(negative, 0)
    if fmt.is_zero(b):
        return fmt.nan if fmt.is_zero(a) else fmt.signed(negative, fmt.infinity)
    return encode(fmt, fmt.value(a) / fmt.value(b), mode, ftz, negative)


def square_root(fmt, a, mode='rn', ftz=False):
    a = fmt.flush(a, ftz)
    if fmt.is_nan(a):
        return fmt.nan
    if fmt.is_zero(a):
        return a
    if fmt.negative(a):
        return fmt.nan
    if fmt.is_infinite(a):
        return a
    # Many more digits than the format has, and one behind them for what is cut off.
    shift = 2 * fmt.bias
    scaled = fmt.value(a) * (1 << 2 * shift)
    root = math.isqrt(scaled.numerator // scaled.denominator)
    inexact = root * root != scaled
    return encode(fmt, Fraction(2 * root + inexact, 2 << shift), mode, ftz)


def order(fmt, x):
    """Numbers in their order as integers; the zeros are equal."""
    size = x & ~fmt.sign
    return -size if fmt.negative(x) else size


def extreme(fmt, a, b, pick, nan=False, xorsign=False, ftz=False):
    """pick: min or max. -0 is below +0; a NaN gives the other operand unless .NaN is asked for."""
    a, b = fmt.flush(a, ftz), fmt.flush(b, ftz)
    sign = (a ^ b) & fmt.sign
    if xorsign:
        a, b = a & ~fmt.sign, b & ~fmt.sign
    if fmt.is_nan(a) or fmt.is_nan(b):
        if nan or (fmt.is_nan(a) and fmt.is_nan(b)):
            return fmt.nan
        chosen = b if fmt.is_nan(a) else a
    else:
        chosen = pick(a, b, key=lambda x: (order(fmt, x), not fmt.negative(x)))
    return chosen | sign if xorsign else chosen


def convert(source, target, x, mode='rn', ftz=False):
    """ftz: of what is FP32, on either side."""
    x = source.flush(x, ftz and source is F32)
    if source.is_nan(x):
        return target.nan
    if source.is_infinite(x):
        return target.signed(source.negative(x), target.infinity)
    return encode(target, source.value(x), mode, ftz and target is F32, source.negative(x))


def round_to_integral(fmt, x, mode, ftz=False):
    x = fmt.flush(x, ftz)
    if fmt.is_nan(x):
        return fmt.nan
    if fmt.is_infinite(x):
        return x
    return encode(fmt, Fraction(round_integer(fmt.value(x), mode)), negative_zero=fmt.negative(x))


def to_integer(fmt, x, low, high, mode, ftz=False):
    """Clamped to low..high; None for a NaN, of which PTX promises less than one value."""
    x = fmt.flush(x, ftz)
    if fmt.is_nan(x):
        return None
    if fmt.is_infinite(x):
        return low if fmt.negative(x) else high
    return min(max(round_integer(fmt.value(x), mode), low), high)
