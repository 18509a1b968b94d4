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
FUZZ_SECONDS ?= 10
FUZZ_LONG    ?= 900
FUZZ_FROM    ?= 1
# Of the header that all programs of the tests share: `make asserted` builds it with every assertion on.
HEADER_FLAGS ?=

.PHONY: bench asserted depth depth-long odd libfuzzer fuzz fuzz-long warnings warnings-all same-bytes sanitized arenas uninitialised test-robust check-robust

$(BUILD)/robust/header.o: tests/robust/header.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O2 $(HEADER_FLAGS) -c $< -o $@
$(BUILD)/robust/header-san.o: tests/robust/header.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 $(SANITIZE) $(HEADER_FLAGS) -c $< -o $@

# -- Time and memory -----------------------------------------------------------------------------------
$(BUILD)/bench: tests/bench/bench.c tests/bench/shapes.c tests/robust/text.c $(BUILD)/robust/header.o
	$(ROBUST_C) -O2 $^ -o $@
bench: $(BUILD)/bench           ## compile time and memory by file and by length [CORPUS=dir]
	$(BUILD)/bench $(if $(wildcard $(CORPUS)),$(CORPUS),tests/kernels examples/kernels)

# -- Odd input --------------------------------------------------------------------------------------------
FUZZ_C = $(patsubst %,tests/robust/%.c,fuzz attempt mutate text)
$(BUILD)/fuzz: $(FUZZ_C) $(wildcard tests/robust/*.h) $(BUILD)/robust/header.o
	$(ROBUST_C) -O2 $(FUZZ_C) $(BUILD)/robust/header.o -o $@
$(BUILD)/fuzz-san: $(FUZZ_C) $(wildcard tests/robust/*.h) $(BUILD)/robust/header-san.o
	$(ROBUST_C) $(SANITIZE) $(FUZZ_C) $(BUILD)/robust/header-san.o -o $@
fuzz: $(BUILD)/fuzz $(BUILD)/fuzz-san ## mutated Triton IR, a few seconds [FUZZ_SECONDS=] [FUZZ_FROM=number of the first attempt]
	$(BUILD)/fuzz --from $(FUZZ_FROM) --seconds $(FUZZ_SECONDS) $(ROBUST_OWN)
	$(BUILD)/fuzz-san --from $(FUZZ_FROM) --seconds $(FUZZ_SECONDS) $(ROBUST_OWN)
odd: $(BUILD)/fuzz-san          ## inputs that once went wrong, with what they must give
	@bad=0; for f in tests/robust/odd/*.ttir; do $(BUILD)/fuzz-san --try $$f || bad=1; done; exit $$bad
fuzz-long: $(BUILD)/fuzz $(BUILD)/fuzz-san ## the same for long, from other numbers each day
	$(BUILD)/fuzz --from $$(date +%Y%m%d)000000000 --seconds $(FUZZ_LONG) $(ROBUST_FILES)
	$(BUILD)/fuzz-san --from $$(date +%Y%m%d)500000000 --seconds $(FUZZ_LONG) $(ROBUST_FILES)
# libFuzzer's own mutations, guided by coverage; wants clang. Runs until it is stopped.
libfuzzer:
	@mkdir -p $(BUILD)/robust/found
	clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined $(patsubst %,tests/robust/%.c,libfuzzer attempt text header) -o $(BUILD)/libfuzzer
	$(BUILD)/libfuzzer -max_len=8192 -timeout=10 $(BUILD)/robust/found tests/kernels/recorded

# -- Sanitizers, arenas, memory that was never written ------------------------------------------------------
$(BUILD)/digest: tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c $(BUILD)/robust/header.o
	$(ROBUST_C) -O2 $^ -o $@
$(BUILD)/digest-san: tests/robust/digest.c tests/robust/outcome.c tests/robust/text.c $(BUILD)/robust/header-san.o
	$(ROBUST_C) $(SANITIZE) $^ -o $@
$(BUILD)/arenas: tests/robust/arenas.c tests/robust/text.c $(BUILD)/robust/header-san.o
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
asserted:                       ## odd inputs, arenas, fuzz, chains, corpus and random modules with every assertion on
	$(MAKE) BUILD=$(BUILD)/asserted CFLAGS='-O1 -DTMETAL_DEBUG' HEADER_FLAGS='-DTMETAL_DEBUG -DTMI_FIRST=1' odd arenas fuzz depth own corpus test-random

# -- Compilers ---------------------------------------------------------------------------------------------------
warnings:                       ## the header alone, without a warning: gcc or cc as C99 and C++11
	@sh tests/robust/warnings.sh short
warnings-all:                   ## the same for every compiler, language and target that is here
	@sh tests/robust/warnings.sh all
same-bytes: $(BUILD)/digest     ## the same output from every compiler and optimisation
	@sh tests/robust/same.sh $(BUILD) $(ROBUST_FILES)

test-robust: warnings odd arenas depth fuzz
check-robust: warnings-all same-bytes sanitized uninitialised depth-long fuzz-long
