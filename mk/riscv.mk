# The CUDA library that programs of the simulated RISC-V CPU are linked with (docs/rv64.md), where Debian's cross compiler
# is installed.

RISCV_CC  ?= riscv64-linux-gnu-gcc
RISCV_AR  ?= riscv64-linux-gnu-ar
RISCV_DIR := $(BUILD)/riscv64
RISCV_LIB := $(RISCV_DIR)/libcudart.a
RISCV_OBJ := $(addprefix $(RISCV_DIR)/,cuda_stubs.o cuda_texts.o cuda_functions.o)
RISCV_CFLAGS := -std=gnu17 -O2 -Wall -Wextra -Werror -ffunction-sections -fdata-sections -fPIC -Isrc

.PHONY: riscv
riscv: $(if $(and $(shell command -v $(RISCV_CC)),$(shell command -v $(RISCV_AR))),$(RISCV_LIB))

$(RISCV_LIB): $(RISCV_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(RISCV_AR) qcs $@ $^

define riscv_build
@mkdir -p $(@D)
$(call say,CC,$<)
$(Q)$(RISCV_CC) $(RISCV_CFLAGS) -c -o $@ $<
endef
$(RISCV_DIR)/%.o: tools/riscv/%.S src/cuda/runtime/runtime.def mk/riscv.mk
	$(riscv_build)
$(RISCV_DIR)/%.o: tools/riscv/%.c mk/riscv.mk
	$(riscv_build)
