/* Compiles each kernel of an OpenCL SPIR-V module with Mesa's AGX compiler, for G13 (the M1's GPU), and prints it.
 *
 *    agx-count FILE.spv [KERNEL=THREADS ...]     THREADS: of a threadgroup; limits the registers
 *
 * Prints per kernel a line of JSON, then its instructions as agx_print has them, each with the line of
 * the Metal text that it comes from, then a line "end".
 *
 * Functions that the module only declares, agx_OP_TYPE, become NIR here: what OpenCL has no name for. TYPE is f32,
 * h16, i32, u32, i16 or u16; the function returns a value unless TYPE is v (nothing). tests/agx/metal.h declares them. */
#include "asahi/compiler/agx_compile.h"
#include "asahi/compiler/agx_nir.h"
#include "compiler/glsl_types.h"
#include "compiler/spirv/nir_spirv.h"
#include "compiler/spirv/spirv.h"
#include "nir.h"
#include "nir_builder.h"
#include "util/ralloc.h"
#include "util/u_debug.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern FILE *agx_listing; /* agx_pack.c prints there, see patch.py */
extern unsigned agx_registers;
extern struct agx_occupancy agx_occupancy_for_register_count(unsigned halfregs);

static void fail(const char *what, const char *name)
{
   fprintf(stderr, "agx-count: %s: %s\n", what, name);
   exit(2);
}

/* -- Declared functions as NIR -------------------------------------------------------------------- */

typedef struct {
   nir_builder *b;
   nir_def *p[4];            /* arguments */
   nir_deref_instr *pointer; /* the first argument of an atomic */
   bool is_float, is_unsigned;
} call;

static nir_def *barrier(nir_builder *b, mesa_scope scope, nir_variable_mode modes)
{
   nir_barrier(b, scope, scope, NIR_MEMORY_ACQ_REL, modes);
   return NULL;
}

static nir_def *atomic_load(call *c)
{
   nir_deref_instr *d = c->pointer;
   d = nir_build_deref_cast(c->b, &d->def, d->modes, glsl_uint_type(), 4);
   return nir_load_deref_with_access(c->b, d, ACCESS_COHERENT | ACCESS_VOLATILE);
}

/* Operations by which lanes and atomics combine: of floats, of integers, of unsigned ones. G13 adds no floats in memory;
 * an integer addition stands for one. */
static const struct {
   const char *name;
   nir_op f, i, u;
   nir_atomic_op atomic_i, atomic_u;
} combinations[] = {
   {"sum", nir_op_fadd, nir_op_iadd, nir_op_iadd, nir_atomic_op_iadd, nir_atomic_op_iadd},
   {"product", nir_op_fmul, nir_op_imul, nir_op_imul, nir_atomic_op_iadd, nir_atomic_op_iadd},
   {"max", nir_op_fmax, nir_op_imax, nir_op_umax, nir_atomic_op_imax, nir_atomic_op_umax},
   {"min", nir_op_fmin, nir_op_imin, nir_op_umin, nir_atomic_op_imin, nir_atomic_op_umin},
   {"and", nir_op_iand, nir_op_iand, nir_op_iand, nir_atomic_op_iand, nir_atomic_op_iand},
   {"or", nir_op_ior, nir_op_ior, nir_op_ior, nir_atomic_op_ior, nir_atomic_op_ior},
   {"xor", nir_op_ixor, nir_op_ixor, nir_op_ixor, nir_atomic_op_ixor, nir_atomic_op_ixor},
};

/* simdsum, inclsum, exclsum, atomicsum, ...: the way, then the operation. */
static bool combine(call *c, const char *op, nir_def **out)
{
   for (unsigned i = 0; i < ARRAY_SIZE(combinations); i++) {
      size_t way = strlen(op) - MIN2(strlen(op), strlen(combinations[i].name));
      if (strcmp(op + way, combinations[i].name)) continue;
      nir_op nir = c->is_float ? combinations[i].f : c->is_unsigned ? combinations[i].u : combinations[i].i;
      nir_atomic_op atomic = c->is_unsigned ? combinations[i].atomic_u : combinations[i].atomic_i;
      if (!strncmp(op, "simd", MAX2(way, 4)))
         *out = nir_reduce(c->b, c->p[0], .reduction_op = nir, .cluster_size = 0);
      else if (!strncmp(op, "incl", MAX2(way, 4)))
         *out = nir_inclusive_scan(c->b, c->p[0], .reduction_op = nir);
      else if (!strncmp(op, "excl", MAX2(way, 4)))
         *out = nir_exclusive_scan(c->b, c->p[0], .reduction_op = nir);
      else if (!strncmp(op, "atomic", MAX2(way, 6)))
         *out = nir_deref_atomic(c->b, 32, &c->pointer->def, c->p[1],
                                 .atomic_op = c->is_float ? nir_atomic_op_iadd : atomic);
      else continue;
      return true;
   }
   return false;
}

