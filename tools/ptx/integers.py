"""Forms of integer arithmetic, logic, bits and packed integers."""
from form import COMPARE, INTEGERS, Form, bits, clamp, halves, mask, number, signed

M32 = mask(32)
LOGIC = {'and': lambda p, q: p and q, 'or': lambda p, q: p or q, 'xor': lambda p, q: p != q}


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def dividing(kind, function):
    """Division by zero and what may overflow have no result that PTX names."""
    def result(a, b):
        a, b = number(a, kind), number(b, kind)
        return None if b in (0, -1) else function(a, b) & mask(bits(kind))
    return result


def on_numbers(kind, function):
    """The function of the operands' values, cut to the type."""
    return lambda *operands: function(*[number(x, kind) for x in operands]) & mask(bits(kind))


def arithmetic(t):
    width = bits(t)
    binary = {
        'add': lambda a, b: a + b,
        'sub': lambda a, b: a - b,
        'mul.lo': lambda a, b: a * b,
        'mul.hi': lambda a, b: a * b >> width,
        'min': min,
        'max': max,
    }
    for name, function in binary.items():
        yield Form(f'{name}.{t} $d,$0,$1;', t, [t, t], on_numbers(t, function))
    ternary = {
        'mad.lo': lambda a, b, c: a * b + c,
        'mad.hi': lambda a, b, c: (a * b >> width) + c,
        'sad': lambda a, b, c: c + abs(a - b),
    }
    for name, function in ternary.items():
        yield Form(f'{name}.{t} $d,$0,$1,$2;', t, [t] * 3, on_numbers(t, function))
    yield Form(f'div.{t} $d,$0,$1;', t, [t, t], dividing(t, quotient))
    yield Form(f'rem.{t} $d,$0,$1;', t, [t, t], dividing(t, lambda a, b: a - b * quotient(a, b)))
    if t[0] == 's':
        yield Form(f'abs.{t} $d,$0;', t, [t], on_numbers(t, abs))
        yield Form(f'neg.{t} $d,$0;', t, [t], on_numbers(t, lambda a: -a))


def widening(t):
    wide = f'{t[0]}{2 * bits(t)}'
    cut = mask(2 * bits(t))
    yield Form(f'mul.wide.{t} $d,$0,$1;', wide, [t, t], lambda a, b: number(a, t) * number(b, t) & cut)
    yield Form(f'mad.wide.{t} $d,$0,$1,$2;', wide, [t, t, wide], lambda a, b, c: number(a, t) * number(b, t) + c & cut)


def shifts(t):
    width = bits(t)
    b = f'b{width}'
    yield Form(f'shl.{b} $d,$0,$1;', b, [b, 'shift'], lambda a, n: 0 if n >= width else a << n & mask(width))
    yield Form(f'shr.{t} $d,$0,$1;', t, [t, 'shift'], lambda a, n: number(a, t) >> min(n, width) & mask(width))


def comparisons(t, name, compare):
    def holds(a, b):
        return compare(number(a, t), number(b, t))

    def both_predicates(logic):
        return lambda a, b, q: bool(logic(holds(a, b), q != 0)) | bool(logic(not holds(a, b), q != 0)) << 1

    yield Form(f'set.{name}.u32.{t} $d,$0,$1;', 'u32', [t, t], lambda a, b: M32 if holds(a, b) else 0)
    yield Form(f'set.{name}.f32.{t} $d,$0,$1;', 'f32', [t, t], lambda a, b: 0x3f800000 if holds(a, b) else 0)
    for word, logic in LOGIC.items():
        text = (f'{{.reg .pred q,r,s; setp.ne.u32 q,$2,0; setp.{name}.{word}.{t} r|s,$0,$1,q; '
                'selp.u32 $d,1,0,r; @s or.b32 $d,$d,2;}')
        yield Form(text, 'u32', [t, t, 'flag'], both_predicates(logic))


