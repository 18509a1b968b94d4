# Everything that says how far the header can be trusted, as one table: docs/reliability.md keeps it.
.PHONY: reliability threads arenas-near
MINUTES ?= 2
MODULES ?= 400
GRAPHS  ?= 100
reliability: ## fuzzing, random programs, mutants, arenas, threads, coverage as a table [MINUTES=2] [MODULES=] [GRAPHS=] [MUTANTS=] [JOBS=]
	python3 tests/reliability/table.py --build $(BUILD) --make '$(MAKE) --no-print-directory' --out $(BUILD)/reliability.md \
	    MINUTES=$(MINUTES) MODULES=$(MODULES) GRAPHS=$(GRAPHS) MUTANTS=$(MUTANTS) JOBS=$(JOBS)

$(BUILD)/robust/header-tsan.o: tests/robust/header.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -g -O1 -fsanitize=thread -c $< -o $@
$(BUILD)/threads: tests/robust/threads.c tests/robust/outcome.c tests/robust/text.c $(BUILD)/robust/header-tsan.o
	$(ROBUST_C) -g -O1 -fsanitize=thread $^ -lpthread -o $@
threads: $(BUILD)/threads       ## 16 threads compile at once, under the thread sanitizer
	$(BUILD)/threads 16 examples/kernels/*.ttir tests/kernels/lookalikes/*.ttir
arenas-near: $(BUILD)/arenas    ## arenas just too small and just large enough, for 300 files
	ls examples/kernels/*.ttir tests/kernels/lookalikes/*.ttir tests/kernels/recorded/*.ttir | awk 'NR % 5 < 2' | head -n 300 | \
	    xargs -P $(JOBS) -n 40 $(BUILD)/arenas --near