#define ANY_MEMORY (nir_var_mem_global | nir_var_mem_shared)
#define GROUP(axis) nir_channel(c->b, nir_load_workgroup_id(c->b), axis)
#define GROUPS(axis) nir_channel(c->b, nir_load_num_workgroups(c->b), axis)

static nir_def *expand(call *c, const char *op)
{
   nir_builder *b = c->b;
   nir_def **p = c->p, *combined = NULL;
   if (combine(c, op, &combined)) return combined;
#define X(name, value) if (!strcmp(op, #name)) return value;
   X(atomicxchg, nir_deref_atomic(b, 32, &c->pointer->def, p[1], .atomic_op = nir_atomic_op_xchg))
   X(atomiccas, nir_deref_atomic_swap(b, 32, &c->pointer->def, p[1], p[2], .atomic_op = nir_atomic_op_cmpxchg))
   X(atomicload, atomic_load(c))
   X(shuffle, nir_shuffle(b, p[0], p[1]))
   X(shufflexor, nir_shuffle_xor(b, p[0], p[1]))
   X(shuffleup, nir_shuffle_up(b, p[0], p[1]))
   X(shuffledown, nir_shuffle_down(b, p[0], p[1]))
   X(first, nir_read_first_invocation(b, p[0]))
   X(any, nir_b2i32(b, nir_vote_any(b, 1, nir_ine_imm(b, p[0], 0))))
   X(all, nir_b2i32(b, nir_vote_all(b, 1, nir_ine_imm(b, p[0], 0))))
   X(ballot, nir_ballot(b, 1, 32, nir_ine_imm(b, p[0], 0)))
   X(barrierall, barrier(b, SCOPE_WORKGROUP, ANY_MEMORY))
   X(barrier, barrier(b, SCOPE_WORKGROUP, nir_var_mem_shared))
   X(simdbarrier, barrier(b, SCOPE_SUBGROUP, nir_var_mem_shared))
   X(mma, nir_dpas_intel(b, p[2]->bit_size, p[2], p[0], p[1]))
   X(exp2, nir_fexp2(b, p[0]))
   X(log2, nir_flog2(b, p[0]))
   X(sin, nir_fsin(b, p[0]))
   X(cos, nir_fcos(b, p[0]))
   X(rsqrt, nir_frsq(b, p[0]))
   X(sqrt, nir_fsqrt(b, p[0]))
   X(rcp, nir_frcp(b, p[0]))
   X(divide, nir_fmul(b, p[0], nir_frcp(b, p[1])))
   X(rint, nir_fround_even(b, p[0]))
   X(floor, nir_ffloor(b, p[0]))
   X(ceil, nir_fceil(b, p[0]))
   X(trunc, nir_ftrunc(b, p[0]))
   X(mulhi, c->is_unsigned ? nir_umul_high(b, p[0], p[1]) : nir_imul_high(b, p[0], p[1]))
   X(clz, nir_isub(b, nir_imm_int(b, 31), nir_ufind_msb(b, p[0])))
   X(popcount, nir_bit_count(b, p[0]))
   X(bitreverse, nir_bitfield_reverse(b, p[0]))
   X(lane, nir_load_subgroup_invocation(b))
   X(simdgroup, nir_load_subgroup_id(b))
   X(tid, nir_load_local_invocation_index(b))
   X(groupx, GROUP(0))
   X(groupy, GROUP(1))
   X(groupz, GROUP(2))
   X(groupsx, GROUPS(0))
   X(groupsy, GROUPS(1))
   X(groupsz, GROUPS(2))
#undef X
   fail("no such function of metal.h", op);
   return NULL;
}

