# The launcher by way of the stand-in. Included by the Makefile at the top, after tests/sim/rules.mk.

METAL_CXX     = $(SIM_CXX) $(SIM_FLAGS) $(if $(ON_MAC),,-Wno-cast-function-type)
METAL_CORE    = $(BUILD)/obj/metal/library.o $(BUILD)/obj/metal/standin.o
METAL_asan    = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
METAL_tsan    = -g -O1 -fsanitize=thread

# What the device program has run is run again when the text, the device, the system, or one of these has changed.
METAL_JUDGE   = $(wildcard tests/metal/case.* tests/metal/host* tests/corpus/compare.* tests/corpus/recorded.*) \
                $(if $(ON_MAC),,tests/metal/standin.cc $(SIM_JUDGE))
METAL_KEY     = -DDEVICE_JUDGE='"$(shell { cat $(METAL_JUDGE); sed -n '/>>metal  *\[/,$$p' tmetal.h; } | cksum | tr ' ' '-')"'

DEVICE_PARTS  = device worker case shares report

.PHONY: test-metal check-metal check-metal-sanitized device
$(BUILD)/obj/metal/library.o: tests/metal/library.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O0 $(HEADER_FLAGS) -c $< -o $@
$(BUILD)/obj/metal/%.o: tests/metal/%.cc $(wildcard tests/metal/*.h) $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(METAL_CXX) $(METAL_KEY) -c $< -o $@
$(patsubst %,$(BUILD)/obj/metal/%.o,$(filter-out case,$(DEVICE_PARTS)) misuse warm host_standin host_system): SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/metal/worker.o: $(METAL_JUDGE)
# The device program: on a Mac with its Metal, elsewhere with the stand-in.
DEVICE_OBJECTS= $(patsubst %,$(BUILD)/obj/metal/%.o,$(DEVICE_PARTS))
DEVICE_SYSTEM = $(DEVICE_OBJECTS) $(patsubst %,$(BUILD)/obj/%.o,metal/host_system metal/library sim/files corpus/compare corpus/exceptions corpus/recorded)
DEVICE_MADE_UP= $(DEVICE_OBJECTS) $(BUILD)/obj/metal/host_standin.o $(METAL_CORE) $(SIM_OBJECTS) $(SIM_CASES)
$(BUILD)/metal-device: $(if $(ON_MAC),$(DEVICE_SYSTEM),$(DEVICE_MADE_UP))
	$(METAL_CXX) $^ $(if $(ON_MAC),,$(SIM_LINK)) -o $@
# What a Mac links, linked here: it must do without the simulator.
$(BUILD)/metal-device-system: $(DEVICE_SYSTEM)
	$(METAL_CXX) $^ $(LDLIBS) -o $@
$(BUILD)/metal-misuse: $(BUILD)/obj/metal/misuse.o $(METAL_CORE) $(SIM_OBJECTS)
	$(METAL_CXX) $^ $(SIM_LINK) -lpthread -o $@

$(BUILD)/metal-warm: $(BUILD)/obj/metal/warm.o $(METAL_CORE) $(SIM_OBJECTS)
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
$(BUILD)/obj/metal-$(1)/%.o: tests/metal/%.cc $(wildcard tests/metal/*.h) $(SIM_HEADERS) tmetal.h
	@mkdir -p $$(@D)
	$(METAL_CXX) $(METAL_$(1)) $$(METAL_KEY) -c $$< -o $$@
$(BUILD)/metal-misuse-$(1): $(patsubst %,$(BUILD)/obj/metal-$(1)/%.o,misuse library standin) \
                            $(patsubst $(BUILD)/obj/sim/memory.o,$(METAL_MEMORY_$(1)),$(SIM_OBJECTS))
	$(METAL_CXX) $(METAL_$(1)) $$^ $(SIM_LINK) -lpthread -o $$@
$(BUILD)/metal-warm-$(1): $(patsubst %,$(BUILD)/obj/metal-$(1)/%.o,warm library standin) \
                          $(patsubst $(BUILD)/obj/sim/memory.o,$(METAL_MEMORY_$(1)),$(SIM_OBJECTS))
	$(METAL_CXX) $(METAL_$(1)) $$^ $(SIM_LINK) -lpthread -o $$@
$(BUILD)/metal-device-$(1): $(patsubst %,$(BUILD)/obj/metal-$(1)/%.o,$(DEVICE_PARTS) host_standin library standin) $(SIM_OBJECTS) $(SIM_CASES)
	$(METAL_CXX) $(METAL_$(1)) $$^ $(SIM_LINK) -lpthread -o $$@
endef
$(foreach s,asan tsan,$(eval $(call metal_sanitized,$(s))))

# The example, as it stands and by way of the stand-in.
$(BUILD)/metal-example: examples/launch.c tests/metal/example.cc $(METAL_CORE) $(SIM_OBJECTS)
	$(CC) -std=c99 -Wall -Wextra -pedantic -Werror -DTMETAL_IMPLEMENTED -DEXAMPLE_SYMBOL=example_symbol -I. -c examples/launch.c -o $@.o
	$(METAL_CXX) tests/metal/example.cc $@.o $(METAL_CORE) $(SIM_OBJECTS) $(SIM_LINK) -o $@
# The command line likewise; `run --device` and `bench --device` find build/metal-device beside it.
$(BUILD)/metal-tmetal: examples/tmetal.c tests/metal/example.cc tmetal.h $(BUILD)/obj/metal/standin.o $(SIM_OBJECTS)
	$(CC) -std=c99 -O0 -DEXAMPLE_SYMBOL=example_symbol -c examples/tmetal.c -o $@.o
	$(METAL_CXX) tests/metal/example.cc $@.o $(BUILD)/obj/metal/standin.o $(SIM_OBJECTS) $(SIM_LINK) -o $@
# The engine of metal-cpp likewise, with a metal-cpp of declarations of our own: tests/metal/apple.
$(BUILD)/metal-cpp: examples/metal_cpp.cc tests/metal/example.cc $(wildcard tests/metal/apple/*/*.hpp) $(METAL_CORE) $(SIM_OBJECTS)
	$(SIM_CXX) -std=c++17 -Wall -Wextra -pedantic -Werror -DTMETAL_IMPLEMENTED -DEXAMPLE_SYMBOL=example_symbol -I. -isystem tests/metal/apple \
	    -c examples/metal_cpp.cc -o $@.o
	$(METAL_CXX) tests/metal/example.cc $@.o $(METAL_CORE) $(SIM_OBJECTS) $(SIM_LINK) -o $@

test-metal: $(BUILD)/metal-device $(BUILD)/metal-device-system $(BUILD)/metal-tmetal $(BUILD)/metal-misuse $(BUILD)/metal-warm $(BUILD)/metal-example $(BUILD)/metal-cpp ## the launcher by way of a stand-in for Metal
	$(BUILD)/metal-misuse
	@rm -rf $(BUILD)/warm && mkdir -p $(BUILD)/warm
	$(BUILD)/metal-warm $(BUILD)/warm
	$(BUILD)/metal-device examples/kernels > $(BUILD)/metal-own.txt || { grep -v ^right $(BUILD)/metal-own.txt; exit 1; }
	@tail -n 1 $(BUILD)/metal-own.txt
	$(BUILD)/metal-device --parts 1 examples/kernels > $(BUILD)/metal-parts.txt || { grep -v ^right $(BUILD)/metal-parts.txt; exit 1; }
	@echo "in parts of a program: $$(tail -n 1 $(BUILD)/metal-parts.txt)"
	$(BUILD)/metal-device --bounds examples/kernels > $(BUILD)/metal-bounds.txt || { grep -v ^right $(BUILD)/metal-bounds.txt; exit 1; }
	@echo "with bounds: $$(tail -n 1 $(BUILD)/metal-bounds.txt)"
	$(BUILD)/metal-device --filter arguments- tests/kernels/recorded > $(BUILD)/metal-arguments.txt || { grep -v ^right $(BUILD)/metal-arguments.txt; exit 1; }
	@echo "of many kinds of arguments: $$(tail -n 1 $(BUILD)/metal-arguments.txt)"
	sh tests/metal/device.sh $(BUILD)
	sh tests/metal/cli.sh $(BUILD)
	$(BUILD)/metal-example examples/kernels/vector_add.ttir | grep 'all right'
	$(BUILD)/metal-cpp examples/kernels/vector_add.ttir
	@said=$$($(BUILD)/metal-cpp examples/kernels/softmax.ttir 2>&1); case $$said in ""|TM708*released*|[!T]*) echo "metal-cpp: $$said"; exit 1;; esac
	sh tests/metal/macho.sh $(BUILD)
