#ifndef OPLIST_TEXTS_H
#define OPLIST_TEXTS_H

#include <cstddef>

namespace oplist {

/* Lists as text: what is refused, where and with which code; what is kept. Returns how many are wrong. */
size_t check_texts();

} // namespace oplist

#endif
