# One non-recursive build. `make help` lists the targets.
#
#   MODE=san|asan|ubsan|tsan   sanitizer build (san: asan and ubsan in one), in build/$(MODE)
#   MODE=cov               counts executed lines (make coverage)
#   CC=clang               another compiler
#   V=1                    print the commands

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# All cores, unless the caller gave -j.
ifeq (,$(filter -j% --jobserver%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

BUILD := build$(if $(MODE),/$(MODE))
Q     := $(if $(V),,@)
say    = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')

# These goals need more than a compiler; what is missing is installed before anything is built.
ifneq (,$(filter demo test unit check-quick lint bench,$(MAKECMDGOALS)))
setup_status := $(shell tools/setup.sh $(filter test,$(MAKECMDGOALS)) 1>&2; echo $$?)
ifneq ($(setup_status),0)
$(error packages are missing, see above)
endif
endif

include mk/flags.mk

SRC     := $(sort $(shell find src -name '*.c'))
CLI_SRC := $(filter src/cli/% src/study/%,$(SRC)) # not in the library: they want SQLite
CUDA_SRC := $(filter src/cuda/%,$(SRC))
LIBS_SRC := $(filter src/libs/%,$(SRC))
SMI_SRC  := $(filter src/smi/%,$(SRC))
LIB_SRC := $(filter-out $(CLI_SRC) $(CUDA_SRC) $(LIBS_SRC) $(SMI_SRC),$(SRC))

# Warp-wide semantics: compiled once per x86-64 level, chosen at start-up (mk/flags.mk).
SEM_SRC := $(wildcard $(patsubst %,src/func/sass/sem_%.c,int logic minmax wide uniform fp half fp64 conv mufu mma hmma imma dmma hmma884 qmma omma gmma utcmma utcmma_sum rows across))

objs     = $(patsubst %.c,$(BUILD)/%.o,$(1))
CLI_OBJ := $(call objs,$(CLI_SRC))
LIB_OBJ := $(call objs,$(filter-out $(SEM_SRC),$(LIB_SRC))) \
           $(foreach l,$(SEM_LEVELS),$(patsubst %.c,$(BUILD)/%.$(l).o,$(SEM_SRC)))

BIN := $(BUILD)/warpstep
# Everything, for our own programs and tests; libwarpstep.* (mk/library.mk) only show ws_*.
LIB := $(BUILD)/warpstep.a

include mk/html.mk
include mk/library.mk

.PHONY: all shims
all: $(BIN) $(if $(MODE),,lib) shims riscv

# CUDA programs of a simulated CPU make their calls in here (src/cuda/guest).
GUEST_OBJ := $(call objs,$(filter-out $(addprefix src/cuda/,interpose.c open_instead.c unused_gpu.c),$(CUDA_SRC)))

# What the command line asks the C library for, but for what libraries do, goes through src/cli/region_calls.c: a run that
# is saved has all its memory at addresses of its own (docs/checkpoints.md). So have functions and constants: no PIE, but with sanitizers,
# whose builds save nothing.
comma := ,
REGION_CALLS := $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc aligned_alloc free strdup strndup mmap munmap \
                fopen fdopen fclose)

$(BIN): $(CLI_OBJ) $(GUEST_OBJ) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) $(if $(filter san asan tsan,$(MODE)),,-no-pie) -Wl,--build-id=sha1 $(REGION_CALLS) -o $@ $^ -lsqlite3 $(LIBS)

# q, not r: two members may share a base name.
$(LIB): $(LIB_OBJ) $(BUILD)/objects.stamp
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcs $@ $(LIB_OBJ)

$(BUILD)/%.o: %.c $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(FILE_CFLAGS) -c -o $@ $<

define sem_rule
$(BUILD)/src/func/sass/%.$(1).o: src/func/sass/%.c $(BUILD)/flags.stamp
	@mkdir -p $$(@D)
	$$(call say,CC,$$< [$(1)])
	$$(Q)$$(CC) $$(CPPFLAGS) $$(CFLAGS) $$(SEM_CFLAGS) $$(SEM_$(1)) -c -o $$@ $$<
endef
$(foreach l,$(SEM_LEVELS),$(eval $(call sem_rule,$(l))))

