#!/usr/bin/env python3
"""PTX arithmetic against exact results: does an instruction give the bits that PTX says, wherever its operands come from?

Makes kernels of over 1,000 forms of PTX (integers, video, FP16, BF16, FP32, FP64, pairs of them, all cvt, to and from FP8, FP6, FP4 and
by random bits too; forms.py has the table).
A form's operands are in registers that differ from lane to lane, in parameters, in memory that all lanes load alike, or constants,
by chance, and floating-point ones may be negated or made absolute before: so ptxas writes the kinds of operands and the modifiers that
SASS has. Values are drawn with the edges of their types in front; the expected ones come from Python's integers and fractions,
rounded once (exact.py). Each difference is printed, then a summary; status 1 when anything differs, 2 when nothing could be run.

  tools/ptx/check.py --sm 86                                  all forms of sm_86, 32 lanes each (seconds)
  tools/ptx/check.py --sm 100a --forms 'cvt.*e2m1'            those of sm_100a alone too
  tools/ptx/check.py --sm 120 --seed 7 --forms 'cvt.*bf16'    those whose text matches, other values
  tools/ptx/check.py --sm 90 --operands uniform,immediate     operands of these kinds alone
  tools/ptx/check.py --sm 75 --count 30 --keep DIR            30 forms by chance; the PTX, cubin and launch file stay in DIR

Needs ptxas of CUDA 13 (PTX 9.0) in PATH and Python's standard library. Forms that ptxas refuses are counted and left out.

Left out, because PTX does not promise one result: division by zero and by -1; the sign and digits of a NaN behind neg, abs, copysign,
xorsign and cvt between formats; a NaN as an integer. Left out, because the reference would not be right: vshl, vset and vmad of whole
words, .min and .max behind a video instruction, .sat of video operands of different signs (widths between the operations), vshr with .sat;
bfe and bfi with positions above 255. Left out, because of ptxas 13.0: .ftz of cvt from FP32 to FP16, which it drops; szext by a parameter,
for which it writes an SGXT that reads a constant bank that the kernel has not (sm_75 to 89): its amount is always in lanes; modifiers where
setp compares with a constant: it takes -|x| < 5.5 for true, NaN or not; constant positions of bfe beyond the word; .sat of video
instructions on whole words, whose code keeps the lower bound alone (0 <= carry, always true).
"""
import argparse
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from exact import same
from form import FORMATS, Form, bits, draw, mask, register
from forms import all_forms

PLACES = ['lane', 'param', 'uniform', 'immediate']
SLOTS = 4  # operands of a form, 8 bytes each
BATCH = 500  # forms of a kernel: parameters have at most 32,764 bytes
LANES = 32

HEAD = '''.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 inputs, .param .u64 results, .param .u64 alike, .param .align 16 .b8 fixed[{size}]) {{
.reg .u64 %in, %out, %all;
.reg .u32 %lane;
ld.param.u64 %in, [inputs];
ld.param.u64 %out, [results];
ld.param.u64 %all, [alike];
mov.u32 %lane, %tid.x;
mad.wide.u32 %in, %lane, {size}, %in;
mad.wide.u32 %out, %lane, {out}, %out;
'''

LAUNCH = '''cubin = "{name}.cubin";
kernel = "k";
grid = [1, 1, 1];
block = [{lanes}, 1, 1];
data = ".";
args = ( {{ buffer = "inputs"; }}, {{ buffer = "results"; }}, {{ buffer = "alike"; }}, {{ bytes = "{fixed}"; }} );
buffers = {{
  inputs = {{ type = "u64"; count = {inputs}; file = "{name}.inputs"; }};
  alike = {{ type = "u64"; count = {alike}; file = "{name}.alike"; }};
  results = {{ type = "u64"; count = {results}; fill = "zero"; }};
}};
'''


class Failure(Exception):
    pass


class Operand(NamedTuple):
    kind: str
    place: str
    modifiers: tuple  # abs, neg, in this order
    fixed: int  # its value where all lanes have the same
    lanes: list  # its values where each has its own

    def value(self, lane):
        """What the form sees in a lane. The sign of a NaN is never looked at."""
        x = self.lanes[lane] if self.place == 'lane' else self.fixed
        fmt = FORMATS.get(self.kind)
        if fmt is None or fmt.is_nan(x):
            return x
        if 'abs' in self.modifiers:
            x &= ~fmt.sign
        return x ^ fmt.sign if 'neg' in self.modifiers else x


