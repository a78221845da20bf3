// config.ini of a run that is resumed: a file, or what rank 0 broadcasts of it. First byte 0: the
// rest is the text; otherwise changes of a real one.

#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "support.hpp"

using namespace sotto;

namespace {

TrainConfig read(const std::string& text) {
    static const auto groups = with_general(train_option_set().written());
    const ConfigText config{text, "config.ini"};
    require_kept_options(config);
    return read_train_config(parse_options(groups, {"--resume", "run"}, config));
}

/// Of a private training with what a configuration may hold.
const std::string& real_text() {
    static const std::string text = as_ini(
        read("data = a9a.gz\nmechanism = pairs\nepsilon = 3\nadjacency = record\nclip-norm = 0.5\n"
             "batch-size = 8\nagents = 3\ntopology = complete\nrounds = 100\nroster = all.roster\n"
             "identity = id-%r\nrecord-view = 0,2\nview = node:0;coalition:1,2\n"));
    return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Changes changes(data, size);
    const bool raw = changes.byte() == 0;
    const std::string text = raw ? std::string(fuzz::text_of(data, size).substr(size > 0 ? 1 : 0))
                                 : changes.apply(real_text());
    TrainConfig config;
    if (!fuzz::accepts([&] { config = read(text); })) return 0;
    // What the ranks compare, sign and keep says the same when it is read again.
    const std::string again = as_ini(config);
    const TrainConfig same = read(again);
    fuzz::require(as_ini(same) == again);
    fuzz::require(agreement_lines(same) == agreement_lines(config));
    fuzz::require(own_options(same) == own_options(config));
    return 0;
}
