"""Devices, their memory, modules and kernels."""
import ctypes
import numbers
import os
import signal
import sys
import threading
from ctypes import byref, c_char_p, c_size_t, c_uint64, c_void_p

from . import _library as c
from ._library import lib
from ._result import Result


def _numpy():
    try:
        import numpy
    except ImportError:
        raise c.Error("arrays need NumPy: pip install numpy", 1) from None
    return numpy


def _plain(host):
    """An array whose bytes mean the same to the device: no objects, little-endian."""
    if host.dtype.hasobject:
        raise TypeError(f"an array of {host.dtype} holds references to Python objects")
    return host.astype(host.dtype.newbyteorder("<")) if host.dtype.byteorder == ">" else host


def _range(name, value, bits):
    """A number that the C struct has room for."""
    if not isinstance(value, numbers.Integral) or not 0 <= value < 1 << bits:
        raise ValueError(f"{name}={value!r}: a whole number from 0 to 2**{bits} - 1")
    return int(value)


def _name(text):
    if "\0" in text:
        raise ValueError(f"{text!r} is no name")
    return text.encode()


def _encode(path):
    return os.fsencode(os.fspath(path))


class Device:
    """A simulated GPU.

    preset: a name ("rtx-3070"; `warpstep gpus` lists them) or a file of settings.
    settings: parameters by key, {"gpu.sms": 8}; "clock" locks the SM clock, MHz.
    heap_bytes: for malloc() of kernels, 0: 8 MiB.
    print: a function that gets what kernels print; default: sys.stdout.write.

    A device, and all that belongs to it, is used by one thread at a time.
    """

    def __init__(self, preset="rtx-3070", settings=None, *, presets=None, heap_bytes=0, print=None):
        self._handle = None
        texts = [f"{key}={self._text(value)}".encode() for key, value in (settings or {}).items()]
        overrides = (c_char_p * len(texts))(*texts)
        say = print or sys.stdout.write
        # The library calls from within ws_launch, on this thread: an exception is kept until then.
        self._raised = None
        self._print = c.PRINT(lambda _, text, n: self._guard(say, ctypes.string_at(text, n).decode(errors="replace")))
        here = c.HERE / "presets"
        folder = presets or (here if here.is_dir() and "WARPSTEP_PRESETS" not in os.environ else None)
        options = c.DeviceOptions(preset=str(preset).encode(), preset_dir=folder and _encode(folder), overrides=overrides,
                                  n_overrides=len(texts), heap_bytes=heap_bytes, print=self._print)
        handle = c_void_p()
        lib.device_create(byref(options), byref(handle))
        self._handle = handle

    @staticmethod
    def _text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _guard(self, function, *arguments):
        try:
            return function(*arguments)
        except BaseException as why:  # noqa: it goes on in ws_launch's caller
            self._raised = self._raised or why
            return 1

    def _alive(self):
        if not self._handle:
            raise c.Error("the device is closed", 1)
        return self._handle

    def close(self):
        """Frees the device with its memory and modules; results stay."""
        if self._handle:
            lib.device_destroy(self._handle)
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def parameter(self, key):
        """Text of a parameter: device.parameter("gpu.sms") is "46"."""
        text = lib.device_parameter(self._alive(), _name(key))
        if text is None:
            raise KeyError(key)
        return text.decode()

    def load(self, source, *more):
        """A module: cubin, fat binary, program, object or library made by nvcc, by path or as bytes. Several paths: objects of
        nvcc -dc that are linked."""
        handle = c_void_p()
        if isinstance(source, (bytes, bytearray, memoryview)):
            image = bytes(source)
            lib.module_load_memory(self._alive(), image, len(image), b"memory", byref(handle))
        elif more:
            paths = [_encode(p) for p in (source, *more)]
            lib.module_link(self._alive(), (c_char_p * len(paths))(*paths), len(paths), byref(handle))
        else:
            lib.module_load(self._alive(), _encode(source), byref(handle))
        return Module(self, handle)

    def empty(self, shape, dtype="float32"):
        """Zero-filled memory of the device, as an array of this shape."""
        return DeviceArray(self, shape, dtype)

    def array(self, values, dtype=None):
        """A copy of the values in memory of the device."""
        host = _plain(_numpy().ascontiguousarray(values, dtype=dtype))
        made = DeviceArray(self, host.shape, host.dtype)
        made.set(host)
        return made


