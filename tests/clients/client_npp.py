"""NVIDIA's NPP (signals and images) through its C interface, beside NumPy. Images have odd sizes and rows of more bytes than they need."""
import ctypes as c
import importlib.metadata as metadata

import numpy as np

import checks

LIBRARIES = "npps nppc nppial nppicc nppidei nppif nppig nppim nppist nppitc".split()
PARTS = [c.CDLL(str(metadata.distribution("nvidia-npp").locate_file(f"nvidia/cu13/lib/lib{name}.so.13"))) for name in LIBRARIES]
RUNTIME = c.CDLL("libcudart.so.13")
LINEAR, REPLICATE, MASK_3X3, L_INFINITY, LESS, BOTH_AXES = 2, 2, 200, 0, 0, 2
MULTIPROCESSORS, THREADS_OF_ONE, THREADS_OF_BLOCK, SHARED, MAJOR, MINOR = 16, 39, 1, 8, 75, 76  # cudaDeviceAttr
WIDTH, HEIGHT = 197, 83
RNG = np.random.default_rng(7)


class Size(c.Structure):
    _fields_ = [("width", c.c_int), ("height", c.c_int)]


class Point(c.Structure):
    _fields_ = [("x", c.c_int), ("y", c.c_int)]


class Rect(c.Structure):
    _fields_ = [("x", c.c_int), ("y", c.c_int), ("width", c.c_int), ("height", c.c_int)]


class Context(c.Structure):
    _fields_ = [("stream", c.c_void_p), ("device", c.c_int), ("multiprocessors", c.c_int), ("threads_of_one", c.c_int), ("threads_of_block", c.c_int),
                ("shared", c.c_size_t), ("major", c.c_int), ("minor", c.c_int), ("flags", c.c_uint), ("workspace", c.c_uint)]


def attribute(which):
    value = c.c_int()
    assert RUNTIME.cudaDeviceGetAttribute(c.byref(value), which, 0) == 0
    return value.value


CONTEXT = Context(None, 0, *map(attribute, (MULTIPROCESSORS, THREADS_OF_ONE, THREADS_OF_BLOCK, SHARED, MAJOR, MINOR)), 0, 0)


def call(name, *arguments):
    """Of the library that has it; integers that are no ctypes are C's int."""
    function = next(getattr(part, name) for part in PARTS if hasattr(part, name))
    status = function(*arguments, CONTEXT) if name.endswith("_Ctx") else function(*arguments)
    assert status == 0, f"{name}: {status}"


