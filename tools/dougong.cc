// `dougong SUBCOMMAND …`: the one program. This file is the table of contents; each subcommand is a file of its own.
#include "tools/subcommand.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

int compare_main(int argc, char **argv);
int compile_main(int argc, char **argv);
int devices_main(int argc, char **argv);
int kernel_main(int argc, char **argv);
int explain_main(int argc, char **argv);
int run_main(int argc, char **argv);
int sim_main(int argc, char **argv);
int test_onnx_main(int argc, char **argv);

static const struct {
  const char *name, *summary;
  SubcommandMain main;
} subcommands[] = {
    {"run", "run a model and report where time, bytes and energy went", run_main},
    {"compile", "compile an ONNX model to a .dgx file", compile_main},
    {"explain", "list a model's fused operators: device, reason, tile, work, bytes", explain_main},
    {"compare", "the NPU's fused operators one by one against the CPU in f32", compare_main},
    {"test-onnx", "run cases in the layout of ONNX's backend tests", test_onnx_main},
    {"kernel", "compile a kernel of the operator language", kernel_main},
    {"sim", "run a program on the device model", sim_main},
    {"devices", "list the devices and machines that can be named", devices_main},
};

static void print_usage(FILE *stream) {
  std::fprintf(stream, "usage: dougong SUBCOMMAND …\n\n");
  for (const auto &subcommand : subcommands)
    std::fprintf(stream, "  %-10s %s\n", subcommand.name, subcommand.summary);
  std::fprintf(stream, "\n`dougong SUBCOMMAND --help` says more of one, `dougong --version` which this is. A first try:\n\n"
                       "  dougong run MODEL.onnx --random --timing\n");
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stderr);
    return 2;
  }
  if (!std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h") || (!std::strcmp(argv[1], "help") && argc == 2)) {
    print_usage(stdout);
    return 0;
  }
  bool help = !std::strcmp(argv[1], "help"); // of a subcommand: `dougong help run`
  const char *name = argv[1 + help];
  if (!std::strcmp(argv[1], "--version")) {
    std::printf("dougong %s\n", DOUGONG_VERSION);
    return 0;
  }
  for (const auto &subcommand : subcommands)
    if (!std::strcmp(name, subcommand.name)) {
      char option[] = "--help", *shown[] = {argv[1 + help], option, nullptr};
      try {
        return help ? subcommand.main(2, shown) : subcommand.main(argc - 1, argv + 1);
      } catch (const std::bad_alloc &) {
        std::fprintf(stderr, "dougong %s: what is asked for does not fit this host's memory; make it smaller\n", name);
        return 2;
      }
    }
  std::fprintf(stderr, "dougong: no subcommand '%s'\n\n", name);
  print_usage(stderr);
  return 2;
}

int main(int argc, char **argv) {
  int status = run(argc, argv);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return status;
  std::fprintf(stderr, "dougong: what was printed is not complete: %s\n", std::strerror(errno));
  return status ? status : 2;
}
