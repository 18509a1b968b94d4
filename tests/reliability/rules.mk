# Everything that says how far the header can be trusted, as one table: docs/reliability.md keeps it.
.PHONY: reliability threads arenas-near
MINUTES ?= 2
MODULES ?= 400
GRAPHS  ?= 100
COMMIT  ?= $(shell git rev-parse --short HEAD 2>/dev/null)
reliability: ## fuzzing, random programs, mutants, arenas, threads, coverage as a table [ONLY='fuzz mutate'] [MINUTES=2] [MODULES=] [GRAPHS=] [MUTANTS=] [JOBS=]
	python3 tests/reliability/table.py --build $(BUILD) --make '$(MAKE) --no-print-directory' --out $(BUILD)/reliability.md --commit '$(COMMIT)' $(if $(ONLY),--only '$(ONLY)') \
	    MINUTES=$(MINUTES) MODULES=$(MODULES) GRAPHS=$(GRAPHS) MUTANTS=$(MUTANTS) JOBS=$(JOBS)

$(BUILD)/robust/header-tsan.o: tests/robust/header.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -g -O1 -fsanitize=thread -c $< -o $@
$(BUILD)/threads: tests/robust/threads.c tests/robust/outcome.c tests/robust/text.c $(BUILD)/robust/header-tsan.o
	$(ROBUST_C) -g -O1 -fsanitize=thread $^ -lpthread -o $@
threads: $(BUILD)/threads       ## 16 threads compile at once, under the thread sanitizer
	$(BUILD)/threads 16 examples/kernels/*.ttir tests/kernels/lookalikes/*.ttir
arenas-near: $(BUILD)/arenas $(BUILD)/oplist ## arenas just too small and just large enough, for 300 files and 60 op lists
	@rm -rf $(BUILD)/arenas-lists && mkdir -p $(BUILD)/arenas-lists && $(BUILD)/oplist --quick --write $(BUILD)/arenas-lists > $(BUILD)/arenas-lists.log
	ls $(BUILD)/arenas-lists/* | awk 'NR % 5 == 0' | head -n 60 | xargs -P $(JOBS) -n 20 $(BUILD)/arenas --near
	ls examples/kernels/*.ttir tests/kernels/lookalikes/*.ttir tests/kernels/recorded/*.ttir | awk 'NR % 5 < 2' | head -n 300 | \
	    xargs -P $(JOBS) -n 40 $(BUILD)/arenas --near
