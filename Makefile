# tmetal: everything is a target here; `make help` lists them. POSIX sh and cc suffice for `all`; the
# simulator wants g++ and clang, which `make deps` installs. Output goes to build/.

BUILD  ?= build
CC     ?= cc
CFLAGS ?= -O2
STRICT  = -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror
CASE   ?= examples/kernels/softmax.case

.PHONY: all help deps run test check own corpus clean
all: $(BUILD)/tmetal            ## the command line, build/tmetal

help:                           ## this list
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/' | sort

$(BUILD)/tmetal: examples/tmetal.c tmetal.h
	@mkdir -p $(BUILD)
	$(CC) -std=c99 $(CFLAGS) examples/tmetal.c -o $@

# -- What the machine needs ------------------------------------------------------------------------
# Debian and Ubuntu packages; the only target that touches the system. Says what it does; does nothing
# where nothing is missing.
PACKAGES = g++ clang-19 nlohmann-json3-dev check pkg-config
deps:                           ## install what is missing (apt-get, or brew on macOS)
	@sh tests/deps.sh $(PACKAGES)

# -- The simulator and recorded cases ---------------------------------------------------------------
include tests/sim/rules.mk
include tests/oplist/rules.mk

run: $(BUILD)/tmetal sim        ## compile a real softmax, show Metal and plan, run it, compare with Triton
	@sh tests/show.sh $(BUILD) $(CASE)

own: $(BUILD)/tmetal sim        ## the project's own recorded cases
	$(BUILD)/corpus --dir tests/kernels/recorded
	$(BUILD)/corpus --dir examples/kernels

CORPUS ?= ../shared/corpus
SUITE  ?=
FILTER ?=
corpus: $(BUILD)/tmetal sim     ## recorded launches [CORPUS=dir] [SUITE=name] [FILTER=text]
	$(BUILD)/corpus --dir $(CORPUS) $(if $(SUITE),--suite $(SUITE)) $(if $(FILTER),--filter $(FILTER))

# -- Tests ------------------------------------------------------------------------------------------
test: test-sim own test-oplist-quick              ## what must pass before each commit; under ten minutes on two cores
check: test test-oplist                     ## everything that can run here

clean:                          ## remove build/
	rm -rf $(BUILD)
