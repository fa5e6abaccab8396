// See cache.h.
#include "models/cache.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>

namespace dougong::models {
namespace fs = std::filesystem;

std::string cache_path(const std::string &key) {
  fs::path folder;
  if (const char *own = std::getenv("DOUGONG_CACHE"); own && *own)
    folder = own;
  else if (const char *home = std::getenv("HOME"); home && *home)
    folder = fs::path(home) / ".cache" / "dougong";
  else
    return "";
  return (folder / fmt::format("{:016x}.dgx", llvm::xxh3_64bits(llvm::StringRef(key)))).string();
}

std::optional<Artifact> find_in_cache(const std::string &path) {
  std::error_code code;
  if (path.empty() || !fs::exists(path, code))
    return std::nullopt;
  auto artifact = Artifact::load(path);
  if (artifact) {
    fs::last_write_time(path, fs::file_time_type::clock::now(), code); // used just now
    return std::move(*artifact);
  }
  llvm::consumeError(artifact.takeError()); // damaged: compiled anew, and written over
  return std::nullopt;
}

// Removes what has not been used for longest until the rest is small enough; `keep` stays.
static void trim(const fs::path &folder, const fs::path &keep) {
  const char *limit = std::getenv("DOUGONG_CACHE_MB");
  uintmax_t most = (limit && *limit ? std::strtoull(limit, nullptr, 10) : 4096) << 20, total = 0;
  std::multimap<fs::file_time_type, std::pair<fs::path, uintmax_t>> files;
  std::error_code code;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, code))
    if (entry.path().extension() == ".dgx") {
      uintmax_t bytes = entry.file_size(code);
      fs::file_time_type used = entry.last_write_time(code);
      if (code)
        continue;
      total += bytes;
      if (entry.path() != keep)
        files.emplace(used, std::pair(entry.path(), bytes));
    }
  for (auto file = files.begin(); file != files.end() && total > most; ++file)
    if (fs::remove(file->second.first, code))
      total -= file->second.second;
}

void leave_in_cache(const Artifact &artifact, const std::string &path) {
  if (path.empty())
    return;
  std::error_code code;
  fs::create_directories(fs::path(path).parent_path(), code);
  llvm::consumeError(artifact.save(path));
  trim(fs::path(path).parent_path(), path);
}

std::string compiler_version() {
  Dl_info info{};
  struct stat file{};
  if (!dladdr(reinterpret_cast<void *>(&compiler_version), &info) || !info.dli_fname || stat(info.dli_fname, &file) != 0)
    return "unknown";
  return fmt::format("{}:{}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

} // namespace dougong::models
