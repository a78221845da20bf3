// Draws panels, which it reads as JSON from standard input (panels_from_json):
//   sotto_picture            prints the gnuplot script that draws picture.svg
//   sotto_picture FILE.svg   draws FILE.svg

#include <fmt/format.h>

#include <exception>
#include <iostream>
#include <iterator>
#include <string>

#include "core/picture.hpp"
#include "core/picture_json.hpp"

int main(int argc, char** argv) try {
    if (argc > 2) {
        fmt::print(stderr, "usage: sotto_picture [FILE.svg] < PANELS.json\n");
        return 2;
    }
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    auto panels = sotto::panels_from_json(text);
    if (argc == 1) {
        fmt::print("{}", sotto::picture_script("picture.svg", std::move(panels)));
        return 0;
    }
    if (sotto::draw_picture(argv[1], std::move(panels))) return 0;
    fmt::print(stderr,
               "sotto_picture: {} is not drawn: no panel has a point, or gnuplot is missing or "
               "failed\n",
               argv[1]);
    return 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "sotto_picture: {}\n", error.what());
    return 1;
}