def find_bit(t, shift_amount):
    def result(a):
        a = number(a, t)
        top = (~a if a < 0 else a).bit_length() - 1
        if top < 0:
            return M32
        return bits(t) - 1 - top if shift_amount else top
    return result


def extract(t):
    def result(a, position, length):
        if length == 0:
            return 0
        top = bits(t) - 1
        sign = a >> min(position + length - 1, top) & 1 if t[0] == 's' else 0
        field = a >> position & mask(length) & mask(bits(t))
        have = max(0, min(length, bits(t) - position))
        return field | (mask(bits(t)) & ~mask(have) if sign else 0)
    return result


def insert(width):
    def result(a, b, position, length):
        field = mask(length) << position & mask(width)
        return b & ~field | a << position & field
    return result


def bit_fields(t):
    yield Form(f'bfind.{t} $d,$0;', 'u32', [t], find_bit(t, False))
    yield Form(f'bfind.shiftamt.{t} $d,$0;', 'u32', [t], find_bit(t, True))
    yield Form(f'bfe.{t} $d,$0,$1,$2;', t, [t, 'position', 'position'], extract(t))


def bit_counts(width):
    b = f'b{width}'
    yield Form(f'bfi.{b} $d,$0,$1,$2,$3;', b, [b, b, 'position', 'position'], insert(width))
    yield Form(f'popc.{b} $d,$0;', 'u32', [b], lambda a: bin(a).count('1'))
    yield Form(f'clz.{b} $d,$0;', 'u32', [b], lambda a: width - a.bit_length())
    yield Form(f'brev.{b} $d,$0;', b, [b], lambda a: int(f'{a:0{width}b}'[::-1], 2))
    yield Form(f'cnot.{b} $d,$0;', b, [b], lambda a: int(a == 0))


def find_nth(bitmap, base, offset):
    offset = signed(offset, 32)
    if offset == 0:
        return base if bitmap >> base & 1 else M32
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if bitmap >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else M32


def amounts(mode):
    """Forms whose shift amount is clamped to 32 or wraps at 32."""
    def amount(n):
        return min(n, 32) if mode == 'clamp' else n & 31

    def extend(t):
        def result(a, n):
            n = amount(n)
            low = a & mask(n)
            return signed(low, n) & M32 if t == 's32' and n else low
        return result

    def funnel(left):
        def result(low, high, n):
            pair = high << 32 | low
            return (pair << amount(n) >> 32 if left else pair >> amount(n)) & M32
        return result

    ones = lambda a, b: mask(amount(b)) << amount(a) & M32
    yield Form(f'bmsk.{mode}.b32 $d,$0,$1;', 'b32', ['shift', 'shift'], ones)
    for t in ('u32', 's32'):
        yield Form(f'szext.{mode}.{t} $d,$0,$1;', t, [t, 'lane shift'], extend(t))
    for side in 'lr':
        yield Form(f'shf.{side}.{mode}.b32 $d,$0,$1,$2;', 'b32', ['b32', 'b32', 'shift'], funnel(side == 'l'))


def permute(a, b, selector):
    pair = b << 32 | a
    result = 0
    for i in range(4):
        code = selector >> 4 * i & 15
        byte = pair >> 8 * (code & 7) & 255
        if code & 8:
            byte = 255 if byte >> 7 else 0
        result |= byte << 8 * i
    return result


def permutes():
    tables = {
        'f4e': lambda n: [n, n + 1, n + 2, n + 3],
        'b4e': lambda n: [n, n + 7 & 7, n + 6 & 7, n + 5 & 7],
        'rc8': lambda n: [n] * 4,
        'ecl': lambda n: [max(i, n) for i in range(4)],
        'ecr': lambda n: [min(i, n) for i in range(4)],
        'rc16': lambda n: [0, 1, 0, 1] if n % 2 == 0 else [2, 3, 2, 3],
    }
    by_table = lambda table: lambda a, b, c: permute(a, b, sum(k << 4 * i for i, k in enumerate(table(c & 3))))
    yield Form('prmt.b32 $d,$0,$1,$2;', 'b32', ['b32'] * 3, permute)
    for mode, table in tables.items():
        yield Form(f'prmt.b32.{mode} $d,$0,$1,$2;', 'b32', ['b32'] * 3, by_table(table))


