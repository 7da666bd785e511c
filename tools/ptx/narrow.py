"""Forms of cvt with FP8, FP6, FP4 and powers of two, and of .rs, which rounds by random bits.

Where the bits of rbits go is in the PTX ISA as far as halves and bytes; that one of two narrow numbers has them in reverse is what a
public probe of a B200 measured (docs/deviations.md).
"""
import math
from fractions import Fraction
from typing import NamedTuple

from exact import BF16, F16, F32, exponent_of
from form import Form, mask


class Narrow(NamedTuple):
    """A format without infinity, or whose infinity only other formats give. Codes without the sign."""
    name: str
    width: int  # of its field in a pair
    exponent: int
    mantissa: int
    most: int
    nan: int  # what a NaN becomes
    first: int  # SM

    @property
    def sign(self):
        return 1 << (self.exponent + self.mantissa)

    @property
    def least(self):
        return 2 - (1 << (self.exponent - 1))

    def encode(self, x, relu, random=None):
        """x: FP32. random: 16 bits, in units of 2^-16 of the last place; None: to nearest even."""
        return encode(self, F32, x, relu, random)

    def value(self, code):
        """Of a code without sign; None: not finite."""
        if code > self.most:
            return None
        e, digits = code >> self.mantissa, code & mask(self.mantissa)
        size = Fraction(digits, 1 << self.mantissa) + (1 if e else 0)
        return size * Fraction(2) ** (max(e, 1) - 1 + self.least)


E4M3 = Narrow('e4m3', 8, 4, 3, 0x7e, 0x7f, 89)
E5M2 = Narrow('e5m2', 8, 5, 2, 0x7b, 0x7f, 89)
E2M3 = Narrow('e2m3', 8, 2, 3, 0x1f, 0x1f, 100)
E3M2 = Narrow('e3m2', 8, 3, 2, 0x1f, 0x1f, 100)
E2M1 = Narrow('e2m1', 4, 2, 1, 7, 7, 100)
FORMATS = [E4M3, E5M2, E2M3, E3M2, E2M1]
HALF = Narrow('f16', 16, 5, 10, 0x7bff, 0x7fff, 100)
BRAIN = Narrow('bf16', 16, 8, 7, 0x7f7f, 0x7fff, 100)


def encode(to, source, x, relu, random, most=None):
    """most: what numbers beyond the largest one become, else that."""
    most = to.most if most is None else most
    if source.is_nan(x):
        return to.nan
    if source.negative(x) and relu:
        return 0
    sign = to.sign if source.negative(x) else 0
    if source.is_infinite(x):
        return sign | most
    size = abs(source.value(x))
    if size == 0:
        return sign
    e = max(exponent_of(size), to.least)
    units = size / Fraction(2) ** (e - to.mantissa)
    if random is None:
        units = round(units)  # Python's is to nearest even
    else:
        units = math.floor(units + Fraction(random, 1 << 16))
    code = units + ((e - to.least) << to.mantissa)  # the hidden bit adds one to the exponent
    return sign | min(code, most)


def pairs(to, relu):
    def from_floats(a, b):
        return to.encode(a, relu) << to.width | to.encode(b, relu)

    def from_halves(source):
        return lambda x: encode(to, source, x >> 16, relu, None) << to.width | encode(to, source, x & 0xffff, relu, None)

    store = '{.reg .b8 t; cvt.%s t,%s; cvt.u16.u8 $d,t;}' if to is E2M1 else '{cvt.%s $d,%s;}'
    yield Form(store % (f'rn.satfinite{relu}.{to.name}x2.f32', '$0,$1'), 'b16', ['f32', 'f32'], from_floats, to.first)
    if to in (E4M3, E5M2):
        yield Form(store % (f'rn.satfinite{relu}.{to.name}x2.f16x2', '$0'), 'b16', ['f16x2'], from_halves(F16), to.first)


