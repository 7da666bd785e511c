# Test programs (one cmocka program per C file), CPU references of kernels/, and their runner.
# Test sources anywhere else in tests/ are not built; tests/support/*.c is linked to every program.

TEST_SRC     := $(sort $(wildcard tests/unit/test_*.c tests/block/test_*.c tests/semantics/test_*.c tests/divergence/test_*.c))
TEST_BIN     := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(TEST_SRC)))
TEST_SUPPORT := $(call objs,$(wildcard tests/support/*.c))

# Further objects of one program: TEST_OBJ_NAME.
TEST_OBJ_test_fuzz_corpus := $(call objs,$(wildcard tests/fuzz/fuzz_*.c))

# The command line is not in the library.
TEST_OBJ_test_region := $(call objs,src/cli/region.c)

# Requests for host memory that fail.
WRAPPED := malloc calloc realloc aligned_alloc free mmap munmap fopen fclose open_memstream fopencookie
TEST_LIBS_test_api_memory := $(addprefix -Wl$(comma)--wrap=,$(WRAPPED))
TEST_LIBS_test_cuda_starved := $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc aligned_alloc strdup mmap fopen open_memstream)

# The CUDA shims as a program sees them, without nvcc.
CUDA_TESTS := $(patsubst %.c,%,$(notdir $(wildcard tests/unit/test_cuda_*.c)))
$(foreach t,$(CUDA_TESTS),$(eval TEST_OBJ_$(t) := $(SHIM_OBJ)))

# Random differential tests (tests/semantics): references, generator and rig; MPFR is theirs alone.
SEMANTICS_SRC := $(filter-out tests/semantics/test_%,$(wildcard tests/semantics/*.c))
SEMANTICS     := $(patsubst %.c,%,$(notdir $(wildcard tests/semantics/test_*.c tests/divergence/test_*.c)))
$(foreach t,$(SEMANTICS),$(eval TEST_OBJ_$(t) := $(call objs,$(SEMANTICS_SRC))))
$(foreach t,$(SEMANTICS),$(eval TEST_LIBS_$(t) := -lmpfr -lgmp))

define test_rule
$(BUILD)/tests/$(basename $(notdir $(1))): $(BUILD)/$(1:.c=.o) $(TEST_OBJ_$(basename $(notdir $(1)))) \
  $(TEST_SUPPORT) $(LIB)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(LDFLAGS) -o $$@ $$^ -lcmocka $$(TEST_LIBS_$(basename $(notdir $(1)))) $$(LIBS)
endef
$(foreach t,$(TEST_SRC),$(eval $(call test_rule,$(t))))

# References are shared by all modes: build/ref/NAME holds the data files launch files name.
REF_SRC    := $(sort $(wildcard kernels/*/*.ref.c))
REF_NAME   := $(patsubst %.ref.c,%,$(notdir $(REF_SRC)))
REF_STAMPS := $(patsubst %,build/ref/%/.done,$(REF_NAME))
REF_CFLAGS := -std=c17 -D_GNU_SOURCE -O2 -ffp-contract=off -Wall -Wextra

define ref_rule
build/ref/$(1).ref: kernels/$(1)/$(1).ref.c $(wildcard kernels/common/*.h)
	@mkdir -p $$(@D)
	$$(call say,REF,$(1))
	$$(Q)$$(CC) $$(REF_CFLAGS) -o $$@ $$< -lm
build/ref/$(1)/.done: build/ref/$(1).ref
	@mkdir -p $$(@D)
	$$(Q)$$< $$(@D) && touch $$@
endef
$(foreach r,$(REF_NAME),$(eval $(call ref_rule,$(r))))

# Operand sets of each instruction form in tests/semantics: few where people wait. Most operands
# are drawn from edges; `make semantics` goes on to more of the random ones, for who changes an instruction.
SETS       ?= 100000
TEST_SETS  := $(if $(MODE),2000,40000)
QUICK_SETS := $(if $(filter san,$(MODE)),300,1000)

.PHONY: refs tests unit test semantics check-quick update-golden
refs: $(REF_STAMPS)
tests: $(TEST_BIN)

unit: refs tests
	$(Q)SEMANTICS_SETS=$(QUICK_SETS) tools/run-tests.sh $(TEST_BIN)

semantics: $(addprefix $(BUILD)/tests/,$(SEMANTICS))
	$(Q)SEMANTICS_SETS=$(SETS) tools/run-tests.sh $^

# Scripts print "ok NAME" or "not ok NAME" for each case: the corpus, the command line.
TEST_SCRIPTS := $(wildcard tests/run.sh tests/*/run.sh)
# What takes longest comes first, the unit tests, short all of them, last: no core waits at the end.
LONG_SCRIPTS := tests/exec/run.sh tests/run.sh $(addsuffix /run.sh,$(addprefix tests/,libs curves docs checkpoint rv64 help rv64_cuda \
                html cli json limiter mutations debug ncu outputs))

test: all refs tests silicon
	$(Q)BIN=$(BIN) SEMANTICS_SETS=$(TEST_SETS) tools/run-tests.sh $(LONG_SCRIPTS) $(filter-out $(LONG_SCRIPTS),$(TEST_SCRIPTS)) $(TEST_BIN)

# Unmodified CUDA programs with a simulator inside that has the address sanitizer (tests/exec/run.sh), and their saved launches.
.PHONY: exec-asan
exec-asan:
	$(Q)$(MAKE) MODE=asan all
	$(Q)BIN=build/asan/warpstep tests/exec/run.sh

update-golden: all refs
	$(Q)BIN=$(BIN) tests/cli/run.sh --update

check-quick: lint unit

# What the compiler's distances say of the hazard table of each target, see tools/gaps.py.
.PHONY: gaps
gaps: all refs
	$(Q)BIN=$(BIN) tools/gaps.py
