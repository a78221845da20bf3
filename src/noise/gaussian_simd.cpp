// Highway includes this file again for each instruction-set level, from the include directory, and
// chooses the best level at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../src/noise/gaussian_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Only operations that IEEE 754 rounds exactly, in a fixed order and never fused: the bits of a
// normal must not depend on the machine.

using Reals = hn::ScalableTag<double>;
using Words = hn::RebindToUnsigned<Reals>;
using Real = hn::Vec<Reals>;
using Word = hn::Vec<Words>;

/// c[0] + x (c[1] + x (c[2] + ...)).
template <std::size_t N>
HWY_INLINE Real horner(Real x, const double (&c)[N]) {
    const Reals d;
    Real sum = hn::Set(d, c[N - 1]);
    for (std::size_t i = N - 1; i-- > 0;) sum = hn::Add(hn::Mul(sum, x), hn::Set(d, c[i]));
    return sum;
}

/// -2 log(u) for 2^-1022 <= u <= 1. With u = 2^k m, sqrt(1/2) <= m < sqrt(2) and s = (m-1)/(m+1):
/// log m = 2 atanh(s) = 2 (s + s^3/3 + ...), |s| <= 0.1716; relative truncation error below 3e-17.
HWY_INLINE Real minus_two_log(Real u) {
    static constexpr double series[] = {-4.0,
                                        -4.0 / 3,
                                        -4.0 / 5,
                                        -4.0 / 7,
                                        -4.0 / 9,
                                        -4.0 / 11,
                                        -4.0 / 13,
                                        -4.0 / 15,
                                        -4.0 / 17,
                                        -4.0 / 19};
    constexpr std::uint64_t one_bits = 0x3FF0000000000000;
    constexpr std::uint64_t sqrt_half_bits = 0x3FE6A09E667F3BCD;
    constexpr std::uint64_t mantissa_mask = 0x000FFFFFFFFFFFFF;
    // An integer in the low bits of 2^52, read as a double, is 2^52 plus that integer.
    constexpr std::uint64_t two_to_52_bits = 0x4330000000000000;
    constexpr double two_to_52 = 4503599627370496.0;
    constexpr double exponent_bias = 1023;
    constexpr double minus_two_log_2 = -1.3862943611198906;

    const Reals d;
    const Words w;
    // Shifted so that the exponent field changes at sqrt(1/2) rather than at 1.
    const Word shifted = hn::Add(hn::BitCast(w, u), hn::Set(w, one_bits - sqrt_half_bits));
    const Word biased = hn::Or(hn::ShiftRight<52>(shifted), hn::Set(w, two_to_52_bits));
    const Real k = hn::Sub(hn::BitCast(d, biased), hn::Set(d, two_to_52 + exponent_bias));
    const Word m_bits =
        hn::Add(hn::And(shifted, hn::Set(w, mantissa_mask)), hn::Set(w, sqrt_half_bits));
    const Real m = hn::BitCast(d, m_bits);
    const Real one = hn::Set(d, 1.0);
    const Real s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
    const Real minus_two_log_m = hn::Mul(s, horner(hn::Mul(s, s), series));
    return hn::Add(hn::Mul(k, hn::Set(d, minus_two_log_2)), minus_two_log_m);
}

