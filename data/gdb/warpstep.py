"""What gdb lacks for kernels under `warpstep debug --gdb`: source this file, then connect.

  x/i, disassemble      show SASS
  info lanes            lanes of the selected warp: thread, pc, what they wait for
  lane N                look at another lane (the warp's pc, and `backtrace`, are of its path)
  warpstep COMMAND      a command of warpstep's console that only looks: warpstep info ctas, warpstep print f32(R4)
"""
import gdb
import gdb.disassembler

BYTES = 16  # of an instruction


def ask(command):
    """Answer of the console, for the warp that is selected here: gdb may have asked for another one last."""
    gdb.execute("maintenance flush register-cache", to_string=True)
    gdb.selected_frame().pc()
    return gdb.execute("monitor " + command, to_string=True)


class Sass(gdb.disassembler.Disassembler):
    """Instructions as warpstep prints them."""

    def __init__(self):
        super().__init__("warpstep")
        self.known = {}

    def __call__(self, info):
        if info.address % BYTES:
            return None
        if info.address not in self.known:
            lines = gdb.execute(f"monitor disassemble *{info.address:#x} 1", to_string=True).splitlines()
            if not lines or lines[-1].startswith("error"):
                return None
            self.known[info.address] = lines[-1].split(">  ", 1)[-1]
        return gdb.disassembler.DisassemblerResult(length=BYTES, string=self.known[info.address])


class Command(gdb.Command):
    """A command of warpstep's console that only looks: warpstep info ctas."""

    def __init__(self, name, prefix, changes=False):
        super().__init__(name, gdb.COMMAND_DATA)
        self.prefix, self.changes = prefix, changes

    def invoke(self, argument, from_tty):
        print(ask((self.prefix + " " + argument).strip()), end="")
        if self.changes:
            gdb.execute("maintenance flush register-cache", to_string=True)


gdb.disassembler.register_disassembler(Sass(), "i386:x86-64")
Command("warpstep", "")
Command("info lanes", "info lanes")
Command("lane", "lane", changes=True)
