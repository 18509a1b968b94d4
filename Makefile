# tmetal: everything is a target here; `make help` lists them. POSIX sh and cc suffice for `all`; the
# simulator wants g++ and clang, which `make deps` installs. Output goes to build/.

BUILD  ?= build
CC     ?= cc
CFLAGS ?= -O2
STRICT  = -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror
# For programs that hold the header: gcc takes 7 s over this warning in a file so long. `make warnings` asks for it.
NO_INDENT = -Wno-misleading-indentation
CASE   ?= examples/kernels/softmax.case

.PHONY: man docs docs-check house test-house test-chips test-detect detect-table all help deps run test check own corpus clean
all: $(BUILD)/tmetal            ## the command line, build/tmetal

help:                           ## this list
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed 's/:.*##  */	/' | sort | awk -F'	' ' \
	    { text[$$1] = $$2; name[NR] = $$1 } \
	    function show(n) { printf "  %-18s %s\n", n, text[n]; delete text[n] } \
	    function group(title, like,   i) { print "\n" title; for (i = 1; i <= NR; i++) if (name[i] in text && name[i] ~ like) show(name[i]) } \
	    END { print "To begin with"; n = split("all run test device deps clean help", first, " "); for (i = 1; i <= n; i++) show(first[i]); \
	          group("Parts of make test", "^(test-|own)"); group("What is written anew", "^(docs|bless|.*-table)"); \
	          group("Longer, or more", ".") }'

