// Epsilons of secretly sampled rounds for settings on standard input, lines "S q T delta": a line of
// JSON each.

#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

int main() {
    double noise = 0, probability = 0, delta = 0;
    long count = 0;
    while (std::cin >> noise >> probability >> count >> delta) {
        const auto begin = std::chrono::steady_clock::now();
        const sotto::SampledRounds rounds{noise, probability, count};
        sotto::Certified epsilon;
        try {
            epsilon = sotto::PrivacyLoss::sampled({&rounds, 1}).epsilon(delta);
        } catch (const sotto::Error& error) {
            fmt::print("{{\"error\": \"{}\"}}\n", error.what());
            continue;
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        fmt::print("{{\"upper\": {:.17g}, \"lower\": {:.17g}, \"seconds\": {:.6f}}}\n",
                   epsilon.upper,
                   epsilon.lower,
                   seconds.count());
    }
}
