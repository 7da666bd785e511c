# Compilers, flags and build modes.

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif

WARN := -Wall -Wextra -Wshadow -Wconversion -Werror
OPT  := -O2
SEM_OPT := -O3

ifneq (,$(MODE))
# san is both in one build: what continuous integration runs.
SANITIZE_asan  := -fsanitize=address -fno-omit-frame-pointer
SANITIZE_ubsan := -fsanitize=undefined -fno-sanitize-recover=all
SANITIZE_san   := $(SANITIZE_asan) $(SANITIZE_ubsan)
SANITIZE_tsan  := -fsanitize=thread
SANITIZE_cov   := --coverage -fprofile-update=atomic
SANITIZE_fuzz  := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
SANITIZE := $(SANITIZE_$(MODE))
ifeq (,$(SANITIZE))
$(error MODE is one of san, asan, ubsan, tsan, cov, fuzz, or not set)
endif
# Instrumented code confuses gcc's uninitialised-value analysis; the plain build has it on.
WARN += $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized)
OPT := -O1
SEM_OPT := -O1
endif
# The build for `make unit MODE=san`: optimised code takes twice as long to compile with sanitizers, other code twice as long to run. So
# only those parts are optimised in which unit tests spend their time (src/func, src/time, src/isa, src/load, tests/semantics).
ifeq ($(MODE),san)
OPT := -O0
SEM_OPT := -O0
BUSY_OPT := -O1
WARN := # a seventh of the time; the plain build has them
endif
# Reports of sanitizers name functions and lines, not variables.
DEBUG_INFO ?= $(if $(filter san asan ubsan tsan,$(MODE)),-g1,-g)

CPPFLAGS += -D_GNU_SOURCE -Isrc -Iinclude -MMD -MP
CFLAGS   := -std=c17 $(OPT) $(DEBUG_INFO) -fPIC -fvisibility=hidden -pthread $(WARN) $(SANITIZE) $(EXTRA_CFLAGS)
LDFLAGS  += -pthread $(SANITIZE)
LIBS     := -lelf -llz4 -lzstd -llzma -lconfig -ljansson -lm -lpthread

# Semantics must round exactly as written (no contraction), and are vectorised for three levels of
# x86-64 whose results are bit-identical. clang says when it cannot vectorise: not an error.
#
# Sanitizers look at the source, which is the same for all levels: they get one, since these files, full of macros, are what
# takes longest to compile. That the levels give the same bits, the plain build tests (tests/semantics).
ifneq (,$(filter san asan ubsan tsan fuzz,$(MODE)))
SEM_LEVELS := v1
CPPFLAGS   += -DSEM_ONE_LEVEL
else
SEM_LEVELS := v1 v3 v4
endif
SEM_CFLAGS := $(SEM_OPT) -fopenmp-simd -ffp-contract=off -fno-trapping-math -fno-math-errno -Wno-pass-failed
SEM_v1     := -march=x86-64 -DSEM_LEVEL=v1
SEM_v3     := -march=x86-64-v3 -DSEM_LEVEL=v3
SEM_v4     := -march=x86-64-v4 -DSEM_LEVEL=v4

# cmocka's macros convert freely. What runs for a few milliseconds takes longer to optimise: unit tests are not, but for
# the references of tests/semantics, which calculate for each of many sets of operands.
TEST_OPT    := -O0
TEST_CFLAGS := -Wno-conversion -Wno-sign-conversion -DWS_SOURCE_DIR='"$(CURDIR)"'
