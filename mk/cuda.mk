# The CUDA shims: one shared library that holds simulator and entry points, and the libraries that
# programs ask for by name. Those are empty but for their soname and version node: the symbols are found
# in the library they depend on. The whole is what `warpstep exec` preloads (docs/exec.md).

SHIM_DIR := $(BUILD)/cuda
SHIM     := $(SHIM_DIR)/libwarpstep-cuda.so
SHIM_OBJ := $(call objs,$(CUDA_SRC))

# Entry points are visible under their published names; the version script hides all the rest. What a program leaves by
# is ours, too (core/shim.c), so that its reports are written.
$(BUILD)/src/cuda/%.o: FILE_CFLAGS = -fvisibility=default

# Names whose form depends on the version of the runtime: only the libraries that stand for a version have them
# (runtime_earlier.def), and find the latest form as NAME_of_13.
EARLIER := $(shell sed -n 's/^EARLIER.\([^,]*\),.*/\1/p' src/cuda/runtime/runtime_earlier.def)
, := ,

$(SHIM_DIR)/shim.map: mk/cuda.map src/cuda/runtime/runtime_earlier.def
	@mkdir -p $(@D)
	$(Q)sed 's/local: /&$(EARLIER:%=%;) /' $< >$@

$(SHIM): $(SHIM_OBJ) $(LIB) $(SHIM_DIR)/shim.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-z,initfirst -Wl,-Bsymbolic -Wl,--version-script=$(SHIM_DIR)/shim.map \
	  -Wl,--defsym,_exit=program_leaves -Wl,--defsym,_Exit=program_leaves $(foreach n,$(EARLIER),-Wl$(,)--defsym$(,)$(n)_of_13=$(n)) \
	  -Wl,-soname,$(@F) -o $@ $(SHIM_OBJ) $(LIB) $(LIBS)

# $(1): file and soname, $(2): what is in it, $(3): version node or nothing.
define name_rule
$(SHIM_DIR)/$(1): $(SHIM) src/cuda/runtime/runtime_names.S
	$$(call say,LINK,$$@)
	$$(Q)printf '%s\n' '$(if $(3),$(3) { global: *; };)' > $$@.map
	$$(Q)$$(CC) -shared -nostdlib -Wl,--no-as-needed $(if $(3),-Wl$(,)--version-script=$$@.map) \
	  -Wl,-soname,$(1) -Wl,-rpath,'$$$$ORIGIN' $(2) -x none $(SHIM) -o $$@
endef
nothing = -x c /dev/null
runtime = -Isrc -x assembler-with-cpp -DCUDART=$(1) src/cuda/runtime/runtime_names.S
$(eval $(call name_rule,libcuda.so.1,$(nothing),))
$(eval $(call name_rule,libnvidia-ml.so.1,$(nothing),))
$(eval $(call name_rule,libcudart.so.11.0,$(call runtime,11),libcudart.so.11.0))
$(eval $(call name_rule,libcudart.so.12,$(call runtime,12),libcudart.so.12))
$(eval $(call name_rule,libcudart.so.13,$(call runtime,13),libcudart.so.13))

# As the driver installs them: programs that open libcuda.so by that name (Taichi) find it, too.
$(SHIM_DIR)/libcuda.so $(SHIM_DIR)/libnvidia-ml.so: %: %.1
	$(Q)ln -sf $(<F) $@

SHIM_NAMES := $(addprefix $(SHIM_DIR)/,libcuda.so.1 libnvidia-ml.so.1 libcudart.so.11.0 libcudart.so.12 \
  libcudart.so.13 libcuda.so \
  libnvidia-ml.so)

# nvidia-smi, which programs and scripts find in PATH (src/smi). In a folder of its own: nothing else there is a program.
SMI     := $(SHIM_DIR)/bin/nvidia-smi
SMI_OBJ := $(call objs,$(SMI_SRC))
$(SMI): $(SMI_OBJ) $(SHIM_DIR)/libnvidia-ml.so.1
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/..' -Wl,-rpath-link,$(SHIM_DIR) -o $@ $(SMI_OBJ) $(SHIM_DIR)/libnvidia-ml.so.1 $(SHIM)
