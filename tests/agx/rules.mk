# Instructions of emitted kernels on an M1, by Mesa's AGX compiler: tests/agx/README.md. Nothing else needs any of this.
.PHONY: agx agx-build agx-all agx-bless agx-registers agx-report agx-asm agx-mlx agx-always

# Where it is built; another worktree's may be named: AGX=/path/build/agx.
AGX ?= $(BUILD)/agx
AGX_PY = AGX=$(AGX) JOBS=$(JOBS) python3 tests/agx/agx.py --build $(BUILD)
AGX_MESA = tests/agx/build.sh tests/agx/mesa/patch.py tests/agx/mesa/count.c tests/agx/mesa/meson.build
# What compiles FILE where it is no .metal, e.g. '--gpu apple-m3-max --threads 128'.
AGX_ARGS ?=

# Built again where the sources have changed, by their content; a counter that was built elsewhere is taken as it is.
$(AGX)/agx-count: $(if $(filter command line environment,$(origin AGX)),,agx-always)
	@[ "$$(cat $(AGX_MESA) | cksum)" = "$$(cat $@.of 2>/dev/null)" ] || sh tests/agx/build.sh $(AGX)
agx-always:
agx-build: $(AGX)/agx-count     ## the instruction counter, out of Debian packages, into build/agx [AGX=folder of another build]
agx: $(AGX)/agx-count $(BUILD)/tmetal ## instructions, registers, spills on an M1, beside tests/agx/counts.txt
	$(AGX_PY) counts
agx-bless: $(AGX)/agx-count $(BUILD)/tmetal ## write tests/agx/counts.txt anew [WHY='why a count grew'] [ROWS=text]
	$(AGX_PY) counts --bless '$(WHY)' --rows '$(ROWS)'
agx-all: $(AGX)/agx-count $(BUILD)/tmetal ## does every recorded kernel and example go through? which spill? [V=1: name them] [FILES='texts']
	$(AGX_PY) all $(if $(V),--verbose) $(FILES)
agx-mlx: $(AGX)/agx-count $(BUILD)/tmetal ## MLX's kernels by the same counter, beside ours [MLX=folder of its checkout]
	$(AGX_PY) mlx $(MLX)
agx-registers: $(AGX)/agx-count $(BUILD)/tmetal ## tmetal's estimate of registers beside those of the compiler [V=1: every kernel above 32]
	$(AGX_PY) registers $(if $(V),--verbose)
agx-report: $(AGX)/agx-count $(BUILD)/tmetal ## the counts of FILE, .metal or what tmetal compiles [FILE=...] [AGX_ARGS=...] [JSON=file]
	$(AGX_PY) report $(if $(JSON),--json $(JSON)) $(FILE) -- $(AGX_ARGS)
agx-asm: $(AGX)/agx-count $(BUILD)/tmetal ## the instructions of FILE, by lines of the Metal [FILE=...] [AGX_ARGS=...]
	@$(AGX_PY) asm $(FILE) -- $(AGX_ARGS)
