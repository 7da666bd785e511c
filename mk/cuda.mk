# The CUDA shims: one shared library that holds simulator and entry points, and the libraries that
# programs ask for by name. Those are empty but for their soname and version node: the symbols are found
# in the library they depend on. The whole is what `warpstep exec` preloads (docs/exec.md).

SHIM_DIR := $(BUILD)/cuda
SHIM     := $(SHIM_DIR)/libwarpstep-cuda.so
SHIM_OBJ := $(call objs,$(CUDA_SRC))

# Entry points are visible under their published names; the version script hides all the rest. What a program leaves by
# is ours, too (core/shim.c), so that its reports are written.
$(BUILD)/src/cuda/%.o: FILE_CFLAGS = -fvisibility=default

$(SHIM): $(SHIM_OBJ) $(LIB) mk/cuda.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-z,initfirst -Wl,-Bsymbolic -Wl,--version-script=mk/cuda.map \
	  -Wl,--defsym,_exit=program_leaves -Wl,--defsym,_Exit=program_leaves -Wl,-soname,$(@F) -o $@ $(SHIM_OBJ) $(LIB) $(LIBS)

# $(1): file and soname, $(2): version node or nothing.
define name_rule
$(SHIM_DIR)/$(1): $(SHIM)
	$$(call say,LINK,$$@)
	$$(Q)printf '%s\n' '$(if $(2),$(2) { };)' > $$@.map
	$$(Q)$$(CC) -shared -nostdlib -Wl,--no-as-needed $(if $(2),-Wl$(,)--version-script=$$@.map) \
	  -Wl,-soname,$(1) -Wl,-rpath,'$$$$ORIGIN' -x c /dev/null -x none $(SHIM) -o $$@
endef
, := ,
$(eval $(call name_rule,libcuda.so.1,))
$(eval $(call name_rule,libnvidia-ml.so.1,))
$(eval $(call name_rule,libcudart.so.12,libcudart.so.12))
$(eval $(call name_rule,libcudart.so.13,libcudart.so.13))

# As the driver installs them: programs that open libcuda.so by that name (Taichi) find it, too.
$(SHIM_DIR)/libcuda.so $(SHIM_DIR)/libnvidia-ml.so: %: %.1
	$(Q)ln -sf $(<F) $@

SHIM_NAMES := $(addprefix $(SHIM_DIR)/,libcuda.so.1 libnvidia-ml.so.1 libcudart.so.12 libcudart.so.13 libcuda.so \
  libnvidia-ml.so)