$(BUILD)/tmetal: examples/tmetal.c $(wildcard examples/tmetal/*.h) tmetal.h
	@mkdir -p $(BUILD)
	$(CC) -std=c99 $(CFLAGS) examples/tmetal.c -o $@

man: $(BUILD)/tmetal            ## the manual page, build/tmetal.1
	$(BUILD)/tmetal man -o $(BUILD)/tmetal.1

# -- What the machine needs ------------------------------------------------------------------------
# Debian and Ubuntu packages; the only target that touches the system. Says what it does; does nothing
# where nothing is missing.
PACKAGES = g++ clang-19 lld-19 nlohmann-json3-dev check pkg-config libmpfr-dev python3 nodejs tcc
deps:                           ## install what is missing (apt-get, or brew on macOS)
	@sh tests/deps.sh $(PACKAGES)

# The header compiled once for all programs that need nothing private of it, and how these are compiled: what they
# say of TMETAL_IMPLEMENTATION is for whoever builds them alone.
HEADER = $(BUILD)/robust/header.o
LINKED = $(CC) -std=c99 -O1 -DTMETAL_IMPLEMENTED
# For programs that hold the header for themselves and run for a moment: tcc takes it in half a second, gcc -O0 in five.
QUICK_CC ?= $(or $(shell command -v tcc),$(CC))

# -- The simulator and recorded cases ---------------------------------------------------------------
include tests/sim/rules.mk
include tests/lint/rules.mk
include tests/interp/rules.mk
include tests/library/rules.mk
include tests/oplist/rules.mk
include tests/transform/rules.mk
include tests/layouts/rules.mk
include tests/robust/rules.mk
include tests/fuzz/rules.mk
include tests/unit/rules.mk
include tests/mlx/rules.mk
include tests/examples/rules.mk
include tests/reductions/rules.mk
include tests/explain/rules.mk
include tests/cli/rules.mk
include tests/metal/rules.mk
include tests/cache/rules.mk
include tests/tune/rules.mk
include tests/hosts/rules.mk
include tests/python/rules.mk
include tests/dropin/rules.mk
include tests/cuda/rules.mk
include tests/agx/rules.mk
include tests/triton/rules.mk
include tests/formats/rules.mk
include tests/coverage/rules.mk
include tests/reliability/rules.mk
include tests/mutate/rules.mk
include tests/bounds/rules.mk
include tests/pages/rules.mk
include tests/playground/rules.mk
include tests/why/rules.mk

# `run` and `test` call make anew: what `deps` has just installed is looked for once more.
ifndef TMETAL_AGAIN
run:                            ## compile a real softmax, show Metal and plan, run it, compare with Triton
	@$(MAKE) --no-print-directory TMETAL_AGAIN=1 run
else
run: $(BUILD)/tmetal sim
	@sh tests/show.sh $(BUILD) $(CASE)
endif

own: $(BUILD)/tmetal sim        ## the project's own recorded cases
	$(BUILD)/corpus --dir tests/kernels/recorded --all
	$(BUILD)/corpus --dir tests/kernels/lookalikes --all
	$(BUILD)/corpus --dir tests/kernels/releases --all
	$(BUILD)/corpus --dir examples/kernels --all

own-plain: $(BUILD)/tmetal sim  ## the look-alikes and examples again, without optimisation
	$(BUILD)/corpus --dir tests/kernels/lookalikes --all --plain
	$(BUILD)/corpus --dir examples/kernels --all --plain
check-plain: $(BUILD)/tmetal sim ## every recorded kernel without optimisation
	$(BUILD)/corpus --dir tests/kernels/recorded --all --plain

# The same cases from their source: what each .call says, tests/record_call.py.
test-sources: $(BUILD)/tmetal sim ## the recorded cases from the .py that they were recorded of
	$(BUILD)/corpus --dir tests/kernels/recorded --all --sources
	$(BUILD)/corpus --dir examples/kernels --all --sources
TEXTS ?= ../shared/texts
compare-sources: $(BUILD)/tmetal ## the IR made of those sources beside Triton's [TEXTS=dir of record.py --texts]
	python3 tests/triton/compare.py --tmetal $(BUILD)/tmetal --texts $(TEXTS) tests/kernels/recorded/*.call examples/kernels/*.call

CORPUS ?= ../shared/corpus
PLAIN  ?=
SUITE  ?=
FILTER ?=
corpus: $(BUILD)/tmetal sim     ## recorded launches [CORPUS=dir] [SUITE=name] [FILTER=text] [PLAIN=1]
	$(BUILD)/corpus --dir $(CORPUS) $(if $(SUITE),--suite $(SUITE)) $(if $(FILTER),--filter $(FILTER)) $(if $(PLAIN),--plain)

# -- The tables of docs/ ------------------------------------------------------------------------------
DOCS = README.md docs/hardware.md docs/fusion.md docs/ops.md docs/diagnostics.md
$(BUILD)/fill: tests/docs/fill.c tmetal.h
	@mkdir -p $(BUILD)
	$(QUICK_CC) -std=c99 -O0 tests/docs/fill.c -o $@
docs: $(BUILD)/fill $(BUILD)/tmetal ## print the generated tables of docs/ anew
	$(BUILD)/fill $(DOCS)
	python3 tests/docs/api.py
	python3 tests/docs/numbers.py
	python3 tests/docs/commands.py --fill $(BUILD)
	sh tests/docs/blocks.sh $(BUILD) fill
	sh tests/docs/diffs.sh $(BUILD) fill
docs-check: $(BUILD)/fill $(BUILD)/tmetal $(HEADER) ## are they what tmetal.h says? do their links, commands and programs work?
	$(BUILD)/fill --check $(DOCS)
	CC="$(CC)" sh tests/docs/blocks.sh $(BUILD)
	CC="$(CC)" QUICK_CC="$(QUICK_CC)" sh tests/docs/diffs.sh $(BUILD)
	CC="$(CC)" sh tests/docs/code.sh $(BUILD)
	python3 tests/docs/api.py --check
	python3 tests/docs/numbers.py --check
	python3 tests/docs/links.py
	python3 tests/docs/promises.py $(dir $(CORPUS))documents
	python3 tests/docs/commands.py $(BUILD)
spelling:                       ## words of the pages, by aspell; ours are in tests/docs/words.txt
	@python3 tests/docs/spelling.py

# -- The house ----------------------------------------------------------------------------------------
house:                          ## write what the banners of tmetal.h say of `uses`, and lower tests/house/ratchet.txt
	sh tests/house/check.sh $(BUILD) fill
test-house:                     ## lengths of lines and functions, banners, declarations: tests/house
	sh tests/house/check.sh $(BUILD)

# -- GPUs -------------------------------------------------------------------------------------------
$(BUILD)/test-chips: tests/chips/test.c $(HEADER)
	$(LINKED) tests/chips/test.c $(HEADER) -o $@
$(BUILD)/test-choices: tests/chips/choices.c $(HEADER)
	$(LINKED) tests/chips/choices.c $(HEADER) -o $@
OWN_KERNELS = $(wildcard tests/kernels/recorded/*.ttir tests/kernels/lookalikes/*.ttir tests/chips/kernels/*.ttir)
test-chips: $(BUILD)/test-chips $(BUILD)/test-choices $(BUILD)/tmetal sim ## the GPU table, and what its columns change in the text
	$(BUILD)/test-chips
	@$(BUILD)/test-choices $(OWN_KERNELS)
	@sh tests/chips/run.sh $(BUILD)
check-chips: $(BUILD)/tmetal sim ## every recorded kernel for further GPUs
	@sh tests/chips/run.sh $(BUILD) all

# -- What kernels compute -----------------------------------------------------------------------------
$(BUILD)/detect: tests/detect/run.c $(HEADER)
	$(LINKED) tests/detect/run.c $(HEADER) -o $@
$(BUILD)/detect-hostile: tests/detect/run.c tmetal.h
	@mkdir -p $(BUILD)
	$(QUICK_CC) -std=c99 -O0 -DTMETAL_DEBUG -DTMI_FIRST=1 tests/detect/run.c -o $@
$(BUILD)/test-mapping: tests/detect/mapping.c $(HEADER)
	$(LINKED) tests/detect/mapping.c $(HEADER) -o $@
test-detect: $(BUILD)/detect $(BUILD)/detect-hostile $(BUILD)/test-mapping ## reductions and patterns, found in labelled look-alikes
	$(BUILD)/detect tests/detect/*.ttir
	$(BUILD)/detect-hostile tests/detect/*.ttir
	$(BUILD)/test-mapping
	$(BUILD)/detect --table tests/kernels/recorded/*.ttir tests/kernels/lookalikes/*.ttir examples/kernels/*.ttir
detect-table: $(BUILD)/detect   ## reductions and patterns of a corpus, counted by kind [CORPUS=dir]
	@find $(CORPUS) -name '*.ttir' | sort | xargs $(BUILD)/detect --table

# -- Tests ------------------------------------------------------------------------------------------
# What must pass before each commit; under ten minutes on two cores. The suites run side by side, as many as there are
# processors; those that take long come first, so that none of them is left alone at the end. Each prints one line, and
# what it has to say only if it fails; V=1 prints everything.
SUITES = docs-check test-fuzz test-metal test-hosts test-playground test-triton test-python test-examples \
    test-compile test-robust test-random test-oplist-quick test-layouts-quick test-library own test-cli \
    test-cache test-tune test-fingerprints test-lint test-interp test-facts test-transform test-memory \
    own-plain test-reductions test-sim test-house test-unit test-cases test-census test-roundtrip \
    test-golden test-style test-chips test-detect test-counters test-cuda test-bounds test-open test-versions \
    test-mlx test-explain test-pages test-moves test-why test-formats test-dropin
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
export TMETAL_SUITES = $(BUILD)/suites
ifndef TMETAL_AGAIN
test:                           ## what must pass before each commit [JOBS=processors] [V=1: print everything]
	@rm -rf $(BUILD)/suites && mkdir -p $(BUILD)/suites
	@$(MAKE) --no-print-directory TMETAL_AGAIN=1 -k $(if $(V),,-s) -j$(JOBS) $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) test; \
	    sh tests/suite.sh sum $(SUITES)
else
ifeq ($(V),)
# make's shell is told the target (GNU make 3.82 and later; an older one prints everything).
export TMETAL_QUIET = $(SUITES)
SHELL = $(CURDIR)/tests/suite.sh
.SHELLFLAGS = $@ -c
endif
test: $(SUITES:%=passed-%)
passed-%: %
	@sh tests/suite.sh passed $*
endif
# Everything that can run here.
check: test
check: spelling
check: check-roundtrip
check: check-lint
check: test-ranges
check: check-memory
check: check-library
check: check-triton
check: test-sources
check: check-plain
check: check-chips
check: check-robust
check: check-fuzz
check: threads
check: arenas-near
check: check-reductions
check: check-explain
check: check-pages
check: test-oplist
check: check-transform
check: test-layouts
check: layouts-table-check
check: check-metal
check: check-hosts
check: check-cache
check: check-python
check: check-random
check: check-compile
check: mutate-sample
check: test-barriers
check: test-detectors
check: check-playground

clean:                          ## remove build/
	rm -rf $(BUILD)
