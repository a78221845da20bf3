// Code that an agent must not execute: it writes ./executed when it is loaded.
#include <cstdio>

namespace {

[[gnu::constructor]] void leave_a_mark() {
    if (std::FILE* file = std::fopen("executed", "w")) std::fclose(file);
}

}  // namespace
