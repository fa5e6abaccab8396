// A file that is there as a whole or not at all.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace dougong {

// Written beside its place under another name, until `commit`. What a link leads to is replaced, not the link; what is no ordinary file (a
// terminal, a pipe) is written as it goes. After a failure errno says why.
class NewFile {
public:
  explicit NewFile(const std::string &path);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  bool open() const { return file; }
  void write(const void *bytes, uint64_t count) { good &= std::fwrite(bytes, 1, count, file) == count, at += count; }
  uint64_t written() const { return at; }
  void rewind() { good &= std::fseek(file, 0, SEEK_SET) == 0; }
  bool commit();

private:
  std::string path, temporary; // temporary: empty, if it is written in place
  FILE *file;
  uint64_t at = 0;
  bool good = true, committed = false;
};

} // namespace dougong