static void replace_call(nir_builder *b, nir_call_instr *instr)
{
   char op[64];
   snprintf(op, sizeof op, "%s", instr->callee->name + strlen("agx_"));
   char *type = strrchr(op, '_');
   if (!type) fail("declared without a type", op);
   *type++ = 0;
   bool returns = strcmp(type, "v") != 0; /* then the first parameter is where to */
   call c = {.b = b, .is_float = type[0] == 'f' || type[0] == 'h', .is_unsigned = type[0] == 'u'};
   for (unsigned i = returns; i < instr->num_params; i++) c.p[i - returns] = instr->params[i].ssa;
   if (!strncmp(op, "atomic", 6)) c.pointer = nir_src_as_deref(instr->params[returns]);
   b->cursor = nir_before_instr(&instr->instr);
   nir_def *value = expand(&c, op);
   if (returns) nir_store_deref(b, nir_src_as_deref(instr->params[0]), value, ~0);
   nir_instr_remove(&instr->instr);
}

static bool replace_calls(nir_shader *nir)
{
   bool any = false;
   nir_foreach_function_impl(impl, nir) {
      bool here = false;
      nir_builder b = nir_builder_create(impl);
      nir_foreach_block_safe(block, impl) {
         nir_foreach_instr_safe(instr, block) {
            if (instr->type != nir_instr_type_call) continue;
            nir_call_instr *call = nir_instr_as_call(instr);
            if (!call->callee->name || strncmp(call->callee->name, "agx_", 4)) continue;
            replace_call(&b, call);
            here = any = true;
         }
      }
      nir_metadata_preserve(impl, here ? nir_metadata_control_flow : nir_metadata_all);
   }
   return any;
}

/* -- From SPIR-V to what the compiler takes ---------------------------------------------------------- */

/* Arguments, then the address of constants, then the grid: uniform registers, which a preamble would have filled. */
static unsigned constants_at;

static nir_def *uniforms(nir_builder *b, unsigned n, unsigned bits, unsigned at)
{
   nir_def *c[16];
   for (unsigned i = 0; i < n; i++) c[i] = nir_load_preamble(b, 1, bits, .base = at + i * bits / 16);
   return nir_vec(b, c, n);
}

static bool lower_arguments(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
   nir_def *r = NULL;
   b->cursor = nir_before_instr(&intr->instr);
   if (intr->intrinsic == nir_intrinsic_load_kernel_input)
      r = uniforms(b, intr->def.num_components, intr->def.bit_size,
                   (nir_intrinsic_base(intr) + nir_src_as_uint(intr->src[0])) / 2);
   else if (intr->intrinsic == nir_intrinsic_load_constant_base_ptr) r = uniforms(b, 1, 64, constants_at / 2);
   else if (intr->intrinsic == nir_intrinsic_load_num_workgroups) r = uniforms(b, 3, 32, constants_at / 2 + 4);
   if (!r) return false;
   nir_def_replace(&intr->def, r);
   return true;
}

/* Loads from Metal's constant space may move to the preamble. */
static bool mark_constant(nir_builder *b, nir_intrinsic_instr *intr, void *data)
{
   if (intr->intrinsic != nir_intrinsic_load_global_constant) return false;
   nir_intrinsic_set_access(intr, nir_intrinsic_access(intr) | ACCESS_CAN_REORDER | ACCESS_NON_WRITEABLE |
                                     ACCESS_CAN_SPECULATE);
   return true;
}

/* Division is rounded correctly. */
static bool exact_division(nir_builder *b, nir_alu_instr *alu, void *data)
{
   if (alu->op != nir_op_fdiv || alu->exact) return false;
   alu->exact = true;
   return true;
}

static nir_def *low(nir_builder *b, nir_scalar s)
{
   nir_def *d = nir_channel(b, s.def, s.comp);
   return d->bit_size == 32 ? d : nir_u2u32(b, d);
}

/* The low half of a 64-bit chain is the chain in 32 bits: addresses of threadgroup memory. */
static bool narrow(nir_builder *b, nir_alu_instr *alu, void *data)
{
   if (alu->op != nir_op_u2u32 && alu->op != nir_op_i2i32 && alu->op != nir_op_unpack_64_2x32_split_x) return false;
   if (alu->def.num_components != 1 || alu->src[0].src.ssa->bit_size != 64) return false;
   nir_scalar s = nir_scalar_chase_movs((nir_scalar){alu->src[0].src.ssa, alu->src[0].swizzle[0]});
   if (!nir_scalar_is_alu(s)) return false;
   nir_op op = nir_scalar_alu_op(s);
   if (nir_op_infos[op].num_inputs > 2 || nir_op_infos[op].input_sizes[0]) return false;
   nir_scalar x = nir_scalar_chase_alu_src(s, 0), y = x;
   nir_def *r;
   b->cursor = nir_before_instr(&alu->instr);
   if (nir_op_infos[op].num_inputs == 2) y = nir_scalar_chase_alu_src(s, 1);
   switch (op) {
   case nir_op_iadd: case nir_op_isub: case nir_op_imul: case nir_op_iand: case nir_op_ior: case nir_op_ixor:
      r = nir_build_alu2(b, op, low(b, x), low(b, y));
      break;
   case nir_op_ineg: case nir_op_inot:
      r = nir_build_alu1(b, op, low(b, x));
      break;
   case nir_op_ishl:
      if (!nir_scalar_is_const(y) || nir_scalar_as_uint(y) > 31) return false;
      r = nir_ishl_imm(b, low(b, x), nir_scalar_as_uint(y));
      break;
   case nir_op_i2i64:
      r = x.def->bit_size == 32 ? low(b, x) : nir_i2i32(b, nir_channel(b, x.def, x.comp));
      break;
   case nir_op_u2u64:
      r = low(b, x);
      break;
   default:
      return false;
   }
   nir_def_replace(&alu->def, r);
   return true;
}

