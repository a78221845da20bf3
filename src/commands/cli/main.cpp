#include "commands/cli/command.hpp"

int main(int argc, char** argv) {
    return sotto::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
