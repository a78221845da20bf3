#pragma once

#include <fmt/format.h>

#include <fstream>
#include <ostream>

#include "program.hpp"

namespace sotto::test {

/// A command line that must be refused with one readable line. In its arguments and in `mentions`,
/// {dir} is the test's folder and {n} the number of agents.
struct BadInput {
    std::string name;
    int exit_code;
    Arguments arguments;  ///< command first
    std::vector<std::string> mentions;
    enum class Ranks {
        one,          ///< at one of 1, 3, 5 ranks, in turn
        every,        ///< at all of them: one case for every place that finds errors
        several,      ///< at 3 or 5: one agent does not show it
        none,         ///< checked in the same place as a neighbour: without mpirun only
        only_several  ///< cannot happen in one process
    } ranks = Ranks::one;
};

inline std::ostream& operator<<(std::ostream& stream, const BadInput& bad) {
    return stream << bad.name;
}

inline std::vector<BadInput> bad_inputs() {
    using R = BadInput::Ranks;
    return {
        // Names.
        {"misspelt_option",
         2,
         {"train", "--epsilonn", "3"},
         {"'--epsilonn'", "did you mean '--epsilon'"},
         R::every},
        {"misspelt_option_with_equals",
         2,
         {"train", "--mecanism=corn"},
         {"'--mecanism'", "did you mean '--mechanism'"},
         R::none},
        {"more_hosts_than_ranks",
         2,
         {"train",
          "--task",
          "quadratic",
          "--data",
          "synthetic",
          "--rounds",
          "3",
          "--dry-run",
          "--network",
          "1ms:1Mbit:99"},
         {"--network, hosts: 99 is not allowed"},
         R::every},
        {"network_without_a_dry_run",
         2,
         {"train", "--task", "quadratic", "--network", "1ms:1Mbit"},
         {"--network: --dry-run is needed too"},
         R::none},
        {"rounded_secure_sums",
         2,
         {"train",
          "--task",
          "quadratic",
          "--data",
          "synthetic",
          "--precision",
          "float32",
          "--secure-sum",
          "on"},
         {"precision: float32 is not possible with --secure-sum on"},
         R::every},
        {"misspelt_key_of_a_config_file",
         2,
         {"train", "--config", "{dir}/misspelt.ini"},
         {"{dir}/misspelt.ini", "'epsilom'", "did you mean 'epsilon'"}},
        {"config_file_is_garbage",
         2,
         {"train", "--config", "{dir}/garbage"},
         {"{dir}/garbage", "invalid line"},
         R::none},
        {"missing_config_file",
         3,
         {"train", "--config", "{dir}/none.ini"},
         {"{dir}/none.ini", "No such file"},
         R::none},
        {"key_twice_in_a_config_file",
         2,
         {"train", "--config", "{dir}/twice.ini"},
         {"{dir}/twice.ini", "epsilon"},
         R::none},
        {"value_that_a_config_file_cannot_keep",
         2,
         {"train", "--data", "{dir}/a#b.svm"},
         {"--data", "a#b.svm", "config.ini"},
         R::none},
        {"stray_word", 2, {"train", "corn"}, {"'corn'", "start with --"}, R::none},
        {"option_without_value", 2, {"train", "--epsilon"}, {"--epsilon"}, R::none},
        {"option_twice", 2, {"train", "--delta", "1e-5", "--delta", "1e-6"}, {"--delta"}, R::none},
        {"misspelt_command", 2, {"trian"}, {"'trian'", "did you mean 'train'"}},
        {"unknown_mechanism",
         2,
         {"train", "--mechanism", "cron"},
         {"--mechanism", "'cron'", "did you mean 'corn'", "decor"}},
        {"unknown_topology",
         2,
         {"train", "--topology", "rnig"},
         {"--topology", "'rnig'", "did you mean 'ring'", "torus"}},
        {"unknown_mixing",
         2,
         {"train", "--mixing", "metropols"},
         {"mixing", "'metropols'", "did you mean 'metropolis'", "no such file"}},
        {"unknown_utility",
         2,
         {"train", "--utility", "trajektory"},
         {"--utility", "'trajektory'", "did you mean 'trajectory'", "one-step"}},
        {"unknown_temporal_factor",
         2,
         {"train", "--mechanism", "mafalda", "--temporal", "band:3"},
         {"--temporal", "'band:3'", "banded:B", "one-lag", "auto"},
         R::none},
        {"temporal_factor_of_a_mechanism_without",
         2,
         {"train", "--mechanism", "pairs", "--temporal", "one-lag"},
         {"temporal", "pairs", "mafalda", "space-time"},
         R::none},
        {"unknown_calibration",
         2,
         {"train", "--calibration", "exakt"},
         {"--calibration", "'exakt'", "did you mean 'exact'", "rdp"}},
        {"unknown_partition",
         2,
         {"train", "--partition", "idd"},
         {"--partition", "'idd'", "did you mean 'iid'", "dirichlet:ALPHA"}},
        {"unknown_adjacency",
         2,
         {"train", "--adjacency", "recrod"},
         {"--adjacency", "'recrod'", "did you mean 'record'"},
         R::none},
        {"unknown_participation",
         2,
         {"train", "--participation", "evry"},
         {"--participation", "'evry'", "did you mean 'every'"},
         R::none},
        {"batch_of_all_records_without_data",
         2,
         {"plan", "--batch-size", "all", "--adjacency", "record"},
         {"batch-size", "'all'", "records"},
         R::none},
        {"batch_size_misspelt",
         2,
         {"train", "--batch-size", "al"},
         {"--batch-size", "'al'", "did you mean 'all'"}},
        {"growing_contributions",
         2,
         {"train", "--mechanism", "zip-dl", "--step-size", "1", "--l2", "2.5"},
         {"l2", "2.5", "zip-dl", "allowed: up to 2"}},
        {"several_gossip_steps_with_noise_on_messages",
         2,
         {"train", "--mechanism", "homomorphic", "--gossip-steps", "2"},
         {"gossip-steps", "2", "homomorphic", "allowed: 1"},
         R::none},
        {"averaging_with_another_l2",
         2,
         {"train", "--task", "averaging", "--l2", "2"},
         {"l2", "2", "allowed: 1"}},
        {"protection_from_partial_views_in_a_training",
         2,
         {"train", "--protect-against", "node:1"},
         {"protect-against", "node:1", "gradients depend on messages", "allowed: eavesdropper"}},
        {"protection_from_too_many_groups",
         2,
         {"train",
          "--task",
          "averaging",
          "--mechanism",
          "ldp",
          "--secure-sum",
          "on",
          "--protect-against",
          "secure-sum:9"},
         {"protect-against", "secure-sum:9"}},
        {"unknown_observers",
         2,
         {"train", "--task", "averaging", "--protect-against", "nodes:1"},
         {"protect-against", "'nodes:1'", "secure-sum:q"}},
        {"unknown_task",
         2,
         {"train", "--task", "logistik"},
         {"task", "'logistik'", "did you mean 'logistic'"}},
        {"value_of_two_lines", 2, {"train", "--mechanism", "co\nrn"}, {"co\\nrn", "allowed"}},

        // Values.
        {"denormal_clip_norm",
         2,
         {"train", "--clip-norm", "1e-320"},
         {"--clip-norm", "1e-320", "too near to 0"}},
        {"tiny_clip_norm", 2, {"train", "--clip-norm", "1e-200"}, {"--clip-norm", "1e-100"}},
        {"data_of_a_task_without",
         2,
         {"train", "--task", "quadratic", "--data", "/nonexistent"},
         {"data: /nonexistent is given, but task 'quadratic'"}},
        {"epsilon_0", 2, {"train", "--epsilon", "0"}, {"--epsilon", "0", "above 0"}, R::every},
        {"epsilon_nan", 2, {"train", "--epsilon", "nan"}, {"--epsilon", "nan", "finite number"}},
        {"epsilon_negative", 2, {"train", "--epsilon", "-1"}, {"--epsilon", "-1"}, R::none},
        {"epsilon_word", 2, {"train", "--epsilon", "abc"}, {"--epsilon", "abc"}, R::none},
        {"delta_0", 2, {"train", "--delta", "0"}, {"--delta", "0", "between 0 and 1"}, R::none},
        {"delta_1", 2, {"train", "--delta", "1"}, {"--delta", "1", "between 0 and 1"}},
        {"delta_2", 2, {"train", "--delta", "2"}, {"--delta", "2"}, R::none},
        {"delta_nan", 2, {"train", "--delta", "nan"}, {"--delta", "nan"}, R::none},
        {"clip_norm_negative", 2, {"train", "--clip-norm", "-1"}, {"--clip-norm", "-1"}},
        {"clip_norm_0", 2, {"train", "--clip-norm", "0"}, {"--clip-norm", "0"}, R::none},
        {"batch_size_0",
         2,
         {"train", "--batch-size", "0"},
         {"--batch-size", "0", "a whole number from 1"}},
        {"rounds_0", 2, {"train", "--rounds", "0"}, {"--rounds", "0", "at least 1"}},
        {"step_size_0", 2, {"train", "--step-size", "0"}, {"step-size", "0", "1e-100"}},
        {"step_size_negative", 2, {"train", "--step-size", "-1"}, {"step-size", "-1"}, R::none},
        {"step_size_nan", 2, {"train", "--step-size", "nan"}, {"step-size", "nan"}, R::none},
        {"test_fraction_0", 2, {"train", "--test-fraction", "0"}, {"test-fraction", "0"}},
        {"test_fraction_1", 2, {"train", "--test-fraction", "1"}, {"test-fraction", "1"}, R::none},
        {"l2_negative", 2, {"train", "--l2", "-1"}, {"l2", "-1"}, R::none},
        {"horizon_0", 2, {"train", "--utility", "horizon:0"}, {"--utility", "0"}, R::none},
        {"threads_beyond_32_bits", 2, {"train", "--threads", "4294967297"}, {"--threads"}, R::none},
        {"agents_0", 2, {"graph", "--agents", "0"}, {"--agents", "0", "at least 1"}},
        {"agents_beyond_32_bits",
         2,
         {"graph", "--agents", "4294967297"},
         {"--agents", "100000"},
         R::none},
        {"edge_probability_0",
         2,
         {"graph", "--edge-probability", "0"},
         {"edge probability", "0"},
         R::none},
        {"json_in_a_missing_folder",
         2,
         {"train", "--rounds", "1000000", "--json", "{dir}/none/run.json"},
         {"{dir}/none/run.json", "No such file"}},
        {"ranks_differ_from_agents",
         2,
         {"train", "--agents", "1"},
         {"--agents: 1", "{n} MPI rank"},
         R::only_several},

        {"link_encryption_maybe",
         2,
         {"train", "--link-encryption", "maybe"},
         {"--link-encryption", "'maybe'", "allowed: on"}},
        {"secure_sum_onn",
         2,
         {"train", "--secure-sum", "onn"},
         {"--secure-sum", "'onn'", "did you mean 'on'"},
         R::none},
        {"secure_sum_of_a_trusted_mean",
         2,
         {"train", "--secure-sum", "on", "--mechanism", "cdp"},
         {"secure-sum", "cdp", "trusted aggregator"}},
        {"local_steps_of_gossip",
         2,
         {"train", "--local-steps", "3"},
         {"local-steps", "3", "mechanism pairs", "dp-fedavg"}},
        {"sampled_agents_that_are_replaced",
         2,
         {"train", "--mechanism", "dp-fedavg", "--client-probability", "0.5"},
         {"client-probability", "0.5", "adjacency agent", "agent-zero-out"}},
        {"mask_partners_0",
         2,
         {"train", "--mask-partners", "0"},
         {"--mask-partners", "0", "at least 1"},
         R::none},
        {"record_view_of_nobody",
         2,
         {"train", "--record-view", "0,{n}"},
         {"record-view", "{n}", "allowed"}},
        {"record_view_of_a_word",
         2,
         {"train", "--record-view", "0,x"},
         {"--record-view", "x"},
         R::none},
        {"record_view_twice",
         2,
         {"train", "--record-view", "0,0"},
         {"--record-view", "0", "twice"},
         R::none},
        {"record_view_of_a_misspelt_eavesdropper",
         2,
         {"train", "--record-view", "eavesdroper"},
         {"--record-view", "'eavesdroper'", "nor 'eavesdropper'"},
         R::none},
        {"record_view_of_two_eavesdroppers",
         2,
         {"train", "--record-view", "eavesdropper,0,eavesdropper"},
         {"--record-view", "eavesdropper", "twice"},
         R::none},
        {"record_view_of_nothing",
         2,
         {"train", "--record-view", ","},
         {"--record-view", "''", "eavesdropper"},
         R::none},
        {"eavesdropper_of_a_trusted_mean",
         2,
         {"train", "--record-view", "0,eavesdropper", "--mechanism", "cdp"},
         {"record-view", "eavesdropper", "cdp", "allowed: agents"},
         R::several},

        // Coalitions.
        {"corn_against_colluders",
         2,
         {"train", "--mechanism", "corn", "--coalition-size", "1"},
         {"coalition-size", "1", "corn", "pairs"},
         R::several},
        {"more_colluders_than_others",
         2,
         {"train", "--coalition-size", "{n}"},
         {"coalition-size", "{n}", "is not allowed"}},
        {"colluders_negative", 2, {"plan", "--coalition-size", "-1"}, {"--coalition-size", "-1"}},
        {"unknown_seed_groups",
         2,
         {"train", "--seed-groups", "edgs"},
         {"seed-groups", "'edgs'", "did you mean 'edges'"}},
        {"seed_groups_with_nobody_nearest",
         2,
         {"train", "--seed-groups", "nearest:0"},
         {"seed-groups", "nearest:K", "1"}},
        {"seed_groups_whose_nearest_are_no_number",
         2,
         {"plan", "--seed-groups", "nearest:99999999999999999999"},
         {"seed-groups"}},
        {"plan_gap_of_nothing", 2, {"plan", "--plan-gap", "0"}, {"plan-gap", "0", "1e-09"}},
        {"seed_groups_for_ldp",
         2,
         {"plan", "--mechanism", "ldp", "--seed-groups", "edges"},
         {"seed-groups", "ldp", "decor"},
         R::none},

        // Identities.
        {"roster_without_identity",
         2,
         {"train", "--roster", "{dir}/open.id"},
         {"--roster", "--identity"}},
        {"identity_without_roster",
         2,
         {"train", "--identity", "{dir}/open.id"},
         {"--identity", "--roster"},
         R::none},
        {"identity_that_others_can_read",
         2,
         {"train", "--roster", "{dir}/empty", "--identity", "{dir}/open.id"},
         {"{dir}/open.id", "chmod 600"},
         R::every},
        {"missing_identity",
         3,
         {"train", "--roster", "{dir}/empty", "--identity", "{dir}/none%r.id"},
         {"{dir}/none0.id", "No such file"}},
        {"missing_roster",
         3,
         {"train", "--roster", "{dir}/none", "--identity", "{dir}/open.id"},
         {"{dir}/none", "No such file"}},
        {"roster_is_garbage",
         3,
         {"train", "--roster", "{dir}/garbage", "--identity", "{dir}/open.id"},
         {"{dir}/garbage:1"}},
        {"unknown_bootstrap",
         2,
         {"train", "--bootstrap", "centrl"},
         {"--bootstrap", "'centrl'", "did you mean 'central'"},
         R::none},

        // Data.
        {"missing_data",
         3,
         {"train", "--data", "{dir}/none.svm"},
         {"{dir}/none.svm", "No such file"},
         R::every},
        {"missing_test_data",
         3,
         {"train", "--test-data", "{dir}/none.svm"},
         {"{dir}/none.svm", "No such file"}},
        {"test_data_of_another_dimension",
         3,
         {"train", "--test-data", "{dir}/wide.svm"},
         {"{dir}/wide.svm", "7 features", "3"}},
        {"data_with_nan",
         3,
         {"train", "--data", "{dir}/nan.svm"},
         {"{dir}/nan.svm", "line 2", "nan", "finite"}},
        {"data_is_garbage", 3, {"train", "--data", "{dir}/garbage"}, {"{dir}/garbage", "byte"}},
        {"data_is_empty", 3, {"train", "--data", "{dir}/empty"}, {"{dir}/empty", "no records"}},
        {"data_is_a_folder", 3, {"train", "--data", "{dir}"}, {"{dir}"}, R::none},
        {"fewer_records_than_agents",
         3,
         {"train", "--data", "{dir}/few.svm"},
         {"2 records", "{n} agents"},
         R::several},
        {"missing_own_file_of_one_agent",
         3,
         {"train", "--data", "{dir}/own%r.svm"},
         {"{dir}/own2.svm", "No such file"},
         R::several},

        // Graph and mixing matrix.
        {"missing_edge_list",
         3,
         {"train", "--graph", "{dir}/none.edges"},
         {"{dir}/none.edges", "No such file"},
         R::every},
        {"edge_list_is_garbage", 3, {"train", "--graph", "{dir}/garbage"}, {"{dir}/garbage"}},
        {"edge_list_for_other_agents",
         2,
         {"train", "--graph", "{dir}/four.edges"},
         {"{dir}/four.edges", "4", "{n} MPI ranks"},
         R::only_several},
        {"erdos_renyi_never_connected",
         2,
         {"train", "--edge-probability", "1e-4"},
         {"edge probability", "0.0001", "connected"},
         R::several},
        {"geometric_never_connected",
         2,
         {"train", "--topology", "geometric", "--radius", "1e-4"},
         {"radius", "0.0001", "connected"},
         R::several},
        {"hypercube_of_no_power_of_two",
         2,
         {"train", "--topology", "hypercube"},
         {"agents", "{n}", "power of two"},
         R::several},
        {"mixing_file_of_wrong_size",
         3,
         {"train", "--topology", "complete", "--mixing", "{dir}/four.mixing"},
         {"{dir}/four.mixing", "4", "{n}"},
         R::every},
        {"mixing_file_with_wrong_row_sums",
         3,
         {"train", "--topology", "complete", "--mixing", "{dir}/sums.mixing"},
         {"{dir}/sums.mixing", "row", "1"}},
        {"mixing_file_with_nan",
         3,
         {"train", "--topology", "complete", "--mixing", "{dir}/nan.mixing"},
         {"{dir}/nan.mixing", "nan"}},

        // Plan and privacy.
        {"plan_file_for_other_agents",
         2,
         {"train", "--plan", "{dir}/four.plan"},
         {"{dir}/four.plan", "4", "{n}"}},
        {"plan_file_is_garbage", 3, {"train", "--plan", "{dir}/garbage"}, {"{dir}/garbage"}},
        {"plan_file_is_missing", 3, {"train", "--plan", "{dir}/none"}, {"{dir}/none"}, R::none},
        {"plan_misses_a_smaller_budget",
         4,
         {"train", "--plan", "{dir}/epsilon10.plan", "--epsilon", "1"},
         {"plan", "epsilon", "1"},
         R::every},
        {"plan_misses_more_rounds",
         4,
         {"train", "--plan", "{dir}/epsilon10.plan", "--rounds", "6"},
         {"plan", "epsilon", "10"},
         R::none},
        {"paper_calibration_where_it_is_wrong",
         2,
         {"train", "--calibration", "paper", "--epsilon", "40", "--delta", "1e-5"},
         {"calibration", "paper", "40", "1e-05"},
         R::every},
        {"record_adjacency_without_records",
         2,
         {"train", "--task", "quadratic", "--data", "synthetic", "--adjacency", "record"},
         {"adjacency", "record", "quadratic"}},
        {"cyclic_participation_of_whole_agents",
         2,
         {"train", "--participation", "cyclic:4"},
         {"participation", "cyclic", "record"}},
        {"batch_beyond_an_agents_records",
         2,
         {"train", "--adjacency", "record", "--batch-size", "1000"},
         {"batch-size", "1000", "records"}},
        {"budgets_for_other_agents",
         3,
         {"train", "--budgets", "{dir}/two.budgets"},
         {"{dir}/two.budgets", "agents", "(one each is needed)"}},
        {"budgets_with_a_word",
         3,
         {"train", "--budgets", "{dir}/word.budgets"},
         {"{dir}/word.budgets:1", "many"},
         R::none},
        {"budget_of_0",
         3,
         {"train", "--budgets", "{dir}/zero.budgets"},
         {"{dir}/zero.budgets:1", "0", "above 0"},
         R::none},

        // Run directory.
        {"run_directory_below_a_file",
         2,
         {"train", "--run-directory", "{dir}/empty/run"},
         {"run-directory", "{dir}/empty/run", "Not a directory"},
         R::every},
        {"run_directory_in_proc",
         2,
         {"train", "--run-directory", "/proc/sotto"},
         {"run-directory", "/proc/sotto"},
         R::none},
        {"run_directory_in_use",
         2,
         {"train", "--run-directory", "{dir}/used"},
         {"run-directory", "{dir}/used", "already holds a run"}},
        {"json_into_a_missing_folder",
         2,
         {"graph", "--json", "{dir}/none/x.json"},
         {"{dir}/none/x.json", "No such file"},
         R::none},

        // The training itself.
        {"diverging_training",
         1,
         {"train",
          "--step-size",
          "1e100",
          "--clip-norm",
          "1e6",
          "--run-directory",
          "{dir}/diverged"},
         {"diverged", "models reach", "messages carry up to 1e+100", "--step-size"},
         R::every},
        {"values_that_a_secure_sum_cannot_hold",
         1,
         {"train", "--secure-sum", "on", "--step-size", "1e12", "--run-directory", "{dir}/beyond"},
         {"diverged", "messages carry up to", "--secure-sum on", "--step-size"},
         R::several},
    };
}

inline std::string filled(std::string text, const TempDir& directory, int agents) {
    const auto replace = [&](const std::string& mark, const std::string& value) {
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.replace(at, mark.size(), value);
    };
    replace("{dir}", directory.path());
    replace("{n}", std::to_string(agents));
    return text;
}

inline void make_files(const TempDir& directory, int agents, bool one_process_run) {
    std::string defaults = "data = " + directory / "good.svm" +
                           "\nbatch-size = 4\nrounds = 5\nrun-directory = " + directory / "run\n";
    if (one_process_run) defaults += fmt::format("agents = {}\n", agents);
    directory.write("defaults.ini", defaults);
    directory.write("misspelt.ini", "# comment\nepsilom = 3\n");
    directory.write("twice.ini", "epsilon = 3\nepsilon = 4\n");
    directory.write("good.svm", small_data(60));
    directory.write("few.svm", small_data(3));
    directory.write("own0.svm", small_data(20));
    directory.write("own1.svm", small_data(20));
    directory.write("wide.svm", "+1 1:1 7:1\n-1 2:1\n");
    directory.write("nan.svm", "+1 1:1\n-1 2:nan\n");
    directory.write("empty", "");
    directory.write("open.id", "sotto-identity 1\n");
    std::filesystem::permissions(directory / "open.id", std::filesystem::perms(0644));
    std::string garbage = "\x1b[31m";
    for (int i = 0; i < 2000; ++i) garbage += static_cast<char>((i * i * 7 + i / 3) & 0xff);
    directory.write("garbage", garbage);
    directory.write("four.edges", "0 1\n1 2\n2 3\n");
    directory.write("four.mixing", "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n");
    std::string sums, nan;
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < agents; ++v) {
            const char* end = v + 1 == agents ? "\n" : " ";
            sums += fmt::format("{}{}", 1.1 / agents, end);
            nan += u == v ? fmt::format("nan{}", end) : fmt::format("{}{}", 1.0 / agents, end);
        }
    directory.write("sums.mixing", sums);
    directory.write("nan.mixing", nan);
    directory.write("two.budgets", "10\n10\n");
    directory.write("word.budgets", "many\n");
    directory.write("zero.budgets", "0\n");
    std::filesystem::create_directory(directory / "used");
    directory.write("used/config.ini", "");
}