/* 64 bits of four of 16: the compiler knows those of two of 32. */
static bool pack(nir_builder *b, nir_alu_instr *alu, void *data)
{
   nir_def *c[4], *r;
   b->cursor = nir_before_instr(&alu->instr);
   if (alu->op == nir_op_pack_64_4x16) {
      for (unsigned i = 0; i < 4; i++) c[i] = nir_channel(b, alu->src[0].src.ssa, alu->src[0].swizzle[i]);
      r = nir_pack_64_2x32_split(b, nir_pack_32_2x16_split(b, c[0], c[1]), nir_pack_32_2x16_split(b, c[2], c[3]));
   } else if (alu->op == nir_op_unpack_64_4x16) {
      nir_def *whole = nir_channel(b, alu->src[0].src.ssa, alu->src[0].swizzle[0]);
      for (unsigned i = 0; i < 4; i++) {
         nir_def *half = i < 2 ? nir_unpack_64_2x32_split_x(b, whole) : nir_unpack_64_2x32_split_y(b, whole);
         c[i] = i % 2 ? nir_unpack_32_2x16_split_y(b, half) : nir_unpack_32_2x16_split_x(b, half);
      }
      r = nir_vec(b, c, 4);
   } else
      return false;
   nir_def_replace(&alu->def, r);
   return true;
}

static void optimize(nir_shader *nir)
{
   bool progress;
   do {
      progress = false;
      NIR_PASS(progress, nir, nir_split_var_copies);
      NIR_PASS(progress, nir, nir_split_struct_vars, nir_var_function_temp);
      NIR_PASS(progress, nir, nir_lower_var_copies);
      NIR_PASS(progress, nir, nir_lower_vars_to_ssa);
      NIR_PASS(progress, nir, nir_copy_prop);
      NIR_PASS(progress, nir, nir_opt_remove_phis);
      NIR_PASS(progress, nir, nir_lower_phis_to_scalar, true);
      NIR_PASS(progress, nir, nir_opt_dce);
      NIR_PASS(progress, nir, nir_opt_dead_cf);
      NIR_PASS(progress, nir, nir_opt_cse);
      NIR_PASS(progress, nir, nir_opt_peephole_select, 64, false, true);
      NIR_PASS(progress, nir, nir_opt_phi_precision);
      NIR_PASS(progress, nir, nir_opt_algebraic);
      NIR_PASS(progress, nir, nir_opt_constant_folding);
      NIR_PASS(progress, nir, nir_opt_deref);
      NIR_PASS(progress, nir, nir_opt_copy_prop_vars);
      NIR_PASS(progress, nir, nir_opt_undef);
      NIR_PASS(progress, nir, nir_lower_undef_to_zero);
      NIR_PASS(progress, nir, nir_opt_shrink_vectors, true);
   } while (progress);
}

#define PRIVATE (nir_var_shader_temp | nir_var_function_temp)
#define MEMORY (PRIVATE | nir_var_mem_shared | nir_var_mem_global | nir_var_mem_constant)

static const struct spirv_to_nir_options spirv_options = {
   .environment = NIR_SPIRV_OPENCL,
   .shared_addr_format = nir_address_format_32bit_offset_as_64bit,
   .global_addr_format = nir_address_format_64bit_global,
   .temp_addr_format = nir_address_format_32bit_offset_as_64bit,
   .constant_addr_format = nir_address_format_64bit_global,
};

