# Tests of the header itself: public functions, builder, memory, diagnostics, round trip, golden texts.
# Included by the Makefile at the top. The suites of tests/unit/api.c and builder.c want libcheck; where it
# is absent they are skipped, and say so.

# The header is built once as it is, by tests/robust/rules.mk, and once under sanitizers, by tests/fuzz/rules.mk; only
# the programs that look inside hold it themselves.
UNIT_FLAGS ?= -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_CC     = $(CC) -std=c99 -D_XOPEN_SOURCE=700 -Wall -Wextra -Wno-unused-function $(NO_INDENT) -I.
UNIT_SAN    = $(BUILD)/fuzzing/header.o
UNIT_FAST   = $(BUILD)/robust/header.o
UNIT_CHECK := $(shell pkg-config --exists check 2>/dev/null && pkg-config --cflags --libs check)
UNIT_TTIR   = find examples tests -name '*.ttir' ! -path 'tests/cases/*' ! -path 'tests/robust/odd/*' | LC_ALL=C sort

.PHONY: test-unit test-cases test-census test-roundtrip test-memory test-compile check-compile test-golden test-fingerprints check-same test-style bless check-roundtrip check-memory

# -- Suites -----------------------------------------------------------------------------------------
ifneq ($(UNIT_CHECK),)
# The suites write into arenas of their own between two calls, which the fuzz targets' header has closed.
UNIT_RUN    = ASAN_OPTIONS=allow_user_poisoning=0 CK_FORK=no
test-unit: $(BUILD)/unit-api $(BUILD)/unit-builder $(BUILD)/unit-explain  ## public functions and builder, under sanitizers
	$(UNIT_RUN) $(BUILD)/unit-api
	$(UNIT_RUN) $(BUILD)/unit-builder
	$(UNIT_RUN) $(BUILD)/unit-explain
else
test-unit:
	@echo "test-unit: skipped: libcheck is absent (make deps installs it)"
endif
$(BUILD)/unit-explain: tests/unit/explain.c tests/unit/unit.h $(UNIT_SAN)
	$(UNIT_CC) $(UNIT_FLAGS) $< $(UNIT_SAN) -o $@ $(UNIT_CHECK)
$(BUILD)/unit-api: tests/unit/api.c tests/unit/unit.h $(UNIT_SAN)
	$(UNIT_CC) $(UNIT_FLAGS) $< $(UNIT_SAN) -o $@ -pthread $(UNIT_CHECK)
$(BUILD)/unit-builder: tests/unit/builder.c tests/unit/unit.h tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) $(UNIT_FLAGS) $< -o $@ -pthread $(UNIT_CHECK)

# -- Diagnostics --------------------------------------------------------------------------------------
test-cases: $(BUILD)/cases      ## wrong texts: every diagnostic, its line, column and place in Python
	$(BUILD)/cases tests/cases/*/*.ttir tests/cases/lists.txt
	$(BUILD)/cases --mistakes examples/kernels/softmax.ttir
$(BUILD)/cases: tests/cases/run.c $(UNIT_SAN)
	$(UNIT_CC) $(UNIT_FLAGS) $^ -o $@

test-census: $(BUILD)/tmetal    ## tmetal census: counts, codes, places
	sh tests/unit/census.sh $(BUILD)

# -- Text to IR and back ------------------------------------------------------------------------------
test-roundtrip: $(BUILD)/roundtrip $(BUILD)/rebuild  ## parse(print(x)) is x; what is read can be built
	$(UNIT_TTIR) | $(BUILD)/roundtrip
	$(UNIT_TTIR) | $(BUILD)/rebuild
check-roundtrip: $(BUILD)/roundtrip $(BUILD)/rebuild  ## the same over the whole corpus [CORPUS=dir]
	if [ -d $(CORPUS) ]; then find $(CORPUS) -name '*.ttir' | $(BUILD)/roundtrip && find $(CORPUS) -name '*.ttir' | $(BUILD)/rebuild; \
	else echo "check-roundtrip: skipped: no $(CORPUS)"; fi
$(BUILD)/roundtrip: tests/unit/roundtrip.c $(UNIT_FAST)
	$(UNIT_CC) -O1 $^ -o $@
$(BUILD)/rebuild: tests/unit/rebuild.c tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) -O0 $< -o $@

# -- Memory (arenas of every size: tests/robust) ---------------------------------------------------------
test-memory: $(BUILD)/bound     ## tmetal_arena_bound and _list: recorded kernels, modules and op lists made to be costly
	$(UNIT_TTIR) | $(BUILD)/bound
check-memory: $(BUILD)/bound    ## the same over the whole corpus [CORPUS=dir]
	if [ -d $(CORPUS) ]; then find $(CORPUS) -name '*.ttir' | $(BUILD)/bound; fi
$(BUILD)/bound: tests/unit/bound.c tests/bench/shapes.c tests/bench/shapes.h tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) -Og tests/unit/bound.c tests/bench/shapes.c -o $@

# -- Builds ---------------------------------------------------------------------------------------------
test-compile: $(BUILD)/robust/header.o  ## one unit, three units, static, C and C++; each part left out; what the object file needs
	CC="$(CC)" sh tests/compile/run.sh $(BUILD)
	CC="$(CC)" sh tests/compile/parts.sh $(BUILD)
check-compile: $(BUILD)/robust/header.o ## each part left out, as C++ too
	CC="$(CC)" sh tests/compile/parts.sh $(BUILD) all

# -- Golden texts -----------------------------------------------------------------------------------------
test-golden: $(BUILD)/tmetal    ## the Metal and the plan of the example kernels, byte by byte
	sh tests/golden/run.sh $(BUILD)
test-style: $(BUILD)/tmetal     ## how emitted Metal is laid out: columns, what is set in
	python3 tests/golden/style.py $(BUILD) examples/kernels tests/kernels/recorded tests/kernels/lookalikes
# Built without optimisation, and blessed by what is built with it: what a compiler may do either way would differ.
$(BUILD)/plainly-built/digest: tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c tests/robust/header.c tmetal.h
	@mkdir -p $(@D)
	$(QUICK_CC) -std=c99 -O0 -w tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c tests/robust/header.c -o $@
test-fingerprints: $(BUILD)/tmetal $(BUILD)/plainly-built/digest $(BUILD)/oplist ## which outputs became others: a few bits of everything that is given for 2,000 texts
	@python3 tests/golden/fingerprints.py $(BUILD) $(BUILD)/plainly-built/digest
check-same: $(BUILD)/tmetal $(BUILD)/plainly-built/digest $(BUILD)/oplist ## one hash of everything: all texts, ../shared/corpus too, in all modes, on M1, M3 Max and M5; what differs from an earlier build/everything.txt [WAS=FILE JOBS=n]
	@JOBS=$(JOBS) CORPUS=$(CORPUS) python3 tests/golden/fingerprints.py $(BUILD) $(BUILD)/plainly-built/digest --all $(WAS)
bless: $(BUILD)/tmetal $(BUILD)/digest $(BUILD)/oplist ## rewrite the golden texts; prints the lines gained and lost, and which outputs changed
	sh tests/golden/run.sh $(BUILD) bless
	@python3 tests/golden/fingerprints.py $(BUILD) $(BUILD)/digest --bless
