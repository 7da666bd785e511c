#!/usr/bin/env python3
"""Warpgroup products of PTX (wgmma.mma_async and its sparse form, sm_90a) against exact results, in any layout of their matrices.

Each form is a CTA of one warpgroup: shared memory is filled with elements wherever one looks, descriptors are drawn (swizzle, leading and
stride offsets that need not be the usual ones, base offset, a start inside of a swizzle atom), one to three products are issued in groups of
their own on accumulators that hold something, and what comes out is compared. Where an element lies is computed from the canonical
layouts of the PTX ISA (wgmma, "Strides": ((8,m),(T,2k)):((1T,SBO),(1,LBO)) and its like) and its bits 4 to 6 are exchanged afterwards,
within patterns that begin where the base offset says. Elements are so small that sums are exact in any order; integers take all values.
Each difference is a line, then a summary; status 1 when anything differs, 2 when nothing could be run.

  tools/ptx/warpgroup.py                              300 forms by chance
  tools/ptx/warpgroup.py --forms 'sp.*e4m3'           those whose text matches, of as many
  tools/ptx/warpgroup.py --runner 'build/warpstep run'    in time

Needs ptxas of CUDA 13 (PTX 9.0) in PATH and Python's standard library.
"""
import argparse
import operator
import random
import re
import shlex
import struct
import subprocess
import sys
from fractions import Fraction
from typing import NamedTuple

from check import Failure, common_options, run_in_folder
from matrices import ELEMENTS, LANES, RESULTS, deal_a, deal_c, sparse_ones, sparse_pairs

WARPS, ROWS, CHUNK = 4, 16, 16
THREADS = WARPS * LANES
IMAGE = 128 << 10  # bytes of shared memory that a form may look at
RESERVED = 1024  # bytes of shared memory in front of the kernel's own (sm_90)
MOST = 128  # words of accumulators in a lane
WORDS = MOST + 3 * 5  # of a lane: accumulators, then four of A and one of metadata for each product
SWIZZLE = {1: 0, 8: 1, 4: 2, 2: 3}  # 16-byte columns of an atom: bits 63:62 of a descriptor
SMALL_BYTES = [0, 0x38, 0x3c, 0x40, 0xb8, 0xbc, 0xc0]  # E4M3: 0, 1, 1.5, 2; E5M2: 0, 0.5, 1, 2 and their negatives
BATCH = 12


class Matrix(NamedTuple):
    """A matrix in shared memory; offsets in bytes."""
    start: int
    leading: int
    stride: int
    atom: int  # 16-byte columns of the swizzle atom, 1 without swizzle
    base: int
    along_rows: bool  # rows (of A; columns of B) are contiguous, not k

    def word(self, rng):
        unused = rng.getrandbits(14) if self.atom > 1 and not self.along_rows else self.leading >> 4
        return self.start >> 4 | unused << 16 | self.stride >> 4 << 32 | self.base << 49 | SWIZZLE[self.atom] << 62

    def place(self, row, k, size):
        """Where the element lies, in bytes."""
        each = CHUNK // size
        if not self.along_rows:
            column = k // each
            at = row % 8 * CHUNK * self.atom + row // 8 * self.stride + column * (self.leading if self.atom == 1 else CHUNK) + k % each * size
        else:
            group = row // each
            if self.atom == 1:
                at = group * self.stride + k % 8 * CHUNK + k // 8 * self.leading
            else:
                at = group % self.atom * CHUNK + group // self.atom * self.leading + k % 8 * CHUNK * self.atom + k // 8 * self.stride
            at += row % each * size
        at += self.start
        pattern = self.base << 7
        return ((at - pattern) ^ (at - pattern >> 3 & (self.atom - 1) << 4)) + pattern

    def reach(self, rows, depth, size):
        return max(self.place(row, k, size) for row in (0, rows - 1, rows - 8 if rows > 8 else 0) for k in (0, depth - 1)) + 1024


