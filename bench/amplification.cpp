// Time of epsilons and noise multipliers of secretly sampled rounds, and of the Fourier transforms
// in them, as JSON.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "core/fourier.hpp"
#include "privacy/noise_multiplier.hpp"
#include "setup.hpp"
#ifdef SOTTO_HAVE_FFTW
#include <fftw3.h>
#endif

namespace sotto::bench {
namespace {

using Json = nlohmann::ordered_json;

template <class Work>
double milliseconds(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

const std::vector<SampledRounds> cases{
    {0.8, 0.01, 5000}, {26.564, 0.1, 5000}, {1.9, 0.05, 5000}, {1, 0.001, 1'000'000}};

Json epsilons(int repetitions) {
    Json all = Json::array();
    for (const SampledRounds& one : cases) {
        Json row{{"noise_multiplier", one.noise_multiplier},
                 {"sampling_probability", one.sampling_probability},
                 {"rounds", one.count},
                 {"delta", 1e-5}};
        std::vector<double> epsilon_ms, noise_ms;
        for (int i = 0; i < repetitions; ++i) {
            // Answers are kept: each time another question, a billionth away.
            const double near = 1 + 1e-9 * (i + 1);
            SampledRounds asked = one;
            asked.noise_multiplier *= near;
            Certified epsilon;
            epsilon_ms.push_back(milliseconds([&] {
                epsilon = PrivacyLoss::sampled({&asked, 1}).epsilon(1e-5);
            }));
            row["epsilon"] = epsilon.upper;
            row["epsilon_lower"] = epsilon.lower;
            const SampledPhase phase{one.sampling_probability, one.count};
            noise_ms.push_back(milliseconds([&] {
                row["noise_multiplier_found"] =
                    noise_multiplier_for(epsilon.upper * near, 1e-5, {&phase, 1});
            }));
        }
        row["epsilon_ms"] = epsilon_ms;
        row["noise_multiplier_ms"] = noise_ms;
        all.push_back(row);
    }
    return all;
}

/// What a ledger asks for: epsilon after every round of so many.
Json epsilon_so_far(long rounds) {
    const double spent = milliseconds([&] {
        for (long t = 1; t <= rounds; ++t) {
            const SampledRounds first{1.3, 0.02, t};
            (void)PrivacyLoss::sampled({&first, 1}).epsilon(1e-5);
        }
    });
    return {{"rounds", rounds}, {"ms_a_round", spent / static_cast<double>(rounds)}};
}

#ifdef SOTTO_HAVE_FFTW
double fftw_ms(std::vector<double> values) {
    const int n = static_cast<int>(values.size());
    Spectrum spectrum(values.size() / 2 + 1);
    auto* out = reinterpret_cast<fftw_complex*>(spectrum.data());
    fftw_plan forth = fftw_plan_dft_r2c_1d(n, values.data(), out, FFTW_ESTIMATE);
    fftw_plan back = fftw_plan_dft_c2r_1d(n, out, values.data(), FFTW_ESTIMATE);
    fftw_execute(forth);
    fftw_execute(back);
    const double spent = milliseconds([&] {
        fftw_execute(forth);
        fftw_execute(back);
    });
    fftw_destroy_plan(forth);
    fftw_destroy_plan(back);
    return spent;
}
#endif

/// There and back, the second time: tables of sines are kept.
Json transforms(int repetitions) {
    Json all = Json::array();
    for (const std::size_t length : {4096U, 30720U, 131072U, 1048576U}) {
        std::mt19937 bits(1);
        std::vector<double> values(length);
        for (double& x : values) x = std::ldexp(static_cast<double>(bits()), -32);
        (void)from_real_spectrum(real_spectrum(values));
        std::vector<double> eigen, fftw;
        for (int i = 0; i < repetitions; ++i) {
            eigen.push_back(milliseconds([&] { (void)from_real_spectrum(real_spectrum(values)); }));
#ifdef SOTTO_HAVE_FFTW
            fftw.push_back(fftw_ms(values));
#endif
        }
        all.push_back({{"length", length}, {"eigen_ms", eigen}, {"fftw_ms", fftw}});
    }
    return all;
}

}  // namespace
}  // namespace sotto::bench

int main() {
    const int repetitions = sotto::bench::quick() ? 2 : 9;
    nlohmann::ordered_json json;
    json["rows"] = sotto::bench::epsilons(repetitions);
    json["so_far"] = sotto::bench::epsilon_so_far(sotto::bench::quick() ? 50 : 1000);
    json["transforms"] = sotto::bench::transforms(repetitions);
    fmt::print("{}\n", json.dump());
}
