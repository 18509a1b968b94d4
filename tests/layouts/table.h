#ifndef REDUCE_TABLE_H
#define REDUCE_TABLE_H

#include <string>

namespace reduce {

/* Counts what a row sum of the documents' four sizes costs in each layout, and writes that between the marks of
 * `path`; with `check` it only compares. 0, or 1 after a message. */
int write_table(const std::string &path, bool check);

} // namespace reduce

#endif
