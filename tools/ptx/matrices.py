#!/usr/bin/env python3
"""Warp products and matrix moves of PTX against exact results: mma.sync and mma.sp of every shape and type, with factors of blocks and
every selector of them, ldmatrix, stmatrix, movmatrix.

Each form becomes a kernel whose lanes load their fragments, execute the instruction once and store what it gives. Fragments, sparse
metadata and selectors are dealt out as the PTX ISA says ("Matrix fragments for mma", 9.7.14); elements are small enough for every sum to
be exact in the format of the result, so that the order of additions, which PTX leaves open, cannot show. Integers take all values, and sums
of .satfinite forms overflow. Each difference is a line, then a summary; status 1 when anything differs, 2 when nothing could be run.

  tools/ptx/matrices.py --sm 86                            all forms of sm_86, four blocks of other values each
  tools/ptx/matrices.py --sm 120a --forms 'sp::.*e2m1'     those whose text matches
  tools/ptx/matrices.py --sm 90 --runner 'build/warpstep run'      in time

Needs ptxas of CUDA 13 (PTX 9.0) in PATH and Python's standard library. Forms that ptxas refuses are counted and left out.
"""
import argparse
import random
import re
import shlex
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Callable, NamedTuple

from check import Failure, common_options, run_in_folder

LANES = 32
PAIRS = [(i, j) for i in range(4) for j in range(i + 1, 4)]  # places that two of four elements have