class Case(NamedTuple):
    form: Form
    operands: list


def draw_modifiers(kind, sm, rng):
    possible = kind in FORMATS and (kind != 'bf16' or sm >= 80)
    if not possible or rng.random() >= 0.4:
        return ()
    return rng.choice([('neg',), ('abs',), ('abs', 'neg')])


def draw_fixed(kind, rng):
    """ptxas writes a constant NaN as it likes, and takes a bit field at a constant position beyond the word for all ones."""
    value = draw(kind, rng)
    if kind == 'position':
        return value & 31
    while kind in FORMATS and FORMATS[kind].is_nan(value):
        value = draw(kind, rng)
    return value


def draw_operand(kind, options, rng):
    place = 'lane' if kind.startswith('lane ') else rng.choice(options.operands)
    modifiers = draw_modifiers(kind, options.sm, rng)
    return Operand(kind, place, modifiers, draw_fixed(kind, rng), [draw(kind, rng) for _ in range(LANES)])


def draw_case(form, options, rng):
    """Of constants alone ptxas would compute the result itself: then the first is in lanes."""
    operands = [draw_operand(kind, options, rng) for kind in form.operands]
    if all(operand.place == 'immediate' for operand in operands):
        operands[0] = operands[0]._replace(place='lane')
    if 'setp' in form.text and any(operand.place == 'immediate' for operand in operands):
        operands = [operand._replace(modifiers=()) for operand in operands]
    return Case(form, operands)


def constant(value, kind):
    if kind == 'f32':
        return f'0F{value:08X}'
    return f'0D{value:016X}' if kind == 'f64' else hex(value)


def load(operand, name, slot):
    """The lines that put an operand into a register."""
    t = register(operand.kind)
    source = {
        'lane': f'ld.global.{t} {name}, [%in+{slot * 8}];',
        'param': f'ld.param.{t} {name}, [fixed+{slot * 8}];',
        'uniform': f'ld.global.nc.{t} {name}, [%all+{slot * 8}];',
        'immediate': f'mov.{t} {name}, {constant(operand.fixed, operand.kind)};',
    }
    lines = [f'.reg .{t} {name};', source[operand.place]]
    lines += [f'{modifier}.{operand.kind} {name}, {name};' for modifier in operand.modifiers]
    return lines


def body(index, case):
    text = case.form.text.replace('$d', 'result')
    lines = []
    for i, operand in enumerate(case.operands):
        lines += load(operand, f'x{i}', index * SLOTS + i)
        text = text.replace(f'${i}', f'x{i}')
    t = register(case.form.result)
    lines += [f'.reg .{t} result;', text, f'st.global.{t} [%out+{index * 8}], result;']
    return ' '.join(lines)


def kernel(target, cases):
    """One case is one line: that of an error names it."""
    head = HEAD.format(target=target, size=len(cases) * SLOTS * 8, out=len(cases) * 8)
    lines = [f'{{ {body(i, case)} }}' for i, case in enumerate(cases)]
    return head + '\n'.join(lines) + '\nret;\n}\n'


def assemble(cases, path, options):
    """Writes PTX and cubin; the cases that ptxas takes."""
    first = HEAD.count('\n') + 1
    target = f'sm_{options.target}'
    while cases:
        path.with_suffix('.ptx').write_text(kernel(target, cases))
        command = ['ptxas', f'-arch={target}', f'-O{options.optimize}', '-o', path.with_suffix('.cubin'), path.with_suffix('.ptx')]
        ptxas = subprocess.run(command, capture_output=True, text=True, check=False)
        if ptxas.returncode == 0:
            return cases
        refused = {int(line) - first for line in re.findall(r'line (\d+);', ptxas.stderr)}
        if not refused or min(refused) < 0:
            raise Failure(ptxas.stderr)
        cases = [case for i, case in enumerate(cases) if i not in refused]
    return cases


def pack(cases, value):
    """8 bytes of each operand of each case, unused slots with 0."""
    words = []
    for case in cases:
        values = [value(operand) for operand in case.operands]
        words += values + [0] * (SLOTS - len(values))
    return struct.pack(f'<{len(words)}Q', *words)


