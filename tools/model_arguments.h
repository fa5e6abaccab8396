// What `run`, `compile`, `explain` and `test-onnx` have in common: the options of a session, shapes, and how they fail.
#pragma once
#include "models/session.h"
#include "tools/progress.h"
#include "tools/subcommand.h"

namespace dougong {

// Adds --device, --machine, --threads and --no-cache; the second adds what only running has: --timing, --cores and the checks.
void add_compile_options(CLI::App &app, models::SessionOptions &options);
void add_session_options(CLI::App &app, models::SessionOptions &options);

// "name=1x3x640x640", any number of them → shapes by name.
llvm::Expected<std::map<std::string, std::vector<int64_t>>> parse_shapes(const std::vector<std::string> &texts);

// The same where a name may come again: the n-th shape of each input belongs to set n, and one given once to all of them.
llvm::Expected<std::vector<std::map<std::string, std::vector<int64_t>>>> parse_shape_sets(const std::vector<std::string> &texts);

// An error if the command line says where a .dgx runs, which runs on what it was compiled for, or how an NPU works that is not asked for.
llvm::Error check_choice(const CLI::App &app, const std::string &model, const models::SessionOptions &options);

// "name=value" → both.
llvm::Expected<std::pair<std::string, std::string>> split_assignment(const std::string &text, const char *what);

// Prints the error as the subcommand's and returns the exit status for it.
int report_failure(const char *subcommand, llvm::Error error);

// The input's shape with its open dimensions taken from `shapes`. An error names the input and shows what to add.
llvm::Expected<std::vector<int64_t>> concrete_shape(const models::SessionPort &port,
                                                    const std::map<std::string, std::vector<int64_t>> &shapes);

// "x f32 [N, 3, 640, 640]"
std::string port_text(const models::SessionPort &port);

} // namespace dougong
