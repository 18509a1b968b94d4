# The public interface and the formats: what may change, and how, is in docs/formats.md.
FORMAT_FILES = examples/kernels/*.ttir examples/kernels/*.py tests/kernels/recorded/atomic*.ttir tests/kernels/recorded/functions-*.ttir
.PHONY: test-formats bless-public
test-formats: $(BUILD)/tmetal $(BUILD)/defaults ## public names, sizes and defaults; JSON against docs/schemas
	@python3 tests/formats/public.py "$(CC)" tmetal.h > $(BUILD)/public.txt
	@diff tests/formats/public.txt $(BUILD)/public.txt || { echo "test-formats: the public interface changed: docs/formats.md says what to do; then make bless-public" >&2; exit 1; }
	$(BUILD)/defaults
	python3 tests/formats/schemas.py $(BUILD) $(FORMAT_FILES)
bless-public:                   ## write the record of the public interface anew
	python3 tests/formats/public.py "$(CC)" tmetal.h > tests/formats/public.txt
$(BUILD)/defaults: tests/formats/defaults.c $(HEADER)
	$(LINKED) tests/formats/defaults.c $(HEADER) -o $@
