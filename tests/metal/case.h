/* One recorded case by way of the launcher: compiled, loaded, bound, launched, waited for, compared as the corpus runner
 * does. */
#ifndef METAL_CASE_H
#define METAL_CASE_H

#include "host.h"

#include "../corpus/recorded.h"

#include <memory>
#include <string>
#include <vector>

namespace device {

/* What may become of a case: name, word for files and tables, 1: something is wrong, what it means. */
#define DEVICE_VERDICTS(X)                                                                                 \
    X(RIGHT, "right", 0, "every buffer is as recorded")                                                    \
    X(NATURE, "by nature", 0, "cannot agree, for a reason that tests/corpus/cannot-agree.txt gives")       \
    X(LOADED, "compiled", 0, "of cases without a launch: Metal made a pipeline of each kernel")            \
    X(REFUSED, "refused", 0, "tmetal does not compile it")                                                 \
    X(WRONG, "wrong", 1, "a buffer is not as recorded")                                                    \
    X(COMPILER, "refused by Metal", 1, "Apple's compiler refuses the text, or makes no pipeline of it")    \
    X(LIMIT, "over a limit", 1, "the pipeline allows less than the plan wants")                            \
    X(FAULT, "faulted", 1, "the GPU stopped the launch")                                                   \
    X(HUNG, "hung", 1, "not complete within the time, or the process ended while it was under way")        \
    X(FAILED, "failed", 1, "another error of the launcher")

enum verdict {
#define X(name, word, is_bad, meaning) name,
    DEVICE_VERDICTS(X)
#undef X
        VERDICTS
};

struct verdict_row {
    const char *word;
    int         is_bad;
    const char *meaning;
};
extern const verdict_row verdicts[VERDICTS];

struct outcome {
    verdict     what = HUNG;
    std::string why;     /* "" when right */
    std::string warning; /* the first of Apple's compiler; "" */
    double      seconds = 0; /* on the GPU */
};

struct compiled {
    corpus::recorded_case c;
    std::string           text; /* of Triton IR */
    std::string           alias;
    std::vector<char>     memory;
    tmetal_arena          arena;
    tmetal_result         result;
    uint64_t              programs_per_part = 0; /* with options.parts; 0: by time */

    uint32_t version() const; /* of the Metal language: the highest of all kernels */
};

/* `path` ends in .case. Throws what read_case throws. */
std::unique_ptr<compiled> compile(const std::string &path, const tmetal_options &options);

/* After HUNG what was made is still in use: the process should end. */
outcome launch(tmetal_metal *metal, compiled &p, uint64_t milliseconds);

} // namespace device

#endif
