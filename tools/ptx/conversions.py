"""Forms of cvt: between integers, between formats, to integers, of pairs, to TF32."""
from fractions import Fraction

import exact
from exact import F32
from form import FORMATS, Form, bits, clamp, limits, mask, number, signed
from floats import MODES

INTEGERS = ['u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64']


def held(t):
    """The kind of a register that holds it: bytes lie in words."""
    return t if bits(t) > 8 else 'u32'


def stored(value, t):
    """The value in that register."""
    return value & mask(bits(held(t)))


def fits(source, target):
    """Nothing of the source is beyond the target: there is no .sat then."""
    return limits(target)[0] <= limits(source)[0] and limits(source)[1] <= limits(target)[1]


def between_integers(source, target):
    plain = lambda x: stored(number(number(x, source), target), target)
    clamped = lambda x: stored(clamp(number(x, source), target), target)
    yield Form(f'cvt.{target}.{source} $d,$0;', held(target), [held(source)], plain)
    if not fits(source, target):
        yield Form(f'cvt.sat.{target}.{source} $d,$0;', held(target), [held(source)], clamped)


def since(*types):
    return 90 if 'bf16' in types else 75


def from_integer(source, target, mode, sat):
    fmt = FORMATS[target]

    def reference(x):
        value = exact.encode(fmt, Fraction(number(x, source)), mode)
        return exact.saturate(fmt, value) if sat else value

    return Form(f'cvt.{mode}{sat}.{target}.{source} $d,$0;', target, [held(source)], reference, since(target))


def to_integer(source, target, mode, ftz):
    def reference(x):
        value = exact.to_integer(FORMATS[source], x, *limits(target), mode, bool(ftz))
        return None if value is None else stored(value, target)

    return Form(f'cvt.{mode}i{ftz}.{target}.{source} $d,$0;', held(target), [source], reference, since(source))


def with_integers(fmt, integer):
    for mode in MODES:
        yield from_integer(integer, fmt, mode, '')
        if fmt != 'bf16':
            yield from_integer(integer, fmt, mode, '.sat')
        yield to_integer(fmt, integer, mode, '')
        if fmt == 'f32':
            yield to_integer(fmt, integer, mode, '.ftz')


def to_integral(t, mode, ftz):
    fmt = FORMATS[t]
    plain = lambda x: exact.round_to_integral(fmt, x, mode, bool(ftz))
    yield Form(f'cvt.{mode}i{ftz}.{t}.{t} $d,$0;', t, [t], plain, since(t))
    if t != 'bf16':
        yield Form(f'cvt.{mode}i{ftz}.sat.{t}.{t} $d,$0;', t, [t], lambda x: exact.saturate(fmt, plain(x)))


def between_formats(source, target, mode, ftz):
    """A NaN is checked with .sat alone, which makes 0 of it."""
    fmt, result = FORMATS[source], FORMATS[target]
    dotted = '.' + mode if mode else ''
    plain = lambda x: exact.convert(fmt, result, x, mode or 'rn', bool(ftz))
    numbers = lambda x: None if fmt.is_nan(x) else plain(x)
    yield Form(f'cvt{dotted}{ftz}.{target}.{source} $d,$0;', target, [source], numbers, since(source, target))
    if 'bf16' not in (source, target):
        yield Form(f'cvt{dotted}{ftz}.sat.{target}.{source} $d,$0;', target, [source], lambda x: exact.saturate(result, plain(x)))


def of_formats(source, target):
    pair = {source, target}
    flushes = 'f32' in pair and 'bf16' not in pair and (source, target) != ('f32', 'f16')
    fmt, result = FORMATS[source], FORMATS[target]
    narrows = result.mantissa < fmt.mantissa or result.exponent < fmt.exponent
    for ftz in ('', '.ftz') if flushes else ('',):
        for mode in MODES if source == target or narrows else ('',):
            if source == target:
                yield from to_integral(source, mode, ftz)
            else:
                yield from between_formats(source, target, mode, ftz)


def to_pair(t, mode, relu, satfinite):
    fmt = FORMATS[t]

    def half(x):
        value = exact.convert(F32, fmt, x, mode)
        if relu:
            value = exact.relu(fmt, value)
        return value - 1 if satfinite and fmt.is_infinite(value) else value

    text = f'cvt.{mode}{relu}{satfinite}.{t}x2.f32 $d,$0,$1;'
    return Form(text, 'b32', ['f32', 'f32'], lambda a, b: half(b) | half(a) << 16, 80)


def pack_halves(t):
    half = lambda x: clamp(number(x, 's32'), t) & mask(16)
    return Form(f'cvt.pack.sat.{t}.s32 $d,$0,$1;', 'b32', ['s32', 's32'], lambda a, b: half(b) | half(a) << 16)


def pack_narrow(t):
    width = bits(t)
    field = lambda x: clamp(signed(x, 32), t) & mask(width)
    reference = lambda a, b, c: (field(b) | field(a) << width | c << 2 * width) & mask(32)
    return Form(f'cvt.pack.sat.{t}.s32.b32 $d,$0,$1,$2;', 'b32', ['s32', 's32', 'b32'], reference)


def to_tf32(mode, relu, satfinite, first):
    """10 of the 23 digits stay, in a register of 32 bits."""
    def reference(x):
        if F32.is_nan(x):
            return None
        size = x & mask(31)
        digits, rest = size >> 13, size & mask(13)
        if mode == 'rna':
            digits += rest >= 0x1000
        elif mode == 'rn':
            digits += rest > 0x1000 or (rest == 0x1000 and digits & 1)
        size = digits << 13
        if satfinite and size >= F32.infinity:
            size = 0x7f7fe000
        return 0 if relu and F32.negative(x) else F32.signed(F32.negative(x), size)

    return Form(f'cvt.{mode}{relu}{satfinite}.tf32.f32 $d,$0;', 'b32', ['f32'], reference, first)


def conversion_forms():
    for source in INTEGERS:
        for target in INTEGERS:
            if source != target:
                yield from between_integers(source, target)
    for source in FORMATS:
        for integer in INTEGERS[2:] if source == 'bf16' else INTEGERS:
            yield from with_integers(source, integer)
        for target in FORMATS:
            yield from of_formats(source, target)
    for relu in ('', '.relu'):
        for satfinite in ('', '.satfinite'):
            for mode in ('rn', 'rz'):
                yield to_pair('f16', mode, relu, satfinite)
                yield to_pair('bf16', mode, relu, satfinite)
                yield to_tf32(mode, relu, satfinite, 100 if satfinite else 90)
    yield to_tf32('rna', '', '', 80)
    yield to_tf32('rna', '', '.satfinite', 90)
    for t in ('s16', 'u16'):
        yield pack_halves(t)
    for t in ('s8', 'u8', 's4', 'u4', 's2', 'u2'):
        yield pack_narrow(t)