def unpacked(source, relu):
    def half(code):
        negative, size = code & source.sign, code & (source.sign - 1)
        value = source.value(size)
        if value is None and (source is not E5M2 or size > 0x7c):
            return 0x7fff
        if negative and relu:
            return 0
        sign = 0x8000 if negative else 0
        return sign | (0x7c00 if value is None else encode(HALF, Exactly(value), 0, '', None))

    def reference(x):
        return half(x >> source.width & mask(source.width)) << 16 | half(x & mask(source.width))

    convert = f'cvt.rn{relu}.f16x2.{source.name}x2 $d,'
    if source is E2M1:
        return Form('{.reg .b8 t,z; mov.b16 {t,z},$0; %s t;}' % convert, 'b32', ['b16'], reference, source.first)
    fields = mask(source.exponent + source.mantissa + 1) * 0x101  # what is above them must be 0
    return Form('{.reg .b16 t; and.b16 t,$0,%d; %s t;}' % (fields, convert), 'b32', ['b16'], lambda x: reference(x & fields), source.first)


class Exactly:
    """A format of one number: the one given."""

    def __init__(self, number):
        self.number = number

    def is_nan(self, _):
        return False

    is_infinite = negative = is_nan

    def value(self, _):
        return self.number


def powers(mode, satfinite):
    """Positive numbers: exponents, cut or rounded up."""
    def power(x, fmt):
        if fmt.is_nan(x) or fmt.is_infinite(x) or fmt.negative(x) or fmt.is_zero(x):
            return None
        size = fmt.value(x)
        e = exponent_of(size)
        code = e + (mode == 'rp' and size != Fraction(2) ** e) + 127
        return None if code < 1 or code > 254 else code

    def both(high, low):
        return None if high is None or low is None else high << 8 | low

    yield Form(f'cvt.{mode}{satfinite}.ue8m0x2.f32 $d,$0,$1;', 'b16', ['f32', 'f32'], lambda a, b: both(power(a, F32), power(b, F32)), 100)
    yield Form(f'cvt.{mode}{satfinite}.ue8m0x2.bf16x2 $d,$0;', 'b16', ['bf16x2'], lambda x: both(power(x >> 16, BF16), power(x & 0xffff, BF16)), 100)


def from_powers():
    """0 is 2^-127, which BF16 has as a subnormal number; 255 is no number."""
    half = lambda x: 0x7fff if x == 255 else x << 7 if x else 0x40
    return Form('cvt.rn.bf16x2.ue8m0x2 $d,$0;', 'b32', ['b16'], lambda x: half(x >> 8) << 16 | half(x & 255), 100)


def reverse(x):
    return int(f'{x:016b}'[::-1], 2)


def halves_by_chance(to, relu, satfinite):
    """FP16 takes the low 13 bits of each half of rbits, as many as FP32 has more; BF16 all 16."""
    most = to.most if satfinite else to.most + 1

    def half(x, random):
        return encode(to, F32, x, relu, random if to is BRAIN else (random & 0x1fff) << 3, most)

    reference = lambda a, b, r: half(a, r >> 16) << 16 | half(b, r & 0xffff)
    return Form(f'cvt.rs{relu}{satfinite}.{to.name}x2.f32 $d,$0,$1,$2;', 'b32', ['f32', 'f32', 'b32'], reference, 100)


def four_by_chance(to, relu):
    def chances(r):
        """Of a, b, e, f."""
        if to is E2M1:
            first, last = r >> 24 << 8 | r >> 8 & 255, (r >> 16 & 255) << 8 | r & 255
        else:
            first, last = r >> 16, r & 0xffff
        return reverse(first), first, reverse(last), last

    def reference(a, b, e, r):
        result = 0
        for x, random in zip((a, b, e, a), chances(r)):
            result = result << to.width | to.encode(x, relu, random)
        return result

    text = f'{{cvt.rs{relu}.satfinite.{to.name}x4.f32 $d,{{$0,$1,$2,$0}},$3;}}'
    return Form(text, 'b16' if to is E2M1 else 'b32', ['f32', 'f32', 'f32', 'b32'], reference, 100)


def narrow_forms():
    for relu in ('', '.relu'):
        for fmt in FORMATS:
            yield from pairs(fmt, relu)
            yield unpacked(fmt, relu)
            yield four_by_chance(fmt, relu)
        for fmt in (HALF, BRAIN):
            for satfinite in ('', '.satfinite'):
                yield halves_by_chance(fmt, relu, satfinite)
    for mode in ('rz', 'rp'):
        for satfinite in ('', '.satfinite'):
            yield from powers(mode, satfinite)
    yield from_powers()
