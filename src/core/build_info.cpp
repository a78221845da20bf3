#include "sotto/core/build_info.hpp"

namespace sotto {

std::string build_version() { return SOTTO_VERSION; }
std::string build_commit() { return SOTTO_COMMIT; }
std::string build_compiler() { return SOTTO_COMPILER; }

}  // namespace sotto
