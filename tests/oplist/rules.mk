# Op lists run in the simulator against a reference. Included by the Makefile at the top, after
# tests/sim/rules.mk; stands alone too:
#
#     make -f tests/oplist/rules.mk test-oplist         every op, shape and type
#     make -f tests/oplist/rules.mk test-oplist-quick   a slice of them

ifndef SIM_OBJECTS
include tests/sim/rules.mk
.DEFAULT_GOAL := test-oplist
endif

OPLIST_CC      ?= cc
OPLIST_OBJECTS  = $(patsubst %,$(BUILD)/obj/oplist/%.o,library reference run cases fusion graphs texts main)
OPLIST_JOBS     = $(BUILD)/obj/corpus/jobs.o

.PHONY: test-oplist test-oplist-quick
test-oplist: $(BUILD)/oplist
	$(BUILD)/oplist
	$(BUILD)/oplist --tensors --filter matmul
	$(BUILD)/oplist --gpu apple-m3-max --filter matmul
test-oplist-quick: $(BUILD)/oplist tests/oplist/fusion.rows tests/oplist/corners.rows
	$(BUILD)/oplist --quick
	$(BUILD)/oplist --quick --tensors --filter matmul

ifdef HEADER
$(BUILD)/obj/oplist/library.o: $(HEADER)
	@mkdir -p $(@D)
	cp $< $@
else
$(BUILD)/obj/oplist/library.o: tests/oplist/library.c tmetal.h
	@mkdir -p $(@D)
	$(OPLIST_CC) -std=c99 -O1 -I. -c $< -o $@
endif
# not the reference, whose loops are long
$(patsubst %,$(BUILD)/obj/oplist/%.o,cases fusion graphs texts main): SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/oplist/%.o: tests/oplist/%.cc $(wildcard tests/oplist/*.h) $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -I. -c $< -o $@
$(BUILD)/oplist: $(OPLIST_OBJECTS) $(OPLIST_JOBS) $(SIM_OBJECTS)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