class Image:
    """In device memory; rows are 64 to 127 bytes longer than they need, full of 0xa5."""

    def __init__(self, host, padded=True):
        self.shape, self.dtype = host.shape, host.dtype
        self.row = host[0].nbytes
        self.step = -(-self.row // 64) * 64 + 64 if padded else self.row
        self.bytes = np.full((len(host), self.step), 0xA5, np.uint8)
        self.bytes[:, : self.row] = np.ascontiguousarray(host).view(np.uint8).reshape(len(host), self.row)
        self.data = c.c_void_p()
        assert RUNTIME.cudaMalloc(c.byref(self.data), c.c_size_t(self.bytes.nbytes)) == 0
        assert RUNTIME.cudaMemcpy(self.data, self.bytes.ctypes.data_as(c.c_void_p), c.c_size_t(self.bytes.nbytes), 1) == 0

    def at(self):
        return self.data, self.step

    def host(self):
        assert RUNTIME.cudaMemcpy(self.bytes.ctypes.data_as(c.c_void_p), self.data, c.c_size_t(self.bytes.nbytes), 2) == 0
        assert (self.bytes[:, self.row :] == 0xA5).all(), "written between the rows"
        return self.bytes[:, : self.row].copy().view(self.dtype).reshape(self.shape)


def bytes_image(*more):
    return RNG.integers(0, 256, (HEIGHT, WIDTH) + more, dtype=np.uint8)


def floats_image():
    return RNG.standard_normal((HEIGHT, WIDTH)).astype(np.float32)


def like(shape, dtype):
    return Image(np.zeros(shape, dtype))


def roi(host):
    return Size(host.shape[1], host.shape[0])


def buffer(name, *arguments, kind=c.c_size_t):
    size = kind()
    call(name, *arguments, c.byref(size))
    return like((1, max(1, size.value)), np.uint8).data


def around(host, x, y):
    """The image moved by x and y, its edges repeated."""
    rows = np.clip(np.arange(host.shape[0]) + y, 0, host.shape[0] - 1)
    return host[rows][:, np.clip(np.arange(host.shape[1]) + x, 0, host.shape[1] - 1)]


def stack(host, reach):
    return np.stack([around(host, x, y) for y in range(-reach, reach + 1) for x in range(-reach, reach + 1)])


def arithmetic():
    a, b = bytes_image(), bytes_image()
    out = like(a.shape, np.uint8)
    call("nppiAdd_8u_C1RSfs_Ctx", *Image(a).at(), *Image(b).at(), *out.at(), roi(a), 1)
    total = a.astype(int) + b
    low, odd = total // 2, total % 2  # halves go to the even one
    assert (out.host() == low + (odd & low & 1)).all()
    x, y = floats_image(), floats_image()
    out = like(x.shape, np.float32)
    call("nppiMul_32f_C1R_Ctx", *Image(x).at(), *Image(y).at(), *out.at(), roi(x))
    assert (out.host() == x * y).all()
    words, out = RNG.integers(0, 1 << 16, (HEIGHT, WIDTH), dtype=np.uint16), like((HEIGHT, WIDTH), np.uint16)
    call("nppiLShiftC_16u_C1R_Ctx", *Image(words).at(), c.c_uint(3), *out.at(), roi(words))
    assert (out.host() == words << 3).all()


def thresholds():
    a = bytes_image()
    out = like(a.shape, np.uint8)
    call("nppiThreshold_8u_C1R_Ctx", *Image(a).at(), *out.at(), roi(a), c.c_uint8(100), LESS)
    assert (out.host() == np.maximum(a, 100)).all()


def box_filter():
    a = bytes_image()
    out = like(a.shape, np.uint8)
    call("nppiFilterBoxBorder_8u_C1R_Ctx", *Image(a).at(), roi(a), Point(0, 0), *out.at(), roi(a), Size(5, 5), Point(2, 2), REPLICATE)
    assert np.abs(out.host() - stack(a.astype(float), 2).mean(0)).max() < 1


def inner(host, reach):
    """Of an image in the midst of a larger one: where it begins there, and what it is."""
    image = Image(host)
    return c.c_void_p(image.data.value + reach * image.step + reach * host.itemsize), image, host[reach:-reach, reach:-reach]


def filter_of_a_kernel():
    a, kernel = floats_image(), RNG.standard_normal((3, 3)).astype(np.float32)
    start, image, middle = inner(a, 1)
    out, weights = like(middle.shape, np.float32), Image(kernel.reshape(1, 9))
    call("nppiFilter_32f_C1R_Ctx", start, image.step, *out.at(), roi(middle), weights.data, Size(3, 3), Point(1, 1))
    want = (stack(a.astype(float), 1) * kernel.ravel()[::-1, None, None]).sum(0)[1:-1, 1:-1]
    off = np.abs(out.host() - want)  # this release repeats the edge of what it filters, also where the image goes on
    assert off[1:-1, 1:-1].max() < 1e-4


def median_and_morphology():
    start, image, middle = inner(a := bytes_image(), 1)
    out = like(middle.shape, np.uint8)
    room = buffer("nppiFilterMedianGetBufferSize_8u_C1R_Ctx", roi(middle), Size(3, 3), kind=c.c_uint)
    call("nppiFilterMedian_8u_C1R_Ctx", start, image.step, *out.at(), roi(middle), Size(3, 3), Point(1, 1), room)
    around_it = stack(a, 1)[:, 1:-1, 1:-1]
    assert (out.host() == np.median(around_it, axis=0)).all()
    for name, of in (("nppiDilate3x3_8u_C1R_Ctx", np.max), ("nppiErode3x3_8u_C1R_Ctx", np.min)):
        call(name, start, image.step, *out.at(), roi(middle))
        assert (out.host() == of(around_it, axis=0)).all()


def edges():
    start, image, middle = inner(a := bytes_image(), 1)
    out = like(middle.shape, np.int16)
    call("nppiFilterSobelHoriz_8u16s_C1R_Ctx", start, image.step, *out.at(), roi(middle), MASK_3X3)
    row = lambda y: sum(w * around(a.astype(int), x, y) for x, w in ((-1, 1), (0, 2), (1, 1)))
    assert (out.host() == (row(1) - row(-1))[1:-1, 1:-1]).all()


def colours():
    a = bytes_image(3)
    out = like(a.shape[:2], np.uint8)
    call("nppiRGBToGray_8u_C3C1R_Ctx", *Image(a).at(), *out.at(), roi(a))
    assert np.abs(out.host() - a @ [0.299, 0.587, 0.114]).max() < 1
    swapped = like(a.shape, np.uint8)
    call("nppiSwapChannels_8u_C3R_Ctx", *Image(a).at(), *swapped.at(), roi(a), (c.c_int * 3)(2, 0, 1))
    assert (swapped.host() == a[:, :, [2, 0, 1]]).all()


def geometry():
    a = bytes_image()
    out = like(a.T.shape, np.uint8)
    call("nppiTranspose_8u_C1R_Ctx", *Image(a).at(), *out.at(), roi(a))
    assert (out.host() == a.T).all()
    out = like(a.shape, np.uint8)
    call("nppiMirror_8u_C1R_Ctx", *Image(a).at(), *out.at(), roi(a), BOTH_AXES)
    assert (out.host() == a[::-1, ::-1]).all()
    out = like((HEIGHT + 7, WIDTH + 9), np.uint8)
    call("nppiCopyConstBorder_8u_C1R_Ctx", *Image(a).at(), roi(a), *out.at(), Size(WIDTH + 9, HEIGHT + 7), 4, 5, c.c_uint8(33))
    assert (out.host() == np.pad(a, ((4, 3), (5, 4)), constant_values=33)).all()


def warp():
    a = floats_image()
    image, out, whole = Image(a), like(a.shape, np.float32), Rect(0, 0, WIDTH, HEIGHT)
    call("nppiWarpAffine_32f_C1R_Ctx", image.data, roi(a), image.step, whole, *out.at(), whole, (c.c_double * 6)(1, 0, 2.25, 0, 1, 1.5), LINEAR)
    from_x, from_y = np.arange(WIDTH) - 2.25, np.arange(HEIGHT) - 1.5
    x, y = np.floor(from_x).astype(int)[3:], np.floor(from_y).astype(int)[2:]  # those whose four neighbours there are
    top, left = np.ix_(y, x), np.ix_(y, x + 1)
    below, both = np.ix_(y + 1, x), np.ix_(y + 1, x + 1)
    want = 0.5 * (0.25 * a[top] + 0.75 * a[left]) + 0.5 * (0.25 * a[below] + 0.75 * a[both])
    assert np.abs(out.host()[2:, 3:] - want).max() < 1e-4


def statistics():
    a = bytes_image()
    number, low, high = like((1, 1), np.float64), like((1, 1), np.uint8), like((1, 1), np.uint8)
    call("nppiSum_8u_C1R_Ctx", *Image(a).at(), roi(a), buffer("nppiSumGetBufferHostSize_8u_C1R_Ctx", roi(a)), number.data)
    assert number.host()[0, 0] == a.sum()
    call("nppiNorm_L2_8u_C1R_Ctx", *Image(a).at(), roi(a), number.data, buffer("nppiNormL2GetBufferHostSize_8u_C1R_Ctx", roi(a)))
    assert np.isclose(number.host()[0, 0], np.sqrt((a.astype(float) ** 2).sum()), rtol=1e-12)
    call("nppiMinMax_8u_C1R_Ctx", *Image(a).at(), roi(a), low.data, high.data, buffer("nppiMinMaxGetBufferHostSize_8u_C1R_Ctx", roi(a)))
    assert (low.host(), high.host()) == (a.min(), a.max())


def histogram():
    a, counts = bytes_image(), like((1, 64), np.int32)
    room = buffer("nppiHistogramEvenGetBufferSize_8u_C1R_Ctx", roi(a), 65)
    call("nppiHistogramEven_8u_C1R_Ctx", *Image(a).at(), roi(a), counts.data, 65, 0, 256, room)
    assert (counts.host()[0] == np.bincount(a.ravel() // 4, minlength=64)).all()


def integral():
    a, out = bytes_image(), like((HEIGHT + 1, WIDTH + 1), np.int32)
    call("nppiIntegral_8u32s_C1R_Ctx", *Image(a).at(), *out.at(), roi(a), 5)
    assert (out.host() == np.pad(a.cumsum(0, dtype=np.int32).cumsum(1, dtype=np.int32), ((1, 0), (1, 0))) + 5).all()


def components(mask):
    """The connected parts of equal pixels, eight neighbours each, by spreading the smallest number until nothing changes."""
    labels = np.arange(mask.size).reshape(mask.shape)
    while True:
        best = labels.copy()
        for x in (-1, 0, 1):
            for y in (-1, 0, 1):
                there = around(labels, x, y)
                best = np.where(around(mask, x, y) == mask, np.minimum(best, there), best)
        if (best == labels).all():
            return labels
        labels = best


def labels():
    a = (RNG.random((HEIGHT, WIDTH)) < 0.35).astype(np.uint8) * 255
    out, room = Image(np.zeros(a.shape, np.uint32), padded=False), buffer("nppiLabelMarkersUFGetBufferSize_32u_C1R", roi(a), kind=c.c_int)
    call("nppiLabelMarkersUF_8u32u_C1R_Ctx", *Image(a).at(), *out.at(), roi(a), L_INFINITY, room)
    pairs = set(zip(out.host().ravel().tolist(), components(a).ravel().tolist()))
    assert len(pairs) == len({label for label, _ in pairs})  # a part may have several labels: docs/compatibility.md says why


def distances():
    a = np.where(RNG.random((HEIGHT, WIDTH)) < 0.01, 0, 200).astype(np.uint8)
    out, none = like(a.shape, np.uint16), (None, 0)
    room = buffer("nppiDistanceTransformPBAGetBufferSize", roi(a))
    call("nppiDistanceTransformPBA_8u16u_C1R_Ctx", *Image(a).at(), c.c_uint8(0), c.c_uint8(0), *none, *none, *none, *out.at(), roi(a), room)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    site_y, site_x = np.nonzero(a == 0)
    want = np.sqrt(((y[..., None] - site_y) ** 2 + (x[..., None] - site_x) ** 2).min(-1))
    assert np.abs(out.host() - want).max() < 1


def signals():
    x, y = RNG.standard_normal((2, 1, 10007)).astype(np.float32)
    n, one, wide, place = c.c_size_t(x.size), like((1, 1), np.float32), like((1, 1), np.float64), like((1, 1), np.int32)
    call("nppsSum_32f_Ctx", Image(x).data, n, one.data, buffer("nppsSumGetBufferSize_32f_Ctx", n))
    assert abs(one.host()[0, 0] - x.astype(float).sum()) < 1e-2
    call("nppsDotProd_32f64f_Ctx", Image(x).data, Image(y).data, n, wide.data, buffer("nppsDotProdGetBufferSize_32f64f_Ctx", n))
    assert np.isclose(wide.host()[0, 0], (x.astype(float) * y).sum(), rtol=1e-5)
    call("nppsMaxIndx_32f_Ctx", Image(x).data, n, one.data, place.data, buffer("nppsMaxIndxGetBufferSize_32f_Ctx", n))
    assert (one.host()[0, 0], place.host()[0, 0]) == (x.max(), x.argmax())
    words, out = 2 * RNG.integers(-500, 500, (1, 10007), dtype=np.int32), like(x.shape, np.float32)
    call("nppsCountInRange_32s_Ctx", Image(words).data, n, place.data, -101, 251, buffer("nppsCountInRangeGetBufferSize_32s_Ctx", n))
    assert place.host()[0, 0] == ((words > -101) & (words < 251)).sum()
    call("nppsExp_32f_Ctx", Image(x).data, out.data, n)
    assert np.allclose(out.host(), np.exp(x), rtol=1e-6)


checks.run([arithmetic, thresholds, box_filter, filter_of_a_kernel, median_and_morphology, edges, colours, geometry, warp, statistics, histogram,
            integral, labels, distances, signals])
