"""Forms of floating-point arithmetic: FP32, FP64, FP16, BF16 and pairs of them."""
import exact
from exact import BF16, F32
from form import COMPARE, FORMATS, INTEGERS, Form, bits, halves, mask

MODES = ('rn', 'rz', 'rm', 'rp')
PREDICATES = '{.reg .pred r,s; setp.%s.%s r|s,$0,$1; selp.u32 $d,1,0,r; @s or.b32 $d,$d,2;}'


def rounded(operation, fmt, mode, ftz, sat=''):
    def result(*operands):
        value = operation(fmt, *operands, mode, bool(ftz))
        return exact.saturate(fmt, value) if sat else value
    return result


def not_nan(fmt, function):
    """The sign and digits of a NaN behind these instructions are not promised."""
    return lambda *operands: None if any(fmt.is_nan(x) for x in operands) else function(*operands)


def arithmetic(t, mode, ftz, sat):
    names = {'add': exact.add, 'sub': exact.subtract, 'mul': exact.multiply}
    for name, operation in names.items():
        yield Form(f'{name}.{mode}{ftz}{sat}.{t} $d,$0,$1;', t, [t, t], rounded(operation, FORMATS[t], mode, ftz, sat))
    yield Form(f'fma.{mode}{ftz}{sat}.{t} $d,$0,$1,$2;', t, [t] * 3, rounded(exact.fma, FORMATS[t], mode, ftz, sat))


def quotients(t, mode, ftz):
    fmt = FORMATS[t]
    divide = rounded(exact.divide, fmt, mode, ftz)
    yield Form(f'div.{mode}{ftz}.{t} $d,$0,$1;', t, [t, t], divide)
    yield Form(f'rcp.{mode}{ftz}.{t} $d,$0;', t, [t], lambda a: divide(fmt.one, a))
    yield Form(f'sqrt.{mode}{ftz}.{t} $d,$0;', t, [t], rounded(exact.square_root, fmt, mode, ftz))


def extremes(name, pick, ftz):
    """min and max of FP32 beyond the plain ones."""
    def of(nan, xorsign=False):
        return lambda a, b: exact.extreme(F32, a, b, pick, bool(nan), xorsign, bool(ftz))

    def of_three(nan, keep=mask(32)):
        return lambda a, b, c: of(nan)(of(nan)(a & keep, b & keep), c & keep)

    pair, three = ['f32'] * 2, ['f32'] * 3
    yield Form(f'{name}{ftz}.NaN.f32 $d,$0,$1;', 'f32', pair, of(True), 80)
    for nan in ('', '.NaN'):
        yield Form(f'{name}{ftz}{nan}.xorsign.abs.f32 $d,$0,$1;', 'f32', pair, not_nan(F32, of(nan, True)), 86)
        yield Form(f'{name}{ftz}{nan}.f32 $d,$0,$1,$2;', 'f32', three, of_three(nan), 100)
    yield Form(f'{name}{ftz}.abs.f32 $d,$0,$1,$2;', 'f32', three, of_three('', mask(31)), 100)


def comparing(fmt, compare, unordered, ftz):
    def holds(a, b):
        if fmt.is_nan(a) or fmt.is_nan(b):
            return bool(unordered)
        return compare(exact.order(fmt, fmt.flush(a, ftz)), exact.order(fmt, fmt.flush(b, ftz)))
    return holds


def comparisons(t, ftz):
    fmt = FORMATS[t]
    for name, compare in COMPARE.items():
        for unordered in ('', 'u'):
            holds = comparing(fmt, compare, unordered, ftz)
            text = PREDICATES % (name + unordered + ftz, t)
            yield Form(text, 'u32', [t, t], lambda a, b, holds=holds: 1 if holds(a, b) else 2)
    some_nan = lambda a, b: fmt.is_nan(a) or fmt.is_nan(b)
    yield Form(PREDICATES % ('num' + ftz, t), 'u32', [t, t], lambda a, b: 2 if some_nan(a, b) else 1)
    yield Form(PREDICATES % ('nan' + ftz, t), 'u32', [t, t], lambda a, b: 1 if some_nan(a, b) else 2)


