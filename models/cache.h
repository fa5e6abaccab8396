// Compiled specialisations on disk: one .dgx each under $DOUGONG_CACHE or ~/.cache/dougong, named by the hash of all that they
// depend on. Together they stay below $DOUGONG_CACHE_MB (4096 unless told): those not used for longest go. Whatever goes wrong with the
// cache is no error: the model is compiled then.
#pragma once
#include "runtime/artifact.h"
#include <optional>

namespace dougong::models {

// "" if there is no place for a cache.
std::string cache_path(const std::string &key);
std::optional<Artifact> find_in_cache(const std::string &path);
void leave_in_cache(const Artifact &artifact, const std::string &path);

// Changes whenever the program that compiles does.
std::string compiler_version();

} // namespace dougong::models
