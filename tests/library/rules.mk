# Tests of the Metal functions that kernels call: double precision, special functions, small floats.
#
#     make -f tests/library/rules.mk test-library     under a minute on two cores
#     make -f tests/library/rules.mk check-library    the same over far more inputs
#
# Needs a C and a C++17 compiler and clang 16 or newer. The accuracy of double functions is measured against
# MPFR (libmpfr-dev); without it they are left out, and the table says so.

BUILD ?= build
CC    ?= cc

LIBRARY_HEADER ?= tmetal.h

CLANGXX ?= $(shell for v in -19 -21 -20 -18 -17 -16 ''; do command -v clang++$$v >/dev/null 2>&1 && { echo clang++$$v; break; }; done)
LIBRARY_CXX ?= $(if $(filter default undefined,$(origin CXX)),g++,$(CXX))
LIBRARY_FLAGS = -std=c++17 -O2 -Wall -Wextra -Werror -frounding-math -ffp-contract=off -pthread
LIBRARY_MPFR := $(shell echo '\#include <mpfr.h>' | $(LIBRARY_CXX) -x c++ -E - >/dev/null 2>&1 && echo 1)

# The simulator's dialect (tests/sim/build.cc) without its instrumentation; undefined arithmetic traps.
LIBRARY_METAL = -x clcpp -cl-std=clc++2021 -cl-no-stdinc -fdeclspec -D__METAL__=1 -D__METAL_MACOS__=1 \
  -D__METAL_VERSION__=310 -w -O2 -fPIC -ffp-contract=on -fno-strict-float-cast-overflow -fno-math-errno \
  -Xclang -cl-ext=-cl_khr_fp64,-__opencl_c_fp64,+cl_khr_fp16,+__opencl_c_generic_address_space \
  -Xclang -fdenormal-fp-math-f32=preserve-sign,preserve-sign -ftrivial-auto-var-init=pattern \
  -fsanitize=signed-integer-overflow,array-bounds,float-cast-overflow \
  -fsanitize-trap=signed-integer-overflow,array-bounds,float-cast-overflow -Itests/sim/include \
  $(shell grep -qw fma /proc/cpuinfo 2>/dev/null && echo -mf16c -mfma)

LIBRARY_DIR     = $(BUILD)/library
LIBRARY_OBJECTS = $(patsubst %,$(LIBRARY_DIR)/%.o,main harness exact accuracy calls math)

.PHONY: test-library check-library library-text
test-library: library-text $(BUILD)/test-library   ## the functions of the Metal library, against references
	$(BUILD)/test-library
check-library: library-text $(BUILD)/test-library  ## the same over many more inputs; an hour
	$(BUILD)/test-library --thorough

# The table itself, and the simulator's checks of the text.
library-text: $(LIBRARY_DIR)/text sim
	$(LIBRARY_DIR)/text check
	$(LIBRARY_DIR)/text symbols tests/library/symbols.txt
	$(BUILD)/sim --check --msl 3.1 $(LIBRARY_DIR)/library.metal
	$(BUILD)/sim --check --msl 3.0 $(LIBRARY_DIR)/library30.metal

$(LIBRARY_DIR)/text: tests/library/text.c $(LIBRARY_HEADER)
	@mkdir -p $(@D)
	$(CC) -std=c99 -O0 -w -DLIBRARY_HEADER='"$(abspath $(LIBRARY_HEADER))"' $< -o $@
	$@ metal > $(LIBRARY_DIR)/library.metal
	$@ metal30 > $(LIBRARY_DIR)/library30.metal
	$@ calls > $(LIBRARY_DIR)/calls.clcpp
	$@ table > $(LIBRARY_DIR)/calls.inc

$(LIBRARY_DIR)/calls.o: $(LIBRARY_DIR)/text $(wildcard tests/sim/include/* tests/sim/include/sim/*)
	$(CLANGXX) $(LIBRARY_METAL) -c $(LIBRARY_DIR)/calls.clcpp -o $@
$(LIBRARY_DIR)/math.o: tests/sim/math.cc tests/sim/numbers.h
	@mkdir -p $(@D)
	$(LIBRARY_CXX) -std=c++17 -O2 -c $< -o $@
$(LIBRARY_DIR)/%.o: tests/library/%.cc tests/library/harness.h $(LIBRARY_DIR)/text
	$(LIBRARY_CXX) $(LIBRARY_FLAGS) $(if $(LIBRARY_MPFR),-DHAVE_MPFR) -I$(LIBRARY_DIR) -c $< -o $@
$(BUILD)/test-library: $(LIBRARY_OBJECTS)
	$(LIBRARY_CXX) -pthread $^ $(if $(LIBRARY_MPFR),-lmpfr -lgmp) -o $@

# On its own this file needs the rule for the simulator; the Makefile at the top has it already.
ifeq ($(firstword $(MAKEFILE_LIST)),$(lastword $(MAKEFILE_LIST)))
include tests/sim/rules.mk
endif
