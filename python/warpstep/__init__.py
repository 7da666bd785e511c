"""warpstep: runs the machine code of NVIDIA GPUs, cycle by cycle, without a GPU.

    import numpy as np, warpstep

    with warpstep.Device("rtx-3070") as gpu:
        vecadd = gpu.load("vecadd.sm_86.cubin")["vecadd"]
        x, y, z = np.ones(1024, "f4"), np.ones(1024, "f4"), np.zeros(1024, "f4")
        result = vecadd((4,), (256,), x, y, z, np.uint32(1024))
        print(z, result.cycles, result.counters["dram.dram_read_bytes"])

Arrays that are passed to a kernel are copied to the device before the launch and back behind it; arrays that stay on the device are made with
Device.array. What the library refuses raises warpstep.Error, whose text says what to do; arguments that make no sense raise TypeError,
ValueError or OverflowError. A fault of the simulated program is no error: Result.fault describes it.

The package is a thin layer over the C library (docs/library.md), loaded with ctypes. NumPy is needed for arrays, pandas for
Result.frame and Profile.frame, matplotlib for the plots; none of them to import the package.
"""
from ._device import Device, DeviceArray, Kernel, Module
from ._library import Error, version
from ._result import Fault, Profile, Result

__all__ = ["Device", "DeviceArray", "Error", "Fault", "Kernel", "Module", "Profile", "Result", "version"]
__version__ = version()
