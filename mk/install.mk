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
pcdir      ?= $(libdir)/pkgconfig
presetsdir := $(datadir)/warpstep/presets
INSTALL    ?= install

# Only this object knows where things will lie; it is built again when that changes.
.PHONY: force
$(BUILD)/presetsdir.stamp: force
	$(call stamp,$(presetsdir))
$(BUILD)/src/config/presets_dir.o: $(BUILD)/presetsdir.stamp
$(BUILD)/src/config/presets_dir.o: FILE_CFLAGS = -DWS_SOURCE_DIR='"$(CURDIR)"' \
  -DWS_PRESETS_DIR='"$(presetsdir)"'

# The manual is printed by the program from the tables that parse its options.
$(BUILD)/warpstep.1: $(BIN)
	$(call say,MAN,$@)
	$(Q)$(BIN) help --man >$@.tmp && mv $@.tmp $@

PC_SUBST = s|@prefix@|$(prefix)|;s|@exec_prefix@|$(exec_prefix)|;s|@libdir@|$(libdir)|;s|@includedir@|$(includedir)|;s|@presetsdir@|$(presetsdir)|;s|@version@|$(VERSION)|
$(BUILD)/warpstep.pc: mk/warpstep.pc.in $(API_HEADER) force
	$(Q)sed '$(PC_SUBST)' $< >$@

PRESETS := $(wildcard presets/*.cfg)
# Published values of `warpstep probe --paper`; found from the presets.
PAPER := $(wildcard data/paper/*.windows)
paperdir = $(presetsdir)/../data/paper

.PHONY: install uninstall
install: $(BIN) lib shims $(BUILD)/warpstep.1 $(BUILD)/warpstep.pc
	$(Q)$(INSTALL) -d $(addprefix '$(DESTDIR)',$(bindir) $(libdir)/warpstep $(includedir)/warpstep $(pcdir) \
	  $(mandir)/man1 $(presetsdir) $(paperdir))
	$(Q)$(INSTALL) -m 755 $(BIN) '$(DESTDIR)$(bindir)/'
	$(Q)$(INSTALL) -m 644 $(STATIC_LIB) $(SHARED_LIB) '$(DESTDIR)$(libdir)/'
	$(Q)ln -sf $(notdir $(SHARED_LIB)) '$(DESTDIR)$(libdir)/$(SONAME)'
	$(Q)ln -sf $(SONAME) '$(DESTDIR)$(libdir)/libwarpstep.so'
	$(Q)$(INSTALL) -m 644 $(SHIM) $(SHIM_NAMES) '$(DESTDIR)$(libdir)/warpstep/'
	$(Q)$(INSTALL) -m 644 $(API_HEADER) '$(DESTDIR)$(includedir)/warpstep/'
	$(Q)$(INSTALL) -m 644 $(BUILD)/warpstep.pc '$(DESTDIR)$(pcdir)/'
	$(Q)$(INSTALL) -m 644 $(BUILD)/warpstep.1 '$(DESTDIR)$(mandir)/man1/'
	$(Q)$(INSTALL) -m 644 $(PRESETS) '$(DESTDIR)$(presetsdir)/'
	$(Q)$(INSTALL) -m 644 $(PAPER) '$(DESTDIR)$(paperdir)/'

uninstall:
	$(Q)rm -f '$(DESTDIR)$(bindir)/warpstep' '$(DESTDIR)$(libdir)/libwarpstep.a' \
	  '$(DESTDIR)$(libdir)/$(notdir $(SHARED_LIB))' '$(DESTDIR)$(libdir)/$(SONAME)' \
	  '$(DESTDIR)$(libdir)/libwarpstep.so' '$(DESTDIR)$(includedir)/warpstep/warpstep.h' \
	  '$(DESTDIR)$(pcdir)/warpstep.pc' '$(DESTDIR)$(mandir)/man1/warpstep.1' \
	  $(foreach p,$(notdir $(PRESETS)),'$(DESTDIR)$(presetsdir)/$(p)') \
	  $(foreach p,$(notdir $(PAPER)),'$(DESTDIR)$(paperdir)/$(p)')
	$(Q)rmdir '$(DESTDIR)$(paperdir)' '$(DESTDIR)$(presetsdir)/../data' 2>/dev/null || true
	$(Q)rm -f $(foreach l,$(notdir $(SHIM) $(SHIM_NAMES)),'$(DESTDIR)$(libdir)/warpstep/$(l)')
	$(Q)rmdir '$(DESTDIR)$(libdir)/warpstep' '$(DESTDIR)$(includedir)/warpstep' '$(DESTDIR)$(presetsdir)' \
	  '$(DESTDIR)$(datadir)/warpstep' 2>/dev/null || true
