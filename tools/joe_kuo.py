#!/usr/bin/env python3
"""joe_kuo.py TABLE OUT: packs S. Joe and F. Y. Kuo's table of Sobol directions (new-joe-kuo-6.21201: a line of words, then d, s, a and
m_1 to m_s of each dimension from 2 on) for libcurand: of 20,000 dimensions, least bit first, s in 5 bits, a in s - 1, m_i without
its last bit, which is 1, in i - 1. src/libs/curand/rand_directions.c reads it."""
import sys

DIMENSIONS = 20000


def main():
    bits = []
    with open(sys.argv[1]) as table:
        next(table)
        for line in list(table)[: DIMENSIONS - 1]:
            _, s, a, *m = map(int, line.split())
            fields = [(s, 5), (a, s - 1)] + [(v >> 1, i) for i, v in enumerate(m)]
            bits += [value >> b & 1 for value, width in fields for b in range(width)]
    whole = int("".join(map(str, reversed(bits))), 2)
    with open(sys.argv[2], "wb") as out:
        out.write(whole.to_bytes((len(bits) + 7) // 8, "little"))


if __name__ == "__main__":
    main()
