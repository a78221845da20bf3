#include "planning/agreed_choice.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

std::string agree_on_choice(Network& network,
                            const OpenChoice& choice,
                            bool open,
                            const std::string& own) {
    constexpr std::size_t most_bytes = 64;
    const std::string said =
        network.broadcast(network.process() == 0 ? own : std::string(), most_bytes);
    network.agree([&] {
        if (!open) return;
        if (said.empty())
            throw NetworkError(fmt::format(
                "rank {} leaves {} of {} to rank 0, which says none; rank 0 must be started with "
                "the same options",
                network.process(),
                choice.what,
                choice.option));
        if (!own.empty() && own != said)
            throw NetworkError(fmt::format(
                "rank {} chose {} = {} for {}, rank 0 {}; start all ranks with the same options "
                "and files, or say {}",
                network.process(),
                choice.what,
                own,
                choice.option,
                said,
                choice.instead));
    });
    return open ? said : std::string();
}

}  // namespace sotto
