# Emitted kernels on an NVIDIA GPU: tests/cuda/README.md. Nothing else needs any of this.
.PHONY: cuda test-cuda cuda-random cuda-witness cuda-text cuda-spills cuda-validate cuda-measure cuda-layouts cuda-page cuda-fresh check-fresh

CUDA_TEXT = $(patsubst %,$(BUILD)/obj/sim/%.o,lex msl_parse msl_check msl_rules msl_shapes)
$(BUILD)/cuda-text: tests/cuda/text.cc $(CUDA_TEXT) $(SIM_HEADERS)
	$(SIM_CXX) $(SIM_FLAGS) tests/cuda/text.cc $(CUDA_TEXT) -o $@
cuda-text: $(BUILD)/cuda-text
test-cuda: $(BUILD)/cuda-text   ## golden texts prepared for nvcc keep no word of Metal; what runs them compiles
	@sh tests/cuda/text.sh $(BUILD)
	$(SIM_CXX) $(SIM_FLAGS) -fsyntax-only tests/cuda/validate.cc

SPILLS ?= tests/kernels/recorded examples/kernels
cuda-spills: $(BUILD)/tmetal $(BUILD)/cuda-text ## registers and spills as ptxas has them [SPILLS=files or folders of TTIR]
	python3 tests/cuda/spills.py --build $(BUILD) $(SPILLS)

CUDA_CASES = $(patsubst %,$(BUILD)/obj/%.o,sim/files sim/plan corpus/compare corpus/recorded)
$(BUILD)/cuda-validate: tests/cuda/validate.cc $(CUDA_CASES) $(SIM_HEADERS)
	$(SIM_CXX) $(SIM_FLAGS) tests/cuda/validate.cc $(CUDA_CASES) -ldl -o $@

CUDA_FOLDERS ?= tests/kernels examples/kernels $(wildcard $(CORPUS))
cuda-validate: $(BUILD)/tmetal $(BUILD)/cuda-text $(BUILD)/cuda-validate
	python3 tests/cuda/validate.py --build $(BUILD) $(CUDA_FOLDERS)
cuda-random: $(BUILD)/tmetal $(BUILD)/cuda-text $(BUILD)/cuda-validate $(BUILD)/random $(BUILD)/generate ## MODULES random modules from FIRST on, on an NVIDIA GPU against the interpreter
	sh tests/cuda/random.sh $(BUILD) $(FIRST) $(MODULES) $(SECONDS)
cuda-witness: $(BUILD)/random $(BUILD)/generate $(BUILD)/corpus ## MODULES random modules from FIRST on, by Triton itself on an NVIDIA GPU against the interpreter and our Metal
	python3 tests/cuda/witness.py --build $(BUILD) --first $(FIRST) --modules $(MODULES) --seconds $(SECONDS) --write $(BUILD)/witness
cuda-measure: $(BUILD)/tmetal $(BUILD)/cuda-text
	python3 tests/cuda/measure.py --build $(BUILD) --json $(BUILD)/cuda.json --table $(BUILD)/cuda.md $(CUDA_ARGS)
cuda: cuda-validate cuda-measure ## on a machine with an NVIDIA GPU: recorded launches right? how fast? [CUDA_ARGS=...]

# Kernels that nobody tuned for: on a GPU, and in the simulator with a Python that has PyTorch.
HALF ?= seen
cuda-fresh: $(BUILD)/tmetal $(BUILD)/cuda-text ## times the kernels of tests/cuda/fresh on an NVIDIA GPU [HALF=seen, unseen or all] [CUDA_ARGS=...]
	python3 tests/cuda/measure.py --fresh $(HALF) --build $(BUILD) --json $(BUILD)/fresh-$(HALF).json --table $(BUILD)/fresh-$(HALF).md $(CUDA_ARGS)
check-fresh: python ## the kernels of tests/cuda/fresh in the simulator [PYTHON=one that has PyTorch] [FRESH_ARGS=...]
	$(or $(PYTHON),python3) tests/cuda/fresh/check.py --build $(BUILD) $(FRESH_ARGS)

CUDA_LAYOUTS = COALESCED ROW_MAJOR COLUMN_MAJOR TILED DEFAULT
cuda-layouts: $(BUILD)/tmetal $(BUILD)/cuda-text
	python3 tests/cuda/measure.py --build $(BUILD) --quick --only 'op sum f32' --json $(BUILD)/cuda-layouts.json \
	  $(foreach l,$(CUDA_LAYOUTS),--variant '$(l)=$(BUILD)/tmetal --gpu apple-m3-max --layout $(l)')
cuda-page: cuda-measure cuda-layouts ## the tables of docs/performance.md, timed anew
	python3 tests/cuda/page.py $(BUILD)/cuda.json $(BUILD)/cuda-layouts.json --into docs/performance.md
