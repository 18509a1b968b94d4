# Reductions in every layout that a caller may force, in the simulator against a reference. Included by the Makefile
# at the top, after tests/oplist/rules.mk, whose runner and reference they share; stands alone too:
#
#     make -f tests/reduce/rules.mk test-reduce         every kind, type, shape and layout; recorded kernels too
#     make -f tests/reduce/rules.mk test-reduce-quick   a slice of them
#     make -f tests/reduce/rules.mk layouts-table       the table of docs/layouts.md, counted anew

ifndef OPLIST_OBJECTS
include tests/oplist/rules.mk
.DEFAULT_GOAL := test-reduce
endif

REDUCE_OBJECTS = $(patsubst %,$(BUILD)/obj/oplist/%.o,library reference run) $(patsubst %,$(BUILD)/obj/reduce/%.o,sweep table main)
REDUCE_LAYOUTS = DEFAULT ROW_MAJOR COLUMN_MAJOR TILED COALESCED

.PHONY: test-reduce test-reduce-quick layouts-table layouts-table-check
test-reduce: $(BUILD)/reduce $(BUILD)/tmetal $(BUILD)/corpus ## reductions: nine kinds, five types, 40 shapes, five forced layouts
	$(BUILD)/reduce
	for l in $(REDUCE_LAYOUTS); do for k in reductions norms; do \
	  LAYOUT=$$l BUILD=$(BUILD) TMETAL=tests/reduce/force.sh $(BUILD)/corpus --dir tests/kernels/recorded --filter $$k- || exit 1; done; done
test-reduce-quick: $(BUILD)/reduce
	$(BUILD)/reduce --quick
layouts-table: $(BUILD)/reduce  ## the table of docs/layouts.md, counted anew by the simulator
	$(BUILD)/reduce --table docs/layouts.md
layouts-table-check: $(BUILD)/reduce
	$(BUILD)/reduce --table docs/layouts.md --check

$(BUILD)/obj/reduce/%.o: tests/reduce/%.cc $(wildcard tests/reduce/*.h tests/oplist/*.h) $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -I. -c $< -o $@
$(BUILD)/reduce: $(REDUCE_OBJECTS) $(SIM_OBJECTS)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
