# The page of `tmetal explain --html`: examples/tmetal/page.html, its data in page.h, and what is shown. Included by
# the Makefile at the top.
PAGE_FILES = examples/kernels/*.ttir tests/kernels/recorded/*.ttir tests/kernels/lookalikes/*.ttir
.PHONY: page test-pages check-pages pages-tools
page:                           ## examples/tmetal/page_html.h of page.html
	awk -v name=page_html -v from=page.html -f examples/tmetal/embed.awk examples/tmetal/page.html > examples/tmetal/page_html.h
test-pages: $(BUILD)/tmetal     ## pages: their data, their size, nothing from elsewhere
	@awk -v name=page_html -v from=page.html -f examples/tmetal/embed.awk examples/tmetal/page.html | cmp - examples/tmetal/page_html.h || { echo "test-pages: make page" >&2; exit 1; }
	python3 tests/pages/check.py $(BUILD) $(PAGE_FILES)
# What looks at pages, from npm; into build/ alone. Wants node and Chromium.
pages-tools: $(BUILD)/pages/node_modules/axe-core
$(BUILD)/pages/node_modules/axe-core:
	@mkdir -p $(BUILD)/pages
	cd $(BUILD)/pages && npm install --no-save --no-audit --no-fund --prefix . puppeteer-core@24 axe-core@4
docs/img/explain.png: examples/tmetal/page.html $(BUILD)/tmetal ## the picture in docs/explain.md
	$(MAKE) --no-print-directory pages-tools
	$(BUILD)/tmetal explain --html --gpu apple-m3-max examples/kernels/attention.ttir -o $(BUILD)/pages/picture.html
	NODE_PATH=$(BUILD)/pages/node_modules node tests/pages/picture.js $(BUILD)/pages/picture.html $(BUILD)/pages/picture.png %q_20
	python3 tests/pages/smaller.py $(BUILD)/pages/picture.png $@
check-pages: $(BUILD)/tmetal    ## pages of all recorded kernels in Chromium: geometry, accessibility (skipped where there is none)
	@sh tests/pages/look.sh $(BUILD) $(PAGE_FILES)
