# Mutation of the compiler and of the simulator: tests/mutate/README.md. Included by the Makefile at the top.

.PHONY: mutate mutate-sample test-barriers test-detectors
MUTANTS      ?= 100
MUTATE_ARGS  ?=
# What mutants are linked with: built once, of the header as it is.
MUTATE_NEEDS  = sim test-facts $(BUILD)/random $(BUILD)/oplist $(BUILD)/transform-sim $(BUILD)/confirm $(BUILD)/forced \
                $(BUILD)/metal-device $(BUILD)/metal-device-system $(BUILD)/metal-tmetal $(BUILD)/metal-misuse $(BUILD)/metal-warm \
                $(BUILD)/metal-example $(BUILD)/metal-cpp
mutate: $(MUTATE_NEEDS)         ## tmetal.h changed one place at a time: which test sees it? [MUTANTS=500] [JOBS=16] [MUTATE_ARGS='--minutes 60 --from 1']
	python3 tests/mutate/mutate.py $(BUILD) --mutants $(MUTANTS) --jobs $(JOBS) $(MUTATE_ARGS)
mutate-sample: $(MUTATE_NEEDS)  ## 20 mutants, a few minutes on two cores
	python3 tests/mutate/mutate.py $(BUILD) --mutants 20 --jobs $(JOBS) --results $(BUILD)/mutate/sample.tsv --least 75

$(BUILD)/barriers: tests/mutate/barriers.cc $(SIM_OBJECTS) $(SIM_CASES) $(BUILD)/obj/corpus/compile.o
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
test-barriers: $(BUILD)/barriers $(BUILD)/tmetal ## barriers taken out of emitted kernels one at a time: is each race reported?
	$(BUILD)/barriers --jobs $(JOBS) --known tests/mutate/barriers.txt tests/kernels/recorded tests/kernels/lookalikes examples/kernels
	$(BUILD)/barriers --jobs $(JOBS) --known tests/mutate/barriers.txt --gpu apple-m3-max tests/kernels/recorded tests/kernels/lookalikes examples/kernels
test-detectors: $(BUILD)/test-sim ## checks of the simulator switched off one at a time: is each missed?
	python3 tests/mutate/detectors.py $(BUILD) --jobs $(JOBS)
