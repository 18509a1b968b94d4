# What `tmetal why` names first of kernels that are spoiled in one way. Included by the Makefile at the top.

.PHONY: test-why
test-why: $(BUILD)/tmetal       ## tmetal why: 21 kernels spoiled in one way, and the same as they should be
	python3 tests/why/run.py $(BUILD)
	python3 tests/why/model.py $(BUILD)
.PHONY: check-why
check-why: $(BUILD)/tmetal      ## tmetal why of every recorded launch: no time below its floor [CORPUS=dir]
	python3 tests/why/model.py $(BUILD) $(CORPUS)
