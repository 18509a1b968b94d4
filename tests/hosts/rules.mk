# Launch code for other hosts. Included by the Makefile at the top, after tests/metal/rules.mk.

HOSTS_CORE = $(BUILD)/obj/hosts/library.o $(BUILD)/obj/metal/standin.o

.PHONY: test-hosts check-hosts
$(BUILD)/obj/hosts/library.o: tests/hosts/library.c tmetal.h
	@mkdir -p $(@D)
	$(CC) -std=c99 -O1 $(HEADER_FLAGS) -c $< -o $@
$(BUILD)/obj/hosts/%.o: tests/hosts/%.cc tests/hosts/call.h tests/metal/standin.h $(SIM_HEADERS) tmetal.h
	@mkdir -p $(@D)
	$(METAL_CXX) -c $< -o $@
$(BUILD)/hosts-run: $(BUILD)/obj/hosts/run.o $(HOSTS_CORE) $(SIM_OBJECTS) $(SIM_CASES) \
                    $(patsubst %,$(BUILD)/obj/corpus/%.o,outcome table)
	$(METAL_CXX) $^ $(SIM_LINK) -o $@

HOSTS_C = c
define HOSTS_EACH
	@for host in $(HOSTS_C); do $(BUILD)/hosts-run --host $$host $(1) > $(BUILD)/hosts-$$host.txt || { grep -A9 ^wrong $(BUILD)/hosts-$$host.txt; exit 1; }; \
	  echo "hosts: $$host: $$(grep -c ^right $(BUILD)/hosts-$$host.txt) launches right"; done
endef
test-hosts: $(BUILD)/hosts-run ## launch code in other languages, some cases of each
	$(call HOSTS_EACH,--most 8 $(BUILD)/hosts examples/kernels tests/metal)
check-hosts: $(BUILD)/hosts-run ## launch code of all own kernels, and of 100 of the corpus [CORPUS=dir]
	$(call HOSTS_EACH,$(BUILD)/hosts tests/kernels examples/kernels)
	@[ -d "$(CORPUS)" ] || echo "hosts: $(CORPUS) is not there: its cases are left out"
	$(if $(wildcard $(CORPUS)),$(call HOSTS_EACH,--most 100 $(BUILD)/hosts $(CORPUS)))
