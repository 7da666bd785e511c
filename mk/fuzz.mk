# Fuzz targets: plain ones for the replay of the corpus, libFuzzer programs with clang.

FUZZ_NAMES := cubin fatbin link launchfile decode guest gdb case trace preset machine launch sass suite container rv64

$(BUILD)/tests/unit/test_fuzz_corpus.o: FILE_CFLAGS = $(TEST_CFLAGS) -Itests/fuzz
$(BUILD)/tests/fuzz/%.o: FILE_CFLAGS = $(TEST_CFLAGS) -Itests/fuzz

# case to container build what they try from fields (tests/fuzz/draw.h), the others take a file as it is.

# build/fuzz/NAME [-max_total_time=S] a-folder-of-its-own tests/fuzz/corpus/NAME; for launchfile with
# -detect_leaks=0: libconfig's scanner leaks when a string is not closed.
.PHONY: fuzz fuzz-programs
fuzz:
	$(Q)$(MAKE) MODE=fuzz CC=clang fuzz-programs

fuzz-programs: $(patsubst %,$(BUILD)/%,$(FUZZ_NAMES))

$(BUILD)/container: $(BUILD)/tests/fuzz/fuzz_fatbin.o
define fuzz_rule
$(BUILD)/$(1): $(BUILD)/tests/fuzz/fuzz_$(1).o $(BUILD)/tests/fuzz/fuzz_draw.o tests/fuzz/entry.c tests/fuzz/fuzz.h $(LIB)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -Itests/fuzz -DFUZZ_TARGET=fuzz_$(1) $$(LDFLAGS) -fsanitize=fuzzer -o $$@ \
	  tests/fuzz/entry.c $$< $$(filter $(BUILD)/tests/fuzz/%.o,$$(filter-out $$<,$$^)) $(LIB) $$(LIBS)
endef
ifeq ($(MODE),fuzz)
$(foreach f,$(FUZZ_NAMES),$(eval $(call fuzz_rule,$(f))))
endif
