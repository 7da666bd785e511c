# Open drop-in libraries (docs/libraries.md): one shared library of ours that holds their code and kernels, and the names that
# programs ask for, empty libraries that depend on it. `warpstep exec` puts all of the folder before the program's own.

LIBS_DIR := $(SHIM_DIR)/libs
LIBS_OBJ := $(call objs,$(LIBS_SRC)) $(BUILD)/src/libs/kernels/images.o
LIBS_SO  := $(LIBS_DIR)/libwarpstep-libs.so
IMAGES   := $(sort $(wildcard src/libs/kernels/*.fatbin)) src/libs/curand/joe_kuo.bin

# The kernels, as src/libs/kernels/build.sh made them, and tables.
$(BUILD)/src/libs/kernels/images.o: $(IMAGES) mk/libs.mk
	@mkdir -p $(@D)
	$(call say,AS,$@)
	$(Q)for f in $(IMAGES); do s=$${f##*/}; s=warpstep_image_$${s%.*}; \
	  printf '.section .rodata\n.balign 16\n.globl %s\n.hidden %s\n%s: .incbin "%s"\n' $$s $$s $$s $$f; done | \
	  { cat; echo '.section .note.GNU-stack,"",@progbits'; } | $(CC) -c -x assembler -o $@ -

# Calls of the driver that get a context first.
IN_CONTEXT := $(shell sed -n 's/^IN_CONTEXT.\([^,]*\),.*/\1/p' src/libs/host/driver.c)

$(LIBS_SO): $(LIBS_OBJ) $(SHIM)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-Bsymbolic -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN/..' \
	  $(addprefix -Wl$(,)--wrap=,$(IN_CONTEXT)) -o $@ $(LIBS_OBJ) $(SHIM) -lm

# $(1): soname and version node.
define lib_name_rule
$(LIBS_DIR)/$(1): $(LIBS_SO)
	$$(call say,LINK,$$@)
	$$(Q)printf '%s { };\n' '$(1)' > $$@.map
	$$(Q)$$(CC) -shared -nostdlib -Wl,--no-as-needed -Wl,--version-script=$$@.map -Wl,-soname,$(1) \
	  -Wl,-rpath,'$$$$ORIGIN' -x c /dev/null -x none $(LIBS_SO) -o $$@
	$$(Q)rm -f $$@.map
endef
LIB_NAMES := libcublas.so.12 libcublas.so.13 libcublasLt.so.12 libcublasLt.so.13
LIB_NAMES += libcufft.so.11 libcufft.so.12 libcudnn.so.9 libcurand.so.10 libcusparse.so.12 libcusolver.so.11 libcusolver.so.12
$(foreach n,$(LIB_NAMES),$(eval $(call lib_name_rule,$(n))))
# Part of the shims, here because a program may have an RPATH to another one, too. Triton asks for a file without version.
define cupti_rule
$(LIBS_DIR)/$(1): $(SHIM)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)printf '%s { };\n' '$(2)' > $$@.map
	$$(Q)$$(CC) -shared -nostdlib -Wl,--no-as-needed -Wl,--version-script=$$@.map -Wl,-soname,$(2) \
	  -Wl,-rpath,'$$$$ORIGIN/..' -x c /dev/null -x none $(SHIM) -o $$@
	$$(Q)rm -f $$@.map
endef
CUPTI_NAMES := libcupti.so.12 libcupti.so.13 libcupti.so
$(eval $(call cupti_rule,libcupti.so.12,libcupti.so.12))
$(eval $(call cupti_rule,libcupti.so.13,libcupti.so.13))
$(eval $(call cupti_rule,libcupti.so,libcupti.so))
LIBS_ALL := $(LIBS_SO) $(addprefix $(LIBS_DIR)/,$(LIB_NAMES) $(CUPTI_NAMES))
