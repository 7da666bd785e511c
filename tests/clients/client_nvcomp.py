"""NVIDIA's nvCOMP: what each of its codecs packs it unpacks again, in its own and in the plain format; zlib and gzip read what it wrote."""
import gzip
import zlib

import numpy as np
from nvidia import nvcomp

import checks

RNG = np.random.default_rng(1)
NATIVE, RAW = nvcomp.BitstreamKind.NVCOMP_NATIVE, nvcomp.BitstreamKind.RAW
DATA = [
    np.frombuffer(b"the quick brown fox jumps over the lazy dog; " * 300 + bytes(RNG.integers(97, 105, 4000, dtype=np.uint8)), np.uint8),
    np.zeros(70000, np.uint8),
    RNG.integers(0, 256, 70001, dtype=np.uint8),
    np.arange(20000, dtype=np.int32).view(np.uint8),
    np.minimum(RNG.geometric(0.3, 90000), 255).astype(np.uint8),
]


def codec(name, kind):
    chunk = 65536 if kind == NATIVE else 131072
    of_bytes = {"data_type": "|u1"} if name in ("Cascaded", "Bitcomp") else {}
    return nvcomp.Codec(algorithm=name, bitstream_kind=kind, uncomp_chunk_size=chunk, **of_bytes)


def host(array):
    return np.asarray(array.cpu()).view(np.uint8)


def packs(name):
    def check():
        for kind in (NATIVE, RAW):
            c = codec(name, kind)
            for data in DATA:
                assert np.array_equal(host(c.decode(c.encode(nvcomp.as_array(data).cuda())))[: len(data)], data), (kind, len(data))

    check.__name__ = name.lower()
    return check


def others_read():
    for name, unpack in (("Deflate", lambda b: zlib.decompress(b, -15)), ("Gzip", gzip.decompress)):
        for data in DATA:
            assert unpack(host(codec(name, RAW).encode(nvcomp.as_array(data).cuda())).tobytes()) == data.tobytes(), name


NAMES = ("LZ4", "Snappy", "GDeflate", "Deflate", "Zstd", "Gzip", "ANS", "Cascaded", "Bitcomp")
checks.run([packs(name) for name in NAMES] + [others_read])
