"""Adds the instruction counter to an unpacked Mesa, and to its AGX compiler what Apple's compiler emits and Mesa's does not.

    python3 tests/agx/mesa/patch.py MESA VERSION

Every place is found by the name of a function, a type or an enumerator. Most changes put a function of ours around one of
Mesa's, which keeps its body: `around`. A name that is gone is an error that says which; another version is one, too.
"""
import os, re, shutil, sys

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = 'src/asahi/compiler/'


class Tree:
    def __init__(self, root):
        self.root = root

    def read(self, path):
        try:
            with open(os.path.join(self.root, path)) as f:
                return f.read()
        except OSError as e:
            sys.exit('patch: %s of this Mesa cannot be read: %s' % (path, e.strerror))

    def write(self, path, text):
        with open(os.path.join(self.root, path), 'w') as f:
            f.write(text)

    def lost(self, path, what):
        sys.exit('patch: %s has no %s any more: this Mesa is not the one that tests/agx was written for' % (path, what))

    def definition(self, path, name):
        """Where a function's definition begins (at the line of its type), its name stands, and its body ends."""
        text = self.read(path)
        for m in re.finditer(r'^%s\(' % name, text, re.M):
            stop = text.find('\n}\n', m.start())
            body = text.find('{', m.start())
            if -1 < body < stop and ';' not in text[m.start():body]:
                return text, text.rfind('\n', 0, m.start() - 1) + 1, m.start(), stop + 3
        self.lost(path, 'function ' + name)

    def around(self, path, name, ours):
        """Mesa's function is renamed to mesa_NAME; `ours`, which may call it, follows it under the old name."""
        text, start, at, stop = self.definition(path, name)
        private = '' if text.startswith('static', start) else 'static '
        self.write(path, text[:start] + private + text[start:at] + 'mesa_' + text[at:stop] + '\n' + ours.strip('\n') + '\n' + text[stop:])

    def before(self, path, name, ours):
        """Declarations of ours above a function."""
        text, start, _, _ = self.definition(path, name)
        self.write(path, text[:start] + ours.strip('\n') + '\n\n' + text[start:])

    def inside(self, path, name, call, by):
        """A call within a function becomes another."""
        text, start, at, stop = self.definition(path, name)
        body, n = re.subn(re.escape(call), by, text[at:stop])
        if n != 1:
            self.lost(path, 'single %s in %s' % (call, name))
        self.write(path, text[:at] + body + text[stop:])

    def member(self, path, struct, member, ours):
        """A member of ours in front of a struct's `member`, or as its last one."""
        text = self.read(path)
        end = re.search(r'^} %s;' % struct, text, re.M)
        if not end:
            self.lost(path, 'struct ' + struct)
        at = end.start()
        if member:
            found = list(re.finditer(r'^ +[\w ]+\b%s;' % member, text[:at], re.M))
            if not found:
                self.lost(path, 'member %s of %s' % (member, struct))
            at = found[-1].start()
        self.write(path, text[:at] + '   ' + ours + '\n' + text[at:])

    def append(self, path, ours):
        self.write(path, self.read(path).rstrip('\n') + '\n' + ours)