$(foreach d,time isa load,$(BUILD)/src/$(d)/%.o): FILE_CFLAGS = $(BUSY_OPT)
$(BUILD)/src/func/%.o: FILE_CFLAGS = -ffp-contract=off $(BUSY_OPT)
# Rounding modes and flags of the host's floating point are those of the guest there.
$(BUILD)/src/func/rv64/%.o: FILE_CFLAGS = -ffp-contract=off -frounding-math
$(BUILD)/tests/%.o: FILE_CFLAGS = $(TEST_CFLAGS)
$(BUILD)/tests/unit/%.o: FILE_CFLAGS = $(TEST_CFLAGS) $(TEST_OPT)
$(BUILD)/tests/semantics/%.o: FILE_CFLAGS = $(TEST_CFLAGS) $(BUSY_OPT)

# Files that change when the flags or the list of objects change, and only then.
define stamp
@mkdir -p $(@D)
@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' > $@
endef
.PHONY: force
$(BUILD)/flags.stamp: force
	$(call stamp,$(CC) $(CPPFLAGS) $(CFLAGS) $(SEM_CFLAGS) $(TEST_CFLAGS) $(TEST_OPT) $(BUSY_OPT))
$(BUILD)/objects.stamp: force
	$(call stamp,$(LIB_OBJ))

include mk/cuda.mk
include mk/libs.mk
# Of the sanitizers only the address sanitizer can be brought into a program that was built without it (mk/cuda.mk).
shims: $(if $(filter-out asan,$(MODE)),,$(SHIM) $(SHIM_NAMES) $(SMI) $(LIBS_ALL))

include mk/riscv.mk
include mk/tests.mk
include mk/fuzz.mk
include mk/install.mk
include mk/coverage.mk
include mk/silicon.mk

.PHONY: demo bench cubins lint format clean help
DEMO = $(BIN) run kernels/sgemm_tiled/sgemm_tiled.launch --gpu rtx-3070
demo: all refs
	$(DEMO)

bench: all refs
	$(Q)if [ -x bench/run.sh ]; then BIN=$(BIN) bench/run.sh; else echo 'no benchmark yet'; fi

cubins:
	$(Q)kernels/build.sh

lint: $(LIB_OBJ) $(CLI_OBJ) $(SHIM_OBJ) $(LIBS_OBJ) $(SMI_OBJ)
	$(Q)tools/lint/run.sh $(BUILD)

format:
	$(Q)find src include tests -name '*.[ch]' -print0 | xargs -0 clang-format -i

clean:
	rm -rf build

help:
	@echo 'all            build/warpstep, build/libwarpstep.a and .so (default)'
	@echo 'install        PREFIX=/usr/local, DESTDIR, bindir, libdir, includedir, mandir, datadir'
	@echo 'uninstall      removes what install put there, with the same variables'
	@echo 'demo           simulates a tiled matrix product and prints its report'
	@echo 'test           everything: unit tests, corpus against CPU references'
	@echo 'check-quick    lint and unit tests, under a minute'
	@echo 'unit           unit and block tests only'
	@echo 'wheel          the Python package (docs/python.md)'
	@echo 'semantics      random differential tests of instructions; SETS=100000 operand sets of a form'
	@echo 'coverage       tests with MODE=cov, then executed lines per folder'
	@echo 'lint           dependency rule, headers, globals, sizes, tables, scripts'
	@echo 'exec-asan      programs of tests/exec under the address sanitizer (needs nvcc)'
	@echo 'fuzz           libFuzzer programs in build/fuzz (needs clang), see tests/fuzz'
	@echo 'bench          benchmarks (quiet machine)'
	@echo 'gaps           smallest distances nvcc emits, beside the hazard table of the presets'
	@echo 'update-golden  rewrites the expected outputs of tests/cli that differ; read the diff'
	@echo 'refs           runs the CPU references of kernels/'
	@echo 'cubins         rebuilds the prebuilt cubins (needs nvcc)'
	@echo 'format         clang-format over all sources'
	@echo 'clean          removes build/'
	@echo 'MODE=san|asan|ubsan|tsan|cov builds in build/MODE; CC=clang; V=1 prints commands'

-include $(shell find $(BUILD)/src $(BUILD)/tests $(BUILD)/tools -name '*.d' 2>/dev/null)
