# The playground, docs/playground: one page that holds the compiler as WebAssembly. Building it wants clang with its lld and
# python3; the tests want Node.js, and check-playground Chromium and npm. What is missing is named and left out.
PLAYGROUND  = $(BUILD)/playground
WASM_CC    ?= $(firstword $(foreach c,clang-19 clang,$(if $(shell command -v $(c) 2>/dev/null),$(c))) clang)
WASM_LD    ?= $(firstword $(foreach c,wasm-ld-19 wasm-ld,$(shell command -v $(c) 2>/dev/null)))
WASM_FLAGS  = --target=wasm32 -fuse-ld=$(WASM_LD) -mbulk-memory -ffreestanding -fno-builtin -nostdlib -std=c99 -Oz $(STRICT) \
  -Itests/robust/freestanding -Wl,--no-entry -Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--strip-all
PLAYGROUND_SOURCES = $(wildcard docs/playground/* docs/playground/ops/*)
.PHONY: playground test-playground check-playground

$(PLAYGROUND)/tmetal.wasm: docs/playground/playground.c tests/robust/freestanding/library.c examples/tmetal/page.h tmetal.h
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) $(filter %.c,$^) -o $@
$(PLAYGROUND)/index.html: $(PLAYGROUND)/tmetal.wasm $(PLAYGROUND_SOURCES) examples/tmetal/page.html $(wildcard examples/kernels/*)
	python3 docs/playground/build.py $< $@
playground: $(PLAYGROUND)/index.html ## one page that compiles as you type: build/playground/index.html

# What of "clang with wasm32, wasm-ld, node" is missing.
WASM_MISSING = $(if $(shell $(WASM_CC) --print-targets 2>/dev/null | grep -w wasm32),,clang-with-wasm32) $(if $(WASM_LD),,wasm-ld) $(if $(shell command -v node 2>/dev/null),,node)
test-playground: $(BUILD)/tmetal ## the playground's compiler against the command line, in Node.js
	@missing="$(strip $(WASM_MISSING))"; if [ -n "$$missing" ]; then echo "test-playground: SKIP: wants $$missing"; exit 0; fi; \
	$(MAKE) --no-print-directory playground && node tests/playground/test.mjs $(BUILD)
ifneq ($(filter check,$(MAKECMDGOALS)),)
check-playground: | check-pages # both fetch by npm, into one folder
endif
check-playground: test-playground ## the page itself: typed and clicked in headless Chromium, judged by axe-core
	@sh tests/playground/browser.sh $(BUILD) "$(strip $(WASM_MISSING))"
