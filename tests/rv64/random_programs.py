#!/usr/bin/env python3
"""random_programs.py SEED: a program of random arithmetic on random registers, as assembly on stdout.

Integer, multiplication, division and floating-point instructions in all rounding modes, on numbers that include the odd ones. Every few
instructions all registers and fcsr go to a buffer, which the program writes to stdout at its end: compare it with that of another machine.
"""
import random
import sys

BLOCKS, PER_BLOCK = 150, 8
X = [x for x in range(1, 32) if x != 3]  # x3 points into the buffer
MODES = ("rne", "rtz", "rdn", "rup", "rmm", "dyn")
INT3 = "add sub sll slt sltu xor srl sra or and addw subw sllw srlw sraw mul mulh mulhsu mulhu mulw " \
       "div divu rem remu divw divuw remw remuw".split()
INT_IMM = "addi slti sltiu xori ori andi addiw".split()
SHIFTS = {"slli": 63, "srli": 63, "srai": 63, "slliw": 31, "srliw": 31, "sraiw": 31}


def special(rng, exponent_bits, fraction_bits):
    """A floating-point number, often at the edge of something."""
    top, ones = (1 << exponent_bits) - 1, (1 << fraction_bits) - 1
    exponent = rng.choice((0, 1, top, top - 1, top >> 1, (top >> 1) + fraction_bits, rng.randrange(top), (top >> 1) + rng.randrange(-3, 4)))
    fraction = rng.choice((0, 1, ones, 1 << (fraction_bits - 1), rng.getrandbits(fraction_bits), ones ^ 1))
    return rng.getrandbits(1) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction


def number(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return 0xffffffff << 32 | special(rng, 8, 23)
    if kind <= 2:
        return special(rng, 11, 52)
    if kind == 3:
        return rng.choice((0, 1, 2**63, 2**63 - 1, 2**64 - 1, 2**31, 2**31 - 1, 2**32 - 1, 2**64 - 2**31))
    return rng.getrandbits(64) >> rng.randrange(64)


def floating(rng):
    s = rng.choice("sd")
    f = [f"f{rng.randrange(32)}" for _ in range(4)]
    x, rm = f"x{rng.choice(X)}", rng.choice(MODES)
    return rng.choice((
        f"{rng.choice(('fadd', 'fsub', 'fmul', 'fdiv'))}.{s} {f[0]}, {f[1]}, {f[2]}, {rm}",
        f"{rng.choice(('fmadd', 'fmsub', 'fnmadd', 'fnmsub'))}.{s} {f[0]}, {f[1]}, {f[2]}, {f[3]}, {rm}",
        f"{rng.choice(('fmin', 'fmax', 'fsgnj', 'fsgnjn', 'fsgnjx'))}.{s} {f[0]}, {f[1]}, {f[2]}",
        f"{rng.choice(('feq', 'flt', 'fle'))}.{s} {x}, {f[1]}, {f[2]}",
        f"fsqrt.{s} {f[0]}, {f[1]}, {rm}",
        f"fcvt.{rng.choice(('w', 'wu', 'l', 'lu'))}.{s} {x}, {f[1]}, {rm}",
        f"fcvt.{s}.{rng.choice(('l', 'lu'))} {f[0]}, {x}, {rm}",
        f"fcvt.s.{rng.choice(('w', 'wu'))} {f[0]}, {x}, {rm}",
        f"fcvt.s.d {f[0]}, {f[1]}, {rm}",
        f"fcvt.d.s {f[0]}, {f[1]}",
        f"fclass.{s} {x}, {f[1]}",
        f"fmv.x.{'w' if s == 's' else 'd'} {x}, {f[1]}",
        f"fmv.{'w' if s == 's' else 'd'}.x {f[0]}, {x}",
        f"fsrmi {rng.randrange(5)}",
        f"fsflagsi {rng.randrange(32)}",
    ))


def integer(rng):
    d, a, b = (f"x{rng.choice(X)}" for _ in range(3))
    kind = rng.randrange(4)
    if kind == 0:
        return f"{rng.choice(INT_IMM)} {d}, {a}, {rng.randrange(-2048, 2048)}"
    if kind == 1:
        name = rng.choice(list(SHIFTS))
        return f"{name} {d}, {a}, {rng.randint(0, SHIFTS[name])}"
    return f"{rng.choice(INT3)} {d}, {a}, {b}"


def refresh(rng):
    """New numbers, so that registers do not all become NaNs and zeros."""
    x, f = rng.choice(X), rng.randrange(32)
    return f"li x{x}, {number(rng)}\n fmv.d.x f{f}, x{x}"


def main():
    rng = random.Random(int(sys.argv[1]))
    words = 64  # of a block in the buffer: x1..x31, f0..f31, fcsr
    print(f".globl _start\n.bss\n.align 3\nbuffer: .skip {BLOCKS * words * 8}\n.text\n_start: la x3, buffer")
    for x in X:
        print(f" li x{x}, {number(rng)}\n fmv.d.x f{rng.randrange(32)}, x{x}")
    for _ in range(BLOCKS):
        for _ in range(PER_BLOCK):
            print(" " + rng.choice((floating, floating, floating, integer, integer, refresh))(rng))
        for x in X:
            print(f" sd x{x}, {8 * x}(x3)")
        for f in range(32):
            print(f" fsd f{f}, {8 * (32 + f)}(x3)")
        print(f" csrr x5, fcsr\n sd x5, 0(x3)\n ld x5, 40(x3)\n addi x3, x3, {8 * words}")
    print(f" li a0, 1\n la a1, buffer\n li a2, {BLOCKS * words * 8}\n li a7, 64\n ecall\n li a0, 0\n li a7, 93\n ecall")


if __name__ == "__main__":
    main()
