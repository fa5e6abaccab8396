// Where the top level of a source file has its functions, imports and assignments.
#include "language/Module.h"
#include "language/StatementParser.h"

using namespace dougong::language;

Module::Module(Source &source) : source(source), tokens(lex(source)) { scan(); }

// The end of the statement that begins at `at`: behind its Newline, and behind the block below it if there is one.
size_t Module::statementEnd(size_t at) const {
  while (tokens[at].kind != Token::Newline && tokens[at].kind != Token::End)
    ++at;
  if (tokens[at].kind == Token::Newline)
    ++at;
  if (tokens[at].kind != Token::Indent)
    return at;
  int depth = 0;
  do {
    depth += tokens[at].kind == Token::Indent ? 1 : tokens[at].kind == Token::Dedent ? -1 : 0;
    ++at;
  } while (depth > 0 && tokens[at].kind != Token::End);
  return at;
}

void Module::scanImport(size_t at, size_t end) {
  auto dotted = [&](size_t &i) {
    std::string path;
    for (; i < end && (tokens[i].kind == Token::Name || tokens[i].is(".") || tokens[i].is("...")) && !tokens[i].is("as") &&
           !tokens[i].is("import");
         ++i)
      path += tokens[i].text;
    return path;
  };
  std::string from;
  if (tokens[at].is("from")) {
    ++at;
    from = dotted(at) + ".";
  }
  ++at; // import
  while (at < end) {
    if (tokens[at].kind != Token::Name) {
      ++at;
      continue;
    }
    size_t before = at;
    std::string path = dotted(at), alias = path;
    if (at == before && !tokens[at].is("as")) { // "import import"
      ++at;
      continue;
    }
    if (at < end && tokens[at].is("as")) {
      alias = tokens[at + 1].text;
      at += 2;
      imports[alias] = from + path;
    } else if (from.empty()) {
      std::string root = path.substr(0, path.find('.'));
      imports[root] = root;
    } else {
      imports[alias] = from + path;
    }
  }
}

void Module::scan() {
  size_t at = 0;
  while (at < tokens.size() && tokens[at].kind != Token::End) {
    size_t first = at;
    bool jit = false;
    while (tokens[at].is("@")) {
      size_t end = statementEnd(at);
      for (size_t i = at; i < end; ++i)
        if (tokens[i].is("(") || tokens[i].is("jit")) {
          jit |= tokens[i].is("jit");
          break;
        }
      at = end;
    }
    size_t end = statementEnd(at);
    if (tokens[at].is("def") && jit)
      functions[tokens[at + 1].text] = {first, end};
    else if (tokens[at].is("import") || tokens[at].is("from"))
      scanImport(at, end);
    else if (tokens[at].kind == Token::Name && tokens[at + 1].is("="))
      globals[tokens[at].text] = {at + 2, end};
    else if (tokens[at].kind == Token::Name && tokens[at + 1].is(":"))
      for (size_t i = at; i < end; ++i)
        if (tokens[i].is("=")) {
          globals[tokens[at].text] = {i + 1, end};
          break;
        }
    if (tokens[at].is("try") || tokens[at].is("if")) { // imports inside count too
      for (size_t i = at; i < end; ++i)
        if ((tokens[i].is("import") && tokens[i - 1].kind != Token::Name && !tokens[i - 1].is(".")) ||
            (tokens[i].is("from") && i + 1 < end)) {
          size_t stop = i;
          while (stop < end && tokens[stop].kind != Token::Newline)
            ++stop;
          scanImport(i, stop);
          i = stop;
        }
    }
    at = std::max(end, at + 1);
  }
}

const Function *Module::function(const std::string &name) {
  auto range = functions.find(name);
  if (range == functions.end())
    return nullptr;
  std::unique_ptr<Function> &f = parsedFunctions[name];
  if (!f) {
    size_t before = source.diagnostics.size();
    f = StatementParser(source, tokens, range->second.first).function();
    f->home = this;
    if (source.diagnostics.size() > before)
      throw Abandon();
  }
  return f.get();
}

const Expr *Module::global(const std::string &name) {
  auto range = globals.find(name);
  if (range == globals.end())
    return nullptr;
  ExprPtr &e = parsedGlobals[name];
  if (!e)
    e = ExpressionParser(source, tokens, range->second.first).expressions();
  return e.get();
}

std::string Module::imported(const std::string &name) const {
  auto found = imports.find(name);
  return found == imports.end() ? "" : found->second;
}

std::vector<std::string> Module::functionNames() const {
  std::vector<std::string> names;
  for (const auto &[name, _] : functions)
    names.push_back(name);
  return names;
}
