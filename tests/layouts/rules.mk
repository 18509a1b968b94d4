# Reductions in every layout that a caller may force, in the simulator against a reference. Included by the Makefile
# at the top, after tests/oplist/rules.mk, whose runner and reference they share; stands alone too:
#
#     make -f tests/layouts/rules.mk test-layouts         every kind, type, shape and layout; recorded kernels too
#     make -f tests/layouts/rules.mk test-layouts-quick   a slice of them
#     make -f tests/layouts/rules.mk layouts-table       the table of docs/layouts.md, counted anew

ifndef OPLIST_OBJECTS
include tests/oplist/rules.mk
.DEFAULT_GOAL := test-layouts
endif

FORCED_OBJECTS = $(patsubst %,$(BUILD)/obj/oplist/%.o,library reference run) $(patsubst %,$(BUILD)/obj/forced/%.o,sweep table main)
REDUCE_LAYOUTS = DEFAULT ROW_MAJOR COLUMN_MAJOR TILED COALESCED

.PHONY: test-layouts test-layouts-quick layouts-table layouts-table-check
test-layouts: $(BUILD)/forced $(BUILD)/tmetal $(BUILD)/corpus ## reductions: nine kinds, five types, 40 shapes, five forced layouts
	$(BUILD)/forced
	for l in $(REDUCE_LAYOUTS); do for k in reductions norms; do \
	  LAYOUT=$$l BUILD=$(BUILD) TMETAL=tests/layouts/force.sh $(BUILD)/corpus --dir tests/kernels/recorded --filter $$k- || exit 1; done; done
test-layouts-quick: $(BUILD)/forced
	$(BUILD)/forced --quick
layouts-table: $(BUILD)/forced  ## the table of docs/layouts.md, counted anew by the simulator
	$(BUILD)/forced --table docs/layouts.md
layouts-table-check: $(BUILD)/forced
	$(BUILD)/forced --table docs/layouts.md --check

$(BUILD)/obj/forced/%.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/forced/%.o: tests/layouts/%.cc $(wildcard tests/layouts/*.h tests/oplist/*.h) $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -I. -c $< -o $@
$(BUILD)/forced: $(FORCED_OBJECTS) $(SIM_OBJECTS)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
