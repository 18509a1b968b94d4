# The examples, built as their users would and run. Included by the Makefile at the top, behind tests/sim.

.PHONY: test-examples bless-examples
test-examples: $(BUILD)/tmetal $(HEADER) $(BUILD)/examples-launch  ## examples: short, without warnings, printing what they should
	CC="$(CC)" sh tests/examples/run.sh $(BUILD)
bless-examples: $(BUILD)/tmetal $(HEADER) $(BUILD)/examples-launch ## rewrite what the examples should print; prints the lines gained and lost
	CC="$(CC)" sh tests/examples/run.sh $(BUILD) bless
bless: bless-examples

$(BUILD)/obj/examples/launch.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/examples/launch.o: tests/examples/launch.cc $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@
$(BUILD)/examples-launch: $(BUILD)/obj/examples/launch.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
