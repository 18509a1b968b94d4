# Launch code in Python, by way of stand-ins for PyTorch and MLX. Included by the Makefile at the top, after
# tests/hosts/rules.mk.

PYTHON     ?= python3
# no __pycache__ beside the sources
PYTHON_RUN  = PYTHONDONTWRITEBYTECODE=1 PYTHON_SIM=$(BUILD)/python-sim $(PYTHON)
PYTHON_EACH = $(PYTHON_RUN) tests/python/run.py $(BUILD) --jobs $(JOBS)

.PHONY: test-python check-python
$(BUILD)/obj/python/%.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/python/%.o: tests/python/%.cc $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@
$(BUILD)/python-sim: $(BUILD)/obj/python/runner.o $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@

test-python: $(BUILD)/tmetal $(BUILD)/python-sim ## launch code for PyTorch and MLX, through stand-ins: some cases, misuses, examples
	$(PYTHON_EACH) --quiet examples/kernels/*.case
	$(PYTHON_RUN) tests/python/misuse.py $(BUILD)
	@for library in torch mlx; do \
	  $(BUILD)/tmetal compile examples/kernels/softmax.ttir --emit $$library-py -o $(BUILD)/python/softmax_$$library.py && \
	  PYTHONPATH=$(BUILD)/python:tests/python:tests/python/standin $(PYTHON_RUN) examples/launch_$$library.py || exit 1; done
check-python: $(BUILD)/tmetal $(BUILD)/python-sim $(BUILD)/hosts-run ## the same for all own kernels, and for 100 of the corpus [CORPUS=dir]
	$(PYTHON_EACH) --quiet tests/kernels/recorded/*.case tests/kernels/lookalikes/*.case
	@[ -d "$(CORPUS)" ] || echo "python: $(CORPUS) is not there: its cases are left out"
	$(if $(wildcard $(CORPUS)),$(BUILD)/hosts-run --list --most 100 $(BUILD)/hosts $(CORPUS) | xargs env $(PYTHON_EACH) --quiet)
