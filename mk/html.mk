# What `--html` pages are made of (src/view/html_assets.h): files of the tree, and the chart library dygraphs where Debian's
# libjs-dygraphs is installed. CHARTS= builds without it, CHARTS=FILE with another copy: pages then have tables alone, and say so.

HTML_DIR := src/view/html
HTML_JS  := $(addprefix $(HTML_DIR)/,element.js table.js charts.js memory_chart.js occupancy.js code.js report.js)
CHARTS         ?= $(wildcard /usr/share/javascript/dygraphs/dygraph.min.js)
CHARTS_LICENCE ?= $(if $(CHARTS),$(wildcard /usr/share/doc/libjs-dygraphs/copyright))

HTML_ASSETS := $(BUILD)/gen/html_assets
LIB_OBJ += $(HTML_ASSETS).o

$(BUILD)/charts.stamp: force
	$(call stamp,$(CHARTS) $(CHARTS_LICENCE) $(HTML_JS))

$(HTML_ASSETS).c: tools/embed.sh $(HTML_DIR)/report.html $(HTML_DIR)/report.css $(HTML_JS) $(CHARTS) $(CHARTS_LICENCE) \
  $(BUILD)/charts.stamp
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)tools/embed.sh view/html_assets.h html_template $(HTML_DIR)/report.html -- html_style $(HTML_DIR)/report.css \
	  -- html_script $(HTML_JS) -- html_charts $(CHARTS) -- html_charts_licence $(CHARTS_LICENCE) >$@

$(HTML_ASSETS).o: $(HTML_ASSETS).c src/view/html_assets.h $(BUILD)/flags.stamp
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