class DeviceArray:
    """Memory of a device that keeps its place and contents between launches, until nobody refers to it any more."""

    def __init__(self, device, shape, dtype):
        np = _numpy()
        self.address = 0
        self.device, self.dtype = device, _plain(np.empty(0, dtype)).dtype
        self.shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
        if any(n < 0 for n in self.shape):
            raise ValueError(f"{self.shape} is no shape")
        self.nbytes = int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize
        address = c_uint64()
        lib.alloc(device._alive(), max(self.nbytes, 1), byref(address))
        self.address = address.value

    def set(self, values):
        """Copies values of this shape to the device."""
        host = _numpy().ascontiguousarray(values, dtype=self.dtype)
        if host.shape != self.shape:
            raise ValueError(f"an array of shape {host.shape} for one of {self.shape}")
        lib.copy_in(self.device._alive(), self.address, host.ctypes.data, self.nbytes)

    def get(self):
        """A NumPy array with the contents."""
        host = _numpy().empty(self.shape, self.dtype)
        lib.copy_out(self.device._alive(), host.ctypes.data, self.address, self.nbytes)
        return host

    def free(self):
        """Gives the memory back before the device goes."""
        address, self.address = self.address, 0
        if address and self.device._handle:
            lib.free(self.device._handle, address)

    def __del__(self):
        try:
            self.free()
        except Exception:  # noqa: the interpreter is on its way out
            pass

    def __array__(self, dtype=None, copy=None):
        return self.get() if dtype is None else self.get().astype(dtype)

    def __repr__(self):
        return f"DeviceArray({self.shape}, {self.dtype}, at 0x{self.address:x})"


class Module:
    """Code on a device. module["name"] is a kernel, by its symbol or, if that is unambiguous, its plain name."""

    def __init__(self, device, handle):
        self.device, self._handle = device, handle

    def __getitem__(self, name):
        self.device._alive()
        handle = c_void_p()
        lib.module_kernel(self._handle, _name(name), byref(handle))
        return Kernel(self, handle)

    def __iter__(self):
        return iter(self.names())

    def names(self):
        """Symbols of the kernels, in the order of the file."""
        self.device._alive()
        n = lib.module_kernel_count(self._handle)
        return [lib.kernel_name(lib.module_kernel_at(self._handle, i)).decode() for i in range(n)]

    def read(self, variable, dtype="u1", count=None):
        """The first `count` elements of a __device__ or __constant__ variable; without a count a __device__ one as a whole."""
        np = _numpy()
        self.device._alive()
        if count is None:
            size = c_uint64()
            lib.variable(self._handle, _name(variable), None, byref(size))
            count = size.value // np.dtype(dtype).itemsize
        host = np.empty(count, dtype)
        lib.variable_read(self._handle, _name(variable), host.ctypes.data, host.nbytes)
        return host

    def write(self, variable, values, dtype=None):
        """Writes a variable from its start."""
        host = _plain(_numpy().ascontiguousarray(values, dtype=dtype))
        self.device._alive()
        lib.variable_write(self._handle, _name(variable), host.ctypes.data, host.nbytes)


class Kernel:
    """kernel(grid, block, *arguments) launches it and returns a Result."""

    REGISTERS, SHARED_BYTES, STACK_BYTES, MAX_THREADS = range(4)

    def __init__(self, module, handle):
        self.module, self._handle = module, handle
        self.name = lib.kernel_name(handle).decode()
        n = lib.kernel_parameter_count(handle)
        self.parameter_bytes = tuple(lib.kernel_parameter(handle, i, None) for i in range(n))

    @property
    def registers(self):
        """Per thread."""
        self.module.device._alive()
        return lib.kernel_attribute(self._handle, self.REGISTERS)

    @property
    def shared_bytes(self):
        """Static shared memory of a CTA."""
        self.module.device._alive()
        return lib.kernel_attribute(self._handle, self.SHARED_BYTES)

    def __call__(self, grid, block, *arguments, functional=False, profile=False, json=False, cooperative=False, hazards="off",
                 shared_bytes=0, stack_bytes=0, cluster=(0, 0, 0), threads=1, max_cycles=0, max_instructions=0, progress=None):
        """Runs the kernel to its end.

        grid, block, cluster: up to three sizes, or one number.
        arguments: NumPy arrays (copied in, and back behind the launch), DeviceArrays, numbers (as the size of the parameter asks for:
        4 or 8 bytes, or less; floats as float32 or float64), NumPy scalars and bytes of the parameter's size.
        functional: results only, some 20 times as fast. profile: what each instruction costs. hazards: "check", "emulate", "both".
        progress: progress(cycles, instructions, ctas, all_ctas) from time to time; a true value cancels the launch.
        """
        call = _Call(self, arguments)
        flags = c.JSON * json | c.PROFILE * profile | c.COOPERATIVE * cooperative | self._hazards(hazards)
        launch = c.Launch(grid=_three(grid), block=_three(block), cluster=_three(cluster, 0), arguments=call.pointers,
                          shared_bytes=_range("shared_bytes", shared_bytes, 32), stack_bytes=_range("stack_bytes", stack_bytes, 32),
                          mode=c.FUNCTIONAL if functional else c.TIMED, flags=flags, threads=_range("threads", threads, 32),
                          max_cycles=_range("max_cycles", max_cycles, 64),
                          max_instructions=_range("max_instructions", max_instructions, 64))
        # Always asked, so that Ctrl-C is heard: Python handles signals when its code runs.
        with _Interrupt() as interrupt:
            guard = self.module.device._guard
            launch.progress = c.PROGRESS(lambda _, p: interrupt.came or bool(progress and guard(_progress, progress, p)))
            return call.run(launch)

    @staticmethod
    def _hazards(mode):
        modes = {"off": 0, "check": c.CHECK_HAZARDS, "emulate": c.EMULATE_HAZARDS, "both": c.CHECK_HAZARDS | c.EMULATE_HAZARDS}
        if mode not in modes:
            raise ValueError(f"hazards={mode!r}: one of {', '.join(modes)}")
        return modes[mode]

    def __repr__(self):
        return f"<kernel {self.name} {self.parameter_bytes}>"


