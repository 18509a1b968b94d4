/* Every operation that is carried out, by its name in Triton IR. */
#include "machine.h"

static const ti_row rows[] = {
#define ELT(name, scalar) {name, ti_run_elementwise, ti_scalar_##scalar},
#define RUN(name, run) {name, ti_run_##run, NULL},
    ELT("arith.addi", addi) ELT("arith.subi", subi) ELT("arith.muli", muli) ELT("arith.divsi", divsi)
    ELT("arith.divui", divui) ELT("arith.remsi", remsi) ELT("arith.remui", remui)
    ELT("arith.ceildivsi", ceildivsi) ELT("arith.ceildivui", ceildivui) ELT("arith.floordivsi", floordivsi)
    ELT("arith.andi", andi) ELT("arith.ori", ori) ELT("arith.xori", xori)
    ELT("arith.shli", shli) ELT("arith.shrsi", shrsi) ELT("arith.shrui", shrui)
    ELT("arith.maxsi", maxsi) ELT("arith.minsi", minsi) ELT("arith.maxui", maxui) ELT("arith.minui", minui)
    ELT("arith.addf", addf) ELT("arith.subf", subf) ELT("arith.mulf", mulf) ELT("arith.divf", divf)
    ELT("arith.remf", remf) ELT("arith.negf", negf) ELT("arith.maxnumf", maxnumf) ELT("arith.minnumf", minnumf)
    ELT("arith.maximumf", maximumf) ELT("arith.minimumf", minimumf) ELT("arith.cmpi", cmpi) ELT("arith.cmpf", cmpf)
    ELT("arith.select", select) ELT("arith.extsi", extsi) ELT("arith.extui", extui) ELT("arith.trunci", trunci)
    ELT("arith.extf", convert) ELT("arith.truncf", convert) ELT("arith.sitofp", sitofp) ELT("arith.uitofp", uitofp)
    ELT("arith.fptosi", fptosi) ELT("arith.fptoui", fptoui) ELT("arith.bitcast", same_bits)
    ELT("arith.index_cast", index_cast) ELT("arith.index_castui", index_castui)
    RUN("arith.addui_extended", extended) RUN("arith.mului_extended", extended) RUN("arith.mulsi_extended", extended)
    RUN("arith.constant", constant)

    ELT("math.exp", exp) ELT("math.exp2", exp2) ELT("math.expm1", expm1) ELT("math.log", log) ELT("math.log2", log2)
    ELT("math.log10", log10) ELT("math.log1p", log1p) ELT("math.sin", sin) ELT("math.cos", cos) ELT("math.tan", tan)
    ELT("math.asin", asin) ELT("math.acos", acos) ELT("math.atan", atan) ELT("math.sinh", sinh)
    ELT("math.cosh", cosh) ELT("math.tanh", tanh) ELT("math.asinh", asinh) ELT("math.acosh", acosh)
    ELT("math.atanh", atanh) ELT("math.sqrt", sqrt) ELT("math.rsqrt", rsqrt) ELT("math.cbrt", cbrt)
    ELT("math.erf", erf) ELT("math.erfc", erfc) ELT("math.floor", floor) ELT("math.ceil", ceil)
    ELT("math.trunc", trunc) ELT("math.round", round) ELT("math.roundeven", roundeven) ELT("math.absf", absf)
    ELT("math.absi", absi) ELT("math.fma", fma) ELT("math.powf", powf) ELT("math.atan2", atan2)
    ELT("math.copysign", copysign) ELT("math.ctlz", ctlz) ELT("math.cttz", cttz) ELT("math.ctpop", ctpop)
    ELT("math.fpowi", fpowi) ELT("math.ipowi", ipowi) ELT("math.isnan", isnan) ELT("math.isinf", isinf)

    ELT("tt.bitcast", same_bits) ELT("tt.int_to_ptr", extui) ELT("tt.ptr_to_int", trunci)
    ELT("tt.fp_to_fp", fp_to_fp) ELT("tt.addptr", addptr) ELT("tt.clampf", clampf) ELT("tt.precise_sqrt", sqrt)
    ELT("tt.precise_divf", divf) ELT("tt.approx_divf", divf) ELT("tt.mulhiui", mulhiui)
    RUN("tt.extern_elementwise", extern)

    RUN("tt.make_range", range) RUN("tt.splat", splat) RUN("tt.unsplat", same) RUN("tt.expand_dims", same)
    RUN("tt.reshape", same) RUN("tt.broadcast", broadcast) RUN("tt.trans", trans) RUN("tt.join", join)
    RUN("tt.split", split) RUN("tt.cat", cat) RUN("tt.gather", gather) RUN("tt.histogram", histogram)
    RUN("ub.poison", poison) RUN("llvm.mlir.undef", poison)

    RUN("tt.reduce", reduce) RUN("tt.scan", scan) RUN("tt.map_elementwise", map)
    RUN("tt.dot", dot) RUN("tt.dot_scaled", dot_scaled)

    RUN("tt.load", load) RUN("tt.store", store) RUN("tt.atomic_rmw", rmw) RUN("tt.atomic_cas", cas)
    RUN("tt.atomic_load", atomic_load) RUN("tt.atomic_store", atomic_store) RUN("tt.atomic_poll", atomic_poll)
    RUN("tt.make_tensor_ptr", make_pointer) RUN("tt.advance", advance)
    RUN("tt.make_tensor_descriptor", make_descriptor) RUN("tt.descriptor_load", descriptor_load)
    RUN("tt.descriptor_store", descriptor_store) RUN("tt.descriptor_reduce", descriptor_reduce)
    RUN("tt.descriptor_gather", descriptor_gather) RUN("tt.descriptor_scatter", descriptor_scatter)
    RUN("tt.experimental_descriptor_load", descriptor_load) RUN("tt.experimental_descriptor_store", descriptor_store)
    RUN("tt.experimental_descriptor_gather", descriptor_gather)
    RUN("tt.experimental_descriptor_scatter", descriptor_scatter)

    RUN("tt.get_program_id", pid) RUN("tt.get_num_programs", programs) RUN("tt.call", call)
    RUN("scf.for", for) RUN("scf.if", if) RUN("scf.while", while) RUN("scf.execute_region", execute)
    RUN("tt.print", print) RUN("tt.assert", assert) RUN("cf.assert", assert)
    RUN("llvm.intr.assume", assume) RUN("gpu.barrier", nothing) RUN("ttg.barrier", nothing)
    RUN("tt.grid_dependency_wait", nothing) RUN("tt.grid_dependency_launch_dependents", nothing)
    RUN("tt.return", nothing) RUN("tt.reduce.return", nothing) RUN("tt.scan.return", nothing)
    RUN("tt.map_elementwise.return", nothing) RUN("scf.yield", nothing) RUN("scf.condition", nothing)
    RUN("cf.br", nothing) RUN("cf.cond_br", nothing)
#undef ELT
#undef RUN
};

const ti_row *ti_row_named(const char *name) {
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

int ti_supports(const char *op) {
    return ti_row_named(op) != NULL;
}
