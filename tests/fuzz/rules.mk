# Hostile input: tests/fuzz/README.md. Included by the Makefile at the top; stands alone too:
#
#     make -f tests/fuzz/rules.mk test-fuzz             every target over its seeds, and over changed ones
#     make -f tests/fuzz/rules.mk fuzz MINUTES=5        guided by coverage, with clang or AFL++

BUILD ?= build
CC    ?= cc
# Every target is one file, tests/fuzz/TARGET.c.
FUZZ_TARGETS ?= ttir types oplist python options builder tune cache debug reports arenas
# As many on every machine, so that one that is faster tries nothing new; FUZZ_SECONDS tries for so long instead.
FUZZ_SECONDS  ?=
FUZZ_ATTEMPTS ?= 600
MINUTES      ?= 2
ENGINE       ?= libfuzzer
FUZZ_CC      ?= $(firstword $(foreach c,clang-19 clang,$(if $(shell command -v $(c) 2>/dev/null),$(c))) clang)
FUZZ_FLAGS    = -std=c99 -D_GNU_SOURCE -g1 -Og -DTMETAL_DEBUG -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_SAN      = -fsanitize=address,undefined
FUZZ_SHARED   = tests/fuzz/harness.c
FUZZ_PLAIN    = $(FUZZ_SHARED) tests/fuzz/main.c tests/fuzz/mutate.c tests/robust/text.c
FUZZ_HEADERS  = $(wildcard tests/fuzz/*.h) tests/robust/text.h

# Files that are damaged in every way; of the cache on disk tests/cache does it in `make test`.
FUZZ_DAMAGED     ?= ttir/small oplist/list-3 python/small tune/two debug/site-2 builder/dice-3 options/dice-5
FUZZ_DAMAGED_ALL  = ttir/vector_add.ttir ttir/row_sum.ttir oplist/list-4 oplist/list-5 python/control-fibonacci.call cache/argmax.ttir reports/cumsum.ttir

.PHONY: test-fuzz check-fuzz fuzz fuzz-keep fuzz-seeds odd damage much traps traps-quick traps-table
$(BUILD)/fuzzing/header.o: tests/fuzz/header.c tests/fuzz/fuzz.h tests/triton/syntax.c tmetal.h
	@mkdir -p $(@D)
	$(CC) $(FUZZ_FLAGS) $(FUZZ_SAN) -c $< -o $@
$(BUILD)/fuzzing/lf/header.o: tests/fuzz/header.c tests/fuzz/fuzz.h tests/triton/syntax.c tmetal.h
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link $(FUZZ_SAN) -c $< -o $@
$(BUILD)/fuzzing/afl/header.o: tests/fuzz/header.c tests/fuzz/fuzz.h tests/triton/syntax.c tmetal.h
	@mkdir -p $(@D)
	afl-clang-fast $(FUZZ_FLAGS) $(FUZZ_SAN) -c $< -o $@
$(BUILD)/fuzzing/reports $(BUILD)/fuzzing/lf/reports $(BUILD)/fuzzing/afl/reports: examples/tmetal.c
$(FUZZ_TARGETS:%=$(BUILD)/fuzzing/%): $(BUILD)/fuzzing/%: tests/fuzz/%.c $(BUILD)/fuzzing/header.o $(FUZZ_PLAIN) $(FUZZ_HEADERS)
	$(CC) $(FUZZ_FLAGS) $(FUZZ_SAN) $< $(BUILD)/fuzzing/header.o $(FUZZ_PLAIN) -o $@
$(BUILD)/fuzzing/lf/%: tests/fuzz/%.c $(BUILD)/fuzzing/lf/header.o $(FUZZ_SHARED) $(FUZZ_HEADERS)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $(FUZZ_SAN) $< $(BUILD)/fuzzing/lf/header.o $(FUZZ_SHARED) -o $@
$(BUILD)/fuzzing/afl/%: tests/fuzz/%.c $(BUILD)/fuzzing/afl/header.o $(FUZZ_SHARED) $(FUZZ_HEADERS)
	afl-clang-fast $(FUZZ_FLAGS) -fsanitize=fuzzer $(FUZZ_SAN) $< $(BUILD)/fuzzing/afl/header.o $(FUZZ_SHARED) -o $@
$(BUILD)/fuzzing/%.dict: $(BUILD)/fuzzing/%
	$< --words > $@

fuzz-seeds: $(BUILD)/tmetal
	@rm -rf $(BUILD)/fuzzing/seeds && mkdir -p $(BUILD)/fuzzing/seeds
	@python3 tests/fuzz/seeds.py $(BUILD)/fuzzing/seeds $(BUILD)/tmetal

$(BUILD)/fuzzing/much: tests/fuzz/much.c $(BUILD)/fuzzing/header.o $(FUZZ_HEADERS)
	$(CC) $(FUZZ_FLAGS) $(FUZZ_SAN) $< $(BUILD)/fuzzing/header.o -o $@
# By time: without sanitizers and assertions, tests/robust/header.c.
$(BUILD)/fuzzing/traps: tests/fuzz/traps.c $(BUILD)/robust/header.o
	@mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE -O1 $^ -lpthread -o $@

test-fuzz: odd much traps-quick damage fuzz-seeds $(FUZZ_TARGETS:%=$(BUILD)/fuzzing/%) ## hostile input: every target over its seeds, then changed ones [FUZZ_ATTEMPTS=600, or FUZZ_SECONDS]
	@for t in $(FUZZ_TARGETS); do n=$(FUZZ_ATTEMPTS); case $$t in tune|arenas) n=$$((n / 6)) ;; esac; \
	    FUZZ_OUT=$(BUILD)/fuzzing $(BUILD)/fuzzing/$$t $(BUILD)/fuzzing/seeds/$$t && \
	    FUZZ_OUT=$(BUILD)/fuzzing $(BUILD)/fuzzing/$$t $(if $(FUZZ_SECONDS),--seconds $(FUZZ_SECONDS),--attempts $$n) $(BUILD)/fuzzing/seeds/$$t || exit 1; done
odd: $(BUILD)/fuzzing/ttir         ## Triton IR that once went wrong, with what it must give
	@FUZZ_OUT=$(BUILD)/fuzzing $(BUILD)/fuzzing/ttir --expect tests/robust/odd
damage: fuzz-seeds $(FUZZ_TARGETS:%=$(BUILD)/fuzzing/%) ## files cut short at every byte, every bit flipped, odd bytes put in everywhere
	@for f in $(FUZZ_DAMAGED); do FUZZ_OUT=$(BUILD)/fuzzing $(BUILD)/fuzzing/$${f%%/*} --damage $(BUILD)/fuzzing/seeds/$$f || exit 1; done
much: $(BUILD)/fuzzing/much         ## kernels in Python built to be too much
	$(BUILD)/fuzzing/much
traps: $(BUILD)/fuzzing/traps       ## texts made to be slow, up to a megabyte: time, memory and stack against their size
	$(BUILD)/fuzzing/traps
traps-quick: $(BUILD)/fuzzing/traps
	$(BUILD)/fuzzing/traps --quick
traps-table: $(BUILD)/fuzzing/traps ## the table of docs/security.md
	$(BUILD)/fuzzing/traps --table
fuzz: fuzz-seeds $(FUZZ_TARGETS:%=$(BUILD)/fuzzing/%.dict) $(FUZZ_TARGETS:%=$(BUILD)/fuzzing/$(if $(filter afl,$(ENGINE)),afl,lf)/%) ## guided by coverage [MINUTES=2 for each target] [JOBS=n] [ENGINE=afl] [FUZZ_TARGETS=...]
	sh tests/fuzz/run.sh $(BUILD) $(MINUTES) $(or $(JOBS),$(shell getconf _NPROCESSORS_ONLN)) $(ENGINE) $(FUZZ_TARGETS)
fuzz-keep:                      ## what `make fuzz` reached beyond the seeds goes into tests/fuzz/corpus
	python3 tests/fuzz/keep.py $(BUILD) $(FUZZ_TARGETS)
check-fuzz: traps                ## the same as test-fuzz, a minute each, and more files damaged
	$(MAKE) FUZZ_SECONDS=60 test-fuzz
	$(MAKE) FUZZ_DAMAGED='$(FUZZ_DAMAGED_ALL)' damage