/// Sine and cosine of 2 pi (v - 1) for 1 <= v < 2. 4v = q + t with integer q and |t| <= 1/2,
/// exactly; then Taylor series of x = t pi/2, |x| <= pi/4; truncation error below 6e-17.
HWY_INLINE void sincos_turns(Real v, Real& sine, Real& cosine) {
    static constexpr double sine_series[] = {1.0,
                                             -1.0 / 6,
                                             1.0 / 120,
                                             -1.0 / 5040,
                                             1.0 / 362880,
                                             -1.0 / 39916800,
                                             1.0 / 6227020800.0,
                                             -1.0 / 1307674368000.0};
    static constexpr double cosine_series[] = {1.0,
                                               -1.0 / 2,
                                               1.0 / 24,
                                               -1.0 / 720,
                                               1.0 / 40320,
                                               -1.0 / 3628800,
                                               1.0 / 479001600,
                                               -1.0 / 87178291200.0,
                                               1.0 / 20922789888000.0};
    // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
    constexpr double rounder = 6755399441055744.0;
    constexpr double half_pi = 1.5707963267948966;

    const Reals d;
    const Words w;
    const Real quarters = hn::Mul(v, hn::Set(d, 4.0));
    const Real rounded = hn::Add(quarters, hn::Set(d, rounder));
    const Real t = hn::Sub(quarters, hn::Sub(rounded, hn::Set(d, rounder)));
    const Real x = hn::Mul(t, hn::Set(d, half_pi));
    const Real x2 = hn::Mul(x, x);
    const Word s = hn::BitCast(w, hn::Mul(x, horner(x2, sine_series)));
    const Word c = hn::BitCast(w, horner(x2, cosine_series));

    // Rotate by q quarter turns: odd q swaps the two; bit 1 of q (of q + 1) negates the sine
    // (cosine).
    const Word q = hn::BitCast(w, rounded);
    const Word one = hn::Set(w, 1);
    const Word odd = hn::Sub(hn::Zero(w), hn::And(q, one));
    const Word swap = hn::And(hn::Xor(s, c), odd);
    const Word sign = hn::Set(w, std::uint64_t{1} << 63);
    sine = hn::BitCast(d, hn::Xor(hn::Xor(s, swap), hn::And(hn::ShiftLeft<62>(q), sign)));
    cosine = hn::BitCast(
        d, hn::Xor(hn::Xor(c, swap), hn::And(hn::ShiftLeft<62>(hn::Add(q, one)), sign)));
}

/// radius(u) times cosine and sine of the angle of `second`.
HWY_INLINE void pair_of(Real u, Word second, Real& cosine, Real& sine) {
    const Reals d;
    const Words w;
    const Word exponent_of_one = hn::Set(w, 0x3FF0000000000000);
    const Real radius = hn::Sqrt(minus_two_log(u));
    Real unit_sine, unit_cosine;
    sincos_turns(hn::BitCast(d, hn::Or(hn::ShiftRight<12>(second), exponent_of_one)),
                 unit_sine,
                 unit_cosine);
    cosine = hn::Mul(radius, unit_cosine);
    sine = hn::Mul(radius, unit_sine);
}

/// 1 - N 2^-76, N made of all bits of `first` and the low 12 of `second`, rounded to nearest; exact
/// below 2^-23.
HWY_INLINE Real uniform_of(Word first, Word second) {
    // 52 bits make a double in [1, 2).
    constexpr std::uint64_t one_bits = 0x3FF0000000000000;
    // Units of 2^-76 in the last place of 2^-24.
    constexpr std::uint64_t two_to_minus_24_bits = 0x3E70000000000000;
    constexpr double two_to_minus_24 = 0x1p-24;
    const Reals d;
    const Words w;
    const Word low_bits = hn::Set(w, 0xFFF);
    const Word high = hn::Or(hn::ShiftRight<12>(first), hn::Set(w, one_bits));
    const Word low = hn::Or(hn::ShiftLeft<12>(hn::And(first, low_bits)),
                            hn::Or(hn::And(second, low_bits), hn::Set(w, two_to_minus_24_bits)));
    const Real coarse = hn::Sub(hn::Set(d, 2.0), hn::BitCast(d, high));
    return hn::Sub(coarse, hn::Sub(hn::BitCast(d, low), hn::Set(d, two_to_minus_24)));
}

