#include "sim/semihosting.h"
#include "sim/shared.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace dougong::sim {
namespace {

enum Operation {
  sys_open = 0x01,
  sys_close = 0x02,
  sys_writec = 0x03,
  sys_write0 = 0x04,
  sys_write = 0x05,
  sys_read = 0x06,
  sys_readc = 0x07,
  sys_iserror = 0x08,
  sys_istty = 0x09,
  sys_seek = 0x0a,
  sys_flen = 0x0c,
  sys_tmpnam = 0x0d,
  sys_remove = 0x0e,
  sys_rename = 0x0f,
  sys_clock = 0x10,
  sys_time = 0x11,
  sys_errno = 0x13,
  sys_get_cmdline = 0x15,
  sys_heapinfo = 0x16,
  sys_exit = 0x18,
  sys_exit_extended = 0x20,
  sys_elapsed = 0x30,
  sys_tickfreq = 0x31,
};
constexpr uint64_t failed = ~0ull, stopped_by_application = 0x20026;

std::string text(Core &core, uint64_t address, uint64_t length) {
  if (!length)
    return "";
  const char *at = reinterpret_cast<const char *>(core.access(core.at, address, length, false));
  return {at, strnlen(at, length)};
}

} // namespace

Semihosting::~Semihosting() {
  for (auto &[handle, file] : files)
    if (file != stdin && file != stdout && file != stderr)
      std::fclose(file);
}

// Words with blanks between, the program's name aside: the line as picolibc's own start-up takes it too, which makes up a name.
// backend/device/arguments.c takes it apart.
void Semihosting::set_arguments(const std::vector<std::string> &arguments) {
  name = arguments.empty() ? "" : arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    command_line += i == 1 ? "" : " ";
    command_line += arguments[i].empty() ? "\"\"" : "";
    for (char c : arguments[i])
      command_line += (c == ' ' || c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  }
}

std::optional<std::filesystem::path> Semihosting::allowed(const std::string &name) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!folder.empty()) {
    // Symbolic links are followed first: what they lead to must lie in the folder too.
    fs::path root = fs::canonical(folder, error), whole = fs::weakly_canonical(root / name, error);
    if (auto [in_root, in_whole] = std::mismatch(root.begin(), root.end(), whole.begin(), whole.end());
        !error && in_root == root.end() && in_whole != whole.end() &&
        !fs::is_symlink(whole)) // the folder itself is not the program's; a link that is left leads to nothing, anywhere
      return whole;
  }
  if (!std::exchange(refused, true)) {
    std::fflush(stdout);
    fmt::print(stderr, "dougong sim: file '{}' is refused (EACCES): {}\n", name,
               folder.empty() ? "a program gets files of the host only with --files FOLDER, and those in that folder"
                              : fmt::format("it is not in '{}', which --files allows", folder.string()));
  }
  last_error = EACCES;
  return {};
}

uint64_t Semihosting::open(Core &core, uint64_t name_address, uint64_t mode, uint64_t length) {
  static const char *const modes[12] = {"r", "rb", "r+", "r+b", "w", "wb", "w+", "w+b", "a", "ab", "a+", "a+b"};
  std::string name = text(core, name_address, length);
  if (mode >= 12)
    return failed;
  std::FILE *file;
  if (name == ":tt") {
    file = mode < 4 ? stdin : mode < 8 ? stdout : stderr;
  } else if (name == ":semihosting-features") {
    // Magic, then one byte of features: an extended exit, and stdout and stderr apart.
    file = std::tmpfile();
    if (file)
      std::fwrite("SHFB\x03", 1, 5, file), std::rewind(file);
  } else if (auto path = allowed(name)) {
    std::error_code error;
    bool is_folder = std::filesystem::is_directory(*path, error);
    file = is_folder ? nullptr : std::fopen(path->c_str(), modes[mode]);
    errno = is_folder ? EISDIR : errno;
  } else {
    return failed;
  }
  if (!file) {
    last_error = errno;
    return failed;
  }
  uint64_t handle = 3; // 0 to 2 mean the standard streams to C libraries
  while (files.contains(handle))
    ++handle;
  files[handle] = file;
  return handle;
}

