# The interpreter of Triton IR, the referee of right and wrong. Included by the Makefile at the top, after
# tests/sim/rules.mk; stands alone too:
#
#     make -f tests/interp/rules.mk interp         build/interp, build/generate, build/random
#     make -f tests/interp/rules.mk test-interp    it over every recorded case of this repository
#     make test-random                             random modules: simulator against interpreter
#     make differential MODULES=20000 GRAPHS=5000 JOBS=16 SECONDS=3000
#
# Needs a C99 compiler and g++ (or another C++17 compiler).

ifndef SIM_OBJECTS
include tests/sim/rules.mk
.DEFAULT_GOAL := interp
endif

# Where tmetal.h lies.
TMETAL_DIR ?= .

INTERP_CC     ?= cc
INTERP_CFLAGS ?= -O2 -g
INTERP_C       = $(INTERP_CC) -std=c99 -D_XOPEN_SOURCE=600 -Wall -Wextra $(INTERP_CFLAGS)

INTERP_HEADERS = $(wildcard tests/interp/*.h)
INTERP_CORE    = $(patsubst %,$(BUILD)/obj/interp/%.o,blocks combine elementwise library matrix memory numbers ops \
                   program run shapes)
INTERP_CASES   = $(SIM_OBJECTS) $(patsubst %,$(BUILD)/obj/corpus/%.o,compare exceptions outcome recorded table)

.PHONY: interp test-interp test-facts test-random check-random test-open differential check-reduce test-versions clean-interp
interp: $(BUILD)/interp $(BUILD)/generate $(BUILD)/random

test-interp: $(BUILD)/interp    ## the interpreter of Triton IR over every recorded case of this repository
	$(BUILD)/interp tests/kernels examples/kernels

test-facts: $(BUILD)/interp $(BUILD)/generate ## what is known of values (runs, divisors, repeats) against the values
	rm -rf $(BUILD)/facts && mkdir -p $(BUILD)/facts
	python3 tests/interp/facts.py > $(BUILD)/facts/facts.ttir
	$(BUILD)/generate --case $(BUILD)/facts/facts.ttir
	$(BUILD)/interp --facts $(BUILD)/facts tests/kernels examples/kernels

test-random: $(BUILD)/random $(BUILD)/tmetal    ## modules made at random: simulator against interpreter
	$(BUILD)/random --seeds tests/interp/seeds.txt
	$(BUILD)/random --way '--gpu apple-m3-max --threads 32' tests/kernels/lookalikes/scan_*.ttir
	$(BUILD)/random --changed 48 --ways 2 --from tests/kernels/lookalikes
check-random: $(BUILD)/random $(BUILD)/tmetal   ## a hundred more
	$(BUILD)/random --range 1 100

test-open: $(BUILD)/random $(BUILD)/tmetal    ## what has no one answer is told apart by its reason; planted faults are still seen
	sh tests/interp/open.sh $(BUILD)

# A third of the modules made at random, the others made of recorded ones by changing a few places; each compiled in
# WAYS ways. What is not right stands in RESULTS; `build/random --reduce MODULE` makes one of them small.
MODULES ?= 2000
GRAPHS  ?= 500
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 1200
WAYS    ?= 4
FIRST   ?= 1000000
RESULTS ?= $(BUILD)/differential.txt
DIFFER   = --jobs $(JOBS) --ways $(WAYS) --results $(RESULTS)
differential: $(BUILD)/random $(BUILD)/tmetal $(BUILD)/oplist    ## MODULES random modules and GRAPHS op lists by JOBS processes within SECONDS: what differs, to RESULTS
	@status=0; \
	$(BUILD)/random $(DIFFER) --seconds $$(($(SECONDS) / 3)) --range $(FIRST) $$(($(FIRST) + $(MODULES) / 3 - 1)) || status=1; \
	$(BUILD)/random $(DIFFER) --seconds $$(($(SECONDS) / 3)) --changed $$(($(MODULES) * 2 / 3)) --first $(FIRST) \
	  --from tests/kernels/recorded --from tests/kernels/lookalikes || status=1; \
	$(BUILD)/oplist --graphs $(GRAPHS) --first $(FIRST) --jobs $(JOBS) --seconds $$(($(SECONDS) / 3)) --results $(RESULTS) || status=1; \
	exit $$status

check-reduce: $(BUILD)/random $(BUILD)/tmetal    ## a planted fault is found and the kernel made small
	sh tests/interp/planted.sh $(BUILD)

test-versions: $(BUILD)/tmetal $(BUILD)/generate $(BUILD)/random    ## old and new spellings of Triton IR give the same Metal
	sh tests/cases/versions/same.sh $(BUILD)/tmetal $(BUILD)/generate tests/cases/versions
	$(BUILD)/random tests/cases/versions/*.ttir

clean-interp:
	rm -rf $(BUILD)/obj/interp $(BUILD)/interp $(BUILD)/generate $(BUILD)/random

# program.c holds tmetal.h whole; what of it is only for other programs is no mistake.
$(BUILD)/obj/interp/program.o: tests/interp/program.c $(INTERP_HEADERS) $(TMETAL_DIR)/tmetal.h
	@mkdir -p $(@D)
	$(INTERP_C) -O0 -g0 -Wno-unused-function -Wno-misleading-indentation -I$(TMETAL_DIR) -c $< -o $@
# The products of large matrices.
$(BUILD)/obj/interp/matrix.o: INTERP_CFLAGS += -O3
$(BUILD)/obj/interp/%.o: tests/interp/%.c $(INTERP_HEADERS)
	@mkdir -p $(@D)
	$(INTERP_C) -c $< -o $@
$(patsubst %,$(BUILD)/obj/interp/%.o,generate census maker make_control make_elementwise make_memory make_shapes mutate reduce): SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/interp/%.o: tests/interp/%.cc $(INTERP_HEADERS) $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@

$(BUILD)/interp: $(BUILD)/obj/interp/main.o $(INTERP_CORE) $(INTERP_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -lm -o $@
$(BUILD)/random: $(patsubst %,$(BUILD)/obj/interp/%.o,random differ mutate reduce census maker make_control make_elementwise make_memory make_shapes made) \
                 $(INTERP_CORE) $(SIM_OBJECTS) $(SIM_CASES) $(BUILD)/obj/corpus/compile.o $(BUILD)/obj/corpus/jobs.o
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -lm -o $@
$(BUILD)/generate: $(patsubst %,$(BUILD)/obj/interp/%.o,generate made) $(INTERP_CORE) $(SIM_OBJECTS)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -lm -o $@