static nir_shader *read_kernel(const uint32_t *spirv, size_t words, const char *entry)
{
   nir_shader *nir = spirv_to_nir(spirv, words, NULL, 0, MESA_SHADER_KERNEL, entry, &spirv_options, &agx_nir_options);
   if (!nir) fail("spirv_to_nir", entry);
   nir->info.label = ralloc_strdup(nir, entry);
   NIR_PASS(_, nir, replace_calls);
   NIR_PASS(_, nir, nir_lower_system_values);
   nir_lower_compute_system_values_options values = {.global_id_is_32bit = true};
   NIR_PASS(_, nir, nir_lower_compute_system_values, &values);
   NIR_PASS(_, nir, nir_lower_variable_initializers, nir_var_function_temp);
   NIR_PASS(_, nir, nir_lower_returns);
   NIR_PASS(_, nir, nir_inline_functions);
   nir_remove_non_entrypoints(nir);
   NIR_PASS(_, nir, nir_copy_prop);
   NIR_PASS(_, nir, nir_opt_deref);
   NIR_PASS(_, nir, nir_lower_variable_initializers, ~nir_var_mem_constant);
   return nir;
}

static void lower_memory(nir_shader *nir)
{
   NIR_PASS(_, nir, nir_lower_vec3_to_vec4, MEMORY);
   NIR_PASS(_, nir, nir_split_var_copies);
   NIR_PASS(_, nir, nir_lower_var_copies);
   NIR_PASS(_, nir, nir_opt_deref);
   NIR_PASS(_, nir, nir_lower_vars_to_explicit_types, MEMORY | nir_var_uniform, glsl_get_cl_type_size_align);
   NIR_PASS(_, nir, nir_shader_alu_pass, exact_division, nir_metadata_all, NULL);
   optimize(nir);
   NIR_PASS(_, nir, nir_remove_dead_variables, nir_var_all, NULL);
   nir->scratch_size = 0;
   nir->info.shared_size = 0;
   NIR_PASS(_, nir, nir_lower_vars_to_explicit_types, MEMORY, glsl_get_cl_type_size_align);
   if (nir->constant_data_size > 0) {
      nir->constant_data = rzalloc_size(nir, nir->constant_data_size);
      nir_gather_explicit_io_initializers(nir, nir->constant_data, nir->constant_data_size, nir_var_mem_constant);
   }
   NIR_PASS(_, nir, nir_lower_memcpy);
   NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_constant, spirv_options.constant_addr_format);
   NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_uniform, nir_address_format_32bit_offset_as_64bit);
   NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_global, spirv_options.global_addr_format);
   NIR_PASS(_, nir, nir_lower_explicit_io, nir_var_mem_shared | PRIVATE, spirv_options.temp_addr_format);
   optimize(nir);
}

static void lower_rest(nir_shader *nir)
{
   const nir_opt_offsets_options offsets = {.shared_max = 0x7fff, .allow_offset_wrap = true};
   bool progress;
   constants_at = ALIGN(nir->num_uniforms, 8);
   NIR_PASS(_, nir, nir_shader_intrinsics_pass, lower_arguments, nir_metadata_control_flow, NULL);
   NIR_PASS(_, nir, nir_shader_intrinsics_pass, mark_constant, nir_metadata_all, NULL);
   NIR_PASS(_, nir, nir_lower_convert_alu_types, NULL);
   do {
      progress = false;
      NIR_PASS(progress, nir, nir_shader_alu_pass, narrow, nir_metadata_control_flow, NULL);
      NIR_PASS(progress, nir, nir_opt_dce);
   } while (progress);
   NIR_PASS(_, nir, nir_opt_if, 0);
   NIR_PASS(_, nir, nir_opt_idiv_const, 16);
   NIR_PASS(_, nir, nir_shader_alu_pass, pack, nir_metadata_control_flow, NULL);
   optimize(nir);
   NIR_PASS(_, nir, nir_opt_offsets, &offsets);
   optimize(nir);
   NIR_PASS(_, nir, nir_opt_offsets, &offsets);
   nir->info.stage = MESA_SHADER_COMPUTE;
   nir_shader_gather_info(nir, nir_shader_get_entrypoint(nir));
}

/* Rounds of each loop, in the order of the text; 0 where that is no constant. */
static void print_trips(struct exec_list *list, const char **separator)
{
   foreach_list_typed(nir_cf_node, node, node, list) {
      if (node->type == nir_cf_node_if) {
         print_trips(&nir_cf_node_as_if(node)->then_list, separator);
         print_trips(&nir_cf_node_as_if(node)->else_list, separator);
      } else if (node->type == nir_cf_node_loop) {
         nir_loop *loop = nir_cf_node_as_loop(node);
         printf("%s%u", *separator, loop->info->exact_trip_count_known ? loop->info->max_trip_count : 0);
         *separator = ", ";
         print_trips(&loop->body, separator);
      }
   }
}

