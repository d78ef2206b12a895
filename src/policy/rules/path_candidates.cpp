#include "policy/rules/path_candidates.hpp"

#include <algorithm>
#include <string_view>

#include "base/text/ascii.hpp"
#include "base/text/pieces.hpp"

namespace cloche {
namespace {

using ascii::is_digit;

constexpr std::string_view blanks = " \t";
constexpr std::string_view separators = "=,:;@ \t";

bool is_letter(char c) { return ascii::is_letter(c) || c == '_'; }
bool is_of_scheme(char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; }
bool is_option(std::string_view text) { return text.size() > 1 && text[0] == '-'; }

std::string_view from(std::string_view text, size_t at) { return text.substr(std::min(at, text.size())); }

// scheme://rest, and where it stands.
struct Address {
  size_t begin = 0;
  size_t end = 0;
  std::string scheme = {};     // lower case; of git+file it is file
  std::string_view rest = {};  // behind the two slashes
};

// Behind an address a list may go on: at a blank, a comma, a semicolon, and at a colon before a path.
size_t end_of_address(std::string_view word, size_t at) {
  for (; at < word.size(); ++at) {
    if (word[at] == ',' || word[at] == ';' || blanks.find(word[at]) != std::string_view::npos) return at;
    const std::string_view here = word.substr(at);
    if (here.starts_with(":/") && !here.starts_with("://")) return at;
  }
  return at;
}

std::optional<Address> next_address(std::string_view word, size_t at) {
  for (size_t colon = word.find("://", at); colon != std::string_view::npos;
       colon = word.find("://", colon + 1)) {
    size_t begin = colon;
    while (begin > at && is_of_scheme(word[begin - 1])) --begin;
    if (begin == colon) continue;
    const std::string_view scheme = word.substr(begin, colon - begin);
    const size_t end = end_of_address(word, colon + 3);
    return Address{begin, end, ascii::lowered(scheme.substr(scheme.rfind('+') + 1)),  // npos + 1 is 0
                   word.substr(colon + 3, end - colon - 3)};
  }
  return {};
}

// The values after many "=" overlap, so the bytes of the pieces are counted and not only the pieces.
class Reader {
 public:
  explicit Reader(std::string_view word)
      : word_(word), has_blanks_(word.find_first_of(blanks) != std::string_view::npos) {}

  std::optional<std::vector<PathCandidate>> run() {
    read_to_the_end();
    size_t at = 0;
    while (const auto address = next_address(word_, at)) {
      read_plain(word_.substr(at, address->begin - at));
      read_address(*address);
      at = address->end;
      if (too_many()) return {};
    }
    read_plain(from(word_, at));
    if (too_many()) return {};
    return std::move(list_);
  }

 private:
  bool too_many() const { return list_.size() > max_path_candidates || bytes_ > max_candidate_bytes; }

  void add(std::string_view text, bool guess = false) {
    if (text.empty() || too_many()) return;
    const auto same =
        std::ranges::find_if(list_, [&](const PathCandidate& path) { return path.written == text; });
    if (same != list_.end()) {
      if (!guess) same->role = PathRole::argument;
      return;
    }
    bytes_ += text.size();
    list_.push_back({std::string(text), guess ? PathRole::guess : PathRole::argument});
  }

  // Names may hold separators: the word itself, and an option's value, to their last byte.
  void read_to_the_end() {
    if (is_option(word_)) {
      if (word_[1] != '-' && !is_digit(word_[1])) add(word_.substr(2));
    } else {
      add(word_);
    }
    if (word_[0] == '@' || word_[0] == '+') add(word_.substr(1));
  }

  // Text between addresses. What stands behind an "=" in an address is a question to its host.
  void read_plain(std::string_view text) {
    for (size_t at = text.find('='); at != std::string_view::npos && !too_many(); at = text.find('=', at + 1))
      add(word_.substr(static_cast<size_t>(text.data() - word_.data()) + at + 1));
    while (!text.empty() && !too_many()) {
      read_piece(take_until(text, separators));
    }
  }

  void read_piece(std::string_view piece) {
    while (piece.starts_with('+')) piece.remove_prefix(1);
    if (is_option(piece)) return read_option(piece);
    add(piece, has_blanks_);  // in a sentence / and ~ are signs more often than paths
  }

  // -oVALUE; and -abcVALUE, where only a path that shows itself tells how many letters are options.
  void read_option(std::string_view option) {
    const std::string_view body = from(option, option.find_first_not_of('-'));
    if (option[1] != '-' && !is_digit(option[1])) add(from(body, 1), has_blanks_);
    const std::string_view letters = body.substr(0, body.find('/'));
    for (const std::string_view leaves : {"..", "~"})
      if (letters.ends_with(leaves)) add(body.substr(letters.size() - leaves.size()), has_blanks_);
    add(body.substr(letters.size()), true);
  }

  // To most programs an address of the web names nothing here. One without a host does, and any other scheme
  // may be the first name of a list: x://etc is x and //etc.
  void read_address(const Address& address) {
    if (address.scheme == "file") {
      add(address.rest);
      add(from(address.rest, address.rest.find('/')));
      return;
    }
    const bool of_the_web = address.scheme == "http" || address.scheme == "https";
    if (!of_the_web || address.rest.starts_with('/')) add("//" + std::string(address.rest), true);
  }

  std::string_view word_;
  bool has_blanks_;
  std::vector<PathCandidate> list_;
  size_t bytes_ = 0;
};

}  // namespace

std::optional<std::vector<PathCandidate>> paths_in(const std::string& word) {
  if (word.empty()) return std::vector<PathCandidate>{};
  return Reader(word).run();
}

bool is_home(const PathCandidate& path) {
  if (!path.written.starts_with('~')) return false;
  if (path.written.size() == 1) return path.role != PathRole::guess;
  return path.written[1] == '/' || is_letter(path.written[1]);
}

}  // namespace cloche
