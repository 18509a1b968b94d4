/* The system's own Metal. */
#include "host.h"

namespace host {

const bool     is_device = true;
const unsigned batch = 1;

tmetal_symbol symbol() { return nullptr; }
void          prepare(const std::vector<text> &) {}
bool          has_clock() { return true; }
void          begin(const std::string &) {}
std::string   complaint() { return ""; }
bool          pretend(const std::string &) { return false; }

} // namespace host
