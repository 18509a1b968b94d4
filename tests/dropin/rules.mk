# The Python package triton_metal. Included by the Makefile at the top, after tests/metal/rules.mk.

PACKAGE       = $(BUILD)/package
PACKAGE_LIB   = $(PACKAGE)/triton_metal/libtriton_metal.$(if $(ON_MAC),dylib,so)
PACKAGE_TEXTS = $(filter-out examples/python/setup.py,$(wildcard examples/python/*.py examples/python/triton_metal/*.py examples/python/triton/*.py))
# tcc makes it in half a second and -O2 in a minute; the package compiles a kernel in 3 ms with -O2.
PACKAGE_CC   ?= $(CC)
PACKAGE_FLAGS?= -O2

# A Python that has NumPy: arrays for kernels.
DROPIN_PYTHON  = $(eval DROPIN_PYTHON := $(shell for p in $(PYTHON) /usr/bin/python3; do $$p -c 'import numpy' 2>/dev/null && { echo $$p; break; }; done))$(DROPIN_PYTHON)
DROPIN_RUN     = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(PACKAGE) TRITON_METAL_CACHE_DIR=$(abspath $(BUILD))/dropin-cache $(DROPIN_PYTHON)
DROPIN_TESTS   = $(sort $(wildcard tests/dropin/test_*.py)) tests/dropin/device.py

.PHONY: python test-dropin check-dropin device-python
python: $(PACKAGE_LIB) $(if $(ON_MAC),,$(PACKAGE)/triton_metal/simulator) $(PACKAGE)/links ## the Python package triton_metal, for PYTHONPATH=build/package

# Links to the sources, so that an edit counts at once.
$(PACKAGE)/links: $(PACKAGE_TEXTS) tests/dropin/rules.mk
	@mkdir -p $(PACKAGE)/triton_metal $(PACKAGE)/triton
	@find $(PACKAGE) -type l -exec rm {} +
	@for f in $(patsubst examples/python/%,%,$(PACKAGE_TEXTS)); do ln -s $(abspath examples/python)/$$f $(PACKAGE)/$$f; done
	@touch $@

$(PACKAGE_LIB): examples/python/library.c tmetal.h
	@mkdir -p $(@D)
	$(PACKAGE_CC) -std=c99 $(PACKAGE_FLAGS) -fPIC -shared $< -o $@.new -lm
	@mv $@.new $@

# The simulator as a process; on a Mac kernels run on its GPU.
$(BUILD)/obj/dropin/%.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/dropin/%.o: tests/dropin/%.cc $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@
$(PACKAGE)/triton_metal/simulator: $(BUILD)/obj/dropin/server.o $(SIM_OBJECTS) $(SIM_CASES)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -lpthread -o $@

test-dropin: python ## the Python package in the simulator: launches, errors, threads, the documents' programs
	@$(if $(DROPIN_PYTHON),for t in $(DROPIN_TESTS); do $(DROPIN_RUN) $$t -q || { echo "$$t failed"; exit 1; }; done,echo "no NumPy (Debian: python3-numpy): left out")

# PYTHON=python3 of an environment with PyTorch or MLX: with their arrays, too.
device-python: python
	@if [ -n "$(DROPIN_PYTHON)" ]; then $(DROPIN_RUN) tests/dropin/device.py $(BUILD)/device-report.md; \
	    else echo "no Python with NumPy: no Python section in the report (pip3 install numpy; make device PYTHON=...)"; fi

check-dropin: test-dropin $(DROPIN_STANDIN) $(BUILD)/python-sim ## the same by Metal's stand-in, with tensors on mps
	PYTHON_SIM=$(BUILD)/python-sim SIM_CACHE=$(BUILD)/dropin-cache/simulator $(DROPIN_RUN) tests/dropin/on_metal.py $(abspath $(DROPIN_STANDIN)) -q
	for t in device test_surface; do \
	    LD_PRELOAD=$(abspath $(DROPIN_STANDIN)) TRITON_METAL_LIBRARY=$(abspath $(DROPIN_STANDIN)) TRITON_METAL_BACKEND=metal \
	    SIM_CACHE=$(BUILD)/dropin-cache/simulator $(DROPIN_RUN) tests/dropin/$$t.py -q || exit 1; done
	$(foreach p,$(wildcard $(BUILD)/upstream/venv/bin/python),$(patsubst %$(DROPIN_PYTHON),%$(p),$(DROPIN_RUN)) tests/dropin/test_arrays.py -q)
	DROPIN_LAUNCHES=10000 $(DROPIN_RUN) tests/dropin/test_backend.py -q Processes.test_launches_do_not_grow

# The library linked with the stand-in for Metal, for the way of a Mac. All of it may be moved, so it is compiled again.
DROPIN_STANDIN = $(BUILD)/dropin/libtriton_metal.so
DROPIN_MOVABLE = $(patsubst $(BUILD)/obj/sim/%,$(BUILD)/obj/dropin/movable/%,$(SIM_OBJECTS)) $(BUILD)/obj/dropin/movable/standin.o
$(BUILD)/obj/dropin/movable/standin.o: tests/metal/standin.cc tests/metal/standin.h $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(METAL_CXX) -fPIC -c $< -o $@
$(BUILD)/obj/dropin/movable/%.o: tests/sim/%.cc $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -fPIC -DSIM_JUDGE='""' -c $< -o $@
$(DROPIN_STANDIN): tests/dropin/standin.cc examples/python/library.c tmetal.h $(DROPIN_MOVABLE)
	@mkdir -p $(@D)
	$(CC) -std=c99 -O0 -fPIC -c examples/python/library.c -o $@.o
	$(METAL_CXX) -fPIC -shared -Wl,-Bsymbolic $< $@.o $(DROPIN_MOVABLE) -ldl -lpthread -o $@
