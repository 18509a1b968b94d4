# The key of a result, and the cache on disk. Included by the Makefile at the top.

.PHONY: test-cache check-cache
$(BUILD)/cache-key: tests/cache/key.c tests/robust/text.c tests/robust/text.h tmetal.h
	@mkdir -p $(@D)
	$(QUICK_CC) -std=c99 -O0 $(HEADER_FLAGS) tests/cache/key.c tests/robust/text.c -o $@

$(BUILD)/cache-store: tests/cache/store.c tests/robust/text.c tests/robust/text.h tmetal.h
	@mkdir -p $(@D)
	$(QUICK_CC) -std=c99 -O0 $(HEADER_FLAGS) tests/cache/store.c tests/robust/text.c -lpthread -o $@

CACHE_FILES   = tests/kernels examples/kernels tests/compile
CACHE_STRUCTS = tmetal_options tmetal_gpu_limits tmetal_result tmetal_kernel
CACHE_OTHERS  = tmetal_place tmetal_remark tmetal_arg tmetal_scratch tmetal_mlx_array tmetal_mlx tmetal_site tmetal_param tmetal_fusion tmetal_graph
CACHE_SAN     = -g -fsanitize=address,undefined -fno-sanitize-recover=all
KILLS        ?= 20
test-cache: $(BUILD)/cache-key $(BUILD)/cache-store ## keys of results, and the cache on disk: damage, limits, threads, kills [KILLS=20]
	$(BUILD)/cache-key $(CACHE_FILES)
	@rm -rf $(BUILD)/cache && mkdir -p $(BUILD)/cache
	$(BUILD)/cache-store $(BUILD)/cache/dir $(CACHE_FILES)
	$(BUILD)/cache-store --kills $(KILLS) $(BUILD)/cache $(CACHE_FILES)
	CC='$(CC)' sh tests/cache/fields.sh $(BUILD) $(CACHE_STRUCTS)
check-cache:                    ## the same with more kills, every struct, and under sanitizers
	$(MAKE) KILLS=100 CACHE_STRUCTS='$(CACHE_STRUCTS) $(CACHE_OTHERS)' test-cache
	ASAN_OPTIONS=detect_leaks=0 $(MAKE) BUILD=$(BUILD)/cache-san CC='$(CC) $(CACHE_SAN)' KILLS=10 test-cache
