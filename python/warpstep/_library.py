"""The C library (include/warpstep/warpstep.h): its structs, and calls whose failures are exceptions."""
import ctypes
import os
import pathlib
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

HERE = pathlib.Path(__file__).resolve().parent
PRINT = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)

TIMED, FUNCTIONAL = 0, 1
COOPERATIVE, CHECK_HAZARDS, JSON, EMULATE_HAZARDS, PROFILE = 1, 2, 4, 8, 16
ENDS = ("ended", "fault", "cycle limit", "instruction limit", "cancelled")


class Error(Exception):
    """A call that the library refused. `status`: enum ws_status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Sized(ctypes.Structure):
    """A struct that opens with its size."""

    def __init__(self, **values):
        super().__init__(ctypes.sizeof(self), **values)


class CError(Sized):
    _fields_ = [("size", c_size_t), ("status", c_int), ("message", c_char * 512)]


class DeviceOptions(Sized):
    _fields_ = [("size", c_size_t), ("preset", c_char_p), ("preset_dir", c_char_p), ("overrides", POINTER(c_char_p)),
                ("n_overrides", c_size_t), ("heap_bytes", c_uint64), ("print", PRINT), ("print_context", c_void_p)]


class Launch(Sized):
    _fields_ = [("size", c_size_t), ("grid", c_uint32 * 3), ("block", c_uint32 * 3), ("shared_bytes", c_uint32),
                ("stack_bytes", c_uint32), ("arguments", POINTER(c_void_p)), ("mode", c_int), ("flags", c_uint),
                ("threads", c_uint), ("max_cycles", c_uint64), ("max_instructions", c_uint64), ("progress", PROGRESS),
                ("progress_context", c_void_p), ("cluster", c_uint32 * 3)]


class Counter(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("unit", c_char_p), ("text", c_char_p), ("value", c_uint64)]


class CFault(Sized):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("kind_name", c_char_p), ("kernel", c_char_p), ("where", c_char_p),
                ("instruction", c_char_p), ("message", c_char_p), ("pc", c_uint64), ("address", c_uint64),
                ("near_allocation", c_char_p), ("cta", c_uint32 * 3), ("thread", c_uint32 * 3)]


class ProfileRow(Sized):
    _fields_ = [("size", c_size_t), ("where", c_char_p), ("instruction", c_char_p), ("file", c_char_p), ("line", c_uint32),
                ("pc", c_uint64), ("issued", c_uint64), ("threads", c_uint64), ("warp_cycles", c_uint64),
                ("sectors", c_uint64), ("passes", c_uint64), ("conflicts", c_uint64), ("live_registers", c_uint32),
                ("live_predicates", c_uint32), ("live_uniform", c_uint32), ("live_uniform_predicates", c_uint32)]


# Function: result, arguments but for the error; those of CHECKED take one at the end and return a status.
PLAIN = {
    "ws_version": (c_char_p, []),
    "ws_device_destroy": (None, [c_void_p]),
    "ws_device_parameter": (c_char_p, [c_void_p, c_char_p]),
    "ws_module_unload": (None, [c_void_p]),
    "ws_module_kernel_count": (c_size_t, [c_void_p]),
    "ws_module_kernel_at": (c_void_p, [c_void_p, c_size_t]),
    "ws_kernel_name": (c_char_p, [c_void_p]),
    "ws_kernel_parameter_count": (c_size_t, [c_void_p]),
    "ws_kernel_parameter": (c_size_t, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "ws_kernel_attribute": (c_uint64, [c_void_p, c_int]),
    "ws_result_destroy": (None, [c_void_p]),
    "ws_result_end": (c_int, [c_void_p]),
    "ws_result_cycles": (c_uint64, [c_void_p]),
    "ws_result_nanoseconds": (c_double, [c_void_p]),
    "ws_result_instructions": (c_uint64, [c_void_p]),
    "ws_result_thread_instructions": (c_uint64, [c_void_p]),
    "ws_result_counter_count": (c_size_t, [c_void_p]),
    "ws_result_hazard_count": (c_size_t, [c_void_p]),
    "ws_result_hazard_report": (c_char_p, [c_void_p]),
    "ws_result_json": (c_char_p, [c_void_p]),
    "ws_result_profile_count": (c_size_t, [c_void_p]),
    "ws_result_state_count": (c_size_t, [c_void_p]),
    "ws_result_state_name": (c_char_p, [c_void_p, c_size_t]),
    "ws_result_profile_state": (c_uint64, [c_void_p, c_size_t, c_size_t]),
}
CHECKED = {
    "ws_device_create": [POINTER(DeviceOptions), POINTER(c_void_p)],
    "ws_alloc": [c_void_p, c_uint64, POINTER(c_uint64)],
    "ws_free": [c_void_p, c_uint64],
    "ws_copy_in": [c_void_p, c_uint64, c_void_p, c_size_t],
    "ws_copy_out": [c_void_p, c_void_p, c_uint64, c_size_t],
    "ws_module_load": [c_void_p, c_char_p, POINTER(c_void_p)],
    "ws_module_load_memory": [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(c_void_p)],
    "ws_module_link": [c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p)],
    "ws_module_kernel": [c_void_p, c_char_p, POINTER(c_void_p)],
    "ws_variable": [c_void_p, c_char_p, POINTER(c_uint64), POINTER(c_uint64)],
    "ws_variable_write": [c_void_p, c_char_p, c_void_p, c_size_t],
    "ws_variable_read": [c_void_p, c_char_p, c_void_p, c_size_t],
    "ws_launch": [c_void_p, POINTER(Launch), POINTER(c_void_p)],
    "ws_result_counter_at": [c_void_p, c_size_t, POINTER(Counter)],
    "ws_result_fault": [c_void_p, POINTER(CFault)],
    "ws_result_profile_at": [c_void_p, c_size_t, POINTER(ProfileRow)],
}
NOT_FOUND = 4  # WS_NOT_FOUND


def _open():
    """The library of the wheel; in the source tree that of build/; else the installed one. WARPSTEP_LIBRARY names another."""
    places = [os.environ.get("WARPSTEP_LIBRARY"), HERE / "libwarpstep.so", HERE.parent.parent / "build" / "libwarpstep.so"]
    path = next((str(p) for p in places if p and os.path.exists(p)), "libwarpstep.so.0")
    try:
        return ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"warpstep: {why}; install the libraries that docs/python.md lists, or run make") from None


class Library:
    """lib.alloc(…) calls ws_alloc; a status other than 0 is an Error."""

    def __init__(self):
        dll = _open()
        for name, (result, arguments) in PLAIN.items():
            f = getattr(dll, name)
            f.restype, f.argtypes = result, arguments
            setattr(self, name[3:], f)
        for name, arguments in CHECKED.items():
            f = getattr(dll, name)
            f.restype, f.argtypes = c_int, [*arguments, POINTER(CError)]
            setattr(self, name[3:], self._checked(f))

    @staticmethod
    def _checked(f):
        def call(*arguments):
            error = CError()
            status = f(*arguments, byref(error))
            if status:
                raise Error(error.message.decode(errors="replace"), status)

        return call


lib = Library()


def version():
    """Of the library: "0.1.0"."""
    return lib.version().decode()