def lines(mesa):
    """Each instruction keeps the line of the source that it comes from: SPIR-V, NIR and AGX. What a pass inserts has the
    line of its neighbour, which is the instruction that the pass works on."""
    mesa.member('src/compiler/nir/nir.h', 'nir_instr', None, 'uint32_t line;')
    mesa.before('src/compiler/nir/nir.c', 'nir_instr_insert', 'uint32_t nir_line_now;')
    mesa.around('src/compiler/nir/nir.c', 'nir_instr_insert', '''
void
nir_instr_insert(nir_cursor cursor, nir_instr *instr)
{
   bool beside = cursor.option == nir_cursor_before_instr || cursor.option == nir_cursor_after_instr;
   if (!instr->line)
      instr->line = nir_line_now || !beside ? nir_line_now : cursor.instr->line;
   mesa_nir_instr_insert(cursor, instr);
}
''')
    mesa.around('src/compiler/nir/nir_clone.c', 'clone_instr', '''
static nir_instr *
clone_instr(clone_state *state, const nir_instr *instr)
{
   nir_instr *copy = mesa_clone_instr(state, instr);
   copy->line = instr->line;
   return copy;
}
''')
    mesa.around('src/compiler/spirv/spirv_to_nir.c', 'vtn_handle_body_instruction', '''
extern uint32_t nir_line_now;

static bool
vtn_handle_body_instruction(struct vtn_builder *b, SpvOp opcode, const uint32_t *w, unsigned count)
{
   nir_line_now = b->line > 0 ? b->line : 0;
   bool more = mesa_vtn_handle_body_instruction(b, opcode, w, count);
   nir_line_now = 0;
   return more;
}
''')
    # In front of the opcode: from there on the bytes of an instruction are compared.
    mesa.member(COMPILER + 'agx_compiler.h', 'agx_instr', 'op', 'uint32_t line;')
    mesa.around(COMPILER + 'agx_compiler.h', 'agx_builder_insert', '''
extern uint32_t agx_line_now;

static inline void
agx_builder_insert(agx_cursor *cursor, agx_instr *I)
{
   bool beside = cursor->option != agx_cursor_after_block;
   if (!I->line)
      I->line = agx_line_now || !beside ? agx_line_now : cursor->instr->line;
   mesa_agx_builder_insert(cursor, I);
}
''')
    mesa.before(COMPILER + 'agx_compile.c', 'agx_emit_instr', 'uint32_t agx_line_now;')
    mesa.around(COMPILER + 'agx_compile.c', 'agx_emit_instr', '''
static void
agx_emit_instr(agx_builder *b, struct nir_instr *instr)
{
   agx_line_now = instr->line;
   mesa_agx_emit_instr(b, instr);
   agx_line_now = 0;
}
''')


def matrices(mesa):
    """The opcode of simdgroup_multiply_accumulate: eight bytes, each operand a pair, a lane's two elements."""
    mesa.append(COMPILER + 'agx_opcodes.py', '''
op("simd_matmul", encoding = (0x6F | (0x3 << 26) | (1 << 63), 0x7F | L | (0x3 << 26), 8, _), srcs = 3,
   schedule_class = "none")
''')
    for name, which in (('agx_write_registers', 'dest[i]'), ('agx_read_registers', 'src[i]')):
        mesa.around(COMPILER + 'agx_validate.c', name, '''
static unsigned
%s(const agx_instr *I, unsigned i)
{
   return I->op == AGX_OPCODE_SIMD_MATMUL ? 2 * agx_size_align_16(I->%s.size) : mesa_%s(I, i);
}
''' % (name, which, name))


def intrinsics(mesa):
    """Products of matrices, and shuffles by a constant as the one instruction that the hardware has: Mesa makes four
    shuffles and three selects of them, as of a shuffle by a computed lane."""
    mesa.around(COMPILER + 'agx_compile.c', 'agx_emit_intrinsic', '''
static agx_instr *
agx_emit_intrinsic(agx_builder *b, nir_intrinsic_instr *instr)
{
   if (instr->intrinsic == nir_intrinsic_dpas_intel) {
      agx_index dst = agx_def_index(&instr->def);
      agx_instr *I = agx_simd_matmul_to(b, dst, agx_src_index(&instr->src[1]), agx_src_index(&instr->src[2]),
                                        agx_src_index(&instr->src[0]));
      agx_emit_cached_split(b, dst, 2);
      return I;
   }
   bool xor = instr->intrinsic == nir_intrinsic_shuffle_xor;
   bool up = instr->intrinsic == nir_intrinsic_shuffle_up;
   if (!xor && !up && instr->intrinsic != nir_intrinsic_shuffle_down)
      return mesa_agx_emit_intrinsic(b, instr);

   agx_index dst = agx_def_index(&instr->def), value = agx_src_index(&instr->src[0]);
   agx_index distance = agx_immediate(nir_src_as_uint(instr->src[1]) & 31);
   return xor  ? agx_shuffle_xor_to(b, dst, value, distance)
          : up ? agx_shuffle_up_to(b, dst, value, distance)
               : agx_shuffle_down_to(b, dst, value, distance);
}
''')
    mesa.around(COMPILER + 'agx_nir_lower_subgroups.c', 'lower_subgroup_filter', '''
static bool
lower_subgroup_filter(const nir_instr *instr, const void *data)
{
   if (instr->type == nir_instr_type_intrinsic) {
      nir_intrinsic_instr *intr = nir_instr_as_intrinsic(instr);
      bool constant = (intr->intrinsic == nir_intrinsic_shuffle_xor || intr->intrinsic == nir_intrinsic_shuffle_up ||
                       intr->intrinsic == nir_intrinsic_shuffle_down) && nir_src_is_const(intr->src[1]);
      if (constant && intr->def.num_components == 1 && (intr->def.bit_size == 16 || intr->def.bit_size == 32))
         return false;
   }
   return mesa_lower_subgroup_filter(instr, data);
}
''')


