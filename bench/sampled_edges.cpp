// Epsilons of secretly sampled rounds for settings on standard input, lines "S q T delta", each as
// a line of JSON.

#include <fmt/format.h>

#include <ctime>
#include <iostream>

#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

int main() {
    double noise = 0, probability = 0, delta = 0;
    long count = 0;
    while (std::cin >> noise >> probability >> count >> delta) {
        const std::clock_t begin = std::clock();
        const sotto::SampledRounds rounds{noise, probability, count};
        sotto::Certified epsilon;
        try {
            epsilon = sotto::PrivacyLoss::sampled({&rounds, 1}).epsilon(delta);
        } catch (const sotto::Error& error) {
            fmt::print("{{\"error\": \"{}\"}}\n", error.what());
            continue;
        }
        const auto ticks = static_cast<double>(std::clock() - begin);
        fmt::print("{{\"upper\": {:.17g}, \"lower\": {:.17g}, \"seconds\": {:.6f}}}\n",
                   epsilon.upper,
                   epsilon.lower,
                   ticks / CLOCKS_PER_SEC);
    }
}
