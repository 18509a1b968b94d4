/* A module, made or read: interpreted, compiled in several ways, run in the simulator, compared. */
#ifndef INTERP_DIFFER_H
#define INTERP_DIFFER_H

#include "../corpus/compile.h"
#include "made.h"

#include <set>
#include <string>
#include <vector>

namespace made {

enum class verdict {
    agrees,
    disagrees,
    refused,   /* by tmetal, in the first way */
    violation, /* of a rule, in the simulator */
    faulty,    /* the interpreter does not carry out what was made to be right */
    left_open  /* a changed module that has no one answer */
};
const char *name_of(verdict v);
inline bool is_fine(verdict v) { return v == verdict::agrees || v == verdict::left_open; }

struct differ_options {
    std::set<std::string>    without; /* operations that are not to be made */
    std::vector<std::string> ways;    /* options of tmetal compile, a string each; the first always */
    unsigned                 ways_each = 1; /* so many of them for one module */
    corpus::compile_options  compile; /* in all ways */
    uint64_t                 schedule = 1;
    std::string              directory; /* where modules are written */
};

struct judged {
    std::string module, way, why, said; /* said: what was changed in it */
    verdict     what = verdict::agrees;
    reason      open = reason::none;    /* of what is left open */
    unsigned    texts = 0;              /* that were compiled and run */
};

/* `name`: a SEED; a FILE.ttir with a head or a .case beside it; either with ~SEED behind: changed in some places. */
struct source {
    std::string name, ttir, said;
    launch      l;
    bool        certain = false; /* the module was made so that its results are; else the interpreter tells how far */
};
source source_of(const std::string &name, const std::set<std::string> &without);

/* All of them, their texts built in one go. */
std::vector<judged> judge_together(const std::vector<source> &modules, const differ_options &o);

/* Writes NAME.ttir, .case and .bin to a directory, for `random NAME.ttir`; gives the path. */
std::string write_module(const source &s, const std::string &directory);
void        remove_module(const source &s, const std::string &directory);

} // namespace made

#endif