check-metal: $(BUILD)/metal-device check-metal-sanitized ## every recorded launch through the launcher; the misuses under sanitizers [CORPUS=dir]
	$(BUILD)/metal-device --jobs $(JOBS) tests/kernels $(wildcard $(CORPUS)) > $(BUILD)/metal-all.txt || { grep -v ^right $(BUILD)/metal-all.txt; exit 1; }
	@tail -n 1 $(BUILD)/metal-all.txt
	$(BUILD)/metal-device --jobs $(JOBS) --parts 3 tests/kernels > $(BUILD)/metal-parts.txt || { grep -v ^right $(BUILD)/metal-parts.txt; exit 1; }
	@echo "in parts of 3 programs: $$(tail -n 1 $(BUILD)/metal-parts.txt)"
# What is freed is used again soon, so that growth would show; leaks are looked for at the end.
check-metal-sanitized: $(BUILD)/metal-misuse-asan $(BUILD)/metal-warm-asan $(BUILD)/metal-device-asan $(BUILD)/metal-misuse-tsan
	ASAN_OPTIONS=quarantine_size_mb=1:detect_leaks=1 $(BUILD)/metal-misuse-asan
	$(BUILD)/metal-misuse-tsan threads
	@rm -rf $(BUILD)/warm-asan && mkdir -p $(BUILD)/warm-asan
	ASAN_OPTIONS=detect_leaks=1 $(BUILD)/metal-warm-asan $(BUILD)/warm-asan
	ASAN_OPTIONS=detect_leaks=1 $(BUILD)/metal-device-asan --jobs $(JOBS) tests/kernels examples/kernels > $(BUILD)/metal-asan.txt || \
	  { grep -v ^right $(BUILD)/metal-asan.txt; exit 1; }
	@tail -n 1 $(BUILD)/metal-asan.txt

# On a stand-in kernels are small, and several workers share it.
DEVICE_FLAGS  = --shares --layouts ROW_MAJOR,COLUMN_MAJOR,TILED,COALESCED $(if $(ON_MAC),,--sizes 64x64 --jobs $(JOBS)) \
                $(if $(AGAIN),--again) $(if $(FRESH),--fresh) $(if $(FILTER),--filter $(FILTER))
device: $(BUILD)/tmetal $(BUILD)/metal-device ## on a Mac: what runs on its GPU, as a report to send [CORPUS=dir] [PYTHON=path] [AGAIN=1] [FRESH=1] [FILTER=text]
	@$(BUILD)/tmetal check || true
	@mkdir -p $(BUILD)/device
	@$(BUILD)/tmetal check --record > $(BUILD)/device/facts.txt
	@$(BUILD)/metal-device --state $(BUILD)/device --facts $(BUILD)/device/facts.txt --report $(BUILD)/device-report $(DEVICE_FLAGS) \
	    --commit "$$(git describe --always --dirty 2>/dev/null || echo unknown)" tests/kernels examples/kernels $(wildcard $(CORPUS)); \
	    status=$$?; $(MAKE) --no-print-directory device-python || status=1; exit $$status
