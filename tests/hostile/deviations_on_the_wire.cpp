#include <algorithm>
#include <fstream>
#include <memory>

#include "hostile/deviations.hpp"

namespace sotto::test {

namespace {

constexpr int deviant_exchange = 5;

Deviation in_exchange(const std::string& name, const std::function<void(SentPieces&)>& change) {
    return {.name = name, .sealed = [change](SentPieces& sent) {
                if (sent.number == deviant_exchange) change(sent);
            }};
}

}  // namespace

std::vector<Deviation> deviations_on_the_wire() {
    return {
        in_exchange("sends_other_bytes",
                    [](SentPieces& sent) { std::ranges::fill(sent.bytes, std::uint8_t{0xa5}); }),
        in_exchange("swaps_neighbours",
                    [](SentPieces& sent) {
                        std::ranges::rotate(
                            sent.bytes,
                            sent.bytes.begin() + static_cast<std::ptrdiff_t>(sent.piece));
                    }),
        in_exchange("sends_less", [](SentPieces& sent) { sent.extra = -8; }),
        in_exchange("sends_nothing",
                    [](SentPieces& sent) { sent.extra = -static_cast<int>(sent.piece); }),
        in_exchange("sends_more", [](SentPieces& sent) { sent.extra = 8; }),
        // Deviates in nothing.
        {.name = "keeps_a_log",
         .sealed =
             [log = std::make_shared<std::ofstream>()](SentPieces& sent) {
                 if (!log->is_open()) log->open("exchanges.log");
                 *log << sent.number << ": " << sent.piece << " of " << sent.bytes.size()
                      << std::endl;
             }},
        {.name = "replays_an_earlier_round",
         .sealed =
             [earlier = std::vector<std::uint8_t>()](SentPieces& sent) mutable {
                 if (sent.number == deviant_exchange)
                     sent.bytes = earlier;
                 else
                     earlier = sent.bytes;
             }},
    };
}

}  // namespace sotto::test