def classes(t):
    fmt = FORMATS[t]
    finite = lambda a: not fmt.is_nan(a) and not fmt.is_infinite(a)
    tests = {
        'finite': finite,
        'infinite': fmt.is_infinite,
        'number': lambda a: not fmt.is_nan(a),
        'notanumber': fmt.is_nan,
        'normal': lambda a: finite(a) and not fmt.is_subnormal(a),
        'subnormal': fmt.is_subnormal,
    }
    for name, test in tests.items():
        text = f'{{.reg .pred r; testp.{name}.{t} r,$0; selp.u32 $d,1,0,r;}}'
        yield Form(text, 'u32', [t], lambda a, test=test: int(test(a)))


def single_and_double(t, ftz):
    fmt = FORMATS[t]
    for mode in MODES:
        yield from quotients(t, mode, ftz)
        for sat in ('', '.sat') if t == 'f32' else ('',):
            yield from arithmetic(t, mode, ftz, sat)
    for name, pick in (('min', min), ('max', max)):
        chosen = lambda a, b, pick=pick: exact.extreme(fmt, a, b, pick, ftz=bool(ftz))
        yield Form(f'{name}{ftz}.{t} $d,$0,$1;', t, [t, t], chosen)
        if t == 'f32':
            yield from extremes(name, pick, ftz)
    flush = lambda a: fmt.flush(a, ftz)
    yield Form(f'abs{ftz}.{t} $d,$0;', t, [t], not_nan(fmt, lambda a: flush(a) & ~fmt.sign))
    yield Form(f'neg{ftz}.{t} $d,$0;', t, [t], not_nan(fmt, lambda a: flush(a) ^ fmt.sign))
    yield from comparisons(t, ftz)


def copysign(t):
    fmt = FORMATS[t]
    return Form(f'copysign.{t} $d,$0,$1;', t, [t, t], not_nan(fmt, lambda a, b: b & ~fmt.sign | a & fmt.sign))


def select(t, ftz):
    def chosen(a, b, c):
        at_least_zero = not F32.is_nan(c) and exact.order(F32, F32.flush(c, ftz)) >= 0
        return a if at_least_zero else b
    return Form(f'slct{ftz}.{t}.f32 $d,$0,$1,$2;', t, [t, t, 'f32'], chosen)


def single_pairs(mode, ftz):
    t = 'f32x2'
    names = {'add': exact.add, 'mul': exact.multiply, 'fma': exact.fma}
    for name, operation in names.items():
        count = 3 if name == 'fma' else 2
        operands = ','.join(f'${i}' for i in range(count))
        reference = halves(rounded(operation, F32, mode, ftz), 32)
        yield Form(f'{name}.{mode}{ftz}.{t} $d,{operands};', t, [t] * count, reference, 100)


