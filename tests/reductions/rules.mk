# Loop accumulators and two stages: which kernels take them, which must not, and that both are right. Included
# by the Makefile at the top, after tests/sim/rules.mk.

.PHONY: test-reductions check-reductions bless-reductions
$(BUILD)/reductions: tests/reductions/run.c $(HEADER)
	$(LINKED) tests/reductions/run.c $(HEADER) -o $@
REDUCTIONS_ALL = tests/kernels/recorded/*.ttir examples/kernels/*.ttir

test-reductions: $(BUILD)/reductions $(BUILD)/tmetal sim  ## loop accumulators and two stages: who takes them, and what they give
	$(BUILD)/reductions tests/kernels/lookalikes/*.ttir
	$(BUILD)/reductions tests/reductions/stages/*.ttir tests/reductions/rows/*.ttir
	$(BUILD)/reductions --list 4 $(REDUCTIONS_ALL) | diff tests/reductions/two_stage.txt -
	$(BUILD)/corpus --dir tests/kernels/lookalikes --all --filter two_stage --two-stage 4
	$(BUILD)/corpus --dir tests/kernels/lookalikes --all --filter accumulate --two-stage 8
	$(BUILD)/corpus --dir tests/kernels/recorded --all --filter reductions --two-stage 4
check-reductions: $(BUILD)/tmetal sim  ## every recorded kernel, in two stages where it can be; and without optimisation
	$(BUILD)/corpus --dir tests/kernels/recorded --all --two-stage 4
	$(BUILD)/corpus --dir tests/kernels/recorded --all --two-stage 1 --filter reductions
	$(BUILD)/corpus --dir tests/kernels/lookalikes --all --two-stage 16
	$(BUILD)/corpus --dir tests/kernels/lookalikes --all --plain
	$(BUILD)/corpus --dir examples/kernels --all --two-stage 4
bless-reductions: $(BUILD)/reductions  ## write the list of kernels that become two anew
	$(BUILD)/reductions --list 4 $(REDUCTIONS_ALL) > tests/reductions/two_stage.txt
