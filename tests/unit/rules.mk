# Tests of the header itself: public functions, builder, memory, diagnostics, round trip, golden texts.
# Included by the Makefile at the top. The suites of tests/unit/api.c and builder.c want libcheck; where it
# is absent they are skipped, and say so.

UNIT_FLAGS ?= -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_CC     = $(CC) -std=c99 -D_XOPEN_SOURCE=700 -Wall -Wextra -Wno-unused-function -I.
UNIT_CHECK := $(shell pkg-config --exists check 2>/dev/null && pkg-config --cflags --libs check)
UNIT_TTIR   = find examples tests -name '*.ttir' ! -path 'tests/cases/*' | LC_ALL=C sort

.PHONY: test-unit test-cases test-roundtrip test-memory test-compile test-golden bless check-roundtrip check-memory

# -- Suites -----------------------------------------------------------------------------------------
ifneq ($(UNIT_CHECK),)
test-unit: $(BUILD)/unit-api $(BUILD)/unit-builder  ## public functions and builder, under sanitizers
	CK_FORK=no $(BUILD)/unit-api
	CK_FORK=no $(BUILD)/unit-builder
else
test-unit:
	@echo "test-unit: skipped: libcheck is absent (make deps installs it)"
endif
$(BUILD)/unit-%: tests/unit/%.c tests/unit/unit.h tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) $(UNIT_FLAGS) $< -o $@ -pthread $(UNIT_CHECK)

# -- Diagnostics --------------------------------------------------------------------------------------
test-cases: $(BUILD)/cases      ## wrong texts: every diagnostic, its line, column and place in Python
	$(BUILD)/cases tests/cases/*/*.ttir
$(BUILD)/cases: tests/cases/run.c tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) $(UNIT_FLAGS) $< -o $@

# -- Text to IR and back ------------------------------------------------------------------------------
test-roundtrip: $(BUILD)/roundtrip $(BUILD)/rebuild  ## parse(print(x)) is x; what is read can be built
	$(UNIT_TTIR) | $(BUILD)/roundtrip
	$(UNIT_TTIR) | $(BUILD)/rebuild
check-roundtrip: $(BUILD)/roundtrip $(BUILD)/rebuild  ## the same over the whole corpus [CORPUS=dir]
	if [ -d $(CORPUS) ]; then find $(CORPUS) -name '*.ttir' | $(BUILD)/roundtrip && find $(CORPUS) -name '*.ttir' | $(BUILD)/rebuild; \
	else echo "check-roundtrip: skipped: no $(CORPUS)"; fi
$(BUILD)/roundtrip $(BUILD)/rebuild: $(BUILD)/%: tests/unit/%.c tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) -O2 $< -o $@

# -- Memory -------------------------------------------------------------------------------------------
MEMORY_KERNELS = examples/kernels/softmax.ttir examples/kernels/attention.ttir \
  tests/kernels/recorded/control-early_returns_in_a_row.ttir tests/cases/diagnostics/101_recovery.ttir
test-memory: $(BUILD)/memory $(BUILD)/memory-hostile $(BUILD)/bound  ## arenas of every size; the bound of memory
	$(BUILD)/memory 61 $(MEMORY_KERNELS)
	$(BUILD)/memory-hostile 499 $(MEMORY_KERNELS)
	$(UNIT_TTIR) | $(BUILD)/bound
check-memory: $(BUILD)/memory $(BUILD)/bound  ## the same in steps of 7 bytes and over the whole corpus
	$(BUILD)/memory 7 $(MEMORY_KERNELS) examples/kernels/*.ttir
	if [ -d $(CORPUS) ]; then find $(CORPUS) -name '*.ttir' | $(BUILD)/bound; fi
$(BUILD)/memory: tests/unit/memory.c tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) $(UNIT_FLAGS) $< -o $@
# first sizes of one, dropped scratch filled, every pass verified
$(BUILD)/memory-hostile: tests/unit/memory.c tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) $(UNIT_FLAGS) -DTMETAL_DEBUG -DTMI_FIRST=1 $< -o $@
$(BUILD)/bound: tests/unit/bound.c tmetal.h
	@mkdir -p $(BUILD)
	$(UNIT_CC) -O2 $< -o $@

# -- Builds ---------------------------------------------------------------------------------------------
test-compile:                   ## one unit, three units, static, C and C++; what the object file needs
	CC="$(CC)" sh tests/compile/run.sh $(BUILD)

# -- Golden texts -----------------------------------------------------------------------------------------
test-golden: $(BUILD)/tmetal    ## the Metal and the plan of the example kernels, byte by byte
	sh tests/golden/run.sh $(BUILD)
bless: $(BUILD)/tmetal          ## rewrite the golden texts; prints the lines gained and lost
	sh tests/golden/run.sh $(BUILD) bless