inline void make_plan(const TempDir& directory, const std::string& name, int agents) {
    const Outcome outcome = run_sotto(directory,
                                      one_process,
                                      {"plan",
                                       "--agents",
                                       std::to_string(agents),
                                       "--epsilon",
                                       "10",
                                       "--rounds",
                                       "5",
                                       "--out",
                                       directory / name});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
}

/// The check of both test programs.
inline void expect_refused(const BadInput& bad, int ranks) {
    const TempDir directory;
    const int agents = ranks == one_process ? 5 : ranks;
    make_files(directory, agents, ranks == one_process);
    if (bad.name.starts_with("plan_")) {
        make_plan(directory, "four.plan", 4);
        make_plan(directory, "epsilon10.plan", agents);
    }
    Arguments arguments;
    for (const auto& argument : bad.arguments)
        arguments.push_back(filled(argument, directory, agents));
    const bool own_config =
        std::find(arguments.begin(), arguments.end(), "--config") != arguments.end();
    if (arguments.front() == "train" && !own_config) {
        arguments.insert(arguments.begin() + 1, directory / "defaults.ini");
        arguments.insert(arguments.begin() + 1, "--config");
    }

    const Outcome outcome = run_sotto(directory, ranks, arguments);
    EXPECT_LT(outcome.seconds, 60) << outcome.text();
    EXPECT_EQ(outcome.exit_code, bad.exit_code) << outcome.text();
    const auto lines = error_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1U) << outcome.text();
    for (const auto& mention : bad.mentions) {
        const std::string wanted = filled(mention, directory, agents);
        EXPECT_NE(lines.front().find(wanted), std::string::npos)
            << "\"" << wanted << "\" is missing in\n"
            << lines.front();
    }
    for (const char c : lines.front())
        EXPECT_GE(static_cast<unsigned char>(c), 0x20) << "control character in the message";
    EXPECT_EQ(outcome.err.find("terminate called"), std::string::npos) << outcome.text();
    if (ranks == one_process) {
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.text();
        EXPECT_TRUE(outcome.err.starts_with("sotto: ")) << outcome.text();
    }
    EXPECT_FALSE(std::filesystem::exists(directory / "run")) << "a refused run left a directory";
    EXPECT_TRUE(all_ended(directory.path())) << "a process is left";
}

}  // namespace sotto::test
