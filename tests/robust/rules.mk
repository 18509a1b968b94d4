# What must hold of tmetal whatever comes in and whoever compiles it, and how fast it is. Included by the
# Makefile at the top; stands alone too:
#
#     make -f tests/robust/rules.mk bench            tables of time and memory [CORPUS=dir]
#     make -f tests/robust/rules.mk test-robust      a short run of everything
#     make -f tests/robust/rules.mk check-robust     a long one
#
# Needs a C99 compiler that knows -fsanitize=address,undefined. Compilers of the matrix that are missing
# are named and left out.

BUILD  ?= build
CC     ?= cc
CFLAGS ?= -O2
CORPUS ?= ../shared/corpus

ROBUST_OWN   = tests/kernels examples/kernels tests/robust/odd $(wildcard tests/detect)
# The corpus where it stands beside the checkout.
ROBUST_FILES = $(ROBUST_OWN) $(wildcard $(CORPUS))
ROBUST_C     = $(CC) -std=c99 -Wall -Wextra
SANITIZE     = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Of the header that all programs of the tests share: `make asserted` builds it with every assertion on.
HEADER_FLAGS ?=

.PHONY: bench asserted depth depth-long warnings warnings-all same-bytes sanitized arenas uninitialised analyse test-robust check-robust

$(BUILD)/robust/header.o: tests/robust/header.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O1 $(HEADER_FLAGS) -c $< -o $@
# Under sanitizers as the fuzz targets have it: every part, assertions on, the arena closed to what was not taken.
HEADER_SAN = $(BUILD)/fuzzing/header.o

# -- Time and memory -----------------------------------------------------------------------------------
$(BUILD)/bench: tests/bench/bench.c tests/bench/shapes.c tests/robust/text.c tests/robust/header.c tmetal.h
	$(ROBUST_C) -O2 $(filter %.c,$^) -o $@
bench: $(BUILD)/bench           ## compile time and memory by file and by length [CORPUS=dir]
	$(BUILD)/bench $(if $(wildcard $(CORPUS)),$(CORPUS),tests/kernels examples/kernels)

# -- Sanitizers, arenas, memory that was never written ------------------------------------------------------
$(BUILD)/digest: tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c $(BUILD)/robust/header.o
	$(ROBUST_C) -O2 $^ -o $@
$(BUILD)/digest-san: tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c $(HEADER_SAN)
	$(ROBUST_C) $(SANITIZE) $^ -o $@
$(BUILD)/arenas: tests/robust/arenas.c tests/robust/text.c $(HEADER_SAN)
	$(ROBUST_C) $(SANITIZE) $^ -o $@
sanitized: $(BUILD)/digest-san  ## every file under address and undefined behaviour sanitizers
	$(BUILD)/digest-san $(ROBUST_FILES) > /dev/null
uninitialised: $(BUILD)/digest  ## nothing depends on what the arena held before
	$(BUILD)/digest --twice --modes $(ROBUST_FILES) > /dev/null
arenas: $(BUILD)/arenas         ## arenas of every size: a clean refusal, then the same bytes
	$(BUILD)/arenas examples/kernels/vector_add.ttir examples/kernels/row_sum.ttir

# -- Hostile shapes -----------------------------------------------------------------------------------------------
DEPTH_C = tests/robust/depth.c tests/bench/shapes.c tests/robust/text.c
$(BUILD)/depth: $(DEPTH_C) tests/bench/shapes.h $(wildcard tests/robust/*.h) $(BUILD)/robust/header.o
	$(ROBUST_C) -O1 $(DEPTH_C) $(BUILD)/robust/header.o -lpthread -o $@
depth: $(BUILD)/depth           ## graphs with more ways than ops, chains longer than a stack is deep
	python3 tests/robust/recursion.py tmetal.h
	$(BUILD)/depth --quick
depth-long: $(BUILD)/depth      ## the same with chains of 40,000 operations
	$(BUILD)/depth

# -- Assertions -------------------------------------------------------------------------------------------------
asserted:                       ## arenas, chains, corpus and random modules with every assertion on
	$(MAKE) BUILD=$(BUILD)/asserted CFLAGS='-O1 -DTMETAL_DEBUG' HEADER_FLAGS='-DTMETAL_DEBUG -DTMI_FIRST=1' arenas depth own corpus test-random

# -- Compilers ---------------------------------------------------------------------------------------------------
warnings:                       ## the header alone, without a warning: gcc or cc as C99 and C++11
	@sh tests/robust/warnings.sh short
warnings-all:                   ## the same for every compiler, language and target that is here
	@sh tests/robust/warnings.sh all
same-bytes: $(BUILD)/digest     ## the same output from every compiler and optimisation
	@sh tests/robust/same.sh $(BUILD) $(ROBUST_FILES)

analyse:                        ## cppcheck and clang-tidy, where they are installed; tests/robust/analysed.txt answers them
	python3 tests/robust/analyse.py $(BUILD) tmetal.h

test-robust: warnings arenas depth
check-robust: analyse warnings-all same-bytes sanitized uninitialised depth-long
