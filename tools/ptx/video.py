"""Forms of video instructions: on a byte, half or word of each operand, and on all bytes or halves at once."""
from form import COMPARE, Form, clamp, mask, number

PARTS = ['', '.b0', '.b1', '.b2', '.b3', '.h0', '.h1']
OPERATIONS = {
    'vadd': lambda a, b: a + b,
    'vsub': lambda a, b: a - b,
    'vabsdiff': lambda a, b: abs(a - b),
    'vmin': min,
    'vmax': max,
}


def part(x, which, t):
    """The byte (.b2) or half (.h1) of a word, with the sign of the type."""
    if not which:
        return number(x, t)
    width = 8 if which[1] == 'b' else 16
    return number(x >> width * int(which[2]), f'{t[0]}{width}')


def scalar(name, result, first, second, rng):
    left, right = rng.choice(PARTS), rng.choice(PARTS)
    saturate = rng.choice(['', '.sat']) if first == second and left and right else ''
    accumulate = rng.choice(['', '.add'])

    def reference(a, b, c=0):
        value = OPERATIONS[name](part(a, left, first), part(b, right, second))
        if saturate:
            value = clamp(value, result)
        return value + c & mask(32)

    text = f'{name}.{result}.{first}.{second}{saturate}{accumulate} $d,$0{left},$1{right}'
    if accumulate:
        return Form(text + ',$2;', result, [first, second, result], reference)
    return Form(text + ';', result, [first, second], reference)


def shift_right(result, first, rng):
    part_of = rng.choice(PARTS)
    mode = rng.choice(['wrap', 'clamp'])

    def reference(a, b):
        amount = b & 31 if mode == 'wrap' else min(b, 32)
        return part(a, part_of, first) >> amount & mask(32)

    return Form(f'vshr.{result}.{first}.u32.{mode} $d,$0{part_of},$1;', result, [first, 'u32'], reference)


def lanes_form(name, operation, count, t, suffix, saturate, accumulate):
    """suffix: what stands between the types and .sat."""
    width = 32 // count
    lane = f'{t[0]}{width}'

    def reference(a, b, c):
        total = c
        packed = 0
        for shift in range(0, 32, width):
            value = int(operation(number(a >> shift, lane), number(b >> shift, lane)))
            if saturate:
                value = clamp(value, lane)
            total += value
            packed |= (value & mask(width)) << shift
        return total & mask(32) if accumulate else packed

    text = f'{name}{count}.{suffix}{saturate}{accumulate} $d,$0,$1,$2;'
    return Form(text, 'u32', ['u32', 'u32', 'u32' if accumulate else 'zero'], reference)


def lanes(count, t, accumulate, rng):
    for name, operation in OPERATIONS.items():
        saturates = name not in ('vmin', 'vmax') and not accumulate
        for saturate in ('', '.sat') if saturates else ('',):
            yield lanes_form(name, operation, count, t, f'{t}.{t}.{t}', saturate, accumulate)
    if t == 'u32':
        yield lanes_form('vavrg', lambda a, b: a + b + 1 >> 1, count, t, f'{t}.{t}.{t}', '', accumulate)
    compare = rng.choice(list(COMPARE))
    yield lanes_form('vset', COMPARE[compare], count, t, f'{t}.{t}.{compare}', '', accumulate)


def video_forms(rng):
    for result in ('u32', 's32'):
        for first in ('u32', 's32'):
            yield shift_right(result, first, rng)
            for second in ('u32', 's32'):
                for name in OPERATIONS:
                    yield scalar(name, result, first, second, rng)
                    yield scalar(name, result, first, second, rng)
    for count in (2, 4):
        for t in ('u32', 's32'):
            for accumulate in ('', '.add'):
                yield from lanes(count, t, accumulate, rng)
