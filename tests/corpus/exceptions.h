/* Cases that cannot agree by nature. */
#ifndef CORPUS_EXCEPTIONS_H
#define CORPUS_EXCEPTIONS_H

#include <string>
#include <vector>

namespace corpus {

/* One a line: a pattern (as a shell's, over the name or the source), then a reason. `#` starts a comment. */
class exceptions {
public:
    explicit exceptions(const std::string &path);
    const std::string *reason(const std::string &name, const std::string &source) const; /* NULL: none */

private:
    struct entry {
        std::string pattern, reason;
    };
    std::vector<entry> entries_;
};

} // namespace corpus

#endif
