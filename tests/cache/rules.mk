# The key of a result, and the cache on disk. Included by the Makefile at the top.

.PHONY: test-cache check-cache
$(BUILD)/cache-key: tests/cache/key.c tests/robust/text.c tests/robust/text.h tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O0 $(HEADER_FLAGS) tests/cache/key.c tests/robust/text.c -o $@

test-cache: $(BUILD)/cache-key  ## the key: whatever changes the output changes it
	$(BUILD)/cache-key tests/kernels examples/kernels tests/compile
	CC='$(CC)' sh tests/cache/fields.sh $(BUILD) tmetal_options tmetal_gpu_limits
