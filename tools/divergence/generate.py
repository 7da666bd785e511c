#!/usr/bin/env python3
"""Random self-checking CUDA kernels about divergence and convergence (needs numpy, nvcc).

Every kernel is a random structured program over a few uint32 variables. It is legal CUDA: a *_sync operation names
exactly the lanes that reach it (exited lanes apart), groups of unknown shape (coalesced_threads, __activemask) are used
only for sums that do not depend on the shape, shared memory is exchanged between barriers, other memory is touched by
commutative atomics or under locks. The same program is interpreted here, all threads at once under a mask, and the
interpreter asserts that each warp operation's mask is that of the lanes present. A host program (written here, too)
launches the kernels of a cubin and compares.

  generate.py --seed 1 --count 40 --arch 75,86 --opt=-O3 --runner "warpstep exec --functional --quiet" --out DIR
  generate.py --seed 17 --only 12 --emit                    prints one kernel
  generate.py --seed 101 --count 12 --opt=-O3 --prebuilt o3 writes tests/divergence/o3.fatbin and .expect
"""
import argparse, os, random, resource, shlex, struct, subprocess, sys
import numpy as np

U = np.uint32
NV, NACC, GRID = 6, 32, 2
FULL = 0xffffffff
BUDGET = 2500  # statements interpreted per kernel


class TooLong(Exception):
    pass


class IllegalProgram(Exception):
    pass


# ---- expressions ---------------------------------------------------------------------------------
# ('v',name) ('c',n) ('lane',) ('tid',) ('uni',) ('la',e) ('un',op,a) ('b',op,a,b) ('sel',cond,a,b)
# conditions: ('cmp',op,a,b)

def emit_e(e):
    k = e[0]
    if k == 'v': return e[1]
    if k == 'c': return '%du' % e[1]
    if k == 'lane': return 'lane'
    if k == 'tid': return 'tid'
    if k == 'uni': return 'uni'
    if k == 'la': return 'la[%s & 7u]' % emit_e(e[1])
    if k == 'un': return {'not': '(~%s)', 'popc': '(u32)__popc(%s)', 'neg': '(0u-%s)', 'brev': '__brev(%s)',
                          'ffs': '(u32)__ffs(%s)'}[e[1]] % emit_e(e[2])
    if k == 'sel': return '(%s ? %s : %s)' % (emit_c(e[1]), emit_e(e[2]), emit_e(e[3]))
    a, b = emit_e(e[2]), emit_e(e[3])
    f = {'+': '(%s + %s)', '-': '(%s - %s)', '*': '(%s * %s)', '&': '(%s & %s)', '|': '(%s | %s)', '^': '(%s ^ %s)',
         '<<': '(%s << (%s & 31u))', '>>': '(%s >> (%s & 31u))', 'min': 'min(%s, %s)', 'max': 'max(%s, %s)',
         '/': '(%s / (%s | 1u))', '%': '(%s %% (%s | 1u))', 'hi': '__umulhi(%s, %s)'}[e[1]]
    return f % (a, b)


def emit_c(c):
    return '(%s %s %s)' % (emit_e(c[2]), c[1], emit_e(c[3]))


def popc(x):
    x = x.astype(np.uint64)
    n = np.zeros(x.shape, np.uint64)
    for i in range(32): n += (x >> np.uint64(i)) & np.uint64(1)
    return n.astype(U)


def brev(x):
    r = np.zeros_like(x)
    for i in range(32): r |= ((x >> U(i)) & U(1)) << U(31 - i)
    return r


def ffs(x):
    low = x & (~x + U(1))
    return np.where(x == 0, U(0), popc(low - U(1)) + U(1)).astype(U)


# ---- generator -----------------------------------------------------------------------------------

class Ctx:
    """Where a statement stands. m: C name of the exact mask, or None. uniform: all threads of the grid's CTA are here."""

    def __init__(s, **kw):
        s.m, s.uniform, s.depth, s.loops, s.fn, s.callable_, s.names, s.inloop, s.insw, s.dead = \
            None, False, 0, [], None, [], [], 0, False, False
        s.__dict__.update(kw)

    def sub(s, **kw):
        d = dict(s.__dict__)
        d.update(kw)
        return Ctx(**d)