uint64_t Semihosting::call(Core &core, uint64_t operation, uint64_t parameter) {
  auto word = [&](int i) {
    uint64_t value;
    std::memcpy(&value, core.access(core.at, parameter + 8 * i, 8, false), 8);
    return value;
  };
  auto file = [&](uint64_t handle) -> std::FILE * {
    auto at = files.find(handle);
    return at == files.end() ? nullptr : at->second;
  };
  switch (operation) {
  case sys_open:
    return open(core, word(0), word(1), word(2));
  case sys_close: {
    std::FILE *f = file(word(0));
    if (!f)
      return failed;
    files.erase(word(0));
    return f == stdin || f == stdout || f == stderr ? 0 : std::fclose(f) == 0 ? 0 : failed;
  }
  case sys_writec:
    std::fputc(*core.access(core.at, parameter, 1, false), stdout);
    return 0;
  case sys_write0: {
    for (uint64_t at = parameter;; ++at) {
      uint8_t c = *core.access(core.at, at, 1, false);
      if (!c)
        return 0;
      std::fputc(c, stdout);
    }
  }
  case sys_write: {
    uint64_t length = word(2);
    std::FILE *f = file(word(0));
    if (!f)
      return length;
    if (f == stderr)
      std::fflush(stdout);
    return length ? length - std::fwrite(core.access(core.at, word(1), length, false), 1, length, f) : 0;
  }
  case sys_read: {
    uint64_t length = word(2);
    std::FILE *f = file(word(0));
    if (!f)
      return length;
    return length ? length - std::fread(core.access(core.at, word(1), length, true), 1, length, f) : 0;
  }
  case sys_readc: {
    std::fflush(stdout);
    return uint64_t(int64_t(std::fgetc(stdin)));
  }
  case sys_iserror:
    return int64_t(word(0)) < 0;
  case sys_istty: {
    std::FILE *f = file(word(0));
    return f && isatty(fileno(f));
  }
  case sys_seek: {
    std::FILE *f = file(word(0));
    return f && std::fseek(f, long(word(1)), SEEK_SET) == 0 ? 0 : failed;
  }
  case sys_flen: {
    std::FILE *f = file(word(0));
    if (!f)
      return failed;
    long here = std::ftell(f);
    if (here < 0 || std::fseek(f, 0, SEEK_END))
      return failed;
    long length = std::ftell(f);
    std::fseek(f, here, SEEK_SET);
    return uint64_t(length);
  }
  case sys_remove: {
    auto path = allowed(text(core, word(0), word(1)));
    return path && std::remove(path->c_str()) == 0 ? 0 : (last_error = path ? errno : last_error, failed);
  }
  case sys_rename: {
    auto from = allowed(text(core, word(0), word(1))), to = allowed(text(core, word(2), word(3)));
    return from && to && std::rename(from->c_str(), to->c_str()) == 0 ? 0 : (last_error = from && to ? errno : last_error, failed);
  }
  case sys_clock:
    return core.csr_read(0xC01) / 10'000'000; // hundredths of a second of device time
  case sys_time:
    return uint64_t(std::time(nullptr));
  case sys_errno:
    return uint64_t(last_error);
  case sys_get_cmdline: {
    uint64_t buffer = word(0), room = word(1), length = command_line.size();
    if (room < length + 1)
      return failed;
    std::string line = command_line + '\0'; // and behind it, for who knows of it and has room, the program's name
    if (room > length + 1 + name.size())
      line += name + '\0';
    std::memcpy(core.access(core.at, buffer, line.size(), true), line.data(), line.size());
    std::memcpy(core.access(core.at, parameter + 8, 8, true), &length, 8);
    return 0;
  }
  case sys_heapinfo: {
    uint64_t info[4] = {heap_begin, heap_end, stack_top, stack_begin};
    std::memcpy(core.access(core.at, word(0), sizeof(info), true), info, sizeof(info));
    return 0;
  }
  case sys_exit:
  case sys_exit_extended: {
    bool bare = operation == sys_exit && parameter == stopped_by_application;
    uint64_t reason = bare ? parameter : word(0);
    core.exit_code = bare ? 0 : int(word(1) & 255);
    if (reason != stopped_by_application && core.exit_code == 0)
      core.exit_code = 1;
    core.state = Core::State::exited;
    return 0;
  }
  case sys_elapsed: {
    uint64_t ticks = core.csr_read(0xC01) / 1000;
    std::memcpy(core.access(core.at, parameter, 8, true), &ticks, 8);
    return 0;
  }
  case sys_tickfreq:
    return 1'000'000; // the C library takes a tick for 1 / CLOCKS_PER_SEC
  default:
    core.fault(core.at, fmt::format("semihosting operation {:#x} is not known", operation));
  }
}

} // namespace dougong::sim
