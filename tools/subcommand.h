// What a subcommand of `dougong` is, and how it parses its arguments and ends. One file a subcommand; the table is in dougong.cc.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

// argv[0] is the subcommand's name. Returns the process's exit status.
using SubcommandMain = int (*)(int argc, char **argv);

// Parses; a value is the exit status to return at once (0 after --help, 2 after a mistake, which has been printed).
inline std::optional<int> parse_arguments(CLI::App &app, int argc, char **argv) {
  app.name(std::string("dougong ") + argv[0]);
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::fprintf(stderr, "dougong %s: %s\n", argv[0], error.what());
    if (dynamic_cast<const CLI::RequiredError *>(&error)) // CLI stops there: what it does not know is a mistake, too
      for (const std::string &extra : app.remaining(true))
        std::fprintf(stderr, "dougong %s: %s is not known\n", argv[0], extra.c_str());
    std::fprintf(stderr, "  `dougong %s --help` lists what is allowed\n", argv[0]);
    return 2;
  }
}