bool transform_blocks(const std::uint64_t* words, double* out, std::size_t blocks) {
    constexpr std::size_t block = 64;
    constexpr std::size_t half = block / 2;
    const Reals d;
    const Words w;
    // Positive doubles are ordered as their bits: the sign of the difference tells whether u <=
    // 2^-32.
    const Word above_tail = hn::Set(w, 0x3DF0000000000001);
    Word signs = hn::Zero(w);
    for (std::size_t b = 0; b < blocks; ++b) {
        for (std::size_t i = 0; i < half; i += hn::Lanes(d)) {
            const std::size_t at = b * block + i;
            const Word second = hn::LoadU(w, words + at + half);
            const Real u = uniform_of(hn::LoadU(w, words + at), second);
            signs = hn::Or(signs, hn::Sub(hn::BitCast(w, u), above_tail));
            Real cosine, sine;
            pair_of(u, second, cosine, sine);
            hn::StoreU(cosine, d, out + at);
            hn::StoreU(sine, d, out + at + half);
        }
    }
    return !hn::AllTrue(w, hn::Eq(hn::ShiftRight<63>(signs), hn::Zero(w)));
}

void transform_pair(double uniform, std::uint64_t second, double* cosine, double* sine) {
    const Reals d;
    const Words w;
    Real c, s;
    pair_of(hn::Set(d, uniform), hn::Set(w, second), c, s);
    *cosine = hn::GetLane(c);
    *sine = hn::GetLane(s);
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include "noise/gaussian_simd.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

static_assert(normal_block == 64);

HWY_EXPORT(transform_blocks);
HWY_EXPORT(transform_pair);

bool normals_from_bits(std::span<const std::uint64_t> words, std::span<double> out) {
    if (words.size() % normal_block != 0 || words.size() != out.size())
        throw Error(ExitCode::other,
                    fmt::format("{} words for {} normals: both must be the same multiple of {}",
                                words.size(),
                                out.size(),
                                normal_block));
    return HWY_DYNAMIC_DISPATCH(transform_blocks)(
        words.data(), out.data(), words.size() / normal_block);
}

bool in_tail(std::uint64_t first) { return first >> 32 == 0xFFFFFFFF; }

void refine_tail(std::span<const std::uint64_t> words,
                 std::span<const std::uint64_t> more,
                 std::span<double> out) {
    if (words.size() != normal_block || out.size() != normal_block ||
        more.size() != more_words_per_block)
        throw Error(ExitCode::other,
                    fmt::format("{} words, {} more and {} normals: a block has {}, {} and {}",
                                words.size(),
                                more.size(),
                                out.size(),
                                normal_block,
                                more_words_per_block,
                                normal_block));
    constexpr std::size_t half = normal_block / 2;
    constexpr std::size_t words_per_pair = more_words_per_block / half;
    for (std::size_t i = 0; i < half; ++i) {
        if (!in_tail(words[i])) continue;
        const std::uint64_t second = words[i + half];
        // N of uniform_of is 2^76 - 2^44 and these 44 bits.
        const std::uint64_t bits = (words[i] & 0xFFFFFFFF) << 12 | (second & 0xFFF);
        const std::uint64_t below = 0xFFFFFFFFFFF - bits;
        double part = 1;
        double unit = 1;
        for (const std::uint64_t word : more.subspan(i * words_per_pair, words_per_pair)) {
            unit *= 0x1p-52;
            part -= static_cast<double>(word >> 12) * unit;
        }
        const double uniform = (static_cast<double>(below) + part) * 0x1p-76;
        HWY_DYNAMIC_DISPATCH(transform_pair)(uniform, second, &out[i], &out[i + half]);
    }
}

namespace {

/// Read before a level is forced, since forcing changes what Highway reports as supported.
const std::vector<std::int64_t>& runnable_targets() {
    static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
    return targets;
}

}  // namespace

std::vector<std::string> simd_levels() {
    std::vector<std::string> names;
    for (const std::int64_t target : runnable_targets())
        names.emplace_back(hwy::TargetName(target));
    return names;
}

void force_simd_level(const std::string& level) {
    std::int64_t chosen = 0;
    for (const std::int64_t target : runnable_targets())
        if (level == hwy::TargetName(target)) chosen = target;
    if (chosen == 0 && !level.empty()) throw unknown_name_error("SIMD level", level, simd_levels());
    // Zero ends the forcing.
    hwy::SetSupportedTargetsForTest(chosen);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace sotto
#endif
