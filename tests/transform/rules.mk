# What tmetal_transform says, against what is emitted. Included by the Makefile at the top, after
# tests/sim/rules.mk; stands alone too:
#
#     make -f tests/transform/rules.mk test-transform   the summaries of labelled kernels, a few of them in the simulator
#     make -f tests/transform/rules.mk check-transform  all of them and all recorded kernels

ifndef SIM_OBJECTS
include tests/sim/rules.mk
.DEFAULT_GOAL := test-transform
endif

TRANSFORM_CC ?= cc

.PHONY: test-transform check-transform
test-transform: $(BUILD)/transform-sim ## what tmetal_transform says of labelled kernels and of the examples
	$(BUILD)/transform-sim examples/kernels/*.ttir
check-transform: $(BUILD)/transform-sim
	$(BUILD)/transform-sim tests/kernels/recorded/*.ttir

$(BUILD)/obj/transform/library.o: tests/oplist/library.c tmetal.h
	@mkdir -p $(@D)
	$(TRANSFORM_CC) -std=c99 -O1 -I. -c $< -o $@
$(BUILD)/obj/transform/sim.o: tests/transform/sim.cc $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -I. -c $< -o $@
$(BUILD)/transform-sim: $(BUILD)/obj/transform/library.o $(BUILD)/obj/transform/sim.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
