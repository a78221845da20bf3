// Runs every file of the folders (or files) named on the command line through the decoder. Built
// with any compiler; what a fuzzer found once stays tested.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support.hpp"

int main(int count, char** arguments) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    for (int i = 1; i < count; ++i) {
        if (fs::is_directory(arguments[i]))
            for (const auto& entry : fs::directory_iterator(arguments[i]))
                files.push_back(entry.path());
        else
            files.emplace_back(arguments[i]);
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) {
        std::fputs("no inputs\n", stderr);
        return 1;
    }
    LLVMFuzzerTestOneInput(nullptr, 0);
    for (const fs::path& file : files) {
        std::ifstream stream(file, std::ios::binary);
        if (!stream) {
            std::fprintf(stderr, "%s cannot be read\n", file.c_str());
            return 1;
        }
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        // The last line names the input of a crash.
        std::printf("%s\n", file.c_str());
        std::fflush(stdout);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return 0;
}
