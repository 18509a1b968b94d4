# What the explanations say, against the simulator. Included by the Makefile at the top, after
# tests/sim/rules.mk; stands alone too:
#
#     make -f tests/explain/rules.mk test-explain    the examples and a slice of the recorded cases
#     make -f tests/explain/rules.mk check-explain   all recorded cases

ifndef SIM_OBJECTS
include tests/sim/rules.mk
.DEFAULT_GOAL := test-explain
endif

EXPLAIN_CC    ?= cc
EXPLAIN_CASES  = $(sort $(wildcard examples/kernels/*.case tests/kernels/recorded/memory-*.case tests/kernels/recorded/shapes-*.case))

.PHONY: test-explain check-explain test-moves
test-moves: $(BUILD)/tmetal sim    ## the ways that heads of look-alikes name are taken, or not
	@sh tests/explain/moves.sh $(BUILD)/tmetal tests/kernels/lookalikes/*.ttir
	@$(BUILD)/corpus --dir tests/kernels/lookalikes --gpu apple-m3-max --filter banks_ --counters | \
	  awk '/banks_/ {n++; bad += $$4} END {print "moves: " n " tiles turned, " bad " cycles lost to banks"; exit bad || !n}'
test-explain: $(BUILD)/confirm     ## predicted lines of memory against the simulator's counters
	@$(BUILD)/confirm 60 $(EXPLAIN_CASES)
check-explain: $(BUILD)/confirm    ## the same for every recorded case
	@$(BUILD)/confirm 500 $(sort $(wildcard examples/kernels/*.case tests/kernels/recorded/*.case tests/kernels/lookalikes/*.case))

ifdef HEADER
$(BUILD)/obj/explain/library.o: $(HEADER)
	@mkdir -p $(@D)
	cp $< $@
else
$(BUILD)/obj/explain/library.o: tests/explain/library.c tmetal.h
	@mkdir -p $(@D)
	$(EXPLAIN_CC) -std=c99 -O1 -I. -c $< -o $@
endif
$(BUILD)/obj/explain/%.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/explain/%.o: tests/explain/%.cc $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -I. -c $< -o $@
$(BUILD)/confirm: $(BUILD)/obj/explain/confirm.o $(BUILD)/obj/explain/library.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
