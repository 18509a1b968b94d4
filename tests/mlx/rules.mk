# Bodies for mx.fast.metal_kernel, wrapped as MLX wraps them and run in the simulator. Included by the Makefile
# at the top, after tests/sim/rules.mk.

MLX_OBJECTS = $(patsubst %,$(BUILD)/obj/mlx/%.o,test wrap)

.PHONY: test-mlx
test-mlx: $(BUILD)/test-mlx     ## what mx.fast.metal_kernel takes: wrapped as MLX does, against recorded launches
	$(BUILD)/test-mlx tests/mlx/list.txt

$(BUILD)/obj/mlx/test.o: tmetal.h
$(BUILD)/obj/mlx/test.o: SIM_CXXFLAGS = -O0 # it holds the whole header, and runs it for a second
$(BUILD)/obj/mlx/%.o: tests/mlx/%.cc tests/mlx/wrap.h $(SIM_HEADERS)
	@mkdir -p $(@D)
	$(SIM_CXX) $(SIM_FLAGS) -c $< -o $@
$(BUILD)/test-mlx: $(MLX_OBJECTS) $(SIM_OBJECTS) $(SIM_CASES)
	$(SIM_CXX) $(SIM_FLAGS) $^ $(SIM_LINK) -o $@
