# What of tmetal.h the tests reach: they are built anew with gcc --coverage, and run.
COVERAGE_RUNS = test-unit test-cases test-census test-roundtrip test-golden test-chips test-detect test-transform test-reductions own own-plain \
                test-random test-bounds test-oplist-quick test-layouts-quick odd depth test-mlx test-explain test-why test-cli test-metal test-cache test-tune test-hosts test-python \
                test-formats test-triton test-sources test-versions test-fuzz arenas traps-quick
.PHONY: coverage
# By cc.sh, so that every program has the same branches.
coverage:                       ## lines and branches of tmetal.h that the tests reach, by gcov: build/coverage.md, coverage.txt, branches.txt
	@rm -rf $(BUILD)/coverage && mkdir -p $(BUILD)
	-@$(MAKE) --no-print-directory -k BUILD=$(BUILD)/coverage CC='sh $(CURDIR)/tests/coverage/cc.sh' QUICK_CC='sh $(CURDIR)/tests/coverage/cc.sh' CXX='g++ --coverage' TMETAL_AGAIN=1 $(COVERAGE_RUNS) > $(BUILD)/coverage.log 2>&1
	python3 tests/coverage/coverage.py $(BUILD)/coverage --list $(BUILD)/coverage.txt --branches $(BUILD)/branches.txt > $(BUILD)/coverage.md
	@tail -1 $(BUILD)/coverage.md
