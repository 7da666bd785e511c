# The library: libwarpstep.a and libwarpstep.so, of which only ws_* (include/warpstep/warpstep.h) is visible.

API_HEADER := include/warpstep/warpstep.h
api_number  = $(shell sed -n 's/^.define WS_$(1) \([0-9]*\)$$/\1/p' $(API_HEADER))
VERSION    := $(call api_number,VERSION_MAJOR).$(call api_number,VERSION_MINOR).$(call api_number,VERSION_PATCH)
ABI        := $(call api_number,ABI_VERSION)

STATIC_LIB := $(BUILD)/libwarpstep.a
SONAME     := libwarpstep.so.$(ABI)
SHARED_LIB := $(BUILD)/libwarpstep.so.$(VERSION)
EXPORTS    := src/api/libwarpstep.map

.PHONY: lib
lib: $(STATIC_LIB) $(BUILD)/libwarpstep.so

$(SHARED_LIB): $(LIB) $(EXPORTS)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(EXPORTS) -Wl,-z,defs \
	  $(LDFLAGS) -o $@ -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive $(LIBS)

$(BUILD)/libwarpstep.so: $(SHARED_LIB)
	$(Q)ln -sf $(notdir $(SHARED_LIB)) $(BUILD)/$(SONAME) && ln -sf $(SONAME) $@

# One object whose hidden symbols are local: names of ours cannot meet those of a program.
$(STATIC_LIB): $(LIB)
	$(call say,AR,$@)
	$(Q)$(CC) -r -nostdlib -o $(BUILD)/warpstep.o -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive
	$(Q)objcopy --localize-hidden $(BUILD)/warpstep.o
	$(Q)rm -f $@ && $(AR) qcs $@ $(BUILD)/warpstep.o

# The Python package with the library inside: pip install build/warpstep-*.whl
.PHONY: wheel
wheel: $(SHARED_LIB)
	$(Q)python3 tools/python/wheel.py $(SHARED_LIB) presets $(BUILD)