class Gen:
    off = set()
    size = (3, 7)

    def __init__(s, rng, idx, cg):
        s.r, s.idx, s.cg = rng, idx, cg
        s.n = 0
        s.block = rng.choice([64, 96, 64, 96, 72]) if rng.random() < .5 else rng.choice([64, 96])
        s.partial = s.block % 32 != 0
        s.uni = rng.randrange(1, 1 << 16)
        # swarm: a kernel uses some features only
        s.w = {k: (rng.choice([0, 1, 1, 2, 4]) * b) for k, b in dict(
            assign=3, iff=3, loop=2, switch=1, shfl=1, ballot=1.5, anyall=.6, match=.7, red=.8, syncwarp=.6, xchgw=.7,
            xchg=.7, barred=.4, call=1, fptr=.6, rec=.6, la=.6, lock=.5, coal=1.2, aggr=.5, atom=.8, esc=1.4, ret=.5,
            flag=.3, twosync=.3, ticket=.3, refresh=.3).items()}
        for k in s.off: s.w[k] = 0
        s.w['assign'] = max(s.w['assign'], 1.5)
        s.w['iff'] = max(s.w['iff'], 1.5)
        s.track = rng.choice([.2, .5, .5, .8])
        s.may_dead = s.partial or s.w['ret'] > 0
        s.fns = []
        s.nflag = 0

    def new(s, p):
        s.n += 1
        return '%s%d' % (p, s.n)

    # expressions
    def e(s, c, d=2):
        r = s.r
        if d == 0 or r.random() < .3:
            k = r.random()
            if k < .62: return ('v', r.choice(c.names))
            if k < .75: return ('c', r.choice([1, 2, 3, 5, 7, 13, 31, 0x55, 0x9e3779b9, r.randrange(1 << 32)]))
            if k < .87: return ('lane',)
            if k < .94: return ('tid',)
            if k < .97: return ('uni',)
            return ('la', ('v', r.choice(c.names)))
        k = r.random()
        if k < .1: return ('un', r.choice(['not', 'popc', 'neg', 'brev', 'ffs']), s.e(c, d - 1))
        if k < .18: return ('sel', s.c(c, d - 1), s.e(c, d - 1), s.e(c, d - 1))
        op = r.choice(['+', '-', '*', '&', '|', '^', '<<', '>>', 'min', 'max', '+', '^', '*', '/', '%', 'hi']) \
            if r.random() < .8 else r.choice(['+', '^', '*'])
        return ('b', op, s.e(c, d - 1), s.e(c, d - 1))

    def c(s, c, d=1):
        r = s.r
        k = r.random()
        v = ('v', r.choice(c.names))
        if k < .35:
            n = r.choice([2, 4, 8, 16])
            return ('cmp', r.choice(['<', '>=', '==', '!=']), ('b', '&', ('b', '>>', v, ('c', r.randrange(28))), ('c', n - 1)),
                    ('c', r.randrange(n)))
        if k < .5: return ('cmp', r.choice(['<', '>=', '==', '!=']), ('lane',), ('c', r.choice([0, 1, 8, 15, 16, 17, 24, 31, r.randrange(32)])))
        if k < .6: return ('cmp', '!=', ('b', '&', ('lane',), ('c', r.choice([1, 2, 4, 8, 16, 3, 5]))), ('c', 0))
        if k < .66: return ('cmp', r.choice(['<', '!=']), ('b', '&', ('uni',), ('c', r.choice([1, 2, 4, 3]))), ('c', 1))
        if k < .75: return ('cmp', r.choice(['<', '>']), ('tid',), ('c', r.randrange(1, s.block)))
        return ('cmp', r.choice(['<', '>=', '<', '==']), s.e(c, d), s.e(c, d))

    def trips(s, c):
        return ('b', '&', ('b', '>>', s.e(c, 1), ('c', s.r.choice([0, 0, 3, 8, 20]))), ('c', s.r.choice([1, 3, 3, 7])))

    # statements
    def stmts(s, c, n):
        out = []
        for _ in range(n):
            c2 = s.stmt(c, out)
            if c2: c = c2
            if out and out[-1][0] in ('brk', 'cont', 'ret'): break
        return out, c

    def block_(s, c, lo=1, hi=4):
        hi = max(lo, hi - c.depth // 2)
        return s.stmts(c, s.r.randint(lo, hi))[0]

    def stmt(s, c, out):
        r = s.r
        w = dict(s.w)
        if c.depth >= 4:
            for k in ('iff', 'loop', 'switch'): w[k] *= .15
        if c.inloop >= 2: w['loop'] = 0
        if c.inloop >= 1:
            for k in ('call', 'fptr', 'rec', 'lock'): w[k] *= .5
        if not c.m:
            for k in ('shfl', 'ballot', 'anyall', 'match', 'red', 'syncwarp', 'xchgw', 'twosync', 'refresh'): w[k] = 0
        if not c.uniform:
            for k in ('xchg', 'barred'): w[k] = 0
        if not (c.uniform and c.m == 'FULLM' and not c.inloop): w['flag'] = 0
        if c.depth == 0: w['esc'] = 0
        if not c.loops and not c.fn: w['esc'] = 0
        if c.fn or c.inloop > 1: w['ret'] = 0
        if not c.callable_: w['call'] = w['fptr'] = w['rec'] = 0
        k = r.choices(list(w), list(w.values()))[0]
        return getattr(s, 's_' + k)(c, out)

    def dst(s, c):
        return s.r.choice(c.names)

    def s_assign(s, c, out):
        out.append(('set', s.dst(c), s.e(c, 3)))

    def s_la(s, c, out):
        out.append(('laset', s.e(c, 1), s.e(c, 1)))

    def s_iff(s, c, out):
        cond = s.c(c, 1)
        has_else = s.r.random() < .55
        if c.m and s.r.random() < s.track:
            m1 = s.new('m')
            a = s.block_(c.sub(m=m1, depth=c.depth + 1, uniform=False, noesc=True))
            b = s.block_(c.sub(m=m1 + 'n', depth=c.depth + 1, uniform=False, noesc=True)) if has_else else []
            out.append(('tif', c.m, m1, cond, a, b))
        else:
            cc = c.sub(m=None, depth=c.depth + 1, uniform=False, noesc=bool(c.m) or getattr(c, 'noesc', False))
            out.append(('if', cond, s.block_(cc), s.block_(cc) if has_else else []))

    def s_loop(s, c, out):
        L = s.new('L')
        n = s.trips(c)
        kind = s.r.choice(['for', 'for', 'do', 'shift'])
        if c.uniform and s.r.random() < .35:  # same trip count everywhere
            n = ('b', '&', ('b', '>>', ('uni',), ('c', s.r.randrange(12))), ('c', 3))
            body = s.block_(c.sub(depth=c.depth + 1, inloop=c.inloop + 1, loops=[], noesc=True, insw=False), 1, 4)
            out.append(('for', L, 'for', n, body))
        elif c.m and s.r.random() < s.track:
            mb = s.new('m')
            mode = s.r.choice(['brk', 'cont', None])
            body = s.block_(c.sub(m=mb, depth=c.depth + 1, inloop=c.inloop + 1, loops=[], uniform=False, noesc=True,
                                  insw=False), 1, 4)
            if mode:
                q = s.new('m')
                cond = s.c(c)
                tail = s.block_(c.sub(m=mb, depth=c.depth + 1, inloop=c.inloop + 1, loops=[], uniform=False, noesc=True,
                                      insw=False), 1, 3)
                body = body + [('tesc', mode, L, mb, q, cond, 'mL' + L)] + tail
            out.append(('tfor', L, kind if kind != 'do' else 'for', n, c.m, 'mL' + L, mb, body))
        else:
            # escapes may go to this loop, and to outer loops unless a tracked region lies between
            outer = [] if (c.m or getattr(c, 'noesc', False)) else c.loops
            cc = c.sub(m=None, depth=c.depth + 1, inloop=c.inloop + 1, loops=outer + [L], uniform=False, noesc=bool(c.m) or getattr(c, 'noesc', False),
                       insw=False)
            out.append(('for', L, kind, n, s.block_(cc, 1, 4)))

    def s_switch(s, c, out):
        k = s.r.choice([2, 3, 4, 6, 8])
        e = ('b', '%', s.e(c, 1), ('c', k | 1))
        k = k | 1
        if c.m and s.r.random() < s.track:
            m1 = s.new('m')
            cc = c.sub(m=m1, depth=c.depth + 1, uniform=False, noesc=True, insw=True)
            cases = [(s.block_(cc, 1, 2), True) for _ in range(k - (s.r.random() < .3))]
        else:
            m1 = None
            cc = c.sub(m=None, depth=c.depth + 1, uniform=False, noesc=bool(c.m) or getattr(c, 'noesc', False), insw=True)
            cases = [(s.block_(cc, 1, 2), s.r.random() < .7) for _ in range(k - (s.r.random() < .3))]
        out.append(('sw', s.new('s'), c.m, m1, e, cases))

    def s_esc(s, c, out):
        """break, continue, to this loop or an outer one; return from a function"""
        if c.m: return  # in tracked loops: tesc
        t = [(k, L) for L in c.loops[-2:] for k in ('brk', 'cont')]
        if c.fn and not getattr(c, 'noesc', False) and s.fn_ret_ok: t.append(('fret', None))
        if not t: return
        k, L = s.r.choice(t)
        st = ('fret', s.e(c, 1)) if k == 'fret' else (k, L, bool(L == c.loops[-1] and not c.insw))
        out.append(('if', s.c(c), [('set', s.dst(c), s.e(c, 1)), st], []))

    def s_ret(s, c, out):
        s.may_dead = True
        cond = ('cmp', '<', s.e(c, 2), ('c', s.r.choice([1 << 26, 1 << 28, 1 << 30])))
        out.append(('if', cond, [('kret',)], []))

    def s_refresh(s, c, out):
        if c.m == 'FULLM': return
        out.append(('refresh', c.m))

    def alive(s, c, out):
        """shuffles read lanes of the mask: make it that of the living"""
        if s.may_dead:
            m = s.new('m')
            out.append(('alive', m, c.m))
            return m
        return c.m

    def s_shfl(s, c, out):
        m = s.alive(c, out)
        k = s.r.choice(['idx', 'xor', 'up', 'down', 'bcast'])
        out.append(('shfl', k, s.dst(c), m, s.e(c, 1), s.e(c, 1) if k == 'idx' else ('c', s.r.choice([1, 2, 4, 8, 16, 3, 31]))))

    def s_ballot(s, c, out):
        out.append(('ballot', s.dst(c), c.m, s.c(c)))

    def s_anyall(s, c, out):
        out.append((s.r.choice(['any', 'all']), s.dst(c), c.m, s.c(c)))

    def s_match(s, c, out):
        k = s.r.choice(['match', 'match', 'matchall'])
        m = s.alive(c, out) if k == 'matchall' else c.m
        out.append((k, s.dst(c), m, ('b', '&', s.e(c, 1), ('c', s.r.choice([1, 3, 7])))))

    def s_red(s, c, out):
        m = s.alive(c, out)
        out.append(('red', s.r.choice(['add', 'max', 'xor', 'and']), s.dst(c), m, s.e(c, 1)))

    def s_syncwarp(s, c, out):
        out.append(('syncwarp', c.m))

    def s_xchgw(s, c, out):
        m = s.alive(c, out)
        out.append(('xchgw', s.dst(c), m, s.e(c, 1), s.r.choice([1, 2, 3, 8, 16, 31])))

    def s_twosync(s, c, out):
        """the two sides of a branch meet at different __syncwarp with the same mask"""
        m = s.alive(c, out)
        cc = c.sub(m=None, depth=c.depth + 1, uniform=False, noesc=True, loops=[])
        old, s.w['ret'] = s.w['ret'], 0
        a, b = s.block_(cc, 1, 2), s.block_(cc, 1, 2)
        s.w['ret'] = old
        out.append(('twosync', s.dst(c), m, s.c(c), a, b, s.e(c, 1), s.r.choice([1, 2, 16, 31])))

    def s_xchg(s, c, out):
        out.append(('xchg', s.dst(c), s.e(c, 1), s.r.randrange(1, s.block), s.r.random() < .3))

    def s_barred(s, c, out):
        out.append(('barred', s.r.choice(['count', 'or', 'and']), s.dst(c), s.c(c)))

    def s_flag(s, c, out):
        if s.nflag >= 4: return
        s.nflag += 1
        m = s.alive(c, out)
        out.append(('flag', s.nflag - 1, s.dst(c), m, s.e(c, 1)))

    def s_lock(s, c, out):
        shared = s.r.random() < .5
        out.append(('lock', s.r.choice('ABCD'), shared, s.r.randrange(2), s.e(c, 1), s.new('d')))

    def s_ticket(s, c, out):
        out.append(('ticket', s.r.random() < .5))

    def s_atom(s, c, out):
        out.append(('atom', s.r.choice(['Add', 'Max', 'Xor', 'Or']), s.r.random() < .5, s.e(c, 1)))

    def s_coal(s, c, out):
        if not s.cg: return s.s_aggr(c, out)
        k = s.r.choice(['red', 'red', 'red', 'ballot', 'part', 'label', 'size'])
        out.append(('coal', k, s.r.random() < .5, s.e(c, 1), s.new('g')))

    def s_aggr(s, c, out):
        out.append(('aggr', s.r.choice(['count', 'sum']), s.r.random() < .5, s.e(c, 1), s.new('g')))

    def fcall(s, c, out, kind):
        fs = [f for f in c.callable_ if (f['tracked'] == bool(c.m)) and (kind == 'rec') == f['rec'] and (kind != 'fptr' or f['ptr'])]
        if not fs: return
        if kind == 'fptr':
            out.append(('fptr', s.dst(c), c.m, s.new('s'), s.e(c, 1), s.e(c, 1), s.e(c, 1), fs))
        else:
            f = s.r.choice(fs)
            out.append(('call', s.dst(c), f, c.m, s.e(c, 1), s.e(c, 1), ('b', '&', s.e(c, 1), ('c', 7 if f['rec'] == 1 else 3))))

    def s_call(s, c, out): s.fcall(c, out, 'call')
    def s_fptr(s, c, out): s.fcall(c, out, 'fptr')
    def s_rec(s, c, out): s.fcall(c, out, 'rec')

    def function(s, i):
        tracked, rec = s.r.random() < .5, s.r.choice([0, 0, 1, 1, 2])
        f = dict(name='k%d_f%d' % (s.idx, i), tracked=tracked, rec=rec, ptr=not rec, noinline=s.r.random() < .8 or rec)
        names = ['p0', 'p1', 'p2']
        c = Ctx(m='m' if tracked else None, depth=1, fn=f, names=names, inloop=1,
                callable_=[g for g in s.fns if not g['rec']][:2] if s.r.random() < .4 else [], noesc=False)
        old = dict(s.w)
        s.w['ret'] = 0
        s.fn_ret_ok = not tracked or s.r.random() < .4
        if tracked and s.fn_ret_ok:
            # the mask is lost where a lane may have returned
            a = s.stmts(c, s.r.randint(1, 2))[0]
            q = s.new('m')
            a.append(('tfret', 'm', q, s.c(c), s.e(c, 1)))
            s.fn_ret_ok = False
        else:
            a = s.block_(c, 1, 3)
        if tracked: s.fn_ret_ok = False
        body = list(a)
        for k in range(rec):
            cond = ('cmp', '>', ('v', 'd'), ('c', 0)) if s.r.random() < .5 else ('cmp', '>', ('b', '*', ('v', 'd'), ('b', '&', ('v', 'p0'), ('c', s.r.choice([1, 3, 255])))), ('c', 0))
            m1 = s.new('m')
            call = ('call', s.dst(c), f, m1 if tracked else None, s.e(c, 1), s.e(c, 1), ('b', '-', ('v', 'd'), ('c', 1)))
            body.append(('tif', 'm', m1, cond, [call], []) if tracked else ('if', cond, [call], []))
            body += s.block_(c.sub(callable_=[]), 1, 2)
        f['body'], f['ret'] = body, s.e(c, 1)
        s.w = old
        s.fns.append(f)

    def kernel(s):
        s.fn_ret_ok = False
        if s.w['call'] or s.w['fptr'] or s.w['rec']:
            for i in range(s.r.randint(1, 3)): s.function(i)
        s.fn_ret_ok = False
        c = Ctx(m='FULLM', uniform=True, depth=0, names=['v%d' % i for i in range(NV)], callable_=s.fns, noesc=False)
        s.body = []
        while len(s.body) < s.r.randint(*s.size): s.stmt(c, s.body)


# ---- CUDA ----------------------------------------------------------------------------------------

PRE = r'''
typedef unsigned u32;
#define FULLM 0xffffffffu
struct Env { u32 *acc; volatile u32 *ctr; u32 *lk; u32 *sacc; volatile u32 *sctr; u32 *slk; u32 *shw; };
__device__ __forceinline__ u32 red_add(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(m, x);
#else
  u32 s = 0; for (u32 b = m; b; b &= b - 1) s += __shfl_sync(m, x, __ffs(b) - 1); return s;
#endif
}
__device__ __forceinline__ u32 red_max(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(m, x);
#else
  u32 s = 0; for (u32 b = m; b; b &= b - 1) s = max(s, __shfl_sync(m, x, __ffs(b) - 1)); return s;
#endif
}
__device__ __forceinline__ u32 red_xor(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_xor_sync(m, x);
#else
  u32 s = 0; for (u32 b = m; b; b &= b - 1) s ^= __shfl_sync(m, x, __ffs(b) - 1); return s;
#endif
}
__device__ __forceinline__ u32 red_and(u32 m, u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_and_sync(m, x);
#else
  u32 s = ~0u; for (u32 b = m; b; b &= b - 1) s &= __shfl_sync(m, x, __ffs(b) - 1); return s;
#endif
}
__device__ __noinline__ u32 xchg_call(u32 *sh, u32 n, u32 x, u32 k) {
  u32 t = threadIdx.x; sh[t] = x; __syncthreads(); x = sh[(t + k) % n]; __syncthreads(); return x;
}
'''
PRE_CG = '''#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
'''
# accumulators: 0..7 add, 8..11 max, 12..15 xor, 16..19 or, 20..21 counters under locks, 22..23 tickets' sums, 24.. tickets
SLOT = {'Add': 0, 'Max': 8, 'Xor': 12, 'Or': 16}


class Emit:
    def __init__(s, g):
        s.g, s.o, s.ind = g, [], 1

    def p(s, t):
        s.o.append('  ' * s.ind + t)

    def blk(s, b):
        s.ind += 1
        for x in b: s.st(x)
        s.ind -= 1

    def st(s, x):
        k, E, C, p = x[0], emit_e, emit_c, s.p
        if k == 'set': p('%s = %s;' % (x[1], E(x[2])))
        elif k == 'laset': p('la[%s & 7u] = %s;' % (E(x[1]), E(x[2])))
        elif k == 'if':
            p('if (%s) {' % C(x[1])); s.blk(x[2])
            if x[3]: p('} else {'); s.blk(x[3])
            p('}')
        elif k == 'tif':
            _, m, m1, c, a, b = x
            p('{ bool c%s = %s; u32 %s = __ballot_sync(%s, c%s), %sn = %s & ~%s;' % (m1, C(c), m1, m, m1, m1, m, m1))
            p('if (c%s) {' % m1); s.blk(a)
            if b: p('} else {'); s.blk(b)
            p('} }')
        elif k == 'for':
            _, L, kind, n, body = x
            i = 'i' + L
            if kind == 'for': p('for (u32 %s = 0, n%s = %s; %s < n%s; %s++) { {' % (i, L, E(n), i, L, i))
            elif kind == 'shift': p('for (u32 %s = %s; %s; %s >>= 1) { {' % (i, E(n), i, i))
            else: p('{ u32 %s = %s; do { {' % (i, E(n)))
            s.blk(body)
            p('} C%s:;' % L)
            p('} while (%s-- != 0); }' % i if kind == 'do' else '}')
            p('B%s:;' % L)
        elif k == 'tfor':
            _, L, kind, n, m, mL, mb, body = x
            i = 'i' + L
            p('{ u32 %s = %s, n%s = %s; u32 %s = %s;' % (i, '0' if kind == 'for' else E(n), L, E(n), mL, m))
            p('for (;; %s) { bool c%s = %s; %s = __ballot_sync(%s, c%s); if (!c%s) break; u32 %s = %s; {' % (
                i + '++' if kind == 'for' else i + ' >>= 1', L, '%s < n%s' % (i, L) if kind == 'for' else i + ' != 0', mL, mL, L, L, mb, mL))
            s.blk(body)
            p('} C%s:; } B%s:; }' % (L, L))
        elif k == 'tesc':
            _, mode, L, mb, q, c, mL = x
            p('bool c%s = %s; u32 %s = __ballot_sync(%s, c%s); if (c%s) %s; %s &= ~%s;%s' % (
                q, C(c), q, mb, q, q, 'break' if mode == 'brk' else 'continue', mb, q, ' %s &= ~%s;' % (mL, q) if mode == 'brk' else ''))
        elif k == 'brk': p('break;' if x[2] else 'goto B%s;' % x[1])
        elif k == 'cont': p('continue;' if x[2] else 'goto C%s;' % x[1])
        elif k == 'fret': p('return %s;' % E(x[1]))
        elif k == 'tfret':
            _, m, q, c, e = x
            p('bool c%s = %s; u32 %s = __ballot_sync(%s, c%s); if (c%s) return %s; %s &= ~%s;' % (q, C(c), q, m, q, q, E(e), m, q))
        elif k == 'kret': p('OUT(); return;')
        elif k == 'refresh': p('%s = __ballot_sync(%s, 1);' % (x[1], x[1]))
        elif k == 'alive': p('u32 %s = __ballot_sync(%s, 1);' % (x[1], x[2]))
        elif k == 'sw':
            _, v, m, m1, e, cases = x
            p('{ u32 %s = %s;%s switch (%s) {' % (v, E(e), ' u32 %s = __match_any_sync(%s, %s);' % (m1, m, v) if m1 else '', v))
            for i, (b, br) in enumerate(cases):
                p('case %d: {' % i); s.blk(b); p('}' + (' break;' if br else ' // falls through'))
            p('default:; } }')
        elif k == 'shfl':
            _, kd, d, m, a, b = x
            A, B = E(a), E(b)
            if kd == 'idx':
                p('{ u32 t = %s & 31u; if (!(%s >> t & 1)) t = lane; %s = __shfl_sync(%s, %s, t); }' % (B, m, d, m, A))
            elif kd == 'bcast': p('%s = __shfl_sync(%s, %s, __ffs(%s) - 1);' % (d, m, A, m))
            elif kd == 'xor': p('{ u32 x = %s, t = __shfl_xor_sync(%s, x, %s); %s = (%s >> (lane ^ %s) & 1) ? t : x; }' % (A, m, B, d, m, B))
            elif kd == 'up': p('{ u32 x = %s, t = __shfl_up_sync(%s, x, %s); %s = lane >= %s && (%s >> ((lane - %s) & 31) & 1) ? t : x; }' % (A, m, B, d, B, m, B))
            else: p('{ u32 x = %s, t = __shfl_down_sync(%s, x, %s); %s = lane + %s < 32 && (%s >> ((lane + %s) & 31) & 1) ? t : x; }' % (A, m, B, d, B, m, B))
        elif k == 'ballot': p('%s ^= __ballot_sync(%s, %s);' % (x[1], x[2], C(x[3])))
        elif k in ('any', 'all'): p('%s += __%s_sync(%s, %s) ? 77u : 5u;' % (x[1], k, x[2], C(x[3])))
        elif k == 'match': p('%s ^= __match_any_sync(%s, %s);' % (x[1], x[2], E(x[3])))
        elif k == 'matchall': p('{ int t; u32 x = __match_all_sync(%s, %s, &t); %s ^= x + (t ? 1u : 0u); }' % (x[2], E(x[3]), x[1]))
        elif k == 'red': p('%s += red_%s(%s, %s);' % (x[2], x[1], x[3], E(x[4])))
        elif k == 'syncwarp': p('__syncwarp(%s);' % x[1])
        elif k == 'xchgw':
            _, d, m, e, j = x
            p('env.shw[tid] = %s; __syncwarp(%s); { u32 t = lane ^ %du; if (%s >> t & 1) %s ^= env.shw[(tid & ~31u) | t]; } __syncwarp(%s);' % (E(e), m, j, m, d, m))
        elif k == 'twosync':
            _, d, m, c, a, b, e, j = x
            p('if (%s) {' % C(c)); s.blk(a); p('  env.shw[tid] = %s; __syncwarp(%s);' % (E(e), m))
            p('} else {'); s.blk(b); p('  env.shw[tid] = %s + 1; __syncwarp(%s);' % (E(e), m)); p('}')
            p('{ u32 t = lane ^ %du; if (%s >> t & 1) %s ^= ((volatile u32 *)env.shw)[(tid & ~31u) | t]; } __syncwarp(%s);' % (j, m, d, m))
        elif k == 'xchg':
            _, d, e, n, call = x
            if call: p('%s += xchg_call(sh, %du, %s, %du);' % (d, s.g.block, E(e), n))
            else: p('sh[tid] = %s; __syncthreads(); %s += sh[(tid + %du) %% %du]; __syncthreads();' % (E(e), d, n, s.g.block))
        elif k == 'barred':
            p('%s += (u32)__syncthreads_%s(%s) %s;' % (x[2], x[1], C(x[3]), '* 3u' if x[1] == 'count' else '? 9u : 4u'))
        elif k == 'flag':
            _, i, d, m, e = x
            p('{ volatile u32 *f = flags + %d * 3 + (tid >> 5); if (lane == (u32)__ffs(%s) - 1) { u32 t = %s; __threadfence_block(); *f = t | 1u; %s = t | 1u; }' % (i, m, E(e), d))
            p('  else { u32 t; while ((t = *f) == 0) ; %s ^= t; } }' % d)
        elif k == 'lock':
            _, kd, shd, i, e, v = x
            L, ct = ('&env.slk[%d]' % i, 'env.sctr[%d]' % i) if shd else ('&env.lk[%d]' % i, 'env.ctr[%d]' % i)
            crit = '__threadfence(); %s = %s + %s; __threadfence();' % (ct, ct, 'e' + v)
            p('{ u32 e%s = %s;' % (v, E(e)))
            if kd == 'A': p('for (bool %s = false; !%s;) { if (atomicCAS(%s, 0u, 1u) == 0u) { %s atomicExch(%s, 0u); %s = true; } } }' % (v, v, L, crit, L, v))
            elif kd == 'B': p('while (atomicCAS(%s, 0u, 1u) != 0u) ; %s atomicExch(%s, 0u); }' % (L, crit, L))
            elif kd == 'C': p('while (true) { if (atomicCAS(%s, 0u, 1u) == 0u) { %s atomicExch(%s, 0u); break; } } }' % (L, crit, L))
            else: p('for (u32 %s = 8; atomicCAS(%s, 0u, 1u) != 0u; %s = %s < 64 ? %s * 2 : %s) __nanosleep(%s); %s atomicExch(%s, 0u); }' % (v, L, v, v, v, v, v, crit, L))
        elif k == 'ticket':
            a = 'env.sacc' if x[1] else 'env.acc'
            p('{ u32 t = atomicAdd(&%s[24], 1u); atomicAdd(&%s[22], t * 3u + 1u); }' % (a, a))
        elif k == 'atom':
            _, op, shd, e = x
            p('atomic%s(&%s[%d + (tid & 3u)], %s);' % (op, 'env.sacc' if shd else 'env.acc', SLOT[op], E(e)))
        elif k == 'coal':
            _, kd, shd, e, g = x
            a = 'env.sacc' if shd else 'env.acc'
            p('{ auto %s = cg::coalesced_threads(); u32 x = %s;' % (g, E(e)))
            if kd == 'red': p('u32 t = cg::reduce(%s, x, cg::plus<u32>()); if (%s.thread_rank() == 0) atomicAdd(&%s[4], t); }' % (g, g, a))
            elif kd == 'ballot': p('u32 t = __popc(%s.ballot(x & 1)); if (%s.thread_rank() == 0) atomicAdd(&%s[5], t); }' % (g, g, a))
            elif kd == 'size': p('%s.sync(); if (%s.thread_rank() == 0) atomicAdd(&%s[6], (u32)%s.size()); }' % (g, g, a, g))
            elif kd == 'part': p('auto h = cg::binary_partition(%s, (bool)(x & 1)); u32 t = cg::reduce(h, x, cg::plus<u32>()); if (h.thread_rank() == 0) atomicAdd(&%s[x & 1], t); }' % (g, a))
            else: p('auto h = cg::labeled_partition(%s, x & 3); u32 t = cg::reduce(h, x, cg::plus<u32>()); if (h.thread_rank() == 0) atomicAdd(&%s[x & 3], t); }' % (g, a))
        elif k == 'aggr':
            _, kd, shd, e, g = x
            a = 'env.sacc' if shd else 'env.acc'
            p('{ u32 %s = __activemask(), x = %s, t = %s; if (lane == (u32)__ffs(%s) - 1) atomicAdd(&%s[7], t); }' % (
                g, E(e), '__popc(%s)' % g if kd == 'count' else 'red_add(%s, x)' % g, g, a))
        elif k == 'call':
            _, d, f, m, a, b, dep = x
            p('%s ^= %s(env, %s, %s, %s, %s);' % (d, f['name'], E(a), E(b), E(dep), m or '0'))
        elif k == 'fptr':
            _, d, m, v, i, a, b, fs = x
            n = 'k%d_tab%d' % (s.g.idx, 1 if m else 0)
            p('{ u32 %s = %s %% %du; u32 mm = %s; %s ^= %s[%s](env, %s, %s, 0, mm); }' % (
                v, E(i), len(fs), '__match_any_sync(%s, %s)' % (m, v) if m else '0', d, n, v, E(a), E(b)))
        else: raise Exception(k)


def emit_kernel(g):
    o = []
    sig = '__device__ %s u32 %s(const Env &env, u32 p0, u32 p1, u32 d, u32 m)'
    for f in g.fns: o.append(sig % ('__noinline__' if f['noinline'] else '', f['name']) + ';')
    for t in (0, 1):
        fs = [f for f in g.fns if f['tracked'] == bool(t) and f['ptr']]
        if fs: o.append('__device__ u32 (*k%d_tab%d[])(const Env &, u32, u32, u32, u32) = { %s };' % (g.idx, t, ', '.join(f['name'] for f in fs)))
    for f in g.fns:
        e = Emit(g)
        e.blk(f['body'])
        o.append(sig % ('__noinline__' if f['noinline'] else '', f['name']) + ' {')
        o.append('  const u32 tid = threadIdx.x, lane = tid & 31, uni = %du; u32 p2 = p0 ^ p1, la[8]; for (int i = 0; i < 8; i++) la[i] = p0 + i;' % g.uni)
        o += e.o + ['  return %s;' % emit_e(f['ret']), '}']
    e = Emit(g)
    e.blk(g.body)
    o.append('extern "C" __global__ void k%d(const u32 *in, u32 *out, u32 *acc, u32 *lk, u32 uni) {' % g.idx)
    o.append('  __shared__ u32 sh[96], shw[96], sacc[32], sctr[2], slk[2]; __shared__ volatile u32 flags[12];')
    o.append('  const u32 tid = threadIdx.x, lane = tid & 31, gt = blockIdx.x * %du + tid;' % g.block)
    o.append('  sh[tid] = 0; shw[tid] = 0; if (tid < 32) sacc[tid] = 0; if (tid < 2) sctr[tid] = slk[tid] = 0; if (tid < 12) flags[tid] = 0;')
    o.append('  const Env env = { acc, acc + 20, lk, sacc, sctr, slk, shw };')
    o.append('  u32 ' + ', '.join('v%d = in[gt * %d + %d]' % (i, NV, i) for i in range(NV)) + ';')
    o.append('  u32 la[8]; for (int i = 0; i < 8; i++) la[i] = v0 + i; __syncthreads();')
    o.append('#define OUT() do { %s } while (0)' % ' '.join('out[gt * %d + %d] = v%d%s;' % (NV, i, i, ' + la[v1 & 7]' if i == 0 else '') for i in range(NV)))
    o += e.o
    o.append('  OUT(); __syncthreads();')
    # whoever lives adds the CTA's part: exactly one adds each word
    o.append('  { int n = __syncthreads_count(1); (void)n; __shared__ u32 first; if (__syncthreads_or(1)) { if (tid == 0) first = 0; }')
    o.append('    __syncthreads(); u32 once = atomicAdd(&slk[0], 1u); if (once == 0) { for (int i = 0; i < 20; i++) { if (i < 8) atomicAdd(&acc[i], sacc[i]);')
    o.append('    else if (i < 12) atomicMax(&acc[i], sacc[i]); else if (i < 16) atomicXor(&acc[i], sacc[i]); else atomicOr(&acc[i], sacc[i]); }')
    o.append('    atomicAdd(&acc[26], sctr[0]); atomicAdd(&acc[27], sctr[1]); atomicAdd(&acc[28], sacc[22]); atomicAdd(&acc[29], sacc[24]); } }')
    o += ['#undef OUT', '}', '']
    return '\n'.join(o)


# ---- interpreter ---------------------------------------------------------------------------------

class Frame:
    def __init__(s, n):
        s.v, s.la, s.esc, s.ret, s.rv = {}, None, {}, np.zeros(n, bool), np.zeros(n, U)


class Interp:
    def __init__(s, g, inp):
        s.g = g
        s.pb = (g.block + 31) // 32 * 32
        s.T = T = GRID * s.pb
        s.tid = (np.arange(T) % s.pb).astype(U)
        s.cta = np.arange(T) // s.pb
        s.lane = s.tid & U(31)
        s.W = T // 32
        s.exist = s.tid < g.block
        s.dead = ~s.exist
        s.gt = s.cta * g.block + s.tid
        s.acc = [0] * NACC
        s.sacc = [[0] * NACC for _ in range(GRID)]
        s.sctr = [[0, 0] for _ in range(GRID)]
        s.sh, s.shw = np.zeros(T, U), np.zeros(T, U)
        s.steps = 0
        s.out = np.zeros((GRID * g.block, NV), U)
        s.inp = inp

    # expressions: over all lanes
    def e(s, F, x):
        k = x[0]
        if k == 'v': return F.v[x[1]]
        if k == 'c': return np.full(s.T, x[1], U)
        if k == 'lane': return s.lane
        if k == 'tid': return s.tid
        if k == 'uni': return np.full(s.T, s.g.uni, U)
        if k == 'la': return F.la[np.arange(s.T), (s.e(F, x[1]) & U(7)).astype(int)]
        if k == 'un':
            a = s.e(F, x[2])
            return {'not': lambda: ~a, 'popc': lambda: popc(a), 'neg': lambda: U(0) - a, 'brev': lambda: brev(a), 'ffs': lambda: ffs(a)}[x[1]]()
        if k == 'sel': return np.where(s.c(F, x[1]), s.e(F, x[2]), s.e(F, x[3]))
        a, b, op = s.e(F, x[2]), s.e(F, x[3]), x[1]
        if op == '+': return a + b
        if op == '-': return a - b
        if op == '*': return a * b
        if op == '&': return a & b
        if op == '|': return a | b
        if op == '^': return a ^ b
        if op == '<<': return a << (b & U(31))
        if op == '>>': return a >> (b & U(31))
        if op == 'min': return np.minimum(a, b)
        if op == 'max': return np.maximum(a, b)
        if op == '/': return a // (b | U(1))
        if op == '%': return a % (b | U(1))
        if op == 'hi': return ((a.astype(np.uint64) * b.astype(np.uint64)) >> np.uint64(32)).astype(U)
        raise Exception(op)

    def c(s, F, x):
        a, b = s.e(F, x[2]), s.e(F, x[3])
        return {'<': a < b, '>': a > b, '>=': a >= b, '==': a == b, '!=': a != b}[x[1]]

    def mask(s, F, m):
        return np.full(s.T, FULL, U) if m == 'FULLM' else F.v[m]

    def members(s, F, M, m):
        """[T,32]: the lanes that take part with each lane; asserts that the mask names exactly those here"""
        mv = s.mask(F, m)
        live = (~s.dead).reshape(s.W, 32)
        act = M.reshape(s.W, 32)
        bits = ((mv[:, None] >> np.arange(32, dtype=U)) & U(1)).astype(bool).reshape(s.W, 32, 32)
        want = bits & live[:, None, :]
        mw = mv.reshape(s.W, 32)
        here = act[:, None, :] & (mw[:, :, None] == mw[:, None, :]) & bits
        if (act[:, :, None] & (want != here)).any(): raise IllegalProgram('lanes of mask %s do not arrive' % m)
        if (act & ~here[:, np.arange(32), np.arange(32)]).any(): raise IllegalProgram('caller not in mask ' + m)
        return here.reshape(s.T, 32)

    def bits(s, G, p):
        pw = np.repeat(p.reshape(s.W, 32), 32, axis=0)
        return ((G & pw).astype(U) << np.arange(32, dtype=U)).sum(axis=1, dtype=U)

    def lanes(s, x):
        return np.repeat(x.reshape(s.W, 32), 32, axis=0)

    def at(s, x, src):
        return x[(np.arange(s.T) & ~31) + src.astype(int)]

    def put(s, F, n, M, val):
        F.v[n] = np.where(M, val, F.v.get(n, np.zeros(s.T, U))).astype(U)

    def ballot(s, F, M, m, c):
        return s.bits(s.members(F, M, m), c)

    def run(s, F, b, M):
        for x in b:
            if not M.any(): return M
            s.steps += 1
            if s.steps > BUDGET: raise TooLong()
            M = s.st(F, x, M)
        return M

    def addto(s, M, shd, slot, val, op='Add'):
        for t in np.nonzero(M)[0]:
            a = s.sacc[s.cta[t]] if shd else s.acc
            i = slot[t] if hasattr(slot, '__len__') else slot
            v = int(val[t])
            if op == 'Add': a[i] = (a[i] + v) & FULL
            elif op == 'Max': a[i] = max(a[i], v)
            elif op == 'Xor': a[i] ^= v
            else: a[i] |= v

    def call(s, f, M, F, a, b, d, mv):
        G = Frame(s.T)
        G.v = dict(p0=s.e(F, a), p1=s.e(F, b), d=d, m=mv)
        G.v['p2'] = G.v['p0'] ^ G.v['p1']
        G.la = G.v['p0'][:, None] + np.arange(8, dtype=U)
        R = s.run(G, f['body'], M)
        v = np.where(G.ret, G.rv, s.e(G, f['ret']))
        if ((R | G.ret) != M).any(): raise Exception('lanes lost in a function')
        return v

    def st(s, F, x, M):
        k = x[0]
        Z = np.zeros(s.T, bool)
        if k == 'set': s.put(F, x[1], M, s.e(F, x[2]))
        elif k == 'laset':
            i, v = (s.e(F, x[1]) & U(7)).astype(int), s.e(F, x[2])
            t = np.nonzero(M)[0]
            F.la = F.la.copy()
            F.la[t, i[t]] = v[t]
        elif k == 'if':
            c = s.c(F, x[1])
            return s.run(F, x[2], M & c) | s.run(F, x[3], M & ~c)
        elif k == 'tif':
            _, m, m1, ce, a, b = x
            c = s.c(F, ce)
            bal = s.ballot(F, M, m, c)
            s.put(F, m1, M, bal)
            s.put(F, m1 + 'n', M, s.mask(F, m) & ~bal)
            return s.run(F, a, M & c) | s.run(F, b, M & ~c)
        elif k in ('for', 'tfor'):
            L, kind, n = x[1], x[2], x[3]
            F.esc['B' + L], F.esc['C' + L] = Z.copy(), Z.copy()
            n = s.e(F, n)
            i = np.zeros(s.T, U) if kind == 'for' else n.copy()
            if k == 'tfor': s.put(F, x[5], M, s.mask(F, x[4]))
            body, done, cur, first = x[-1], Z.copy(), M.copy(), True
            while True:
                if kind == 'do':
                    if not first:
                        c = i != 0
                        i = np.where(cur, i - U(1), i)
                    else: c = ~Z
                else: c = (i < n) if kind == 'for' else (i != 0)
                first = False
                if k == 'tfor' and cur.any():
                    bal = s.ballot(F, cur, x[5], c)
                    s.put(F, x[5], cur, bal)
                    s.put(F, x[6], cur, bal)
                done |= cur & ~c
                cur = cur & c
                if not cur.any(): break
                cur = s.run(F, body, cur) | F.esc['C' + L]
                F.esc['C' + L] = Z.copy()
                if kind == 'for': i = np.where(cur, i + U(1), i)
                elif kind == 'shift': i = np.where(cur, i >> U(1), i)
                s.steps += 1
                if s.steps > BUDGET: raise TooLong()
            return done | F.esc['B' + L]
        elif k == 'tesc':
            _, mode, L, mb, q, ce, mL = x
            c = s.c(F, ce)
            bal = s.ballot(F, M, mb, c)
            F.esc[('B' if mode == 'brk' else 'C') + L] |= M & c
            s.put(F, mb, M, s.mask(F, mb) & ~bal)
            if mode == 'brk': s.put(F, mL, M, s.mask(F, mL) & ~bal)
            return M & ~c
        elif k == 'brk':
            F.esc['B' + x[1]] |= M
            return Z
        elif k == 'cont':
            F.esc['C' + x[1]] |= M
            return Z
        elif k == 'fret':
            F.rv = np.where(M, s.e(F, x[1]), F.rv)
            F.ret |= M
            return Z
        elif k == 'tfret':
            _, m, q, ce, e = x
            c = s.c(F, ce)
            bal = s.ballot(F, M, m, c)
            F.rv = np.where(M & c, s.e(F, e), F.rv)
            F.ret |= M & c
            s.put(F, m, M, s.mask(F, m) & ~bal)
            return M & ~c
        elif k == 'kret':
            s.store(F, M)
            s.dead = s.dead | M
            return Z
        elif k == 'refresh': s.put(F, x[1], M, s.ballot(F, M, x[1], ~Z))
        elif k == 'alive': s.put(F, x[1], M, s.ballot(F, M, x[2], ~Z))
        elif k == 'sw':
            _, v, m, m1, e, cases = x
            sv = s.e(F, e)
            if m1:
                G = s.members(F, M, m)
                s.put(F, m1, M, ((G & (s.lanes(sv) == sv[:, None])).astype(U) << np.arange(32, dtype=U)).sum(axis=1, dtype=U))
            out, fall = M & (sv >= U(len(cases))), Z
            for i, (b, br) in enumerate(cases):
                r = s.run(F, b, (M & (sv == U(i))) | fall)
                fall = Z if br else r
                if br: out = out | r
            return out | fall
        elif k == 'shfl':
            _, kd, d, m, a, b = x
            s.members(F, M, m)
            mv, A, B = s.mask(F, m), s.e(F, a), s.e(F, b)
            if kd == 'idx':
                t = B & U(31)
                ok = (mv >> t) & U(1)
                v = s.at(A, np.where(ok != 0, t, s.lane))
            elif kd == 'bcast':
                v = s.at(A, np.where(M, (ffs(mv) - U(1)) & U(31), s.lane))
            else:
                L = s.lane.astype(np.int64)
                t = {'xor': L ^ B, 'up': L - B.astype(np.int64), 'down': L + B.astype(np.int64)}[kd]
                ok = (t >= 0) & (t < 32)
                t = (t & 31).astype(U)
                ok = ok & (((mv >> t) & U(1)) != 0)
                v = np.where(ok, s.at(A, t), A)
            s.put(F, d, M, v)
        elif k == 'ballot': s.put(F, x[1], M, F.v[x[1]] ^ s.ballot(F, M, x[2], s.c(F, x[3])))
        elif k in ('any', 'all'):
            G, c = s.members(F, M, x[2]), s.c(F, x[3])
            r = (G & s.lanes(c)).any(axis=1) if k == 'any' else (~G | s.lanes(c)).all(axis=1)
            s.put(F, x[1], M, F.v[x[1]] + np.where(r, U(77), U(5)))
        elif k in ('match', 'matchall'):
            G, v = s.members(F, M, x[2]), s.e(F, x[3])
            eq = s.lanes(v) == v[:, None]
            if k == 'match': r = ((G & eq).astype(U) << np.arange(32, dtype=U)).sum(axis=1, dtype=U)
            else:
                allq = (~G | eq).all(axis=1)
                # the value is the mask as given or that of the living: unspecified when lanes are gone; count as equal bits of the living
                r = np.where(allq, s.mask(F, x[2]) + U(1), U(0))
            s.put(F, x[1], M, F.v[x[1]] ^ r)
        elif k == 'red':
            _, op, d, m, e = x
            G, v = s.members(F, M, m), s.lanes(s.e(F, e))
            r = {'add': lambda: np.where(G, v, U(0)).sum(axis=1, dtype=U), 'max': lambda: np.where(G, v, U(0)).max(axis=1),
                 'xor': lambda: np.bitwise_xor.reduce(np.where(G, v, U(0)), axis=1), 'and': lambda: np.bitwise_and.reduce(np.where(G, v, U(FULL)), axis=1)}[op]()
            s.put(F, d, M, F.v[d] + r)
        elif k == 'syncwarp': s.members(F, M, x[1])
        elif k in ('xchgw', 'twosync'):
            if k == 'xchgw': _, d, m, e, j = x
            else:
                _, d, m, ce, a, b, e, j = x
                c = s.c(F, ce)
                R = s.run(F, a, M & c) | s.run(F, b, M & ~c)
                if (R != M).any(): raise Exception('lanes lost')
            s.members(F, M, m)
            v = s.e(F, e)
            if k == 'twosync': v = v + np.where(c, U(0), U(1))
            s.shw = np.where(M, v, s.shw)
            t = s.lane ^ U(j)
            ok = ((s.mask(F, m) >> t) & U(1)) != 0
            s.put(F, d, M, np.where(ok, F.v[d] ^ s.at(s.shw, t), F.v[d]))
        elif k == 'xchg':
            _, d, e, n, call = x
            if (M != ~s.dead).any(): raise IllegalProgram('barrier without all')
            s.sh = np.where(M, s.e(F, e), s.sh)
            src = s.cta * s.pb + (s.tid.astype(int) + n) % s.g.block
            s.put(F, d, M, F.v[d] + s.sh[src])
        elif k == 'barred':
            if (M != ~s.dead).any(): raise IllegalProgram('barrier without all')
            c = s.c(F, x[3])
            r = np.zeros(s.T, U)
            for q in range(GRID):
                w = M & (s.cta == q)
                n = int((w & c).sum())
                r[s.cta == q] = n * 3 if x[1] == 'count' else (9 if n else 4) if x[1] == 'or' else (9 if n == int(w.sum()) else 4)
            s.put(F, x[2], M, F.v[x[2]] + r)
        elif k == 'flag':
            _, i, d, m, e = x
            s.members(F, M, m)
            lead = np.where(M, (ffs(s.mask(F, m)) - U(1)) & U(31), s.lane)
            v = s.at(s.e(F, e) | U(1), lead)
            s.put(F, d, M, np.where(lead == s.lane, v, F.v[d] ^ v))
        elif k == 'lock':
            _, kd, shd, i, e, v = x
            val = s.e(F, e)
            for t in np.nonzero(M)[0]:
                if shd: s.sctr[s.cta[t]][i] = (s.sctr[s.cta[t]][i] + int(val[t])) & FULL
                else: s.acc[20 + i] = (s.acc[20 + i] + int(val[t])) & FULL
        elif k == 'ticket':
            for t in np.nonzero(M)[0]:
                a = s.sacc[s.cta[t]] if x[1] else s.acc
                a[22] = (a[22] + a[24] * 3 + 1) & FULL
                a[24] += 1
        elif k == 'atom': s.addto(M, x[2], (SLOT[x[1]] + (s.tid & U(3))).astype(int), s.e(F, x[3]), x[1])
        elif k == 'coal':
            _, kd, shd, e, g = x
            v = s.e(F, e)
            if kd == 'red': s.addto(M, shd, 4, v)
            elif kd == 'ballot': s.addto(M, shd, 5, v & U(1))
            elif kd == 'size': s.addto(M, shd, 6, np.ones(s.T, U))
            elif kd == 'part': s.addto(M, shd, (v & U(1)).astype(int), v)
            else: s.addto(M, shd, (v & U(3)).astype(int), v)
        elif k == 'aggr': s.addto(M, x[2], 7, np.ones(s.T, U) if x[1] == 'count' else s.e(F, x[3]))
        elif k == 'call':
            _, d, f, m, a, b, dep = x
            if m: s.members(F, M, m)
            v = s.call(f, M, F, a, b, s.e(F, dep), s.mask(F, m) if m else np.zeros(s.T, U))
            s.put(F, d, M, F.v[d] ^ v)
        elif k == 'fptr':
            _, d, m, v, ie, a, b, fs = x
            i = s.e(F, ie) % U(len(fs))
            mv = np.zeros(s.T, U)
            if m:
                G = s.members(F, M, m)
                mv = ((G & (s.lanes(i) == i[:, None])).astype(U) << np.arange(32, dtype=U)).sum(axis=1, dtype=U)
            res = np.zeros(s.T, U)
            for j, f in enumerate(fs):
                w = M & (i == U(j))
                if w.any(): res = np.where(w, s.call(f, w, F, a, b, np.zeros(s.T, U), mv), res)
            s.put(F, d, M, F.v[d] ^ res)
        else: raise Exception(k)
        return M

    def store(s, F, M):
        t = np.nonzero(M)[0]
        for i in range(NV):
            v = F.v['v%d' % i]
            if i == 0: v = v + F.la[np.arange(s.T), (F.v['v1'] & U(7)).astype(int)]
            s.out[s.gt[t], i] = v[t]

    def kernel(s):
        F = Frame(s.T)
        safe = np.where(s.exist, s.gt, 0)
        for i in range(NV): F.v['v%d' % i] = s.inp[safe * NV + i]
        F.la = F.v['v0'][:, None] + np.arange(8, dtype=U)
        R = s.run(F, s.g.body, s.exist.copy())
        s.store(F, R)
        if (R != ~s.dead).any(): raise Exception('lanes lost')
        for q in range(GRID):
            if not (R & (s.cta == q)).any(): continue
            for i in range(20):
                a, b = s.acc[i], s.sacc[q][i]
                s.acc[i] = (a + b) & FULL if i < 8 else max(a, b) if i < 12 else a ^ b if i < 16 else a | b
            for i, v in ((26, s.sctr[q][0]), (27, s.sctr[q][1]), (28, s.sacc[q][22]), (29, s.sacc[q][24])): s.acc[i] = (s.acc[i] + v) & FULL
        return s.out, s.acc


# ---- programs ------------------------------------------------------------------------------------

WORDS = GRID * 96 * NV  # of one input


def inputs(sets=1):
    """`sets` inputs behind each other; the first is always the same."""
    rs = [random.Random(12345 + i) for i in range(sets)]
    return np.array([r.getrandbits(32) if r.random() < .7 else r.randrange(16) for r in rs for _ in range(WORDS)], U)


def make(seed, idx, cg, inp):
    """A legal kernel within the budget, with what it should give."""
    for a in range(200):
        g = Gen(random.Random('%d/%d/%d' % (seed, idx, a)), idx, cg)
        g.kernel()
        it = Interp(g, inp)
        try:
            with np.errstate(all='ignore'): out, acc = it.kernel()
        except TooLong: continue
        except IllegalProgram as e:
            make.illegal += 1
            make.last = str(e)
            continue
        return g, out, acc
    raise Exception('no kernel found')


make.illegal, make.last = 0, ''

HOST = r'''
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* check FATBIN EXPECTED [FIRST [COUNT]]: its runs in turn, each a kernel on an input */
static unsigned rd(FILE *f) { unsigned x = 0; if (fread(&x, 4, 1, f) != 1) exit(9); return x; }
int main(int n, char **v) {
  CUdevice d; CUcontext c; CUmodule m; CUdeviceptr in, out, acc, lk; CUresult r;
  FILE *f = fopen(v[2], "rb"); if (!f) return 9;
  unsigned nk = rd(f), grid = rd(f), nv = rd(f), nacc = rd(f), nin = rd(f), first = n > 3 ? atoi(v[3]) : 0, bad = 0;
  unsigned last = n > 4 ? first + atoi(v[4]) : nk;
  unsigned *h = (unsigned *)malloc(4 * nin), *w = (unsigned *)malloc(4 * (nin + nacc)), *g = (unsigned *)malloc(4 * (nin + nacc));
  for (unsigned i = 0; i < nin; i++) h[i] = rd(f);
  cuInit(0); cuDeviceGet(&d, 0);
#if CUDA_VERSION >= 13000
  cuCtxCreate(&c, 0, 0, d);
#else
  cuCtxCreate(&c, 0, d);
#endif
  if ((r = cuModuleLoad(&m, v[1]))) { printf("load %d\n", r); return 8; }
  cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 262144); /* -G makes large frames, and functions call themselves */
  cuMemAlloc(&in, 4 * nin); cuMemAlloc(&out, 4 * nin); cuMemAlloc(&acc, 4 * nacc); cuMemAlloc(&lk, 16);
  cuMemcpyHtoD(in, h, 4 * nin);
  for (unsigned k = 0; k < nk; k++) {
    unsigned idx = rd(f), block = rd(f), uni = rd(f), at = rd(f), words = grid * block * nv; char name[20]; CUfunction fn;
    CUdeviceptr from = in + 4 * at;
    for (unsigned i = 0; i < words + nacc; i++) w[i] = rd(f);
    if (k < first || k >= last) continue;
    snprintf(name, sizeof name, "k%u", idx);
    cuMemsetD32(out, 0xdeadbeef, words); cuMemsetD32(acc, 0, nacc); cuMemsetD32(lk, 0, 4);
    if ((r = cuModuleGetFunction(&fn, m, name))) { printf("%s missing %d\n", name, r); bad++; continue; }
    void *a[] = { &from, &out, &acc, &lk, &uni };
    r = cuLaunchKernel(fn, grid, 1, 1, block, 1, 1, 0, 0, a, 0);
    if (!r) r = cuCtxSynchronize();
    if (r) { printf("FAULT %u %s error %d\n", k, name, r); fflush(stdout); return 7; }
    cuMemcpyDtoH(g, out, 4 * words); cuMemcpyDtoH(g + words, acc, 4 * nacc);
    for (unsigned i = 0, said = 0; i < words + nacc; i++) if (g[i] != w[i] && said++ < 3) {
      if (said == 1) bad++;
      if (i < words) printf("DIFF %u %s thread %u v%u is %08x not %08x\n", k, name, i / nv, i % nv, g[i], w[i]);
      else printf("DIFF %u %s acc %u is %08x not %08x\n", k, name, i - words, g[i], w[i]);
    }
  }
  printf("done %u bad %u\n", last - first, bad);
  return bad != 0;
}
'''


def expected(g, at, out, acc):
    """A run as `check` reads it: kernel g on the input at word `at`."""
    return struct.pack('<4I', g.idx, g.block, g.uni, at) + out.astype('<u4').tobytes() + struct.pack('<%dI' % NACC, *acc)


def expectations(inp, runs):
    return struct.pack('<5I', len(runs), GRID, NV, NACC, len(inp)) + inp.astype('<u4').tobytes() + b''.join(runs)


def runs_of(g, inp, out, acc):
    """The kernel on every input for which it is legal and short; the first is known to be."""
    runs = [expected(g, 0, out, acc)]
    for at in range(WORDS, len(inp), WORDS):
        try:
            with np.errstate(all='ignore'): more = Interp(g, inp[at:]).kernel()
        except (TooLong, IllegalProgram): continue
        runs.append(expected(g, at, *more))
    return runs


def kernels(seed, count, cg, inp, only=None):
    """(source, runs) of each kernel of a file."""
    for i in range(count):
        if only is not None and i != only: continue
        g, out, acc = make(seed, i, cg, inp[:WORDS])
        yield emit_kernel(g), runs_of(g, inp, out, acc)


def source(some, cg):
    return (PRE_CG if cg else '') + PRE + '\n'.join(text for text, _ in some)


def is_cg(a, seed):
    return a.cg if a.cg is not None else seed % 3 == 0


def fnv(data):
    h = 0xcbf29ce484222325
    for b in data: h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    return h


GPUS = {'75': 'rtx-2080ti', '80': 'a100', '86': 'rtx-3070', '90': 'h100', '120': 'rtx-5070ti'}


def prebuilt(a, folder='tests/divergence'):
    """One file of kernels for five targets, with hashes of what they give (tests/divergence/test_divergence.c)."""
    base = os.path.join(folder, a.prebuilt)
    inp = inputs()
    some = list(kernels(a.seed, a.count, is_cg(a, a.seed), inp, a.only))
    cu = os.path.join(a.out, a.prebuilt + '.cu')
    open(cu, 'w').write(source(some, is_cg(a, a.seed)))
    open(os.path.join(folder, 'input.bin'), 'wb').write(inp.astype('<u4').tobytes())
    lines = [' '.join(GPUS.values())]
    for _, (run,) in some:
        idx, block, uni = struct.unpack('<3I', run[:12])
        lines.append('k%d %d %d %016x' % (idx, block, uni, fnv(run[16:])))
    only = '' if a.only is None else ' --only %d --cg %d' % (a.only, is_cg(a, a.seed))
    lines.append('# --seed %d --count %d%s --size %s --opt=%s' % (a.seed, a.count, only, a.size, (a.opt or ['-O3'])[0]))
    open(base + '.expect', 'w').write('\n'.join(lines) + '\n')
    if os.path.exists(base + '.fatbin') and not a.force: return 0
    targets = [x for t in GPUS for x in ('-gencode', 'arch=compute_%s,code=sm_%s' % (t, t))]
    return subprocess.call([a.nvcc, '-fatbin', '-w', '-compress-mode=size', *targets, *shlex.split((a.opt or ['-O3'])[0]), cu, '-o',
                            base + '.fatbin'])


def bodies(g):
    """All statement lists of a kernel."""
    def walk(b):
        yield b
        for x in b:
            for y in x:
                if isinstance(y, list):
                    if y and isinstance(y[0], tuple) and y[0] and isinstance(y[0][0], list):
                        for z, _ in y: yield from walk(z)
                    elif not y or isinstance(y[0], tuple): yield from walk(y)
    yield from walk(g.body)
    for f in g.fns: yield from walk(f['body'])


def verdict(g, inp, a, arch, opt, runner, check, base):
    """'' when the kernel is illegal or right, else what is wrong"""
    it = Interp(g, inp)
    try:
        with np.errstate(all='ignore'): out, acc = it.kernel()
    except (TooLong, IllegalProgram, KeyError): return ''
    except Exception: return ''
    cg = any(x[0] == 'coal' for b in bodies(g) for x in b)
    open(base + '.cu', 'w').write((PRE_CG if cg else '') + PRE + emit_kernel(g))
    open(base + '.exp', 'wb').write(expectations(inp, [expected(g, 0, out, acc)]))
    r = subprocess.run([a.nvcc, '-cubin', '-w', '-arch=sm_' + arch, *shlex.split(opt), base + '.cu', '-o', base + '.cubin'], capture_output=True, text=True)
    if r.returncode: return ''
    r = subprocess.run(shlex.split(runner) + [os.path.abspath(check), base + '.cubin', base + '.exp'], capture_output=True, text=True, timeout=a.timeout)
    return 'DIFF' if 'DIFF' in r.stdout else 'FAULT' if 'FAULT' in r.stdout else ''


def reduce(a, arch, opt, runner, check):
    import time
    inp, stop = inputs(a.reduce_input + 1)[a.reduce_input * WORDS:], time.time() + a.reduce
    g, _, _ = make(a.seed, a.only, is_cg(a, a.seed), inputs())
    base = os.path.join(a.out, 'r%d_%d_%s' % (a.seed, a.only, arch))
    test = lambda: verdict(g, inp, a, arch, opt, runner, check, base)
    kind = test()
    print('first', kind, flush=True)
    if not kind: return
    changed = True
    while changed and time.time() < stop:
        changed = False
        for b in sorted(bodies(g), key=len, reverse=True):
            n = max(1, len(b) // 2)
            while n >= 1:
                i = 0
                while i < len(b) and time.time() < stop:
                    keep = b[i:i + n]
                    del b[i:i + n]
                    if test() == kind: changed = True
                    else:
                        b[i:i] = keep
                        i += n
                n //= 2
    fs = list(g.fns)
    for f in fs:
        g.fns.remove(f)
        try: ok = test() == kind
        except Exception: ok = False
        if not ok: g.fns = [x for x in fs if x in g.fns or x is f]
    print('reduced:', test(), base + '.cu')
    print(emit_kernel(g))


# ---- campaign ------------------------------------------------------------------------------------

class File:
    """What is the same for all parts of a file that are compiled apart."""

    def __init__(s, seed, opt, inp, cg):
        s.seed, s.opt, s.inp, s.cg = seed, opt, inp, cg


class Total:
    """Counts per target, options and runner: runs, kernels, runs that differ, runs that fault or hang."""

    def __init__(s, runners):
        s.runners, s.rows = runners, {}

    def row(s, arch, opt, runner):
        return s.rows.setdefault((arch, opt, runner), [0, 0, 0, 0])

    def print(s):
        for (arch, opt, runner), row in sorted(s.rows.items()):
            print('sm_%s %-8s %5d runs of %d kernels, %d differ, %d faults or hangs  [%s]' % (arch, opt, *row, runner))
        return any(row[2] + row[3] for row in s.rows.values())


def targets(archs, share):
    """nvcc's options. Shared: one PTX for sm_75, one for what is later, which ptxas makes into code for each target."""
    if not share: return [x for t in archs for x in ('-gencode', 'arch=compute_%s,code=sm_%s' % (t, t))]
    out = []
    for group in ([t for t in archs if int(t) < 80], [t for t in archs if int(t) >= 80]):
        if group: out += ['-gencode', 'arch=compute_%s,code=[%s]' % (min(group, key=int), ','.join('sm_' + t for t in group))]
    return out


def compile_file(a, file, some, base):
    """base.fatbin for all targets; '' or what nvcc says, 'slow' beyond the limit of processor time of one of its programs."""
    open(base + '.cu', 'w').write(source(some, file.cg))
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (a.compile_limit, a.compile_limit))
    r = subprocess.run([a.nvcc, '-fatbin', '-w', *targets(a.arch.split(','), a.share), *shlex.split(file.opt), base + '.cu', '-o',
                        base + '.fatbin'], capture_output=True, text=True, preexec_fn=limit)
    return '' if not r.returncode else 'slow' if 'signal' in r.stderr or r.returncode < 0 else r.stderr[:400]


def compile_and_run(a, file, some, gpus, total):
    """The kernels compiled as one file, in halves where that takes too long; then all runs on all targets."""
    base = os.path.join(a.out, 's%d' % file.seed)
    wrong = compile_file(a, file, some, base)
    if wrong == 'slow' and len(some) > 4:
        half = len(some) // 2
        for part in (some[:half], some[half:]): compile_and_run(a, file, part, gpus, total)
        return
    if wrong:
        print('%s seed %d %s, %d kernels: %s' % ('SLOW' if wrong == 'slow' else 'COMPILE', file.seed, file.opt, len(some), wrong), flush=True)
        return
    runs = [run for _, of_kernel in some for run in of_kernel]
    open(base + '.exp', 'wb').write(expectations(file.inp, runs))
    for arch in a.arch.split(','):
        for runner in total.runners:
            row = total.row(arch, file.opt, runner)
            row[1] += len(some)
            prefix = shlex.split(runner.replace('{arch}', arch).replace('{gpu}', gpus.get(arch, arch)))
            tag = 'seed %d sm_%s %s [%d]' % (file.seed, arch, file.opt, total.runners.index(runner))
            check_runs(a, [*prefix, os.path.abspath(os.path.join(a.out, 'check')), base + '.fatbin', base + '.exp'], len(runs), tag, row)


def check_runs(a, command, count, tag, row):
    """All runs of a file; one that faults ends the program, the next one goes on behind it."""
    first = 0
    while first < count:
        try:
            r = subprocess.run([*command, str(first)], capture_output=True, text=True, timeout=20 * a.timeout,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (a.timeout, a.timeout)))
            text, err, rc = r.stdout, r.stderr, r.returncode
        except subprocess.TimeoutExpired as t:
            text, err, rc = (t.stdout or b'').decode(), 'timeout', -1
        differ = {l.split()[1]: l for l in reversed(text.splitlines()) if l.startswith('DIFF')}
        for line in reversed(differ.values()): print(tag, line, flush=True)
        row[2] += len(differ)
        if rc in (0, 1) and 'done' in text:
            row[0] += count - first
            return
        fault = [l for l in text.splitlines() if l.startswith('FAULT')]
        print(tag, fault[0] if fault else 'RUN rc %d %s' % (rc, text[-200:]), '|', ' / '.join(err.strip().splitlines()[-6:])[:600], flush=True)
        row[3] += 1
        if not fault: return
        at = int(fault[0].split()[1])
        row[0] += at + 1 - first
        first = at + 1


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument('--seed', type=int, default=1, help='first seed; one file per seed')
    ap.add_argument('--files', type=int, default=1)
    ap.add_argument('--count', type=int, default=40, help='kernels per file')
    ap.add_argument('--only', type=int, help='this kernel of the file only')
    ap.add_argument('--cg', type=int, choices=[0, 1], help='cooperative groups; by default in every third file')
    ap.add_argument('--arch', default='86', help='comma-separated SM versions')
    ap.add_argument('--nvcc', default='nvcc')
    ap.add_argument('--opt', action='append', help='compiler options, repeatable: each is a mode')
    ap.add_argument('--runner', action='append', help='prefix of the checking program, "{arch}" is replaced; repeatable')
    ap.add_argument('--timeout', type=int, default=300, help='seconds of a processor for the runs of a file; on the clock 20 times that')
    ap.add_argument('--out', default='.', help='folder for what is written')
    ap.add_argument('--gpus', default='', help='what "{gpu}" in a runner stands for: 75=rtx-2080ti,86=rtx-3070')
    ap.add_argument('--size', default='3,7', help='statements at the top of a kernel: from,to')
    ap.add_argument('--off', default='', help='kinds of statements to leave out, as lock,flag,twosync (see Gen)')
    ap.add_argument('--reduce', type=int, help='seconds: make kernel --only smaller while it fails')
    ap.add_argument('--emit', action='store_true', help='print the source only')
    ap.add_argument('--prebuilt', help='name of a file of tests/divergence to write')
    ap.add_argument('--force', action='store_true', help='--prebuilt: compile again what is there')
    ap.add_argument('--compile-limit', type=int, default=120, help='seconds of a processor for one program of nvcc; beyond, the file is halved, then left out')
    ap.add_argument('--share', action='store_true', help='one PTX for sm_80 and later instead of one for each target')
    ap.add_argument('--inputs', type=int, default=1, help='inputs that each kernel runs on')
    ap.add_argument('--reduce-input', type=int, default=0, help='--reduce: which of them')
    a = ap.parse_args()
    Gen.off = set(a.off.split(',')) if a.off else set()
    Gen.size = tuple(int(x) for x in a.size.split(','))
    gpus = dict(x.split('=') for x in a.gpus.split(',') if x)
    if a.emit:
        print(source(list(kernels(a.seed, a.count, is_cg(a, a.seed), inputs(), a.only)), is_cg(a, a.seed)))
        return 0
    os.makedirs(a.out, exist_ok=True)
    if a.prebuilt: return prebuilt(a)
    j = lambda n: os.path.join(a.out, n)
    check = j('check')
    if not os.path.exists(check) or open(j('check.c')).read() != HOST:
        open(j('check.c'), 'w').write(HOST)
        inc = os.environ.get('CUDA_HOME', '/usr/local/cuda')
        subprocess.check_call(['cc', '-O1', '-I', inc + '/include', j('check.c'), '-o', check, '-L', inc + '/lib64/stubs', '-L', inc + '/lib/stubs', '-lcuda'])
    if a.reduce:
        arch = a.arch.split(',')[0]
        runner = (a.runner or [''])[0].replace('{arch}', arch).replace('{gpu}', gpus.get(arch, arch))
        return reduce(a, arch, (a.opt or ['-O3'])[0], runner, check)
    total = Total(a.runner or [''])
    for seed in range(a.seed, a.seed + a.files):
        inp = inputs(a.inputs)
        some = list(kernels(seed, a.count, is_cg(a, seed), inp, a.only))
        for opt in a.opt or ['-O3']: compile_and_run(a, File(seed, opt, inp, is_cg(a, seed)), some, gpus, total)
        print('seed %d ok, illegal drafts %d (%s)' % (seed, make.illegal, make.last), flush=True)
    return total.print()


if __name__ == '__main__':
    sys.exit(main())
