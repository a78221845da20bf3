// The sum of masked shares: any words may arrive.

#include <cmath>
#include <cstring>

#include "sums/secure_sum.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint64_t> words(size / sizeof(std::uint64_t));
    if (words.empty()) return 0;
    std::memcpy(words.data(), data, words.size() * sizeof(std::uint64_t));
    std::vector<double> sum(words.size()), own(words.size(), 1.0), mixed(words.size());
    SecureSum::decode(words, sum);
    SecureSum::finish(words, 0.25, own, mixed);
    for (std::size_t i = 0; i < words.size(); ++i) {
        fuzz::require(std::isfinite(mixed[i]) && std::abs(sum[i]) <= 0x1p23);
        fuzz::require(mixed[i] == 0.25 + sum[i]);
    }
    return 0;
}
