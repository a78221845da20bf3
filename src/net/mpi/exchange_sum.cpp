#include "net/mpi/exchange_sum.hpp"

#include <algorithm>

#include "net/exchange_checks.hpp"

namespace sotto {

void MpiExchangeSum::run(ExchangeId id,
                         Eigen::Index dimension,
                         const ShareSource& share,
                         const SumDelivery& deliver) {
    if (!numbered_) {
        const auto all = [](const LinkEnd&) { return true; };
        sent_.assign(links_.outgoing(), links_.destinations().size(), false, all);
        received_.assign(links_.incoming(), links_.sources().size(), false, all);
        numbered_ = true;
    }
    const Eigen::Index longest = piece_length(dimension, links_.most_links());
    longest_ = static_cast<std::size_t>(longest);
    pieces_.begin(id, longest, sent_.of_neighbours(), received_.of_neighbours(), true);
    if (sums_.size() < links_.local_agents() * longest_)
        sums_.resize(links_.local_agents() * longest_);
    if (own_.size() < longest_) own_.resize(longest_);
    for (Eigen::Index first = 0; first < dimension; first += longest) {
        const Eigen::Index count = std::min(longest, dimension - first);
        make_shares(share, first, count);
        pieces_.swap(first / longest, count);
        add_shares(share, first, count);
        for (std::size_t a = 0; a < links_.local_agents(); ++a) deliver(a, first, sum_of(a, count));
    }
    pieces_.count_sent(dimension, longest);
}

void MpiExchangeSum::make_shares(const ShareSource& share, Eigen::Index first, Eigen::Index count) {
    for (std::size_t e = 0; e < links_.outgoing().size(); ++e) {
        const LinkEnd& link = links_.outgoing()[e];
        const std::size_t message = sent_.of_links()[e];
        auto* const words = reinterpret_cast<std::uint64_t*>(pieces_.room(message, count));
        share(link.local,
              without_own(link.local, link.place),
              first,
              {words, static_cast<std::size_t>(count)});
        pieces_.put(message, words);
    }
}

void MpiExchangeSum::add_shares(const ShareSource& share, Eigen::Index first, Eigen::Index count) {
    const auto size = static_cast<std::size_t>(count);
    std::ranges::fill(sums_, 0);
    for (std::size_t e = 0; e < links_.incoming().size(); ++e) {
        const auto* const words = reinterpret_cast<const std::uint64_t*>(
            pieces_.received(received_.of_links()[e], count));
        add_words({words, size}, sum_of(links_.incoming()[e].local, count));
    }
    const std::span<std::uint64_t> words = std::span(own_).first(size);
    for (const InnerLink& link : links_.inner()) {
        if (link.sender == link.local) continue;
        share(link.sender, without_own(link.sender, link.place_of_receiver), first, words);
        add_words(words, sum_of(link.local, count));
    }
}

}  // namespace sotto
