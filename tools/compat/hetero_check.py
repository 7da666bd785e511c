#!/usr/bin/env python3
"""Results of Rodinia programs against computations of our own (tools/compat/hetero.sh).

hetero_check.py NAME OUTPUT FOLDER SOURCES: the program's standard output, the folder it ran in, the folder of its sources.
Exit status 1 with a line that says what is wrong.
"""
import ctypes
import math
import re
import sys
from pathlib import Path

LIBC = ctypes.CDLL("libc.so.6")  # rand() of glibc is the same on every machine
RAND_MAX = 2**31 - 1


def numbers(line, kind=float):
    return [kind(x) for x in line.split()]


def near(got, expected, tolerance, what):
    assert len(got) == len(expected), f"{what}: {len(got)} values, not {len(expected)}"
    for i, (a, b) in enumerate(zip(got, expected)):
        assert abs(a - b) <= tolerance * max(1, abs(b)), f"{what} {i}: {a}, not {b}"


def pathfinder(out, _folder, _sources):
    """The wall is printed, then its first row (on one memory what took its place), then the cheapest ways to the last."""
    rows = [numbers(x, int) for x in out.splitlines() if re.fullmatch(r"(\d+ )+", x)]
    wall, result = rows[:-2], rows[-1]
    assert len(wall) > 1, "no wall"
    cost = wall[0]
    for row in wall[1:]:
        n = len(row)
        cost = [row[j] + min(cost[max(j - 1, 0)], cost[j], cost[min(j + 1, n - 1)]) for j in range(n)]
    near(result, cost, 0, "column")


def needle_matrix(size, penalty, blosum):
    LIBC.srand(7)
    down = [0] + [LIBC.rand() % 10 + 1 for _ in range(size)]
    right = [0] + [LIBC.rand() % 10 + 1 for _ in range(size)]
    score = [[blosum[down[i]][right[j]] for j in range(size + 1)] for i in range(size + 1)]
    m = [[-(i + j) * penalty if not i or not j else 0 for j in range(size + 1)] for i in range(size + 1)]
    for i in range(1, size + 1):
        for j in range(1, size + 1):
            m[i][j] = max(m[i - 1][j - 1] + score[i][j], m[i][j - 1] - penalty, m[i - 1][j] - penalty)
    return m, score


def needle(_out, folder, sources):
    """The values on the way back through the matrix, from the element before its last."""
    table = re.search(r"blosum62\[24\]\[24\] = \{(.*?)\n\};", (sources / "needle.cu").read_text(), re.S).group(1)
    flat = [int(x) for x in re.findall(r"-?\d+", table)]
    size, penalty = 128, 10
    m, score = needle_matrix(size, penalty, [flat[i * 24:(i + 1) * 24] for i in range(24)])
    i = j = size - 1
    way, limit = [m[i][j]], -999
    while i or j:
        nw = m[i - 1][j - 1] if i and j else limit
        w = m[i][j - 1] if j else limit
        n = m[i - 1][j] if i else limit
        best = max(nw + score[i][j], w - penalty, n - penalty)
        for value, step in ((nw, nw + score[i][j]), (w, w - penalty), (n, n - penalty)):
            best = value if best == step else best
        way.append(best)
        i, j = (i - 1, j - 1) if best == nw else (i, j - 1) if best == w else (i - 1, j)
    text = (folder / "result.txt").read_text().split(":", 1)[1]
    near([int(x) for x in re.findall(r"-?\d+", text)], way, 0, "step")


def lud(out, _folder, _sources):
    """The program multiplies its factors; it names each element that differs."""
    assert ">>>Verify<<<<" in out.replace(" ", ""), "it has not verified"
    assert "dismatch" not in out, "a product of its factors is not its matrix"


def srad_step(image, rows, cols, region, rate):
    values = [image[i][j] for i in range(region + 1) for j in range(region + 1)]
    mean = sum(values) / len(values)
    q0 = (sum(x * x for x in values) / len(values) - mean * mean) / (mean * mean)
    diff, coefficient = {}, [[0.0] * cols for _ in range(rows)]
    for i in range(rows):
        for j in range(cols):
            here = image[i][j]
            d = [image[max(i - 1, 0)][j] - here, image[min(i + 1, rows - 1)][j] - here, image[i][max(j - 1, 0)] - here,
                 image[i][min(j + 1, cols - 1)] - here]
            diff[i, j] = d
            gradient, laplace = sum(x * x for x in d) / (here * here), sum(d) / here
            q = (0.5 * gradient - laplace * laplace / 16) / (1 + 0.25 * laplace) ** 2
            coefficient[i][j] = min(max(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0), 1)
    for i in range(rows):
        for j in range(cols):
            c = coefficient[i][j]
            north, south, west, east = diff[i, j]
            flow = c * north + coefficient[min(i + 1, rows - 1)][j] * south + c * west + coefficient[i][min(j + 1, cols - 1)] * east
            image[i][j] += 0.25 * rate * flow


def srad(out, _folder, _sources):
    rows = cols = 64
    LIBC.srand(7)
    image = [[math.exp(LIBC.rand() / RAND_MAX) for _ in range(cols)] for _ in range(rows)]
    for _ in range(2):
        srad_step(image, rows, cols, 31, 0.5)
    printed = out.split("Printing Output:", 1)[1].split("Computation", 1)[0].split()
    near([float(x) for x in printed], [x for row in image for x in row], 1e-4, "pixel")


def solve(a, b):
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            a[i] = [x - f * y for x, y in zip(a[i], a[k])]
            b[i] -= f * b[k]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return x


def gaussian(out, _folder, _sources):
    n = 32
    a = [[10 * math.exp(-0.01 * abs(i - j)) for j in range(n)] for i in range(n)]
    printed = out.split("The final solution is:", 1)[1].split("Time", 1)[0].split()
    near([float(x) for x in printed], solve(a, [1.0] * n), 0.005, "unknown")


def bfs(_out, folder, _sources):
    words = iter((folder / "graph.txt").read_text().split())
    n = int(next(words))
    node = [(int(next(words)), int(next(words))) for _ in range(n)]
    next(words)
    edge = [(int(next(words)), next(words))[0] for _ in range(int(next(words)))]
    cost, front, steps = [-1] * n, [0], 0
    cost[0] = 0
    while front:
        steps += 1
        reached = []
        for v in front:
            for w in edge[node[v][0]:sum(node[v])]:
                if cost[w] < 0:
                    cost[w] = steps
                    reached.append(w)
        front = reached
    near([int(x.split(":")[1]) for x in (folder / "result.txt").read_text().splitlines()], cost, 0, "node")


def main():
    name, out, folder, sources = sys.argv[1], *map(Path, sys.argv[2:5])
    checks = {"pathfinder": pathfinder, "nw": needle, "lud": lud, "srad": srad, "gaussian": gaussian, "bfs": bfs}
    try:
        checks[name](out.read_text(errors="replace"), folder, sources)
    except (AssertionError, LookupError, ValueError, OSError, AttributeError) as e:
        print(f"{name}: {type(e).__name__}: {e}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
