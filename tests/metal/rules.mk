# The launcher by way of the stand-in. Included by the Makefile at the top, after tests/sim/rules.mk.

METAL_CXX     = $(SIM_CXX) $(SIM_FLAGS) -Wno-cast-function-type
METAL_CORE    = $(BUILD)/obj/metal/library.o $(BUILD)/obj/metal/standin.o
METAL_asan    = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
METAL_tsan    = -g -O1 -fsanitize=thread

.PHONY: test-metal check-metal check-metal-sanitized
$(BUILD)/obj/metal/library.o: tests/metal/library.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O1 $(HEADER_FLAGS) -c $< -o $@
$(BUILD)/obj/metal/%.o: tests/metal/%.cc tests/metal/standin.h $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(METAL_CXX) -c $< -o $@
$(BUILD)/metal-recorded: $(BUILD)/obj/metal/recorded.o $(METAL_CORE) $(SIM_OBJECTS) $(SIM_CASES) \
                         $(patsubst %,$(BUILD)/obj/corpus/%.o,outcome table)
	$(METAL_CXX) $^ $(SIM_LINK) -o $@
$(BUILD)/metal-misuse: $(BUILD)/obj/metal/misuse.o $(METAL_CORE) $(SIM_OBJECTS)
	$(METAL_CXX) $^ $(SIM_LINK) -lpthread -o $@

# The same under sanitizers: the launcher, the stand-in and what calls them. The simulator behind them is as ever: it
# moves stacks, which no sanitizer follows. It has functions by names of ThreadSanitizer's, which go out of its way.
METAL_MEMORY_asan = $(BUILD)/obj/sim/memory.o
METAL_MEMORY_tsan = $(BUILD)/obj/metal-tsan/sim-memory.o
$(METAL_MEMORY_tsan): $(BUILD)/obj/sim/memory.o
	@mkdir -p $(@D)
	objcopy -w --localize-symbol='__tsan_*' $< $@
define metal_sanitized
$(BUILD)/obj/metal-$(1)/library.o: tests/metal/library.c tmetal.h
	@mkdir -p $$(@D)
	$(CC) -std=c99 $(METAL_$(1)) $(HEADER_FLAGS) -c $$< -o $$@
$(BUILD)/obj/metal-$(1)/%.o: tests/metal/%.cc tests/metal/standin.h $(SIM_HEADERS) tmetal.h
	@mkdir -p $$(@D)
	$(METAL_CXX) $(METAL_$(1)) -c $$< -o $$@
$(BUILD)/metal-misuse-$(1): $(patsubst %,$(BUILD)/obj/metal-$(1)/%.o,misuse library standin) \
                            $(patsubst $(BUILD)/obj/sim/memory.o,$(METAL_MEMORY_$(1)),$(SIM_OBJECTS))
	$(METAL_CXX) $(METAL_$(1)) $$^ $(SIM_LINK) -lpthread -o $$@
$(BUILD)/metal-recorded-$(1): $(patsubst %,$(BUILD)/obj/metal-$(1)/%.o,recorded library standin) $(SIM_OBJECTS) $(SIM_CASES) \
                              $(patsubst %,$(BUILD)/obj/corpus/%.o,outcome table)
	$(METAL_CXX) $(METAL_$(1)) $$^ $(SIM_LINK) -lpthread -o $$@
endef
$(foreach s,asan tsan,$(eval $(call metal_sanitized,$(s))))

# The example, as it stands and by way of the stand-in.
$(BUILD)/metal-example: examples/launch.c tests/metal/example.cc $(METAL_CORE) $(SIM_OBJECTS)
	$(CC) -std=c99 -Wall -Wextra -pedantic -Werror -DTMETAL_IMPLEMENTED -DEXAMPLE_SYMBOL=example_symbol -I. -c examples/launch.c -o $@.o
	$(METAL_CXX) tests/metal/example.cc $@.o $(METAL_CORE) $(SIM_OBJECTS) $(SIM_LINK) -o $@
# The engine of metal-cpp likewise, with a metal-cpp of declarations of our own: tests/metal/apple.
$(BUILD)/metal-cpp: examples/metal_cpp.cc tests/metal/example.cc $(wildcard tests/metal/apple/*/*.hpp) $(METAL_CORE) $(SIM_OBJECTS)
	$(SIM_CXX) -std=c++17 -Wall -Wextra -pedantic -Werror -DTMETAL_IMPLEMENTED -DEXAMPLE_SYMBOL=example_symbol -I. -isystem tests/metal/apple \
	    -c examples/metal_cpp.cc -o $@.o
	$(METAL_CXX) tests/metal/example.cc $@.o $(METAL_CORE) $(SIM_OBJECTS) $(SIM_LINK) -o $@

test-metal: $(BUILD)/metal-recorded $(BUILD)/metal-misuse $(BUILD)/metal-example $(BUILD)/metal-cpp ## the launcher by way of a stand-in for Metal
	$(BUILD)/metal-misuse
	$(BUILD)/metal-recorded examples/kernels tests/metal > $(BUILD)/metal-recorded.txt || { grep wrong $(BUILD)/metal-recorded.txt; exit 1; }
	@echo "metal: $$(grep -c ^right $(BUILD)/metal-recorded.txt) recorded launches right"
	$(BUILD)/metal-example examples/kernels/vector_add.ttir | grep 'all right'
	$(BUILD)/metal-cpp examples/kernels/vector_add.ttir
	sh tests/metal/macho.sh $(BUILD)
check-metal: $(BUILD)/metal-recorded check-metal-sanitized ## every recorded launch through the launcher; the misuses under sanitizers [CORPUS=dir]
	$(BUILD)/metal-recorded tests/kernels $(wildcard $(CORPUS)) > $(BUILD)/metal-all.txt || { grep wrong $(BUILD)/metal-all.txt; exit 1; }
	@echo "metal: $$(grep -c ^right $(BUILD)/metal-all.txt) recorded launches right"
# What is freed is used again soon, so that growth would show; leaks are looked for at the end.
check-metal-sanitized: $(BUILD)/metal-misuse-asan $(BUILD)/metal-recorded-asan $(BUILD)/metal-misuse-tsan
	ASAN_OPTIONS=quarantine_size_mb=1:detect_leaks=1 $(BUILD)/metal-misuse-asan
	$(BUILD)/metal-misuse-tsan threads
	ASAN_OPTIONS=detect_leaks=1 $(BUILD)/metal-recorded-asan tests/kernels examples/kernels tests/metal > $(BUILD)/metal-asan.txt || \
	  { grep wrong $(BUILD)/metal-asan.txt; exit 1; }
	@echo "metal: $$(grep -c ^right $(BUILD)/metal-asan.txt) recorded launches right under sanitizers"
