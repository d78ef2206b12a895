// One line of a .gitignore as git reads it. Matching takes at most pattern times path steps, whatever both
// say.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

class IgnorePattern {
 public:
  // A line without its newline. None: it is empty, a comment, or longer than any pattern that matters.
  static std::optional<IgnorePattern> read(std::string_view line);

  bool brings_back() const { return brings_back_; }  // "!": what it matches is not ignored after all
  bool only_directories() const { return only_directories_; }

  // `path` is relative to the directory of the .gitignore, without a slash at either end. What `work` counts
  // are steps of the search.
  bool matches(std::string_view path, uint64_t& work) const;

 private:
  enum class Sign : uint8_t {
    character,    // this one
    one_of,       // one character of a set
    within_name,  // *: any run within a name
    anything,     // ** at the end: any run
    directories,  // **/: nothing, or any run that ends with a slash
  };
  struct Token {
    Sign sign = Sign::character;
    char character = 0;
    uint16_t set = 0;  // of sets_
  };

  // False: it can match nothing, as with a class that is not closed.
  bool compile(std::string_view pattern);
  bool compile_one(std::string_view& rest);
  bool compile_class(std::string_view& rest);
  void add_set(const std::bitset<256>& set);
  void compile_stars(std::string_view whole, std::string_view& rest);
  bool takes(const Token& token, char c) const;
  bool run(std::string_view text, uint64_t& work) const;

  bool brings_back_ = false;
  bool only_directories_ = false;
  bool name_alone_ = false;  // no slash in it: it is about the last name of a path
  std::string prefix_ = {};  // what stands before the first sign, and is compared as it is
  std::vector<Token> tokens_ = {};
  std::vector<std::bitset<256>> sets_ = {};
};

}  // namespace cloche
