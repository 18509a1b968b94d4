# The checker of Metal text. Included by the Makefile at the top, after tests/sim/rules.mk.
LINT_OBJECTS = $(BUILD)/obj/lint/preprocess.o $(patsubst %,$(BUILD)/obj/sim/%.o,build files fingerprint lex lines \
                 msl_check msl_parse msl_rewrite msl_rules msl_shapes words)

.PHONY: lint
$(BUILD)/obj/lint/%.o: SIM_CXXFLAGS = $(SIM_QUICK)
lint: $(BUILD)/lint ## the checker of Metal text: build/lint FILE.metal

$(BUILD)/obj/lint/%.o: tests/lint/%.cc tests/lint/preprocess.h $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@
$(BUILD)/lint: $(BUILD)/obj/lint/main.o $(LINT_OBJECTS)
	$(SIM_CXX) $(SIM_FLAGS) $^ -o $@
$(BUILD)/test-lint: $(BUILD)/obj/lint/test.o $(LINT_OBJECTS)
	$(SIM_CXX) $(SIM_FLAGS) $^ -o $@

.PHONY: test-lint check-lint lint-public
test-lint: $(BUILD)/lint $(BUILD)/test-lint ## what the checker of Metal text must refuse and accept, and our golden texts
	$(BUILD)/test-lint tests/lint/cases.txt
	$(BUILD)/lint --rules --summary --jobs $(JOBS) $(filter-out %.tensor.metal,$(wildcard tests/golden/*.metal))
	$(BUILD)/lint --rules --summary --msl 4.0 $(wildcard tests/golden/*.tensor.metal)
check-lint: $(BUILD)/lint $(BUILD)/tmetal ## all that is emitted for our kernels, judged as any Metal text
	sh tests/lint/own.sh $(BUILD)
lint-public: $(BUILD)/lint      ## public texts that Apple's compiler accepts [PUBLIC=dir of checkouts] [EVERY=n of tint]
	EVERY=$(EVERY) JOBS=$(JOBS) sh tests/lint/public.sh $(BUILD) $(PUBLIC)
