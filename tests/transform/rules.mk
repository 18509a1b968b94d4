# What tmetal_transform says, against what is emitted. Included by the Makefile at the top, after
# tests/sim/rules.mk; stands alone too:
#
#     make -f tests/transform/rules.mk test-transform   the summaries of labelled kernels, a few of them in the simulator
#     make -f tests/transform/rules.mk check-transform  all of them and all recorded kernels

ifndef SIM_OBJECTS
include tests/sim/rules.mk
.DEFAULT_GOAL := test-transform
endif

TRANSFORM_CC ?= $(or $(QUICK_CC),cc)
TRANSFORM_JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
TRANSFORM_RUN = tests/transform/fusions.txt tests/detect tests/kernels/recorded examples/kernels tests/kernels/lookalikes
# For the quick test: kernels without a recorded launch, where most figures are exact.
TRANSFORM_SIM = $(patsubst %,tests/detect/%.ttir,softmax_columns layer_norm rms_norm_reads_again attention_no_max matmul_begins_at_two \
                  gelu_tanh silu_base_2 cumulative_sum two_sums mean_over_two_axes)

.PHONY: test-transform check-transform
test-transform: $(BUILD)/transform-run $(BUILD)/transform-hostile $(BUILD)/transform-sim ## what tmetal_transform says, in labelled kernels and against the simulator
	$(BUILD)/transform-run $(TRANSFORM_RUN)
	$(BUILD)/transform-hostile $(TRANSFORM_RUN)
	$(BUILD)/transform-sim examples/kernels/*.ttir $(TRANSFORM_SIM) tests/kernels/recorded/dots-computed_operand.ttir
check-transform: test-transform
	ls tests/detect/*.ttir tests/kernels/recorded/[adnr]*.ttir | xargs -P $(TRANSFORM_JOBS) -n 20 $(BUILD)/transform-sim --part

$(BUILD)/transform-run: tests/transform/run.c tmetal.h
	@mkdir -p $(@D)
	$(TRANSFORM_CC) -std=c99 -O0 tests/transform/run.c -o $@
$(BUILD)/transform-hostile: tests/transform/run.c tmetal.h
	@mkdir -p $(@D)
	$(TRANSFORM_CC) -std=c99 -O0 -DTMETAL_DEBUG tests/transform/run.c -o $@
ifdef HEADER
$(BUILD)/obj/transform/library.o: $(HEADER)
	@mkdir -p $(@D)
	cp $< $@
else
$(BUILD)/obj/transform/library.o: tests/oplist/library.c tmetal.h
	@mkdir -p $(@D)
	$(TRANSFORM_CC) -std=c99 -O1 -I. -c $< -o $@
endif
$(BUILD)/obj/transform/sim.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/transform/sim.o: tests/transform/sim.cc $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -I. -c $< -o $@
$(BUILD)/transform-sim: $(BUILD)/obj/transform/library.o $(BUILD)/obj/transform/sim.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