class _Interrupt:
    """Ctrl-C during a launch cancels it and is raised behind it: in the midst of a callback of the library the exception would be
    lost. On other threads than the main one Python has no say."""

    def __enter__(self):
        self.came, self.before = False, None
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, *_):
        self.came = True

    def __exit__(self, *_):
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
        if self.came:
            raise KeyboardInterrupt


def _progress(function, p):
    size, cycles, instructions, ctas, all_ctas = (ctypes.c_uint64 * 5).from_address(p)
    return function(cycles, instructions, ctas, all_ctas)


def _three(sizes, rest=1):
    sizes = (sizes,) if isinstance(sizes, numbers.Integral) else tuple(sizes)
    if not 0 < len(sizes) <= 3 or any(not 0 <= n < 2**32 for n in sizes):
        raise ValueError(f"{sizes}: one to three sizes")
    return (ctypes.c_uint32 * 3)(*sizes, *[rest] * (3 - len(sizes)))


class _Call:
    """The arguments of one launch."""

    def __init__(self, kernel, arguments):
        self.kernel, self.device = kernel, kernel.module.device
        self.device._alive()
        self.made = []  # (array of the caller, memory of the device)
        wanted = kernel.parameter_bytes
        if len(arguments) != len(wanted):
            raise TypeError(f"{kernel.name} takes {len(wanted)} arguments, not {len(arguments)}")
        try:
            self.blocks = [self._block(i, a, n) for i, (a, n) in enumerate(zip(arguments, wanted))]
        except BaseException:
            self._free()
            raise
        buffers = [ctypes.create_string_buffer(b, max(len(b), 1)) for b in self.blocks]
        self.keep = buffers
        self.pointers = (c_void_p * max(len(buffers), 1))(*[ctypes.addressof(b) for b in buffers])

    def _block(self, i, value, n):
        """The bytes of argument i, which has n."""
        if isinstance(value, DeviceArray):
            if value.device is not self.device:
                raise TypeError(f"argument {i + 1} lies on another device")
            data = value.address.to_bytes(8, "little")
        elif isinstance(value, (bytes, bytearray)):
            data = bytes(value)
        elif hasattr(value, "__array_interface__") and getattr(value, "shape", ()) != ():
            data = self._copy_in(value).to_bytes(8, "little")
        else:
            data = self._number(i, value, n)
        if len(data) != n:
            raise TypeError(f"argument {i + 1} of {self.kernel.name} has {n} bytes, {value!r:.60} has {len(data)}")
        return data

    @staticmethod
    def _number(i, value, n):
        if hasattr(value, "dtype") and hasattr(value, "tobytes"):
            return value.tobytes()
        if isinstance(value, (bool, numbers.Integral)):
            if not -(1 << (8 * n - 1)) <= int(value) < 1 << 8 * n:
                raise OverflowError(f"argument {i + 1}: {value} does not fit {n} bytes")
            return (int(value) & ((1 << 8 * n) - 1)).to_bytes(n, "little")
        if isinstance(value, numbers.Real):
            return bytes({4: ctypes.c_float, 8: ctypes.c_double}.get(n, ctypes.c_double)(float(value)))
        raise TypeError(f"argument {i + 1}: {type(value).__name__} is neither array, number nor bytes")

    def _copy_in(self, array):
        for known, memory in self.made:
            if known is array:  # passed twice: one place, as for the program on a GPU
                return memory.address
        np = _numpy()
        host = _plain(np.ascontiguousarray(array))
        made = DeviceArray(self.device, host.shape, host.dtype)
        self.made.append((array, made))
        if made.nbytes:
            made.set(host)
        return made.address

    def _copy_out(self):
        for array, memory in self.made:
            if memory.nbytes and array.flags.writeable:
                array[...] = memory.get()

    def _free(self):
        for _, memory in self.made:
            memory.free()

    def run(self, launch):
        device, handle = self.device, c_void_p()
        device._raised = None
        try:
            lib.launch(self.kernel._handle, byref(launch), byref(handle))
            result = Result(handle, self.kernel.name)
            self._copy_out()
        finally:
            self._free()
        if device._raised:
            raise device._raised
        return result
