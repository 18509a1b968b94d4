# Kernels that leave their buffers. Included by the Makefile at the top.

.PHONY: test-bounds own-bounds
test-bounds: $(BUILD)/tmetal $(BUILD)/corpus ## kernels that leave their buffers on purpose, with options.bounds and without
	python3 tests/bounds/run.py $(BUILD)
own-bounds: $(BUILD)/tmetal $(BUILD)/corpus ## the repository's own kernels with options.bounds leave what they leave without
	$(BUILD)/corpus --bounds --dir tests/kernels