class Half:
    """The forms of a 16-bit format, of one number or of two."""

    def __init__(self, name, pair):
        self.fmt = FORMATS[name]
        self.bf16 = self.fmt is BF16
        self.pair = pair
        self.type = name + 'x2' if pair else name
        self.since = 90 if self.bf16 else 75

    def form(self, name, count, reference, since):
        operands = ','.join(f'${i}' for i in range(count))
        if self.pair:
            reference = halves(reference)
        return Form(f'{name}.{self.type} $d,{operands};', self.type, [self.type] * count, reference, since)

    def arithmetic(self, ftz, sat):
        names = {'add': exact.add, 'add.rn': exact.add, 'sub.rn': exact.subtract, 'mul.rn': exact.multiply}
        for name, operation in names.items():
            yield self.form(name + ftz + sat, 2, rounded(operation, self.fmt, 'rn', ftz, sat), self.since)
        fma = rounded(exact.fma, self.fmt, 'rn', ftz, sat)
        yield self.form(f'fma.rn{ftz}{sat}', 3, fma, 80 if self.bf16 else 75)

    def extremes(self, name, pick, ftz):
        fmt = self.fmt
        for nan in ('', '.NaN'):
            plain = lambda a, b, nan=nan: exact.extreme(fmt, a, b, pick, bool(nan), False, bool(ftz))
            signs = lambda a, b, nan=nan: exact.extreme(fmt, a, b, pick, bool(nan), True, bool(ftz))
            yield self.form(name + ftz + nan, 2, plain, 80)
            yield self.form(f'{name}{ftz}{nan}.xorsign.abs', 2, not_nan(fmt, signs), 86)
            yield self.three(name + ftz + nan, plain)

    def three(self, name, two):
        """Two in a row, which ptxas makes one instruction of (VHMNMX)."""
        of_three = lambda a, b, c: two(two(a, b), c)
        step = f'{name}.{self.type}'
        text = f'{{.reg .b{bits(self.type)} r; {step} r,$0,$1; {step} $d,r,$2;}}'
        return Form(text, self.type, [self.type] * 3, halves(of_three) if self.pair else of_three, 80)

    def setp(self, name, holds):
        operands = [self.type] * 2
        if not self.pair:
            text = f'{{.reg .pred r; setp.{name}.{self.type} r,$0,$1; selp.u32 $d,1,0,r;}}'
            return Form(text, 'u32', operands, lambda a, b: int(holds(a, b)), self.since)
        both = lambda a, b: holds(a & 0xffff, b & 0xffff) | holds(a >> 16, b >> 16) << 1
        return Form(PREDICATES % (name, self.type), 'u32', operands, both, self.since)

    def set(self, name, holds):
        if self.pair:
            one = self.fmt.one
            return self.form(f'set.{name}.{self.type}', 2, lambda a, b: one if holds(a, b) else 0, self.since)
        text = f'set.{name}.u32.{self.type} $d,$0,$1;'
        return Form(text, 'u32', [self.type] * 2, lambda a, b: mask(32) if holds(a, b) else 0, self.since)

    def comparisons(self, ftz):
        for name, compare in COMPARE.items():
            for unordered in ('', 'u'):
                holds = comparing(self.fmt, compare, unordered, ftz)
                yield self.set(name + unordered + ftz, holds)
                yield self.setp(name + unordered + ftz, holds)

    def forms(self):
        fmt = self.fmt
        for ftz in ('',) if self.bf16 else ('', '.ftz'):
            for sat in ('',) if self.bf16 else ('', '.sat'):
                yield from self.arithmetic(ftz, sat)
            fma = rounded(exact.fma, fmt, 'rn', ftz)
            yield self.form(f'fma.rn{ftz}.relu', 3, lambda a, b, c, fma=fma: exact.relu(fmt, fma(a, b, c)), 80)
            for name, pick in (('min', min), ('max', max)):
                yield from self.extremes(name, pick, ftz)
            yield from self.comparisons(ftz)
        since = 80 if self.bf16 else 75
        yield self.form('neg', 1, not_nan(fmt, lambda a: a ^ fmt.sign), since)
        yield self.form('abs', 1, not_nan(fmt, lambda a: a & ~fmt.sign), since)


def mixed(t, mode, sat):
    """16-bit factors, an FP32 addend and result."""
    fmt = FORMATS[t]

    def fma(a, b, c):
        value = exact.fma(fmt, a, b, c, mode, wide=F32)
        return exact.saturate(F32, value) if sat else value

    yield Form(f'add.{mode}{sat}.f32.{t} $d,$0,$1;', 'f32', [t, 'f32'], lambda a, b: fma(a, fmt.one, b), 100)
    yield Form(f'fma.{mode}{sat}.f32.{t} $d,$0,$1,$2;', 'f32', [t, t, 'f32'], fma, 100)


def float_forms():
    for t, ftz in (('f32', ''), ('f32', '.ftz'), ('f64', '')):
        yield from single_and_double(t, ftz)
    for t in ('f32', 'f64'):
        yield from classes(t)
        yield copysign(t)
    for t in INTEGERS:
        yield select(t, '.ftz')
    for mode in MODES:
        for ftz in ('', '.ftz'):
            yield from single_pairs(mode, ftz)
    for t in ('f16', 'bf16'):
        yield from Half(t, False).forms()
        yield from Half(t, True).forms()
        for mode in MODES:
            yield from mixed(t, mode, '')
            yield from mixed(t, mode, '.sat')
