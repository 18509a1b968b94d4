# The launcher by way of the stand-in. Included by the Makefile at the top, after tests/sim/rules.mk.

METAL_CXX     = $(SIM_CXX) $(SIM_FLAGS) -Wno-cast-function-type
METAL_CORE    = $(BUILD)/obj/metal/library.o $(BUILD)/obj/metal/standin.o
METAL_SAN     = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all

.PHONY: test-metal check-metal
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
check-metal: $(BUILD)/metal-recorded ## every recorded launch through the launcher; its misuses under sanitizers [CORPUS=dir]
	$(BUILD)/metal-recorded tests/kernels $(wildcard $(CORPUS)) > $(BUILD)/metal-all.txt || { grep wrong $(BUILD)/metal-all.txt; exit 1; }
	@echo "metal: $$(grep -c ^right $(BUILD)/metal-all.txt) recorded launches right"
	$(MAKE) BUILD=$(BUILD)/metal-san CC='$(CC) $(METAL_SAN)' SIM_CXXFLAGS='$(METAL_SAN)' $(BUILD)/metal-san/metal-misuse
	ASAN_OPTIONS=detect_leaks=0 $(BUILD)/metal-san/metal-misuse