class Element(NamedTuple):
    bits: int  # in a register
    exponent: int = 0  # bits of a floating-point format; 0: an integer
    mantissa: int = 0
    signed: bool = True
    shift: int = 0  # where the code begins in its register

    def value(self, code):
        if not self.exponent:
            return code - (1 << self.bits) if self.signed and code >> (self.bits - 1) else code
        code >>= self.shift
        digits = code & ((1 << self.mantissa) - 1)
        e = code >> self.mantissa & ((1 << self.exponent) - 1)
        bias = (1 << (self.exponent - 1)) - 1
        size = Fraction(digits, 1 << self.mantissa) + (1 if e else 0)
        size *= Fraction(2) ** (max(e, 1) - bias)
        return -size if code >> (self.exponent + self.mantissa) & 1 else size

    def encode(self, value):
        if not self.exponent:
            return value & ((1 << self.bits) - 1)
        value = Fraction(value)
        sign, size = int(value < 0), abs(value)
        bias, e = (1 << (self.exponent - 1)) - 1, 0
        if size:
            e = max(1 - bias, size.numerator.bit_length() - size.denominator.bit_length())
            while size < Fraction(2) ** e and e > 1 - bias:
                e -= 1
        scaled = size / Fraction(2) ** e * (1 << self.mantissa)
        assert scaled.denominator == 1 and scaled < 2 << self.mantissa, value
        digits = int(scaled)
        code = digits if not digits >> self.mantissa else (e + bias) << self.mantissa | digits & ((1 << self.mantissa) - 1)
        code |= sign << (self.exponent + self.mantissa)
        return code << self.shift

    def draw(self, rng):
        """The code of an element. Floating-point ones: of -2 to 2 in steps that the format has, zero often."""
        if not self.exponent:
            return rng.choice([rng.getrandbits(self.bits), rng.getrandbits(self.bits), 0, 1 << (self.bits - 1), (1 << self.bits) - 1])
        step = Fraction(1, 1 << min(self.mantissa, 2))
        return self.encode(rng.randint(-8, 8) // (4 if self.mantissa < 2 else 1) * step if self.mantissa else rng.choice([0, 1, -1]))


ELEMENTS = {
    'f16': Element(16, 5, 10), 'bf16': Element(16, 8, 7), 'tf32': Element(32, 8, 10, shift=13), 'f64': Element(64, 11, 52),
    'e4m3': Element(8, 4, 3), 'e5m2': Element(8, 5, 2), 'e3m2': Element(8, 3, 2), 'e2m3': Element(8, 2, 3),
    'e2m1': Element(8, 2, 1, shift=2),  # four bits in the middle of a byte
    'e2m1x2': Element(4, 2, 1),
    's8': Element(8), 'u8': Element(8, signed=False), 's4': Element(4), 'u4': Element(4, signed=False), 'b1': Element(1, signed=False),
}
RESULTS = {'f16': Element(16, 5, 10), 'f32': Element(32, 8, 23), 'f64': Element(64, 11, 52), 's32': Element(32)}


class Form(NamedTuple):
    text: str  # {d}, {a}, {b}, {c} are the lists of registers, <d>, <a> and {m} the first one
    words: dict  # 32-bit words of a lane: d, a, b, c, m; x, y: one of factors
    make: Callable  # of rng: the words of each lane (a, b, c, m, x, y in this order) and the result's, lane by lane


class Shape(NamedTuple):
    m: int
    n: int
    k: int


def pack(codes, bits):
    """Codes of `bits` bits, the first lowest, as 32-bit words."""
    total = sum(code << i * bits for i, code in enumerate(codes))
    return [total >> 32 * i & 0xffffffff for i in range(len(codes) * bits // 32)]


def deal_a(rows, bits, lane):
    """A (rows of codes): words of this lane. A register holds the elements beside each other of one row; the registers of a
    row's second half of k follow those of row + 8."""
    g, t = divmod(lane, 4)
    each = max(1, 32 // bits)
    words = []
    for chunk in range(0, len(rows[0]), 4 * each):
        for row in range(g, len(rows), 8):
            words += pack(rows[row][chunk + t * each:chunk + (t + 1) * each], bits)
    return words


def deal_b(columns, bits, lane):
    g, t = divmod(lane, 4)
    each = max(1, 32 // bits)
    words = []
    for chunk in range(0, len(columns[0]), 4 * each):
        words += pack(columns[g][chunk + t * each:chunk + (t + 1) * each], bits)
    return words


def deal_c(rows, bits, lane):
    g, t = divmod(lane, 4)
    words = []
    for row in range(g, len(rows), 8):
        words += pack(rows[row][2 * t:2 * t + 2], bits)
    return words


def draw_sum(kind, rng, extreme):
    if kind == 's32':
        return rng.choice([rng.getrandbits(32), 0x7fffffff, 0x80000000] if extreme else [rng.getrandbits(20), 0, 0xffffffff])
    return RESULTS[kind].encode(rng.randint(-64, 64))


def finish(kind, total, saturate):
    if kind == 's32':
        if saturate:
            total = max(-(1 << 31), min((1 << 31) - 1, total))
        return total & 0xffffffff
    return RESULTS[kind].encode(total)


def product_form(text, shape, ta, tb, tc, how=None, saturate=False, metadata=None):
    """how: of two codes, what is added (b1). metadata: of a sparse A, what draws it."""
    ea, eb, ec = ELEMENTS[ta], ELEMENTS[tb], RESULTS[tc]
    stored = shape.k // 2 if metadata else shape.k

    def multiply(x, y):
        return how(x, y) if how else ea.value(x) * eb.value(y)

    def make(rng):
        a = [[ea.draw(rng) for _ in range(stored)] for _ in range(shape.m)]
        b = [[eb.draw(rng) for _ in range(shape.k)] for _ in range(shape.n)]
        c = [[draw_sum(tc, rng, saturate) for _ in range(shape.n)] for _ in range(shape.m)]
        places, meta = [list(range(shape.k))] * shape.m, None
        if metadata:
            places, meta = metadata(rng)
        d = [[finish(tc, ec.value(c[i][j]) + sum(multiply(x, b[j][at]) for x, at in zip(a[i], places[i])), saturate)
              for j in range(shape.n)] for i in range(shape.m)]
        lanes = []
        for lane in range(LANES):
            words = deal_a(a, ea.bits, lane) + deal_b(b, eb.bits, lane) + deal_c(c, ec.bits, lane)
            lanes.append(words + ([meta[lane]] if metadata else []))
        return lanes, [deal_c(d, ec.bits, lane) for lane in range(LANES)]

    words = {
        'd': len(deal_c([[0] * shape.n] * shape.m, ec.bits, 0)), 'a': len(deal_a([[0] * stored] * shape.m, ea.bits, 0)),
        'b': len(deal_b([[0] * shape.k] * shape.n, eb.bits, 0)), 'm': int(bool(metadata)),
    }
    words['c'] = words['d']
    return Form(text, words, make)


def sparse_pairs(k, chunks, selector):
    """Metadata of two of four elements (or pairs of them: of eight): two numbers of two bits for each group of four. Where one lane
    of four suffices for rows g and g + 8 (`chunks` 0), it is lane `selector`, the lower half for row g; where two do (1), lanes
    2 selector and 2 selector + 1 have a half of k each; where all do (2), lanes 0 and 1 have rows g and g + 8 of the first half of k."""
    def make(rng):
        groups = k // 4
        chosen = [[rng.choice(PAIRS) for _ in range(groups)] for _ in range(16)]
        places = [[4 * i + at for i, pair in enumerate(row) for at in pair] for row in chosen]
        code = lambda row: sum((first | second << 2) << 4 * i for i, (first, second) in enumerate(chosen[row]))
        meta = []
        for lane in range(LANES):
            g, t = divmod(lane, 4)
            low, high = code(g), code(g + 8)
            noise = rng.getrandbits(32)
            if chunks == 0:
                word = low | high << 16 if t == selector else noise
            elif chunks == 1:
                part = t - 2 * selector
                word = (low >> 16 * part & 0xffff) | (high >> 16 * part & 0xffff) << 16 if part in (0, 1) else noise
            elif chunks == 2:
                word = (high if t % 2 else low) if t // 2 == selector else noise
            else:
                word = (high if t % 2 else low) >> 32 * (t // 2) & 0xffffffff
            meta.append(word)
        return places, meta
    return make


def sparse_ones(k, chunks, selector):
    """TF32: one of two elements, as the numbers of the two halves that it has (0b0100 or 0b1110)."""
    def make(rng):
        groups = k // 2
        chosen = [[rng.getrandbits(1) for _ in range(groups)] for _ in range(16)]
        places = [[2 * i + at for i, at in enumerate(row)] for row in chosen]
        code = lambda row: sum((0b1110 if at else 0b0100) << 4 * i for i, at in enumerate(chosen[row]))
        meta = []
        for lane in range(LANES):
            g, t = divmod(lane, 4)
            low, high = code(g), code(g + 8)
            if chunks == 0:
                word = low | high << 16 if t == selector else rng.getrandbits(32)
            else:
                part = t - 2 * selector
                word = (low >> 16 * part & 0xffff) | (high >> 16 * part & 0xffff) << 16 if part in (0, 1) else rng.getrandbits(32)
            meta.append(word)
        return places, meta
    return make


def sparse_four_bit(k, chunks, selector):
    """Four-bit elements: two pairs of four pairs."""
    pairs = sparse_pairs(k // 2, chunks, selector)

    def make(rng):
        places, meta = pairs(rng)
        return [[2 * at + i for at in row for i in (0, 1)] for row in places], meta
    return make


def floats_dense():
    for k in (8, 16):
        for tc in ('f16', 'f32'):
            for td in ('f16', 'f32'):
                if tc == td:
                    yield f'm16n8k{k}', Shape(16, 8, k), 'f16', 'f16', tc, ''
        yield f'm16n8k{k}', Shape(16, 8, k), 'bf16', 'bf16', 'f32', ''
    for k in (4, 8):
        yield f'm16n8k{k}', Shape(16, 8, k), 'tf32', 'tf32', 'f32', ''
    yield 'm8n8k4', Shape(8, 8, 4), 'f64', 'f64', 'f64', ''
    for k in (4, 8, 16):
        yield f'm16n8k{k}', Shape(16, 8, k), 'f64', 'f64', 'f64', ''
    for ta in ('e4m3', 'e5m2'):
        for tb in ('e4m3', 'e5m2'):
            for tc in ('f16', 'f32'):
                for k in (16, 32):
                    yield f'm16n8k{k}', Shape(16, 8, k), ta, tb, tc, ''
    narrow = ['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1']
    for ta in narrow:
        for tb in narrow:
            for tc in ('f16', 'f32'):
                yield 'm16n8k32', Shape(16, 8, 32), ta, tb, tc, '.kind::f8f6f4'


def integers_dense():
    for ta in ('s', 'u'):
        for tb in ('s', 'u'):
            for shape in ('m8n8k16', 'm16n8k16', 'm16n8k32'):
                yield shape, f'{ta}8', f'{tb}8'
            for shape in ('m8n8k32', 'm16n8k32', 'm16n8k64'):
                yield shape, f'{ta}4', f'{tb}4'


def shape_of(text):
    return Shape(*[int(x) for x in re.match(r'm(\d+)n(\d+)k(\d+)', text).groups()])


def dense_forms():
    for name, shape, ta, tb, tc, kind in floats_dense():
        text = f'mma.sync.aligned.{name}.row.col{kind}.{tc}.{ta}.{tb}.{tc} {{d}}, {{a}}, {{b}}, {{c}};'
        yield product_form(text, shape, ta, tb, tc)
    for name, ta, tb in integers_dense():
        for saturate in ('', '.satfinite'):
            text = f'mma.sync.aligned.{name}.row.col{saturate}.s32.{ta}.{tb}.s32 {{d}}, {{a}}, {{b}}, {{c}};'
            yield product_form(text, shape_of(name), ta, tb, 's32', saturate=bool(saturate))
    for name in ('m8n8k128', 'm16n8k128', 'm16n8k256'):
        for op, how in (('xor', lambda x, y: x ^ y), ('and', lambda x, y: x & y)):
            text = f'mma.sync.aligned.{name}.row.col.s32.b1.b1.s32.{op}.popc {{d}}, {{a}}, {{b}}, {{c}};'
            yield product_form(text, shape_of(name), 'b1', 'b1', 's32', how=how)


def sparse_forms():
    for ordered in ('', '::ordered_metadata'):
        for ta in ('f16', 'bf16'):
            for tc in ('f16', 'f32') if ta == 'f16' else ('f32',):
                for k, chunks, selectors in ((16, 0, 4), (32, 1, 2)):
                    for s in range(selectors):
                        text = f'mma.sp{ordered}.sync.aligned.m16n8k{k}.row.col.{tc}.{ta}.{ta}.{tc} {{d}}, {{a}}, {{b}}, {{c}}, {{m}}, {s};'
                        yield product_form(text, Shape(16, 8, k), ta, ta, tc, metadata=sparse_pairs(k, chunks, s))
        for k, chunks, selectors in ((8, 0, 4), (16, 1, 2)):
            for s in range(selectors):
                text = f'mma.sp{ordered}.sync.aligned.m16n8k{k}.row.col.f32.tf32.tf32.f32 {{d}}, {{a}}, {{b}}, {{c}}, {{m}}, {s};'
                yield product_form(text, Shape(16, 8, k), 'tf32', 'tf32', 'f32', metadata=sparse_ones(k, chunks, s))
        for a in 'su':
            for b in 'su':
                for saturate in ('', '.satfinite'):
                    for k, chunks, selectors in ((32, 2, 2), (64, 3, 1)):
                        for s in range(selectors):
                            text = (f'mma.sp{ordered}.sync.aligned.m16n8k{k}.row.col{saturate}.s32.{a}8.{b}8.s32 '
                                    f'{{d}}, {{a}}, {{b}}, {{c}}, {{m}}, {s};')
                            yield product_form(text, Shape(16, 8, k), f'{a}8', f'{b}8', 's32', saturate=bool(saturate),
                                               metadata=sparse_pairs(k, chunks, s))
                            text = (f'mma.sp{ordered}.sync.aligned.m16n8k{2 * k}.row.col{saturate}.s32.{a}4.{b}4.s32 '
                                    f'{{d}}, {{a}}, {{b}}, {{c}}, {{m}}, {s};')
                            yield product_form(text, Shape(16, 8, 2 * k), f'{a}4', f'{b}4', 's32', saturate=bool(saturate),
                                               metadata=sparse_four_bit(2 * k, chunks, s))
        for ta in ('e4m3', 'e5m2'):
            for tb in ('e4m3', 'e5m2'):
                text = f'mma.sp{ordered}.sync.aligned.m16n8k64.row.col.f32.{ta}.{tb}.f32 {{d}}, {{a}}, {{b}}, {{c}}, {{m}}, 0;'
                yield product_form(text, Shape(16, 8, 64), ta, tb, 'f32', metadata=sparse_pairs(64, 3, 0))
    narrow = ['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1']
    for ta in narrow:
        for tb in narrow:
            for tc in ('f16', 'f32'):
                text = (f'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.{tc}.{ta}.{tb}.{tc} '
                        '{d}, {a}, {b}, {c}, {m}, 0;')
                yield product_form(text, Shape(16, 8, 64), ta, tb, tc, metadata=sparse_pairs(64, 3, 0))


class Factors(NamedTuple):
    kind: str  # ue8m0, ue4m3
    each: int  # of a row of A or a column of B
    byte_a: int
    thread_a: int
    byte_b: int
    thread_b: int

    def draw(self, rng):
        if self.kind == 'ue8m0':
            return rng.choice([126, 127, 128, 126, 127, 128, 125, 129, 255 if rng.random() < 0.02 else 127])
        return rng.choice([0x30, 0x38, 0x3c, 0x40, 0x42])

    def value(self, code):
        """Times 8. None: not a number."""
        if self.kind == 'ue8m0':
            return None if code == 255 else 1 << (code - 124)
        return int(ELEMENTS['e4m3'].value(code) * 8)

    def deal(self, codes, lanes, byte, rng):
        """A word for each lane; lanes: whose factors a lane has, the others have noise, as have bytes that are not selected."""
        words = []
        for lane in range(LANES):
            word = list(rng.randbytes(4))
            if lane in lanes:
                word[byte:byte + self.each] = codes[lanes[lane]]
            words.append(int.from_bytes(bytes(word), 'little'))
        return words

    def operands(self):
        return f'{{x}}, {{{self.byte_a}, {self.thread_a}}}, {{y}}, {{{self.byte_b}, {self.thread_b}}}'


def scaled_form(name, kind, ta, tb, factors, sparse):
    """PTX ISA, "Block scaling": rows g and g + 8 of A have their factors in lanes 4 g + 2 thread_a and the one behind it, column g of B
    in lane 4 g + thread_b."""
    shape, ea, eb, ec = shape_of(name), ELEMENTS[ta], ELEMENTS[tb], RESULTS['f32']
    stored, block = shape.k // 2 if sparse else shape.k, shape.k // factors.each
    metadata = sparse and (sparse_four_bit if ea.bits == 4 else sparse_pairs)(shape.k, 3, 0)
    lanes_a = {4 * g + 2 * factors.thread_a + h: g + 8 * h for g in range(8) for h in (0, 1)}
    lanes_b = {4 * g + factors.thread_b: g for g in range(8)}

    def element(c, row, places, column, fa, fb):
        """Elements times 4, factors times 8: integers."""
        if None in fa or None in fb:
            return 0x7fffffff
        total = sum(x * column[at] * fa[at // block] * fb[at // block] for x, at in zip(row, places))
        return ec.encode(ec.value(c) + Fraction(total, 1024))

    def make(rng):
        a = [[ea.draw(rng) for _ in range(stored)] for _ in range(16)]
        b = [[eb.draw(rng) for _ in range(shape.k)] for _ in range(8)]
        c = [[draw_sum('f32', rng, False) for _ in range(8)] for _ in range(16)]
        fa, fb = ([[factors.draw(rng) for _ in range(factors.each)] for _ in range(rows)] for rows in (16, 8))
        places, meta = metadata(rng) if sparse else ([range(shape.k)] * 16, None)
        va, vb = ([[factors.value(code) for code in row] for row in codes] for codes in (fa, fb))
        wa, wb = ([[int(e.value(code) * 4) for code in row] for row in codes] for e, codes in ((ea, a), (eb, b)))
        d = [[element(c[i][j], wa[i], places[i], wb[j], va[i], vb[j]) for j in range(8)] for i in range(16)]
        x, y = factors.deal(fa, lanes_a, factors.byte_a, rng), factors.deal(fb, lanes_b, factors.byte_b, rng)
        lanes = [deal_a(a, ea.bits, lane) + deal_b(b, eb.bits, lane) + deal_c(c, 32, lane) + ([meta[lane]] if sparse else []) + [x[lane], y[lane]]
                 for lane in range(LANES)]
        return lanes, [deal_c(d, 32, lane) for lane in range(LANES)]

    head = 'mma.sp::ordered_metadata.sync' if sparse else 'mma.sync'
    types = '.'.join(['f32', ta.removesuffix('x2'), tb.removesuffix('x2'), 'f32', factors.kind])
    text = (f'{head}.aligned.{name}.row.col.kind::{kind}.block_scale.scale_vec::{factors.each}X.{types} {{d}}, {{a}}, {{b}}, {{c}}, '
            f'{"{m}, 0, " if sparse else ""}{factors.operands()};')
    return Form(text, {'d': 4, 'a': 4, 'b': 4 if sparse else 2, 'c': 4, 'm': int(sparse), 'x': 1, 'y': 1}, make)


def scaled_forms():
    """All selectors of one pair of types, one of each other pair."""
    narrow = ['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1']
    selectors = [(ba, ta, bb, tb) for ba in range(4) for ta in (0, 1) for bb in range(4) for tb in range(4)]
    for sparse in (False, True):
        for i, (ta, tb) in enumerate((ta, tb) for ta in narrow for tb in narrow):
            for s in selectors if i == 0 else [selectors[37 * i % len(selectors)]]:
                yield scaled_form('m16n8k64' if sparse else 'm16n8k32', 'mxf8f6f4', ta, tb, Factors('ue8m0', 1, *s), sparse)
        for kind, factor, each in (('mxf4', 'ue8m0', 2), ('mxf4nvf4', 'ue8m0', 2), ('mxf4nvf4', 'ue4m3', 4)):
            for s in selectors:
                if s[0] % each == 0 and s[2] % each == 0:
                    yield scaled_form('m16n8k128' if sparse else 'm16n8k64', kind, 'e2m1x2', 'e2m1x2', Factors(factor, each, *s), sparse)


def quad_form(la, lb, td, tc):
    """mma.m8n8k4 of FP16: four products at once, of lanes 4 q to 4 q + 3 and those 16 behind them (PTX ISA, "Matrix fragments for
    mma.m8n8k4 with .f16")."""
    f16 = ELEMENTS['f16']

    def a_at(lane, i):
        high = 4 * (lane // 16)
        return (lane % 4 + high, i) if la == 'row' else (i + high, lane % 4)

    def b_at(lane, i):
        high = 4 * (lane // 16)
        return (lane % 4, i + high) if lb == 'row' else (i, lane % 4 + high)

    def c_at(lane, i, t):
        high = 4 * (lane // 16)
        return (lane % 4 + high, i) if t == 'f16' else ((lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1))

    def make(rng):
        a = [[[f16.draw(rng) for _ in range(4)] for _ in range(8)] for _ in range(4)]
        b = [[[f16.draw(rng) for _ in range(8)] for _ in range(4)] for _ in range(4)]
        c = [[[draw_sum(tc, rng, False) for _ in range(8)] for _ in range(8)] for _ in range(4)]
        d = [[[finish(td, RESULTS[tc].value(c[q][i][j]) + sum(f16.value(a[q][i][k]) * f16.value(b[q][k][j]) for k in range(4)), False)
               for j in range(8)] for i in range(8)] for q in range(4)]
        lanes, results = [], []
        for lane in range(LANES):
            q = lane // 4 % 4
            pick = lambda matrix, at, count, bits: pack([matrix[q][x][y] for x, y in (at(lane, i) for i in range(count))], bits)
            sums = lambda matrix, t: pick(matrix, lambda lane, i: c_at(lane, i, t), 8, RESULTS[t].bits)
            lanes.append(pick(a, a_at, 4, 16) + pick(b, b_at, 4, 16) + sums(c, tc))
            results.append(sums(d, td))
        return lanes, results

    text = f'mma.sync.aligned.m8n8k4.{la}.{lb}.{td}.f16.f16.{tc} {{d}}, {{a}}, {{b}}, {{c}};'
    return Form(text, {'d': 8 if td == 'f32' else 4, 'a': 2, 'b': 2, 'c': 8 if tc == 'f32' else 4, 'm': 0}, make)


def quad_forms():
    for la in ('row', 'col'):
        for lb in ('row', 'col'):
            for td, tc in (('f16', 'f16'), ('f32', 'f32'), ('f32', 'f16')):
                yield quad_form(la, lb, td, tc)


MOVE = """{{.reg .u32 r, q, i; mov.u32 r, %room; mov.u32 i, %tid.x; mad.lo.u32 q, i, 16, r; st.shared.v4.b32 [q], {{a}}; bar.warp.sync -1;
mad.lo.u32 i, {{m}}, 16, r; {instruction} bar.warp.sync -1; {read} bar.warp.sync -1; }}""".replace('\n', ' ')


def halves(rows, matrix):
    """The 8 x 8 elements of 16 bits of a matrix whose rows are four words each."""
    return [[rows[8 * matrix + i][j // 2] >> 16 * (j % 2) & 0xffff for j in range(8)] for i in range(8)]


def fragment(elements, lane, transposed):
    """What a lane has of a matrix: two elements of row lane / 4, or of that column."""
    g, t = divmod(lane, 4)
    low, high = [elements[2 * t + i][g] if transposed else elements[g][2 * t + i] for i in (0, 1)]
    return low | high << 16


def draw_rows(rng):
    return [[rng.getrandbits(32) for _ in range(4)] for _ in range(LANES)]


def load_form(count, transposed):
    def make(rng):
        memory, places = draw_rows(rng), rng.sample(range(LANES), LANES)
        rows = [memory[place] for place in places]
        lanes = [[*memory[lane], places[lane]] for lane in range(LANES)]
        return lanes, [[fragment(halves(rows, k), lane, transposed) for k in range(count)] for lane in range(LANES)]

    trans = '.trans' if transposed else ''
    instruction = f'ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{d}}, [i];'
    return Form(MOVE.format(instruction=instruction, read=''), {'d': count, 'a': 4, 'b': 0, 'c': 0, 'm': 1}, make)


def store_form(count, transposed):
    def make(rng):
        memory, places = draw_rows(rng), rng.sample(range(LANES), LANES)
        fragments = [[rng.getrandbits(32) for _ in range(count)] for _ in range(LANES)]
        lanes = [[*memory[lane], *fragments[lane], places[lane]] for lane in range(LANES)]
        after = [list(row) for row in memory]
        for k in range(count):
            for lane in range(LANES):
                g, t = divmod(lane, 4)
                for i in (0, 1):
                    row, column = (2 * t + i, g) if transposed else (g, 2 * t + i)
                    word, at = after[places[8 * k + row]], column // 2
                    shift = 16 * (column % 2)
                    word[at] = word[at] & ~(0xffff << shift) | (fragments[lane][k] >> 16 * i & 0xffff) << shift
        return lanes, after

    trans = '.trans' if transposed else ''
    instruction = f'stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [i], {{b}};'
    return Form(MOVE.format(instruction=instruction, read='ld.shared.v4.b32 {d}, [q];'), {'d': 4, 'a': 4, 'b': count, 'c': 0, 'm': 1}, make)


def transpose_form():
    def make(rng):
        words = [rng.getrandbits(32) for _ in range(LANES)]
        rows = [words[4 * i:4 * i + 4] for i in range(8)]
        return [[word] for word in words], [[fragment(halves(rows, 0), lane, True)] for lane in range(LANES)]

    return Form('movmatrix.sync.aligned.m8n8.trans.b16 <d>, <a>;', {'d': 1, 'a': 1, 'b': 0, 'c': 0, 'm': 0}, make)


def move_forms():
    for count in (1, 2, 4):
        for transposed in (False, True):
            yield load_form(count, transposed)
            yield store_form(count, transposed)
    yield transpose_form()


def all_forms():
    return [*dense_forms(), *sparse_forms(), *move_forms(), *scaled_forms(), *quad_forms()]


IN, OUT = 40, 16  # words of a lane in front of a form and behind it
BATCH = 24

HEAD = """.version 9.0
.target sm_{target}
.address_size 64
.visible .entry k(.param .u64 inputs, .param .u64 results) {{
.reg .u64 %in, %out; .reg .u32 %lane, %block;
.shared .align 128 .b8 %room[4096];
ld.param.u64 %in, [inputs];
ld.param.u64 %out, [results];
mov.u32 %lane, %tid.x;
mov.u32 %block, %ctaid.x;
mad.lo.u32 %lane, %block, {lanes}, %lane;
mad.wide.u32 %in, %lane, {size}, %in;
mad.wide.u32 %out, %lane, {out}, %out;
"""

LAUNCH = """cubin = "{name}.cubin";
kernel = "k";
grid = [{blocks}, 1, 1];
block = [32, 1, 1];
data = ".";
args = ( {{ buffer = "inputs"; }}, {{ buffer = "results"; }} );
buffers = {{
  inputs = {{ type = "u32"; count = {inputs}; file = "{name}.inputs"; }};
  results = {{ type = "u32"; count = {results}; fill = "zero"; }};
}};
"""


def registers(name, words, wide):
    """The list of an operand's registers, what declares and fills them (from word `first` on), and what stores them."""
    count = words // 2 if wide else words
    t = 'b64' if wide else 'b32'
    names = [f'{name}{i}' for i in range(count)]
    return '{' + ', '.join(names) + '}', f'.reg .{t} ' + ', '.join(names) + ';' if names else '', names, t


def body(index, form):
    wide = '.f64' in form.text
    text, lines, at = form.text, [], 0
    for name in 'abcmxy':
        if not form.words.get(name):
            continue
        names, declare, each, t = registers(name, form.words[name], wide)
        lines.append(declare)
        for register in each:
            lines.append(f'ld.global.{t} {register}, [%in+{(index * IN + at) * 4}];')
            at += 2 if wide else 1
        text = text.replace(f'{{{name}}}', names if name in 'abc' else each[0]).replace(f'<{name}>', each[0])
    names, declare, each, t = registers('d', form.words['d'], wide)
    lines += [declare, text.replace('{d}', names).replace('<d>', each[0])]
    for i, register in enumerate(each):
        lines.append(f'st.global.{t} [%out+{(index * OUT + i * (2 if wide else 1)) * 4}], {register};')
    return ' '.join(lines)


def kernel(target, forms):
    head = HEAD.format(target=target, lanes=LANES, size=len(forms) * IN * 4, out=len(forms) * OUT * 4)
    return head + '\n'.join(f'{{ {body(i, form)} }}' for i, form in enumerate(forms)) + '\nret;\n}\n'


def assemble(forms, path, options):
    """Writes PTX and cubin; the forms that ptxas takes. One form is one line: that of an error names it."""
    first = HEAD.count('\n') + 1
    while forms:
        path.with_suffix('.ptx').write_text(kernel(options.sm, forms))
        command = ['ptxas', f'-arch=sm_{options.sm}', f'-O{options.optimize}', '-o', path.with_suffix('.cubin'), path.with_suffix('.ptx')]
        ptxas = subprocess.run(command, capture_output=True, text=True, check=False)
        if ptxas.returncode == 0:
            return forms
        refused = {int(line) - first for line in re.findall(r'line (\d+);', ptxas.stderr)}
        if options.refused:
            print(*[forms[i].text + '  ' + ptxas.stderr[:200] for i in refused], sep='\n')
        if not refused or min(refused) < 0:
            raise Failure(ptxas.stderr)
        forms = [form for i, form in enumerate(forms) if i not in refused]
    return forms


def launch(forms, path, options, rng):
    """Runs the kernel; of each form the results and what they should be, block by block, lane by lane."""
    made = [[form.make(rng) for form in forms] for _ in range(options.blocks)]
    inputs = []
    for block in made:
        for lane in range(LANES):
            for words, _ in block:
                inputs += words[lane] + [0] * (IN - len(words[lane]))
    path.with_suffix('.inputs').write_bytes(struct.pack(f'<{len(inputs)}I', *inputs))
    count = options.blocks * LANES * len(forms) * OUT
    text = LAUNCH.format(name=path.name, blocks=options.blocks, inputs=len(inputs), results=count)
    path.with_suffix('.launch').write_text(text)
    command = shlex.split(options.runner) + [path.with_suffix('.launch'), '--out', path.parent]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Failure(run.stdout + run.stderr)
    results = struct.unpack(f'<{count}I', (path.parent / 'results.bin').read_bytes())
    return made, results


def compare(forms, made, results):
    """How many words there were, and a line for each form that has a wrong one."""
    compared, wrong = 0, []
    for f, form in enumerate(forms):
        bad = []
        for block, row in enumerate(made):
            for lane in range(LANES):
                want = row[f][1][lane]
                at = ((block * LANES + lane) * len(forms) + f) * OUT
                got = results[at:at + len(want)]
                compared += len(want)
                bad += [f'block {block} lane {lane} word {i}: {x:#x}, not {y:#x}' for i, (x, y) in enumerate(zip(got, want)) if x != y]
        if bad:
            wrong.append(f'{form.text}: {len(bad)} wrong words, {bad[0]}')
    return compared, wrong


def check(options, folder):
    rng = random.Random(options.seed)
    pattern = re.compile(options.forms)
    scaled = options.sm.startswith('12')  # no other target has factors of blocks here
    chosen = [form for form in all_forms() if pattern.search(form.text) and (scaled or 'block_scale' not in form.text)]
    if options.count and options.count < len(chosen):
        chosen = rng.sample(chosen, options.count)
    ran, compared, wrong = 0, 0, []
    for start in range(0, len(chosen), BATCH):
        path = folder / f'sm_{options.sm}_{options.seed}_{start // BATCH}'
        forms = assemble(chosen[start:start + BATCH], path, options)
        if not forms:
            continue
        count, lines = compare(forms, *launch(forms, path, options, rng))
        ran += len(forms)
        compared += count
        wrong += lines
    for line in wrong:
        print(line)
    refused = len(chosen) - ran
    print(f'sm_{options.sm} seed {options.seed}: {ran} forms ({refused} refused by ptxas), {compared} words, {len(wrong)} forms wrong')
    return 2 if ran == 0 else int(bool(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sm', default='86', help='target, 75 and later, or 90a, 100a, 120a (86)')
    parser.add_argument('--blocks', type=int, default=4, help='how often each form is executed, with other values (4)')
    parser.add_argument('--refused', action='store_true', help='print the forms that ptxas refuses')
    common_options(parser)
    return run_in_folder('matrices.py', check, parser.parse_args())


if __name__ == '__main__':
    sys.exit(main())
