# Kernels read from their source (TMETAL_TRITON). Included by the Makefile at the top.

TRITON_CC = $(CC) -std=c99 -D_XOPEN_SOURCE=700 -Wall -Wextra -Wno-unused-function $(NO_INDENT) -I.
TRITON_PY = $(shell python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')

.PHONY: test-triton test-triton-quick check-triton test-random-python releases
test-triton: test-triton-quick test-random-python $(BUILD)/syntax-san ## Python: trees as Python's own parser makes them, mistakes, a megabyte of each thing
	python3 tests/triton/syntax.py $(BUILD)/syntax $(TRITON_PY)/*.py
	python3 tests/triton/syntax.py "$(BUILD)/syntax --lazy" tests docs examples $(TRITON_PY)/*.py
	echo tests/triton/syntax/wrong.py | $(BUILD)/syntax-san --errors | diff tests/triton/syntax/wrong.txt -
	echo tests/triton/syntax/host.py | $(BUILD)/syntax-san --quiet | grep -o 'FUNCTION "[a-z_]*"' | diff tests/triton/syntax/host.txt -
	$(BUILD)/syntax --scale
# Seconds of it, for tests/mutate.
test-triton-quick: $(BUILD)/tmetal $(BUILD)/syntax
	python3 tests/triton/versions/table.py
	python3 tests/triton/versions/check.py $(BUILD)/tmetal
	python3 tests/triton/wrong.py $(BUILD)/tmetal
	sed 's/triton/triton_metal/g' tests/kernels/prototype.py > $(BUILD)/prototype.py # as the prototype's documents name the package
	$(BUILD)/tmetal compile $(BUILD)/prototype.py --kernel add_kernel --args '*fp32, *fp32, *fp32, i32' --const BLOCK_SIZE=128 > /dev/null
	$(BUILD)/tmetal compile $(BUILD)/prototype.py --kernel matmul_kernel --args '*fp32, *fp32, *fp32, i32, i32, i32, i32, 1, i32, 1, i32, 1' \
	    --const 'BLOCK_M=64, BLOCK_N=64, BLOCK_K=32' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel known --args '*fp32' --const 'N=128, NAME="abc"' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel folded --args '*fp32' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel ways --args '*fp32' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel asked --args '*fp32' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel edges --args '*fp32, u32' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel members --args '*fp32, *kfp32, u32, (first=u32, second=*fp32)' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel types --args '*fp32, i32, (a=u32, b=*fp32)' --const 'N=4, S=(8, 4)' > /dev/null
	$(BUILD)/tmetal compile tests/triton/known.py --kernel steps --args '*i32' --emit ir 2>&1 | grep -q 'ignores step='
	$(BUILD)/tmetal compile tests/triton/known.py --kernel clamped --args '*fp32, i32' --triton 3.6 --emit ir | grep -q 'sitofp %n : i32 to f32'
	$(BUILD)/tmetal compile tests/triton/known.py --kernel clamped --args '*fp32, i32' --emit ir | grep -q 'sitofp %n : i32 to f64'
	for k in names machine tries values; do $(BUILD)/tmetal compile tests/triton/host.py --kernel $$k --args '*fp32' > /dev/null || exit 1; done
	$(BUILD)/tmetal compile tests/triton/host.py --kernel classes --args '*fp32, (*fp32, i32)' > /dev/null
	$(BUILD)/tmetal compile tests/triton/host.py --kernel set_by_env --args '*fp32' --env MY_DEBUG=1 --env MY_MODE=fast --env 'MY_TILE="1, 2"' > /dev/null
	python3 tests/triton/syntax.py $(BUILD)/syntax tests docs examples
	python3 tests/triton/syntax.py "$(BUILD)/syntax --lazy" tests/triton tests/kernels
	echo tests/triton/syntax/wrong.py | $(BUILD)/syntax --errors | diff tests/triton/syntax/wrong.txt -
	echo tests/triton/syntax/host.py | $(BUILD)/syntax --quiet | grep -o 'FUNCTION "[a-z_]*"' | diff tests/triton/syntax/host.txt -
test-random-python: $(BUILD)/tmetal $(BUILD)/generate ## PROGRAMS kernels in random Python from FIRST on, against Python itself
	python3 tests/triton/random_python.py --tmetal $(BUILD)/tmetal --interp $(BUILD)/generate --first $(or $(FIRST),1) --programs $(or $(PROGRAMS),60)
RELEASES ?= 3.6.0 3.7.0 3.8.0 3.9.0
releases: $(BUILD)/tmetal sim   ## the project's kernels as releases of Triton compile them [RELEASES='3.8.0 3.9.0', or paths of Pythons]
	python3 tests/triton/releases.py --tmetal $(BUILD)/tmetal --build $(BUILD) $(RELEASES)
check-triton: $(BUILD)/syntax $(BUILD)/syntax-san ## the same over all of Python's library
	python3 tests/triton/syntax.py $(BUILD)/syntax $(TRITON_PY)
	$(BUILD)/syntax-san --scale

$(BUILD)/syntax: tests/triton/syntax.c tmetal.h
	@mkdir -p $(BUILD)
	$(TRITON_CC) -Og $< -o $@
$(BUILD)/syntax-san: tests/triton/syntax_san.c $(HEADER_SAN)
	$(CC) $(FUZZ_FLAGS) $(FUZZ_SAN) $^ -o $@
