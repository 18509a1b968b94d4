# The tuner, by timers that are made up; its candidates as files, and its search replayed over times that were taken.
# Included by the Makefile at the top.

.PHONY: test-tune
$(BUILD)/tune-test: tests/tune/test.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -Og $(HEADER_FLAGS) tests/tune/test.c -o $@
$(BUILD)/tune-list: tests/tune/list.c tmetal.h
	@mkdir -p $(@D)
	$(QUICK_CC) -std=c99 -O0 $(HEADER_FLAGS) tests/tune/list.c -o $@

test-tune: $(BUILD)/tune-test $(BUILD)/tune-list ## the tuner: candidates, searches, interruptions, damaged caches
	$(BUILD)/tune-test examples/kernels/row_sum.ttir examples/kernels/attention.ttir
	sh tests/tune/list.sh $(BUILD)
