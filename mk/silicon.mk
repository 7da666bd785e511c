# Tools that measure on a real GPU. They build anywhere: the driver is looked for at run time.

.PHONY: silicon
silicon: $(BUILD)/silicon $(BUILD)/mufu $(BIN)

$(BUILD)/tools/silicon/%.o: FILE_CFLAGS = -Itools/silicon

$(BUILD)/silicon: $(call objs,tools/silicon/run.c tools/silicon/driver.c) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -ldl

$(BUILD)/mufu: $(call objs,tools/silicon/mufu.c)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lm
