# make install, make uninstall. The usual variables; a package sets DESTDIR.

PREFIX     ?= /usr/local
prefix     ?= $(PREFIX)
exec_prefix ?= $(prefix)
bindir     ?= $(exec_prefix)/bin
libdir     ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
datadir    ?= $(datarootdir)
mandir     ?= $(datarootdir)/man
docdir     ?= $(datarootdir)/doc/warpstep
pcdir      ?= $(libdir)/pkgconfig
# What the program finds from where it lies: presets/, and beside them data/ and the kernels its suites name.
pkgdatadir := $(datadir)/warpstep
presetsdir := $(pkgdatadir)/presets
INSTALL    ?= install

# Only this object knows where things will lie; it is built again when that changes.
.PHONY: force
$(BUILD)/presetsdir.stamp: force
	$(call stamp,$(presetsdir))
$(BUILD)/src/config/presets_dir.o: $(BUILD)/presetsdir.stamp
$(BUILD)/src/config/presets_dir.o: FILE_CFLAGS = -DWS_PRESETS_DIR='"$(presetsdir)"'

# The manual is printed by the program from the tables that parse its options.
$(BUILD)/warpstep.1: $(BIN)
	$(call say,MAN,$@)
	$(Q)$(BIN) help --man >$@.tmp && mv $@.tmp $@

PC_SUBST = s|@prefix@|$(prefix)|;s|@exec_prefix@|$(exec_prefix)|;s|@libdir@|$(libdir)|;s|@includedir@|$(includedir)|;s|@presetsdir@|$(presetsdir)|;s|@version@|$(VERSION)|
$(BUILD)/warpstep.pc: mk/warpstep.pc.in $(API_HEADER) force
	$(Q)sed '$(PC_SUBST)' $< >$@

# Folders of the tree that are installed as they are, below $(pkgdatadir) and $(docdir): names that help texts,
# messages and documents give (data/validation/README.md, docs/exec.md) are those of the tree.
PKGDATA := $(wildcard presets/*.cfg presets/machines/*.cfg data/paper/*.windows data/windows/*.windows data/validation/* data/gdb/*.py \
             bench/validation/*.fatbin)
DOC     := README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE $(wildcard docs/*.md docs/*/*.md)
folders  = $(patsubst %/,%,$(sort $(dir $(1))))
# Recipe lines: install the files $(2) below $(1), or remove them and the folders they leave empty.
define install_tree
$(foreach d,$(call folders,$(2)),$(Q)$(INSTALL) -d '$(DESTDIR)$(1)/$(d)'
$(Q)$(INSTALL) -m 644 $(foreach f,$(2),$(if $(filter $(d)/,$(dir $(f))),$(f))) '$(DESTDIR)$(1)/$(d)/'
)
endef
define remove_tree
$(Q)rm -f $(foreach f,$(2),'$(DESTDIR)$(1)/$(f)')
$(Q)find '$(DESTDIR)$(1)' -depth -type d -empty -delete 2>/dev/null || true

endef

.PHONY: install uninstall
install: $(BIN) lib shims $(BUILD)/warpstep.1 $(BUILD)/warpstep.pc
	$(Q)$(INSTALL) -d $(addprefix '$(DESTDIR)',$(bindir) $(libdir)/warpstep $(includedir)/warpstep $(pcdir) \
	  $(mandir)/man1)
	$(Q)$(INSTALL) -m 755 $(BIN) '$(DESTDIR)$(bindir)/'
	$(Q)$(INSTALL) -m 644 $(STATIC_LIB) $(SHARED_LIB) '$(DESTDIR)$(libdir)/'
	$(Q)ln -sf $(notdir $(SHARED_LIB)) '$(DESTDIR)$(libdir)/$(SONAME)'
	$(Q)ln -sf $(SONAME) '$(DESTDIR)$(libdir)/libwarpstep.so'
	$(Q)$(INSTALL) -m 644 $(SHIM) $(SHIM_NAMES) '$(DESTDIR)$(libdir)/warpstep/'
	$(Q)$(INSTALL) -d '$(DESTDIR)$(libdir)/warpstep/bin' '$(DESTDIR)$(libdir)/warpstep/libs'
	$(Q)$(INSTALL) -m 755 $(SMI) '$(DESTDIR)$(libdir)/warpstep/bin/'
	$(Q)$(INSTALL) -m 644 $(LIBS_ALL) '$(DESTDIR)$(libdir)/warpstep/libs/'
	$(Q)$(INSTALL) -m 644 $(API_HEADER) include/warpstep/region.h '$(DESTDIR)$(includedir)/warpstep/'
	$(Q)$(INSTALL) -m 644 $(BUILD)/warpstep.pc '$(DESTDIR)$(pcdir)/'
	$(Q)$(INSTALL) -m 644 $(BUILD)/warpstep.1 '$(DESTDIR)$(mandir)/man1/'
	$(call install_tree,$(pkgdatadir),$(PKGDATA))
	$(call install_tree,$(docdir),$(DOC))

uninstall:
	$(Q)rm -f '$(DESTDIR)$(bindir)/warpstep' '$(DESTDIR)$(libdir)/libwarpstep.a' \
	  '$(DESTDIR)$(libdir)/$(notdir $(SHARED_LIB))' '$(DESTDIR)$(libdir)/$(SONAME)' \
	  '$(DESTDIR)$(libdir)/libwarpstep.so' '$(DESTDIR)$(includedir)/warpstep/warpstep.h' \
	  '$(DESTDIR)$(includedir)/warpstep/region.h' \
	  '$(DESTDIR)$(pcdir)/warpstep.pc' '$(DESTDIR)$(mandir)/man1/warpstep.1'
	$(Q)rm -f $(foreach l,$(notdir $(SHIM) $(SHIM_NAMES)),'$(DESTDIR)$(libdir)/warpstep/$(l)')
	$(Q)rm -f $(foreach l,$(notdir $(LIBS_ALL)),'$(DESTDIR)$(libdir)/warpstep/libs/$(l)')
	$(Q)rm -f '$(DESTDIR)$(libdir)/warpstep/bin/$(notdir $(SMI))'
	$(Q)rmdir '$(DESTDIR)$(libdir)/warpstep/libs' '$(DESTDIR)$(libdir)/warpstep/bin' 2>/dev/null || true
	$(Q)rmdir '$(DESTDIR)$(libdir)/warpstep' '$(DESTDIR)$(includedir)/warpstep' 2>/dev/null || true
	$(call remove_tree,$(pkgdatadir),$(PKGDATA))
	$(call remove_tree,$(docdir),$(DOC))