def arithmetic(mesa):
    """Metal's fmin and fmax flush no denormals."""
    mesa.around(COMPILER + 'agx_nir_lower_fminmax.c', 'could_be_denorm', '''
static bool
could_be_denorm(nir_scalar s)
{
   return mesa_could_be_denorm(s) && false;
}
''')


def threadgroup_memory(mesa):
    """An address in threadgroup memory is a register and an immediate of 16 bits."""
    for name in ('agx_emit_local_load', 'agx_emit_local_store'):
        mesa.inside(COMPILER + 'agx_compile.c', name, 'agx_zero()', 'agx_immediate(nir_intrinsic_base(instr))')
    mesa.around(COMPILER + 'agx_ir.c', 'agx_allows_16bit_immediate', '''
bool
agx_allows_16bit_immediate(agx_instr *I)
{
   return I->op == AGX_OPCODE_LOCAL_LOAD || I->op == AGX_OPCODE_LOCAL_STORE || mesa_agx_allows_16bit_immediate(I);
}
''')


def listing(mesa):
    """The instructions as they are packed go to a file that count.c opens. In front of each: the line of the source, and the
    bytes that it loads or stores for a lane."""
    mesa.around(COMPILER + 'agx_print.c', 'agx_print_instr', '''
static unsigned
agx_bytes_of_lane(const agx_instr *I)
{
   bool memory = I->op == AGX_OPCODE_DEVICE_LOAD || I->op == AGX_OPCODE_DEVICE_STORE ||
                 I->op == AGX_OPCODE_LOCAL_LOAD || I->op == AGX_OPCODE_LOCAL_STORE ||
                 I->op == AGX_OPCODE_STACK_LOAD || I->op == AGX_OPCODE_STACK_STORE;
   unsigned size = I->format == AGX_FORMAT_I8 ? 1 : I->format == AGX_FORMAT_I32 ? 4 : 2;
   return memory ? size * util_bitcount(I->mask) : 0;
}

void
agx_print_instr(const agx_instr *I, FILE *fp)
{
   fprintf(fp, "%5u %3u", I->line, agx_bytes_of_lane(I));
   mesa_agx_print_instr(I, fp);
}
''')
    mesa.around(COMPILER + 'agx_pack.c', 'agx_pack_binary', '''
FILE *agx_listing;
unsigned agx_registers;

void
agx_pack_binary(agx_context *ctx, struct util_dynarray *emission)
{
   if (agx_listing && !ctx->is_preamble) {
      agx_print_shader(ctx, agx_listing);
      agx_registers = ctx->max_reg;
   }
   mesa_agx_pack_binary(ctx, emission);
}
''')


def main():
    root, version = sys.argv[1:]
    mesa = Tree(root)
    have = mesa.read('VERSION').strip()
    if have != version:
        sys.exit('patch: Mesa %s, but tests/agx was written for %s' % (have, version))
    folder = os.path.join(root, 'src/asahi/count')
    os.makedirs(folder)
    for name in ('meson.build', 'count.c'):
        shutil.copy(os.path.join(HERE, name), folder)
    mesa.append('src/meson.build', "subdir('asahi/count')\n")
    for change in (lines, matrices, intrinsics, arithmetic, threadgroup_memory, listing):
        change(mesa)


if __name__ == '__main__':
    main()
