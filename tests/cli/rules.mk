# The command line. Each tests/cli/*.sh is one program of tests: sh tests/cli/NAME.sh BUILD, exit code 0 when all
# is right. Included by the Makefile at the top.

.PHONY: test-cli
test-cli: $(BUILD)/tmetal sim       ## the command line: every subcommand, exit codes, pipes, -o, JSON
	@mkdir -p $(BUILD)/cli
	@for t in tests/cli/*.sh; do sh $$t $(BUILD) || exit 1; done
