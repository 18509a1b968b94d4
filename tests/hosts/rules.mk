# Launch code for other hosts. Included by the Makefile at the top, after tests/metal/rules.mk.

.PHONY: test-hosts check-hosts
$(BUILD)/obj/hosts/%.o: SIM_CXXFLAGS = $(SIM_QUICK)
$(BUILD)/obj/hosts/%.o: tests/hosts/%.cc $(wildcard tests/hosts/*.h) $(wildcard tests/metal/*.h) $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(METAL_CXX) -c $< -o $@
$(BUILD)/hosts-run: $(patsubst %,$(BUILD)/obj/hosts/%.o,run made shapes) $(patsubst %,$(BUILD)/obj/metal/%.o,case host_standin) $(METAL_CORE) $(SIM_OBJECTS) $(SIM_CASES)
	$(METAL_CXX) $^ $(SIM_LINK) -o $@

HOSTS_C = c objc metal-cpp
HOSTS_RUN = c metal-cpp
define HOSTS_EACH
	@for host in $(HOSTS_C); do $(BUILD)/hosts-run --host $$host $(1) > $(BUILD)/hosts-$$host.txt || { grep -A9 ^wrong $(BUILD)/hosts-$$host.txt; exit 1; }; \
	  echo "hosts: $$host: $$(grep -c ^right $(BUILD)/hosts-$$host.txt) right"; done
endef
test-hosts: $(BUILD)/hosts-run $(BUILD)/tmetal ## launch code in other languages, some cases of each
	$(call HOSTS_EACH,--most 11 $(BUILD)/hosts examples/kernels tests/metal --made tests/hosts/cases)
	@for host in $(HOSTS_RUN); do $(BUILD)/hosts-run --host $$host --bounds --most 4 $(BUILD)/hosts examples/kernels > $(BUILD)/hosts-bounds.txt || { grep -A9 ^wrong $(BUILD)/hosts-bounds.txt; exit 1; }; done
	@for host in $(HOSTS_RUN); do $(BUILD)/hosts-run --host $$host $(BUILD)/hosts --errors examples/kernels/vector_add.case > $(BUILD)/hosts-errors.txt || { grep ^wrong $(BUILD)/hosts-errors.txt; exit 1; }; done
	@sh tests/hosts/swift/run.sh $(BUILD)
check-hosts: $(BUILD)/hosts-run $(BUILD)/tmetal ## launch code of all own kernels, and of 100 of the corpus [CORPUS=dir]
	$(call HOSTS_EACH,$(BUILD)/hosts tests/kernels examples/kernels)
	@[ -d "$(CORPUS)" ] || echo "hosts: $(CORPUS) is not there: its cases are left out"
	$(if $(wildcard $(CORPUS)),$(call HOSTS_EACH,--most 100 $(BUILD)/hosts $(CORPUS)))
	@sh tests/hosts/swift/run.sh $(BUILD) $(BUILD)/hosts-c.txt tests/kernels examples/kernels $(wildcard $(CORPUS))