def logic(table, word):
    def result(a, b, c):
        value = 0
        for i in range(8):
            if table >> i & 1:
                value |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        return value & M32

    text = (f'{{.reg .pred p,q; setp.ne.u32 q,$3,0; lop3.{word}.b32 $d|p,$0,$1,$2,{table},q; selp.u32 $d,1,0,p;}}')
    predicate = lambda a, b, c, q: int(LOGIC[word](result(a, b, c) != 0, q != 0))
    yield Form(f'lop3.b32 $d,$0,$1,$2,{table};', 'b32', ['b32'] * 3, result)
    yield Form(text, 'u32', ['b32'] * 3 + ['flag'], predicate, 82)


def dot_products(first, second):
    t = 's32' if 's32' in (first, second) else 'u32'

    def dot(width, count, offset):
        def result(a, b, c):
            for i in range(count):
                left = number(a >> width * i, f'{first[0]}{width}')
                c += left * number(b >> 8 * (i + offset), f'{second[0]}8')
            return c & M32
        return result

    yield Form(f'dp4a.{first}.{second} $d,$0,$1,$2;', t, [first, second, t], dot(8, 4, 0))
    yield Form(f'dp2a.lo.{first}.{second} $d,$0,$1,$2;', t, [first, second, t], dot(16, 2, 0))
    yield Form(f'dp2a.hi.{first}.{second} $d,$0,$1,$2;', t, [first, second, t], dot(16, 2, 2))


def short_products(t):
    narrow = f'{t[0]}24'
    for half, shift in (('lo', 0), ('hi', 16)):
        product = lambda a, b, shift=shift: number(a, narrow) * number(b, narrow) >> shift
        yield Form(f'mul24.{half}.{t} $d,$0,$1;', t, [t, t], lambda a, b, of=product: of(a, b) & M32)
        yield Form(f'mad24.{half}.{t} $d,$0,$1,$2;', t, [t] * 3, lambda a, b, c, of=product: of(a, b) + c & M32)


def saturating():
    functions = {
        'add.sat.s32 $d,$0,$1;': lambda a, b: a + b,
        'sub.sat.s32 $d,$0,$1;': lambda a, b: a - b,
        'mad.hi.sat.s32 $d,$0,$1,$2;': lambda a, b, c: (a * b >> 32) + c,
    }
    for text, function in functions.items():
        clamped = lambda *operands, of=function: clamp(of(*operands), 's32')
        yield Form(text, 's32', ['s32'] * (text.count('$') - 1), on_numbers('s32', clamped))


