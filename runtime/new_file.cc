#include "runtime/new_file.h"
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace dougong {

NewFile::NewFile(const std::string &name) : path(name) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::file_status status = fs::status(name, error);
  if (fs::path whole = fs::canonical(name, error); !error)
    path = whole;
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status))
    temporary = fmt::format("{}.{}.part", path, getpid());
  file = std::fopen(temporary.empty() ? name.c_str() : temporary.c_str(), "wb");
}

NewFile::~NewFile() {
  if (file)
    std::fclose(file);
  if (!committed && !temporary.empty())
    ::unlink(temporary.c_str());
}

bool NewFile::commit() {
  good &= std::fclose(std::exchange(file, nullptr)) == 0;
  return committed = good && (temporary.empty() || std::rename(temporary.c_str(), path.c_str()) == 0);
}

} // namespace dougong
