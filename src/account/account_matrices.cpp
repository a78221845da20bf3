#include "account/account_matrices.hpp"

#include <cmath>

#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/views/agent_list.hpp"
#include "sotto/views/matrix_sensitivity.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

AccountResult account_matrices(const std::string& a_file,
                               const std::string& b_file,
                               int agents,
                               const std::string& targets_text,
                               double sensitivity,
                               const Participation& participation,
                               double delta) {
    const auto start = Clock::now();
    require_positive("--sensitivity", sensitivity);
    const Eigen::MatrixXd a = read_npy(a_file), b = read_npy(b_file);
    const auto targets =
        parse_agents_or_all("--targets", targets_text, Graph::from_edges(agents, {}));
    const auto squared =
        matrix_sensitivity(a, b, agents, targets, participation, ViewOptions{}.tight_gap);
    std::vector<PairFigure> pairs;
    for (std::size_t t = 0; t < targets.size(); ++t) {
        PairFigure& pair = pairs.emplace_back();
        pair.target = targets[t];
        pair.squared = squared[t];
        const double mu = sensitivity * std::sqrt(pair.squared.certified());
        pair.guarantee = guarantee_of(PrivacyLoss::gaussian(mu), delta);
        pair.eavesdropper.epsilon = not_a_number;
        pair.argument = argument_of({View::Kind::neighbours, {}}, true, false);
    }
    AccountResult result = account_of_pairs("matrices", std::move(pairs));
    result.eavesdropper.epsilon = not_a_number;
    result.seconds = seconds_since(start);
    return result;
}

}  // namespace sotto