/* -- One kernel ------------------------------------------------------------------------------------ */

static void count(const uint32_t *spirv, size_t words, const char *entry, unsigned threads, nir_shader *empty)
{
   nir_shader *nir = read_kernel(spirv, words, entry);
   lower_memory(nir);
   lower_rest(nir);
   nir->info.workgroup_size[0] = threads;
   nir->info.workgroup_size[1] = nir->info.workgroup_size[2] = 1;
   nir->info.workgroup_size_variable = false;
   agx_preprocess_nir(nir, empty);

   nir_function_impl *impl = nir_shader_get_entrypoint(nir);
   const char *separator = "";
   nir_metadata_require(impl, nir_metadata_loop_analysis, nir_var_all, false);
   printf("{\"kernel\": \"%s\", \"trips\": [", entry);
   print_trips(&impl->body, &separator);
   unsigned arguments = constants_at + 8 + 16;
   struct agx_shader_key key = {.libagx = empty, .has_scratch = true, .promote_constants = true,
                                .reserved_preamble = arguments / 2};
   struct agx_shader_part part;
   char *text = NULL;
   size_t bytes = 0;
   key.dev.needs_g13x_coherency = U_TRISTATE_NO;
   agx_listing = open_memstream(&text, &bytes);
   agx_compile_shader_nir(nir, &key, NULL, &part);
   fclose(agx_listing);
   printf("], \"threadgroup\": %u, \"halves\": %u, \"max_threads\": %u, \"bytes\": %u, \"uniforms\": %u, "
          "\"scratch_bytes\": %u, \"threadgroup_bytes\": %u, \"preamble_bytes\": %u}\n",
          threads, part.info.nr_gprs, agx_occupancy_for_register_count(agx_registers).max_threads,
          part.info.main_size, part.info.push_count, part.info.scratch_size, nir->info.shared_size,
          part.info.has_preamble ? part.info.binary_size - part.info.main_size : 0);
   printf("%send\n", text);
   fflush(stdout);
   free(text);
   ralloc_free(nir);
}

static unsigned threads_of(const char *entry, char **given)
{
   size_t n = strlen(entry);
   for (; *given; given++)
      if (!strncmp(*given, entry, n) && (*given)[n] == '=') return atoi(*given + n + 1);
   return 32;
}

/* Takes out what describes types and scopes to a debugger, which Mesa does not read. Lines are instructions of their own. */
static size_t without_debug_info(uint32_t *w, size_t words)
{
   size_t kept = 5;
   uint32_t set = 0;
   for (size_t at = 5, n; at < words && (n = w[at] >> SpvWordCountShift); at += n) {
      SpvOp op = w[at] & SpvOpCodeMask;
      if (op == SpvOpExtInstImport && !strcmp((const char *)&w[at + 2], "OpenCL.DebugInfo.100")) set = w[at + 1];
      else if (op != SpvOpExtInst || w[at + 3] != set) {
         memmove(w + kept, w + at, n * 4);
         kept += n;
      }
   }
   return kept;
}

static uint32_t *read_file(const char *path, size_t *words)
{
   FILE *f = fopen(path, "rb");
   if (!f) fail("cannot be read", path);
   fseek(f, 0, SEEK_END);
   long size = ftell(f);
   rewind(f);
   uint32_t *w = malloc(size);
   if (fread(w, 1, size, f) != (size_t)size) fail("cannot be read", path);
   fclose(f);
   *words = without_debug_info(w, size / 4);
   return w;
}

int main(int argc, char **argv)
{
   if (argc < 2) fail("usage", "agx-count FILE.spv [KERNEL=THREADS ...]");
   size_t words;
   uint32_t *w = read_file(argv[1], &words);
   glsl_type_singleton_init_or_ref();
   nir_shader *empty = nir_shader_create(NULL, MESA_SHADER_COMPUTE, &agx_nir_options, NULL);
   for (size_t at = 5; at < words && w[at] >> SpvWordCountShift; at += w[at] >> SpvWordCountShift) {
      const char *entry = (const char *)&w[at + 3];
      if ((w[at] & SpvOpCodeMask) == SpvOpEntryPoint) count(w, words, entry, threads_of(entry, argv + 2), empty);
   }
   return 0;
}
