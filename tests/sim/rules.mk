# The Metal simulator and the corpus runner. Included by the Makefile at the top; stands alone too:
#
#     make -f tests/sim/rules.mk sim        build/sim and build/corpus
#     make -f tests/sim/rules.mk test-sim   and their tests
#
# Needs g++ (or another C++17 compiler), clang 16 or newer to compile kernels, binutils and
# nlohmann-json.

BUILD ?= build

# The compiler for Metal text: clang++-19 when it is there, else the newest that is.
ifndef CLANGXX
CLANGXX := $(shell for v in -19 -21 -20 -18 -17 -16 ''; do command -v clang++$$v >/dev/null 2>&1 && { echo clang++$$v; break; }; done)
endif
SIM_CXX      ?= $(if $(filter default undefined,$(origin CXX)),g++,$(CXX))
SIM_CXXFLAGS ?= -O2
# (libstdc++ uses a deprecated function of its own, which clang notes.)
SIM_WARNINGS  = -Wall -Wextra -Wno-deprecated-declarations
# Compilers of other systems may warn of more, which must not stop anyone there.
ON_MAC       := $(filter Darwin,$(shell uname -s))
ifeq ($(ON_MAC),)
SIM_WARNINGS += -Werror
endif
SIM_FLAGS     = -std=c++17 $(SIM_WARNINGS) $(SIM_CXXFLAGS) -DSIM_CLANGXX='"$(CLANGXX)"' -DSIM_TESTS='"$(abspath tests)"'
# Kernels are loaded at run time and find the simulator's functions in the program.
SIM_LINK      = -rdynamic -ldl

SIM_OBJECTS    = $(patsubst %,$(BUILD)/obj/sim/%.o,atomics build counters fiber files fingerprint lex lines math memory \
                   msl_check msl_parse msl_rewrite msl_rules msl_shapes plan report run schedule simd sync tensor undefined words)
SIM_CASES      = $(patsubst %,$(BUILD)/obj/corpus/%.o,compare exceptions launch recorded)
CORPUS_OBJECTS = $(patsubst %,$(BUILD)/obj/corpus/%.o,batch compile main outcome pool table)
# What a judgement depends on. The compiler under test may be linked into build/corpus, so a hash of
# the program itself would forget all results whenever the compiler changes.
SIM_JUDGE      = $(sort $(wildcard tests/sim/*.cc tests/sim/*.h tests/sim/include/metal_* tests/sim/include/sim/* \
                   tests/sim/include/MetalPerformancePrimitives/* \
                   tests/corpus/compare.* tests/corpus/launch.* tests/corpus/recorded.*))
SIM_HEADERS    = $(wildcard tests/sim/*.h tests/corpus/*.h tests/sim/include/sim/*.h)

.PHONY: sim test-sim clean-sim
sim: $(BUILD)/sim $(BUILD)/corpus

test-sim: sim $(BUILD)/test-sim $(BUILD)/test-compare
	$(BUILD)/test-compare
	$(BUILD)/test-sim tests/sim
	sh tests/corpus/killed.sh $(BUILD) $(CLANGXX)

clean-sim:
	rm -rf $(BUILD)/obj/sim $(BUILD)/obj/corpus $(BUILD)/sim $(BUILD)/corpus $(BUILD)/test-sim $(BUILD)/test-compare \
	  $(BUILD)/sim-cache $(BUILD)/corpus-cache

# What runs for moments is built faster: here and in the rules of other folders.
SIM_QUICK     = -O0
$(BUILD)/obj/sim/test.o $(BUILD)/obj/sim/main.o $(patsubst %,$(BUILD)/obj/corpus/%.o,test_compare main outcome table): SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/sim/fingerprint.o: $(SIM_JUDGE)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -DSIM_JUDGE='"$(shell cat $(SIM_JUDGE) | cksum | tr ' ' '-')"' \
	  -c tests/sim/fingerprint.cc -o $@
$(BUILD)/obj/sim/%.o: tests/sim/%.cc $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@
$(BUILD)/obj/corpus/%.o: tests/corpus/%.cc $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@

$(BUILD)/sim: $(BUILD)/obj/sim/main.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
$(BUILD)/corpus: $(CORPUS_OBJECTS) $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
$(BUILD)/test-sim: $(BUILD)/obj/sim/test.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
$(BUILD)/test-compare: $(BUILD)/obj/corpus/test_compare.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@

.PHONY: test-ranges
# Every integer of the text within the range that the compiler takes it to have: what its decisions lean on.
$(BUILD)/tmetal-ranges: examples/tmetal.c tmetal.h
	$(CC) -std=c99 -O1 -DTMI_CHECK_RANGES $< -o $@ -lm
test-ranges: $(BUILD)/tmetal-ranges $(BUILD)/corpus $(BUILD)/random ## is each integer within the range that it is known to have?
	TMETAL=$(BUILD)/tmetal-ranges $(BUILD)/corpus --jobs $(JOBS) --dir tests/kernels
	TMETAL=$(BUILD)/tmetal-ranges $(BUILD)/corpus --jobs $(JOBS) --dir examples/kernels
	TMETAL=$(BUILD)/tmetal-ranges $(BUILD)/corpus --jobs $(JOBS) --gpu apple-m1 --plain --dir tests/kernels/lookalikes
	TMETAL=$(BUILD)/tmetal-ranges $(BUILD)/random --jobs $(JOBS) --seeds tests/interp/seeds.txt

# What is counted of some kernels, and may only grow with a reason.
.PHONY: test-counters bless-counters
test-counters: $(BUILD)/tmetal $(BUILD)/corpus ## lines, conflicts, barriers of some kernels: none may grow without a reason
	python3 tests/sim/counters.py $(BUILD)
bless-counters: $(BUILD)/tmetal $(BUILD)/corpus ## write tests/sim/counters.txt anew [WHY='why a count grew'] [ROWS=text]
	python3 tests/sim/counters.py $(BUILD) --bless "$(WHY)" "$(ROWS)"
