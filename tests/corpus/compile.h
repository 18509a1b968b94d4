/* How the corpus gets Metal text and launch plan for a file of Triton IR. */
#ifndef CORPUS_COMPILE_H
#define CORPUS_COMPILE_H

#include <string>
#include <vector>

namespace corpus {

struct diag {
    std::string code;  /* "TM301"; empty for what has none */
    std::string place; /* file:line:col */
    std::string text;
};

struct compiled {
    bool              ok = false, late = false; /* late: stopped after compile_options::seconds */
    std::string       msl, plan;
    std::vector<diag> diags;
};

struct compile_options {
    std::string gpu;         /* empty: the compiler's default */
    std::string has, lacks;  /* features of the GPU table, set apart by commas */
    std::string operands;    /* of products: direct or staged; empty: the compiler's choice */
    unsigned    threads = 0; /* per threadgroup; 0: the compiler's choice */
    unsigned    seconds = 0;   /* of a core's time; 0: any */
    unsigned    two_stage = 0; /* parts of a row, where a kernel only reduces rows */
    bool        plain = false; /* without optimisation */
    bool        bounds = false; /* every access is checked against its buffer's length */
    std::vector<std::string> more; /* options as they are */
    bool        sources = false; /* from the kernel's .py, as the .call beside the case says */
};

/* Runs `$TMETAL compile FILE --emit msl` and `--emit plan`; TMETAL defaults to the tmetal beside
 * this program. */
compiled compile_ttir(const std::string &path, const compile_options &options);
/* The same for the kernel of a case, `path` without extension: its .ttir, or its source. */
compiled compile_case(const std::string &path, const compile_options &options);

/* Empty when there is a compiler to run, else what is missing. */
std::string compiler_problem();

} // namespace corpus

#endif
