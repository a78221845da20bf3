#include "run/options/task_options.hpp"

#include "run/options/option_bindings.hpp"
#include "run/options/task_defaults.hpp"
#include "run/task.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

/// Tasks have names; one of your own is a file.
AllowedValues task_words() {
    AllowedValues allowed = one_of(task_names());
    allowed.words.emplace_back("FILE.pt");
    allowed.words.emplace_back("FILE.so");
    return allowed;
}

std::vector<Option<TaskConfig>> model_options() {
    return {{{.name = "task",
              .help = "{}, FILE.pt (a TorchScript model), or FILE.so (a task of your own); " +
                      task_defaults_text(),
              .details = R"(
[Tasks](../tasks.md) says what they learn, from which formats, and what that means for the guarantee. `config.ini`
holds the defaults that were used.)",
              .ranks_must_agree = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::task, some_text(task_words()))},
            {{.name = "standardise",
              .help = "{}: CSV columns by mean and deviation of the training data, which no "
                      "guarantee counts",
              .ranks_must_agree = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::standardise, on_off())},
            {{.name = "hidden",
              .help = "mlp: units of the hidden layer (default 128; for values 64)",
              .ranks_must_agree = true,
              .describes_data = true},
             bound(&TaskConfig::hidden, whole(1))}};
}

std::vector<Option<TaskConfig>> data_options() {
    return {{{.name = "data",
              .help = "synthetic, or FILE[,FILE...]: LIBSVM, IDX images, CSV or LEAF JSON, plain "
                      "or .gz; %r is the agent's number",
              .details = R"(
Several files are joined by commas; a comma in a name is written `\,`, and a file of exactly the given name is that
file. With `%r` in the path each agent reads its own file. Otherwise every process reads the file and keeps its agents'
shards only, dealt by `--partition`. [Tasks](../tasks.md) has the formats, and what labels and columns become.)",
              .beside_run = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::data, some_text(among_others("", {"synthetic", "FILE"})))},
            {{.name = "test-data",
              .help = "FILE[,FILE...] to test on, instead of splitting the data; %r is the agent's "
                      "number",
              .beside_run = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::test_data, file_path())},
            {{.name = "test-fraction",
              .help = "part of the data to test on, in (0, 1)",
              .ranks_must_agree = true,
              .describes_data = true},
             bound(&TaskConfig::test_fraction, any_real())},
            {{.name = "partition",
              .help = "iid, dirichlet:ALPHA, by-label:k, by-writer:k (LEAF; k writers an agent, "
                      "default 10); default dirichlet:10, iid for values to predict",
              .ranks_must_agree = true,
              .describes_data = true},
             bound(&TaskConfig::partition,
                   named(among_others("", {"iid", "dirichlet:ALPHA", "by-label:k", "by-writer:k"}),
                         parse_partition))}};
}

std::vector<Option<TrainConfig>> regularisation_and_seed() {
    return {{{.name = "l2",
              .help = "regularisation, added outside the clip",
              .details = R"(
A `--view` of a training with `--l2` above 0 counts it. Refused (exit code 2): Gaussian noise on messages, and runs so
long that less than a millionth of an old message would be left.)",
              .ranks_must_agree = true},
             bound(&TrainConfig::l2, any_real())},
            {{.name = "seed",
              .help = "data, partition, batches and initialisation; never noise",
              .ranks_must_agree = true},
             bound(
                 [](auto& c) -> auto& { return c.task.seed; }, whole(0))}};
}

std::vector<Option<LearntClipConfig>> learnt_clip_options() {
    return {{{.name = "clip-quantile",
              .help = "with --clip-norm auto: the part of the gradients that are no longer than C, "
                      "in (0, 1)",
              .ranks_must_agree = true},
             bound(&LearntClipConfig::quantile, real_inside_unit_interval())},
            {{.name = "clip-share",
              .help = "with --clip-norm auto: the part of mu^2 that learning C spends, in (0, 1)",
              .details = R"(
Gradients have the rest, and noise 1 / sqrt(1 - share) times as loud beside them as with a given clip.)",
              .ranks_must_agree = true},
             bound(&LearntClipConfig::share, real_inside_unit_interval())},
            {{.name = "clip-rate",
              .help = "with --clip-norm auto: log C moves by this times the error of the measured "
                      "part, up to 1 (default: 0.2, or less where noise would make C waver)",
              .ranks_must_agree = true},
             bound(&LearntClipConfig::rate, real_between(1e-12, 1))}};
}

}  // namespace

OptionGroup<TrainConfig>& task_options() {
    static OptionGroup<TrainConfig> group =
        option_group<TrainConfig>("Task",
                                  {lifted<TrainConfig>(model_options(), &TrainConfig::task),
                                   lifted<TrainConfig>(data_options(), &TrainConfig::task),
                                   lifted<TrainConfig>(learnt_clip_options(), &TrainConfig::clip),
                                   regularisation_and_seed()});
    return group;
}

}  // namespace sotto