def launch(cases, path, options):
    """Runs the kernel; the results, lane after lane."""
    fixed = pack(cases, lambda operand: operand.fixed)
    inputs = b''.join(pack(cases, lambda operand, lane=lane: operand.lanes[lane]) for lane in range(LANES))
    path.with_suffix('.alike').write_bytes(fixed)
    path.with_suffix('.inputs').write_bytes(inputs)
    results = LANES * len(cases)
    text = LAUNCH.format(name=path.name, lanes=LANES, fixed=fixed.hex(), inputs=len(inputs) // 8, alike=len(fixed) // 8, results=results)
    path.with_suffix('.launch').write_text(text)
    command = shlex.split(options.runner) + [path.with_suffix('.launch'), '--out', path.parent]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise Failure(run.stdout + run.stderr)
    return struct.unpack(f'<{results}Q', (path.parent / 'results.bin').read_bytes())


def describe(case, values, got, want):
    places = ', '.join(' '.join([operand.place, *operand.modifiers]) for operand in case.operands)
    operands = ' '.join(f'{x:#x}' for x in values)
    return f'{case.form.text} ({places}) of {operands}: {got:#x}, not {want:#x}'


def compare(cases, results):
    """How many results there were, and a line for each wrong one."""
    compared = 0
    wrong = []
    for index, case in enumerate(cases):
        for lane in range(LANES):
            values = [operand.value(lane) for operand in case.operands]
            want = case.form.reference(*values)
            if want is None:
                continue
            compared += 1
            got = results[lane * len(cases) + index] & mask(bits(case.form.result))
            if not same(FORMATS.get(case.form.result), got, want):
                wrong.append(describe(case, values, got, want))
    return compared, wrong


def choose(options, rng):
    pattern = re.compile(options.forms)
    chosen = [form for form in all_forms(rng) if form.since <= options.sm and pattern.search(form.text)]
    if options.count and options.count < len(chosen):
        chosen = rng.sample(chosen, options.count)
    return chosen


def check(options, folder):
    rng = random.Random(options.seed)
    chosen = choose(options, rng)
    ran, compared, wrong = 0, 0, []
    for start in range(0, len(chosen), BATCH):
        cases = [draw_case(form, options, rng) for form in chosen[start:start + BATCH]]
        path = folder / f'sm_{options.target}_{options.seed}_{start // BATCH}'
        cases = assemble(cases, path, options)
        if not cases:
            continue
        count, lines = compare(cases, launch(cases, path, options))
        ran += len(cases)
        compared += count
        wrong += lines
    for line in wrong:
        print(line)
    refused = len(chosen) - ran
    print(f'sm_{options.target} seed {options.seed}: {ran} forms ({refused} refused by ptxas), {compared} results, {len(wrong)} wrong')
    return 2 if ran == 0 else int(bool(wrong))


def places(text):
    chosen = text.split(',')
    unknown = set(chosen) - set(PLACES)
    if unknown:
        raise argparse.ArgumentTypeError(f'no operands of kind {", ".join(sorted(unknown))}; there are {", ".join(PLACES)}')
    return chosen


def common_options(parser):
    """What check.py and matrices.py both take."""
    parser.add_argument('--forms', metavar='REGEX', default='', help='only forms whose text it is found in')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=0, help='at most so many forms, by chance')
    parser.add_argument('--optimize', type=int, default=3, help="ptxas's -O (3)")
    parser.add_argument('--runner', default='build/warpstep run --functional', help='what runs a launch file')
    parser.add_argument('--keep', type=Path, metavar='DIR', help='write there what is made')


def run_in_folder(name, check, options):
    """check(options, folder), in --keep's folder or one that is removed. 2: it could not be done."""
    try:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            return check(options, options.keep)
        with tempfile.TemporaryDirectory() as folder:
            return check(options, Path(folder))
    except (Failure, OSError) as error:
        print(f'{name}: {error}', file=sys.stderr)
        return 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sm', dest='target', default='86', help='target, 75 and later, or 100a, 103a, 120a (86)')
    parser.add_argument('--operands', type=places, default=PLACES, metavar='KINDS', help='of lane,param,uniform,immediate (all)')
    common_options(parser)
    options = parser.parse_args()
    options.sm = int(options.target.rstrip('af'))
    return run_in_folder('check.py', check, options)


if __name__ == '__main__':
    sys.exit(main())
