// Expectations on llvm::Error and llvm::Expected.
#pragma once
#include "runtime/status.h"
#include <gtest/gtest.h>

// The value; ends the program with the message if there is none.
template <typename T> T must(llvm::Expected<T> value) {
  if (!value) {
    std::fprintf(stderr, "unexpected failure: %s\n", dougong::explain(value.takeError()).second.c_str());
    std::abort();
  }
  return std::move(*value);
}

inline void must(llvm::Error error) { EXPECT_EQ(dougong::explain(std::move(error)).second, ""); }

inline void expect_failure(llvm::Error error, dougong::Status code, const std::string &part) {
  auto [got, text] = dougong::explain(std::move(error));
  EXPECT_EQ(int(got), int(code)) << text;
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' does not contain '" << part << "'";
}
template <typename T> void expect_failure(llvm::Expected<T> value, dougong::Status code, const std::string &part) {
  if (value)
    ADD_FAILURE() << "no failure, where one with '" << part << "' was expected";
  else
    expect_failure(value.takeError(), code, part);
}
