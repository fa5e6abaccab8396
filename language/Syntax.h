// The syntax tree of the part of Python that kernels are written in.
#pragma once
#include "language/Diagnostics.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dougong::language {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

struct Keyword {
  std::string name; // "" for **mapping
  ExprPtr value;
};

struct Expr {
  enum Kind {
    Name,      // text
    Integer,   // integer
    Float,     // real
    String,    // text
    Constant,  // text: True, False, None, ...
    Attribute, // items[0] . text
    Call,      // items[0] ( items[1…], keywords )
    Subscript, // items[0] [ items[1] ]
    Slice,     // items[0] : items[1] : items[2], each may be null
    Tuple,     // items; of a list too
    Unary,     // text items[0]
    Binary,    // items[0] text items[1]
    Compare,   // items[0] text items[1]; a chain is And of Compares
    And,
    Or,         // items
    Conditional // items[1] if items[0] else items[2]
  };
  Kind kind;
  Position at;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  std::vector<ExprPtr> items;
  std::vector<Keyword> keywords;
};

struct Parameter {
  std::string name;
  ExprPtr annotation, preset; // may be null
  Position at;
};

class Module;

struct Function {
  std::string name;
  Module *home = nullptr; // where the names in it are looked up
  Position at;
  std::vector<Parameter> parameters;
  Block body;
};

struct Stmt {
  enum Kind {
    Assign,     // targets = value (several targets: a = b = value)
    AugAssign,  // targets[0] text= value
    Expression, // value
    If,         // value: body else: orelse
    For,        // targets[0] in value: body
    While,      // value: body
    Return,     // value, may be null
    Assert,     // value
    Pass,
    Break,
    Continue
  };
  Kind kind;
  Position at;
  std::vector<ExprPtr> targets;
  ExprPtr value, annotation;
  std::string text;
  Block body, orelse;
};

} // namespace dougong::language
