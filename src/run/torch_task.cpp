#include "run/torch_task.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <utility>

#include "learn/torch/torch_plugin.hpp"
#include "run/record_task.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

constexpr const char* plugin_remedy =
    "deploy/install torch installs Debian's libtorch; then build sotto again, or install its "
    "component torch";

/// The function of the plugin at this place, which stays loaded until the process ends.
TorchModelFactory* load_plugin(const fs::path& place, const std::string& task) {
    void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* reason = ::dlerror();
        throw ConfigError(fmt::format("task: {} needs {}, which cannot be loaded ({}; {})",
                                      task,
                                      place.string(),
                                      reason != nullptr ? reason : "no reason given",
                                      plugin_remedy));
    }
    const auto* version = static_cast<const int*>(::dlsym(library, torch_plugin_version_symbol));
    void* factory = ::dlsym(library, torch_plugin_factory_symbol);
    if (version == nullptr || factory == nullptr || *version != torch_plugin_version)
        throw ConfigError(
            fmt::format("task: {} needs {}, which is of another version of sotto (build or install "
                        "both together)",
                        task,
                        place.string()));
    return reinterpret_cast<TorchModelFactory*>(factory);
}

TorchModelFactory* find_plugin(const std::string& task) {
    std::error_code failure;
    const std::vector<fs::path> places =
        torch_plugin_places(fs::read_symlink("/proc/self/exe", failure));
    std::string looked;
    for (const fs::path& place : places) {
        if (fs::exists(place, failure)) return load_plugin(place, task);
        looked += (looked.empty() ? "" : ", ") + place.string();
    }
    throw ConfigError(
        fmt::format("task: {} needs the plugin sotto_torch.so, which is not there: {} ({})",
                    task,
                    looked,
                    plugin_remedy));
}

std::string bytes_of_module(const std::string& path) {
    std::error_code failure;
    if (!fs::is_regular_file(path, failure))
        throw ConfigError(
            fmt::format("task: {} is not there, or no file (a TorchScript module: "
                        "torch.jit.script(model).save(FILE))",
                        path));
    return read_file(path, most_array_bytes());
}

Digest digest_of_module(const std::string& bytes) {
    Hasher hasher("sotto.torch-module.v1");
    return hasher.add(std::string_view(bytes)).finish();
}

/// The file and what is made of it, once it is asked for.
class LoadedModule {
  public:
    explicit LoadedModule(std::string path) : path_(std::move(path)) {}

    TaskFile file() {
        (void)source();
        return {{"task", path_, 0, digest_},
                fmt::format("Losses and gradients are computed by {}, a TorchScript module of the "
                            "user's (BLAKE2b-256 of the file {}); with a record adjacency it is "
                            "given one record at a time, and sotto clips and rounds every record's "
                            "gradient.",
                            path_,
                            to_hex(digest_))};
    }
    const ModelSource& source() {
        if (source_ == nullptr) {
            const std::string bytes = bytes_of_module(path_);
            digest_ = digest_of_module(bytes);
            source_.reset(find_plugin(path_)(path_, bytes));
        }
        return *source_;
    }

  private:
    std::string path_;
    Digest digest_{};
    std::unique_ptr<ModelSource> source_;
};

}  // namespace

bool is_torch_task(const std::string& task) { return task.ends_with(".pt"); }

std::vector<fs::path> torch_plugin_places(const fs::path& program) {
    const fs::path name = "sotto_torch.so";
    const fs::path folder = program.parent_path();
    return {folder / name, (folder / SOTTO_PLUGIN_FOLDER / name).lexically_normal()};
}

TaskRecord torch_task(const std::string& path) {
    const auto module = std::make_shared<LoadedModule>(path);
    return {.name = path,
            .summary = "a TorchScript module of the user's",
            .objective =
                [module](const TaskConfig& config,
                         const LocalData& data,
                         Dataset shard,
                         std::shared_ptr<const Dataset> test) {
                    const Eigen::Index classes =
                        data.shape.target == Target::value ? 0 : outputs_of(config, data);
                    return module->source().make(classes, std::move(shard), std::move(test));
                },
            .file = [module] { return module->file(); },
            .takes_values = true};
}

}  // namespace sotto
