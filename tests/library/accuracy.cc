#include "harness.h"
namespace library { std::vector<task> accuracy_tasks() { return {}; } }
