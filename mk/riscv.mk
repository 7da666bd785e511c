# The CUDA library that programs of the simulated RISC-V CPU are linked with (docs/rv64.md), where Debian's cross compiler
# is installed.

RISCV_CC  ?= riscv64-linux-gnu-gcc
RISCV_AR  ?= riscv64-linux-gnu-ar
RISCV_DIR := $(BUILD)/riscv64
RISCV_LIB := $(RISCV_DIR)/libcudart.a
RISCV_CFLAGS := -std=gnu17 -O2 -Wall -Wextra -Werror -ffunction-sections -fdata-sections -fPIC -Isrc

.PHONY: riscv
riscv: $(if $(and $(shell command -v $(RISCV_CC)),$(shell command -v $(RISCV_AR))),$(RISCV_LIB))

$(RISCV_LIB): $(RISCV_DIR)/cuda_stubs.o $(RISCV_DIR)/cuda_texts.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(RISCV_AR) qcs $@ $^

$(RISCV_DIR)/cuda_stubs.o: tools/riscv/cuda_stubs.S src/cuda/runtime/runtime.def mk/riscv.mk
	@mkdir -p $(@D)
	$(call say,AS,$<)
	$(Q)$(RISCV_CC) $(RISCV_CFLAGS) -c -o $@ $<

$(RISCV_DIR)/cuda_texts.o: tools/riscv/cuda_texts.c mk/riscv.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(RISCV_CC) $(RISCV_CFLAGS) -c -o $@ $<
