/* From a Metal file on disk to a judgement: includes and macros first, then the checker that the
 * simulator uses too. */
#ifndef LINT_PREPROCESS_H
#define LINT_PREPROCESS_H

#include "../sim/sim.h"

namespace lint {

struct options {
    int                      version = 0; /* 0: what the file's name says, else 310 */
    std::vector<std::string> include, define;
};

struct judgement {
    std::vector<sim::diagnostic> errors;
    std::string unread; /* what of the text only the rules over tokens have judged, and why */
};

void      prepare(); /* once, before processes part: a directory of empty standard headers */
judgement judge(const std::string &file, const options &how);
judgement judge_emitted(const std::string &file, const options &how);

} // namespace lint

#endif
