# Emitted kernels on an NVIDIA GPU: tests/cuda/README.md. Nothing else needs any of this.
.PHONY: cuda-text cuda-spills

CUDA_TEXT = $(patsubst %,$(BUILD)/obj/sim/%.o,lex msl_parse msl_check msl_rules)
$(BUILD)/cuda-text: tests/cuda/text.cc $(CUDA_TEXT) $(SIM_HEADERS)
	$(SIM_CXX) $(SIM_FLAGS) tests/cuda/text.cc $(CUDA_TEXT) -o $@
cuda-text: $(BUILD)/cuda-text

SPILLS ?= tests/kernels/recorded examples/kernels
cuda-spills: $(BUILD)/tmetal $(BUILD)/cuda-text ## registers and spills as ptxas has them [SPILLS=files or folders of TTIR]
	python3 tests/cuda/spills.py --build $(BUILD) $(SPILLS)