def carries():
    pair = '{.reg .b32 a,b,c,d,e,f; mov.b64 {a,b},$0; mov.b64 {c,d},$1; %s mov.b64 $d,{e,f};}'
    u32, u64, m64 = 'u32', 'u64', mask(64)
    yield Form(pair % 'add.cc.u32 e,a,c; addc.u32 f,b,d;', u64, [u64] * 2, lambda a, b: a + b & m64)
    yield Form(pair % 'sub.cc.u32 e,a,c; subc.u32 f,b,d;', u64, [u64] * 2, lambda a, b: a - b & m64)
    yield Form('{.reg .u64 e; sub.cc.u64 e,$0,$1; subc.u64 $d,$2,0;}', u64, [u64] * 3, lambda a, b, c: c - (a < b) & m64)
    yield Form('{.reg .u32 e; add.cc.u32 e,$0,$1; addc.cc.u32 e,e,$2; addc.u32 $d,$2,$3;}', u32, [u32] * 4,
               lambda a, b, c, d: c + d + ((a + b & M32) + c + (a + b >> 32) > M32) & M32)
    yield Form('{.reg .u32 e; sub.cc.u32 e,$0,$1; subc.cc.u32 e,e,$2; subc.u32 $d,$2,$3;}', u32, [u32] * 4,
               lambda a, b, c, d: c - d - ((a - b & M32) - c - (a < b) < 0) & M32)
    yield Form('{.reg .u32 e; mad.lo.cc.u32 e,$0,$1,$2; madc.hi.u32 $d,$0,$1,$3;}', u32, [u32] * 4,
               lambda a, b, c, d: a * b + (d << 32 | c) >> 32 & M32)
    yield Form('{.reg .u32 e; mad.lo.cc.u32 e,$0,$1,$2; madc.hi.cc.u32 e,$0,$1,$3; addc.u32 $d,$3,$3;}', u32, [u32] * 4,
               lambda a, b, c, d: 2 * d + (a * b + (d << 32 | c) >> 64) & M32)
    yield Form('{.reg .u32 e; mad.hi.cc.s32 e,$0,$1,$2; addc.u32 $d,$3,0;}', u32, ['s32'] * 3 + [u32],
               lambda a, b, c, d: d + ((number(a, 's32') * number(b, 's32') >> 32 & M32) + c >> 32) & M32)
    yield Form('{.reg .u64 e; mad.lo.cc.u64 e,$0,$1,$2; madc.hi.u64 $d,$0,$1,$3;}', u64, [u64] * 4,
               lambda a, b, c, d: a * b + (d << 64 | c) >> 64 & m64)
    yield Form('{.reg .u64 e; mad.lo.cc.s64 e,$0,$1,$2; madc.hi.s64 $d,$0,$1,$3;}', 's64', ['s64'] * 4,
               lambda a, b, c, d: number(a, 's64') * number(b, 's64') + (d << 64) + c >> 64 & m64)


def packed(t):
    half = f'{t}16'
    for name, pick in (('min', min), ('max', max)):
        chosen = on_numbers(half, pick)
        positive = lambda kind, pick=pick: on_numbers(kind, lambda a, b: max(0, pick(a, b)))
        yield Form(f'{name}.{t}16x2 $d,$0,$1;', 'u32', ['b32'] * 2, halves(chosen), 90)
        if t == 's':
            yield Form(f'{name}.relu.s16x2 $d,$0,$1;', 'u32', ['b32'] * 2, halves(positive(half)), 90)
            yield Form(f'{name}.relu.s32 $d,$0,$1;', 'u32', ['b32'] * 2, positive('s32'), 90)
    yield Form(f'add.{t}16x2 $d,$0,$1;', 'u32', ['b32'] * 2, halves(on_numbers(half, lambda a, b: a + b)), 90)


def integer_forms(rng):
    for t in INTEGERS:
        yield from arithmetic(t)
        yield from shifts(t)
        for name, compare in COMPARE.items():
            yield from comparisons(t, name, compare)
        yield Form(f'slct.{t}.s32 $d,$0,$1,$2;', t, [t, t, 's32'], lambda a, b, c: b if c >> 31 else a)
        if bits(t) < 64:
            yield from widening(t)
        if bits(t) > 16:
            yield from bit_fields(t)
    for width in (32, 64):
        yield from bit_counts(width)
    yield Form('fns.b32 $d,$0,$1,$2;', 'b32', ['b32', 'index', 'offset'], find_nth)
    for mode in ('clamp', 'wrap'):
        yield from amounts(mode)
    yield from permutes()
    for table in rng.sample(range(256), 24):
        yield from logic(table, rng.choice(['or', 'and']))
    for first in ('u32', 's32'):
        yield from short_products(first)
        for second in ('u32', 's32'):
            yield from dot_products(first, second)
    yield from saturating()
    yield from carries()
    for t in 'us':
        yield from packed(t)