def draw_matrix(rng, rows, depth, size, transposable):
    """depth: elements along k."""
    while True:
        atom = rng.choice([1, 2, 4, 8])
        along_rows = transposable and rng.random() < 0.5
        if atom == 2 and not along_rows and depth * size > 32:
            continue  # an atom has no room for 64 bytes of a row
        usual = 128 * atom
        base = rng.randrange(8) if atom > 1 and rng.random() < 0.3 else 0
        start = rng.randrange(0, 32) * 1024 + base * 128
        if atom == 1:
            start += rng.randrange(64) * 16
        elif not along_rows:
            start += rng.randrange(max(1, atom * CHUNK // (depth * size))) * depth * size
        stride = rng.choice([usual, usual * rng.randint(0, 9), 16 * rng.randint(0, 300)])
        leading = rng.choice([usual, usual * rng.randint(0, 9), 16 * rng.randint(0, 300)])
        matrix = Matrix(start, leading, stride, atom, base, along_rows)
        if matrix.reach(rows, depth, size) <= IMAGE:
            return matrix


class Kind(NamedTuple):
    a: str
    b: str
    d: str
    tail: str = ''  # behind the types

    @property
    def size(self):
        return ELEMENTS[self.a].bits // 8


def kinds():
    yield from (Kind('f16', 'f16', d) for d in ('f16', 'f32'))
    yield Kind('bf16', 'bf16', 'f32')
    yield Kind('tf32', 'tf32', 'f32')
    yield from (Kind(a, b, d) for a in ('e4m3', 'e5m2') for b in ('e4m3', 'e5m2') for d in ('f16', 'f32'))
    yield from (Kind(a, b, 's32', tail) for a in ('s8', 'u8') for b in ('s8', 'u8') for tail in ('', '.satfinite'))
    yield Kind('b1', 'b1', 's32', '.and.popc')


def columns_of(kind):
    return [8, 16, 24, *range(32, 257, 16)] if kind.d == 's32' else range(8, 257, 8)


def draw_image(kind, rng):
    if kind.d == 's32':
        return rng.randbytes(IMAGE)
    if kind.size == 1:
        return bytes(rng.choices(SMALL_BYTES, k=IMAGE))
    element = ELEMENTS[kind.a]
    codes = [element.encode(x) for x in (-2, -1, -0.5, 0, 0.5, 1, 1.5, 2)]
    if kind.size == 2:
        return struct.pack(f'<{IMAGE // 2}H', *rng.choices(codes, k=IMAGE // 2))
    return struct.pack(f'<{IMAGE // 4}I', *(code | rng.getrandbits(13) for code in rng.choices(codes, k=IMAGE // 4)))


def values_of(element):
    """The values of codes as integers: those of floating-point formats times four."""
    known = {}

    def value(code):
        code = code >> element.shift << element.shift
        if code not in known:
            known[code] = int(element.value(code) * (4 if element.exponent else 1))
        return known[code]
    return value


class Product(NamedTuple):
    kind: Kind
    columns: int
    depth: int  # along k, of B
    sparse: bool
    selector: int
    a: Matrix  # None: in registers
    b: Matrix
    negate_a: bool
    negate_b: bool
    add: bool
    registers: list  # A's rows of codes, where it is in registers
    places: list  # of a sparse A: where its elements are, row by row
    meta: list  # of each thread


def draw_product(rng, kind, columns, sparse):
    """Bits (b1) are taken as 32 bytes."""
    size = max(1, kind.size)
    stored = 32 // size
    depth = stored * (2 if sparse else 1)
    floats = kind.d != 's32'
    transposable = kind.a in ('f16', 'bf16')
    in_registers = rng.random() < 0.3
    selector = rng.randrange(2) if sparse and size > 1 else 0
    places, meta = [list(range(depth))] * 64, None
    if sparse:
        made = [(sparse_ones if size == 4 else sparse_pairs)(depth, 1 if size > 1 else 3, selector)(rng) for _ in range(WARPS)]
        places, meta = [row for part, _ in made for row in part], [word for _, part in made for word in part]
    return Product(
        kind, columns, depth, sparse, selector,
        None if in_registers else draw_matrix(rng, 64, stored, size, transposable), draw_matrix(rng, columns, depth, size, transposable),
        floats and rng.random() < 0.3, floats and rng.random() < 0.3, rng.random() < 0.6, [], places, meta)


def instruction(product, d, a, index):
    """d: the list of accumulators."""
    kind, p = product.kind, product
    k = {'b1': 256}.get(kind.a, p.depth)
    text = f'wgmma.mma_async{".sp" if p.sparse else ""}.sync.aligned.m64n{p.columns}k{k}.{kind.d}.{kind.a}.{kind.b}{kind.tail} {{{d}}}, '
    text += f'{{{a}}}, ' if p.a is None else f'%da{index}, '
    text += f'%db{index}, '
    if p.sparse:
        text += f'%meta{index}, {p.selector}, '
    text += f'%add{index}'
    if kind.d != 's32':
        text += f', {-1 if p.negate_a else 1}, {-1 if p.negate_b else 1}'
        if kind.a in ('f16', 'bf16'):
            text += ('' if p.a is None else f', {int(p.a.along_rows)}') + f', {int(p.b.along_rows)}'
    return text + ';'


class Form(NamedTuple):
    text: str
    products: list
    image: bytes
    accumulators: list  # rows of codes, one matrix or as many as there are products
    words: int
    waits: list  # behind the last product


def deal(rows, bits):
    """The words of each thread of a matrix of 64 rows, eight columns after the other."""
    words = [[] for _ in range(THREADS)]
    for n in range(0, len(rows[0]), 8):
        for warp in range(WARPS):
            block = [row[n:n + 8] for row in rows[warp * ROWS:(warp + 1) * ROWS]]
            for lane in range(LANES):
                words[warp * LANES + lane] += deal_c(block, bits, lane)
    return words


def draw_form(rng):
    kind = rng.choice(list(kinds()))
    sparse = kind.a != 'b1' and rng.random() < 0.35
    columns = rng.choice(columns_of(kind))
    bits = RESULTS[kind.d].bits
    words = columns * bits // 64
    chain = rng.random() < 0.5  # all products on the same accumulators
    count = rng.choice([1, 2, 3])
    if not chain:
        count = min(count, MOST // words)
    products = [draw_product(rng, kind, columns, sparse) for _ in range(count)]
    image = draw_image(kind, rng)
    for i, p in enumerate(products):
        if p.a is None:
            size = max(1, kind.size)
            at = rng.randrange(IMAGE // 4096) * 2048
            read = lambda row, k: int.from_bytes(image[at + (row * 32 // size + k) * size:][:size], 'little')
            products[i] = p._replace(registers=[[read(row, k) for k in range(32 // size)] for row in range(64)])
    extreme = 'satfinite' in kind.tail
    code = lambda: (rng.choice([rng.getrandbits(32), 0x7fffff00, 0x80000100] if extreme else [rng.getrandbits(32)]) if kind.d == 's32'
                    else RESULTS[kind.d].encode(rng.randint(-32, 32)))
    accumulators = [[[code() for _ in range(columns)] for _ in range(64)] for _ in range(1 if chain else count)]
    waits = [depth for depth in range(count - 1, -1, -1) if depth == 0 or rng.random() < 0.5]
    text = instruction(products[0], '', '', 0)
    return Form(text, products, image, accumulators, words, waits)


def element_reader(form, matrix, size):
    def read(row, k):
        at = matrix.place(row, k, size)
        return int.from_bytes(form.image[at:at + size], 'little')
    return read


def multiply(form, product, rows):
    """The accumulators behind the product."""
    kind, size = product.kind, max(1, product.kind.size)
    stored = 32 // size
    if product.a is None:
        a = product.registers
    else:
        read = element_reader(form, product.a, size)
        a = [[read(row, k) for k in range(stored)] for row in range(64)]
    read = element_reader(form, product.b, size)
    b = [[read(column, k) for k in range(product.depth)] for column in range(product.columns)]
    result = RESULTS[kind.d]
    if kind.a == 'b1':
        sums = [[sum((x & y).bit_count() for x, y in zip(row, column)) for column in b] for row in a]
        scale = 1
    else:
        va, vb = values_of(ELEMENTS[kind.a]), values_of(ELEMENTS[kind.b])
        a = [[va(x) for x in row] for row in a]
        b = [[vb(x) for x in column] for column in b]
        sums = []
        for row, places in zip(a, product.places):
            sums.append([sum(map(operator.mul, row, column if not product.sparse else [column[at] for at in places])) for column in b])
        scale = 1 if kind.d == 's32' else 16
    sign = -1 if product.negate_a != product.negate_b else 1
    if kind.d != 's32':
        encoded = {}

        def finish(x):
            if x not in encoded:
                encoded[x] = result.encode(x)
            return encoded[x]
        old = [[result.value(x) if product.add else 0 for x in row] for row in rows]
        return [[finish(c + Fraction(sign * x, scale)) for c, x in zip(*pair)] for pair in zip(old, sums)]
    limit = (1 << 31) - 1
    clip = (lambda x: max(-limit - 1, min(limit, x))) if 'satfinite' in kind.tail else lambda x: x
    return [[clip((result.value(c) if product.add else 0) + x) & 0xffffffff for c, x in zip(*pair)] for pair in zip(rows, sums)]


def expected(form):
    """Words of each thread: the accumulators of one product behind the other."""
    matrices = list(form.accumulators)
    for i, product in enumerate(form.products):
        at = i if len(matrices) > 1 else 0
        matrices[at] = multiply(form, product, matrices[at])
    bits = RESULTS[form.products[0].kind.d].bits
    dealt = [deal(matrix, bits) for matrix in matrices]
    return [[word for part in dealt for word in part[thread]] for thread in range(THREADS)]


HEAD = """.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 %room[];
.visible .entry k(.param .u64 inputs, .param .u64 results) {{
.reg .u64 %in, %out, %all, %at; .reg .u32 %thread, %block, %to, %i; .reg .pred %p; .reg .b32 %v<4>;
ld.param.u64 %all, [inputs];
ld.param.u64 %out, [results];
mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x;
mad.wide.u32 %all, %block, {input}, %all;
mad.lo.u32 %i, %block, {threads}, %thread;
mad.wide.u32 %out, %i, {out}, %out;
mad.wide.u32 %at, %thread, 16, %all;
mul.lo.u32 %i, %thread, 16; mov.u32 %to, %room; add.u32 %to, %to, %i;
copy: ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%at]; st.shared.v4.b32 [%to], {{%v0, %v1, %v2, %v3}};
add.u64 %at, %at, {step}; add.u32 %to, %to, {step}; add.u32 %i, %i, {step}; setp.lt.u32 %p, %i, {image}; @%p bra copy;
fence.proxy.async.shared::cta; bar.sync 0;
add.u64 %all, %all, {image}; mad.wide.u32 %in, %thread, {lane}, %all; add.u64 %all, %all, {fixed};
"""

LAUNCH = """cubin = "{name}.cubin";
kernel = "k";
grid = [{blocks}, 1, 1];
block = [128, 1, 1];
shmem = {image};
data = ".";
args = ( {{ buffer = "inputs"; }}, {{ buffer = "results"; }} );
buffers = {{
  inputs = {{ type = "u32"; count = {inputs}; file = "{name}.inputs"; }};
  results = {{ type = "u32"; count = {results}; fill = "zero"; }};
}};
"""

FIXED = 3 * 24 + 8  # bytes behind those of the lanes: for each product two descriptors, whether it adds
INPUT = IMAGE + THREADS * WORDS * 4 + FIXED


def body(index, form):
    total = form.words * len(form.accumulators)
    names = [f'd{i}' for i in range(total)]
    kind = form.products[0].kind
    t = 'f32' if kind.d == 'f32' else 'b32'
    lines = [f'setp.ne.u32 %p, %block, {index}; @%p bra next{index};', f'.reg .{t} ' + ', '.join(names) + ';']
    lines += [f'ld.global.{t} {name}, [%in+{4 * i}];' for i, name in enumerate(names)]
    for i in range(len(form.products)):
        at = 4 * (MOST + 5 * i)
        lines += [f'.reg .u64 %da{i}, %db{i}; .reg .u32 %meta{i}, %x{i}; .reg .pred %add{i}; .reg .b32 a{i}_<4>;',
                  f'ld.global.u64 %da{i}, [%all+{24 * i}]; ld.global.u64 %db{i}, [%all+{24 * i + 8}]; ld.global.u32 %x{i}, [%all+{24 * i + 16}];',
                  f'setp.ne.u32 %add{i}, %x{i}, 0;', f'ld.global.u32 %meta{i}, [%in+{at + 16}];']
        lines += [f'ld.global.b32 a{i}_{r}, [%in+{at + 4 * r}];' for r in range(4)]
    lines += ['wgmma.fence.sync.aligned;']
    for i, product in enumerate(form.products):
        mine = names if len(form.accumulators) == 1 else names[i * form.words:(i + 1) * form.words]
        lines += [instruction(product, ', '.join(mine), ', '.join(f'a{i}_{r}' for r in range(4)), i), 'wgmma.commit_group.sync.aligned;']
    lines += [f'wgmma.wait_group.sync.aligned {depth};' for depth in form.waits]
    lines += [f'st.global.{t} [%out+{4 * i}], {name};' for i, name in enumerate(names)]
    return ' '.join([*lines, f'ret; next{index}:'])


def assemble(forms, path, options):
    head = HEAD.format(input=INPUT, threads=THREADS, out=MOST * 4, step=THREADS * 16, image=IMAGE, lane=WORDS * 4, fixed=THREADS * WORDS * 4)
    path.with_suffix('.ptx').write_text(head + '\n'.join(f'{{ {body(i, form)} }}' for i, form in enumerate(forms)) + '\nret;\n}\n')
    command = ['ptxas', '-arch=sm_90a', f'-O{options.optimize}', '-o', path.with_suffix('.cubin'), path.with_suffix('.ptx')]
    ptxas = subprocess.run(command, capture_output=True, text=True, check=False)
    if ptxas.returncode:
        raise Failure(ptxas.stderr)


def pack_inputs(form, rng):
    words = []
    bits = RESULTS[form.products[0].kind.d].bits
    dealt = [deal(matrix, bits) for matrix in form.accumulators]
    for thread in range(THREADS):
        lane = [word for part in dealt for word in part[thread]]
        lane += [0] * (MOST - len(lane))
        for i in range(3):
            product = form.products[i] if i < len(form.products) else None
            a = [0] * 4
            if product and product.a is None:
                warp = thread // LANES
                bits_a = 8 * max(1, product.kind.size)
                a = deal_a(product.registers[warp * ROWS:(warp + 1) * ROWS], bits_a, thread % LANES)
            lane += [*a, product.meta[thread] if product and product.meta else 0]
        words += lane
    tail = b''
    for product in form.products:
        a = product.a.word(rng) + (RESERVED >> 4) if product.a else 0
        tail += struct.pack('<QQII', a, product.b.word(rng) + (RESERVED >> 4), product.add, 0)
    return form.image + struct.pack(f'<{len(words)}I', *words) + tail.ljust(INPUT - IMAGE - 4 * len(words), b'\0')


def launch(forms, path, options, rng):
    inputs = b''.join(pack_inputs(form, rng) for form in forms)
    path.with_suffix('.inputs').write_bytes(inputs)
    count = len(forms) * THREADS * MOST
    path.with_suffix('.launch').write_text(LAUNCH.format(name=path.name, blocks=len(forms), inputs=len(inputs) // 4, results=count, image=IMAGE))
    command = shlex.split(options.runner) + [path.with_suffix('.launch'), '--out', path.parent]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Failure(run.stdout + run.stderr)
    return struct.unpack(f'<{count}I', (path.parent / 'results.bin').read_bytes())


def describe(form):
    return '; '.join(instruction(p, '', '', i) + f' A {p.a} B {p.b} add {p.add}' for i, p in enumerate(form.products))


def compare(forms, results):
    compared, wrong = 0, []
    for f, form in enumerate(forms):
        bad = []
        for thread, want in enumerate(expected(form)):
            at = (f * THREADS + thread) * MOST
            got = results[at:at + len(want)]
            compared += len(want)
            bad += [f'thread {thread} word {i}: {x:#x}, not {y:#x}' for i, (x, y) in enumerate(zip(got, want)) if x != y]
        if bad:
            wrong.append(f'{describe(form)}: {len(bad)} wrong words, {bad[0]}')
    return compared, wrong


def check(options, folder):
    rng = random.Random(options.seed)
    pattern = re.compile(options.forms)
    chosen = [form for form in (draw_form(rng) for _ in range(options.count or 300)) if pattern.search(form.text)]
    compared, wrong = 0, []
    for start in range(0, len(chosen), BATCH):
        path = folder / f'warpgroup_{options.seed}_{start // BATCH}'
        forms = chosen[start:start + BATCH]
        assemble(forms, path, options)
        count, lines = compare(forms, launch(forms, path, options, rng))
        compared += count
        wrong += lines
    for line in wrong:
        print(line)
    print(f'sm_90a seed {options.seed}: {len(chosen)} forms, {compared} words, {len(wrong)} forms wrong')
    return 2 if not chosen else int(bool(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common_options(parser)
    return run_in_folder('warpgroup.py', check, parser.parse_args())


if __name__ == '__main__':
    sys.exit(main())
