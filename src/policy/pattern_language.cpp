// Runs several automata side by side over every text at once: a state is what each of them can have reached,
// and characters that none of them tells apart are one.
#include "policy/pattern_language.hpp"

#include <algorithm>
#include <map>

#include "base/utf8.hpp"

namespace cloche {
namespace {

using Answer = TextSearch::Answer;
using Nodes = std::vector<uint16_t>;  // in order, none twice

constexpr CodeRange surrogates{0xd800, 0xdfff};  // no text holds them

bool is_word(unsigned code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') ||
         code == '_';
}

bool has(const CodeSet& set, unsigned code) {
  return std::any_of(set.begin(), set.end(),
                     [&](const CodeRange& range) { return range.first <= code && code <= range.last; });
}

// What stands on one side of a place in a text.
enum class Side { nothing, word, other };

Side side_of(unsigned code) { return is_word(code) ? Side::word : Side::other; }

struct Place {
  Side before;
  Side after;
  bool is_word_edge() const { return (before == Side::word) != (after == Side::word); }
};

// How far one automaton has come. What has matched stays so, whatever follows.
struct Progress {
  bool matched = false;
  Nodes at = {};
  auto operator<=>(const Progress&) const = default;
};

class Walker {
 public:
  Walker(const PatternLanguage& language, size_t& effort)
      : language_(language), effort_(effort), seen_(language.nodes.size()) {
    // Between two words no text begins: what cannot go on from there matches at the beginning or nowhere.
    const Reached later = reach({language.start}, {Side::word, Side::word});
    const Reached at_edge = reach({language.start}, {Side::word, Side::nothing});
    begins_anywhere_ = later.accepted || !later.takers.empty() || at_edge.accepted || !at_edge.takers.empty();
  }

  Progress begin() const { return {false, {language_.start}}; }

  bool matches_at_end(const Progress& progress, Side before) {
    return progress.matched || reach(progress.at, {before, Side::nothing}).accepted;
  }

  Progress step(const Progress& progress, Side before, unsigned code) {
    if (progress.matched) return progress;
    const Reached reached = reach(progress.at, {before, side_of(code)});
    if (reached.accepted) return {true, {}};
    Progress next;
    if (begins_anywhere_) next = begin();
    for (uint16_t number : reached.takers) {
      const PatternNode& node = language_.nodes[number];
      if (has(node.set, code)) next.at.push_back(node.next);
    }
    std::sort(next.at.begin(), next.at.end());
    next.at.erase(std::unique(next.at.begin(), next.at.end()), next.at.end());
    return next;
  }

 private:
  struct Reached {
    bool accepted = false;
    Nodes takers = {};
  };

  // Everything that can be reached from here without taking a character.
  Reached reach(const Nodes& from, Place place) {
    Reached reached;
    ++round_;
    Nodes open = from;
    const auto visit = [&](uint16_t number) { open.push_back(number); };
    while (!open.empty()) {
      const uint16_t number = open.back();
      open.pop_back();
      if (seen_[number] == round_) continue;
      seen_[number] = round_;
      effort_ -= std::min<size_t>(effort_, 1);
      const PatternNode& node = language_.nodes[number];
      switch (node.kind) {
        case PatternNode::Kind::accept: reached.accepted = true; break;
        case PatternNode::Kind::take: reached.takers.push_back(number); break;
        case PatternNode::Kind::fork:
          visit(node.next);
          visit(node.other);
          break;
        default:
          if (is_open(node.kind, place)) visit(node.next);
      }
    }
    return reached;
  }

  static bool is_open(PatternNode::Kind kind, Place place) {
    switch (kind) {
      case PatternNode::Kind::text_begin: return place.before == Side::nothing;
      case PatternNode::Kind::text_end: return place.after == Side::nothing;
      case PatternNode::Kind::word_edge: return place.is_word_edge();
      default: return false;
    }
  }

  const PatternLanguage& language_;
  size_t& effort_;
  std::vector<uint64_t> seen_;  // in which round a node was seen last
  uint64_t round_ = 0;
  bool begins_anywhere_ = true;
};

class Search {
 public:
  Search(std::span<const PatternLanguage* const> matching, std::span<const PatternLanguage* const> failing,
         size_t& effort)
      : matching_(matching.size()), effort_(effort) {
    std::vector<const PatternLanguage*> all(matching.begin(), matching.end());
    all.insert(all.end(), failing.begin(), failing.end());
    for (const auto* language : all) walkers_.emplace_back(*language, effort);
    choose_letters(all);
  }

  // Breadth first, so that the first text found is a shortest one.
  TextSearch run() {
    State first;
    for (const auto& walker : walkers_) first.progress.push_back(walker.begin());
    discover(std::move(first), {0, 0});
    for (size_t number = 0; number < found_.size(); ++number) {
      if (effort_ == 0) return {Answer::unknown};
      const State state = found_[number]->first;  // by value: found_ grows
      if (is_wanted(state)) return {Answer::found, text_of(number)};
      for (unsigned letter : letters_) {
        if (effort_ == 0) return {Answer::unknown};
        effort_ -= std::min(effort_, cost_of(state));
        State next{side_of(letter)};
        for (size_t i = 0; i < walkers_.size(); ++i)
          next.progress.push_back(walkers_[i].step(state.progress[i], state.before, letter));
        if (!is_hopeless(next)) discover(std::move(next), {number, letter});
      }
    }
    return {Answer::none};
  }

 private:
  struct State {
    Side before = Side::nothing;
    std::vector<Progress> progress = {};
    auto operator<=>(const State&) const = default;
  };
  struct Origin {
    size_t parent;
    unsigned letter;
  };
  using States = std::map<State, Origin>;

  // One of each kind of characters that some automaton tells from the others.
  void choose_letters(const std::vector<const PatternLanguage*>& all) {
    std::vector<unsigned> edges = {0,   '0',     '9' + 1, 'A',     'Z' + 1,
                                   '_', '_' + 1, 'a',     'z' + 1, surrogates.last + 1};
    std::vector<const CodeSet*> sets;
    for (const auto* language : all) {
      for (const auto& node : language->nodes) {
        if (node.kind != PatternNode::Kind::take) continue;
        sets.push_back(&node.set);
        for (const auto& range : node.set) edges.insert(edges.end(), {range.first, range.last + 1});
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::map<std::vector<bool>, unsigned> kinds;
    for (unsigned code : edges) {
      if (code > utf8::last_code_point || (code >= surrogates.first && code <= surrogates.last)) continue;
      std::vector<bool> kind = {is_word(code)};
      for (const auto* set : sets) kind.push_back(has(*set, code));
      effort_ -= std::min(effort_, sets.size());  // about what has() costs
      kinds.emplace(std::move(kind), code);
      if (effort_ == 0) return;
    }
    for (const auto& [kind, code] : kinds) letters_.push_back(code);
  }

  void discover(State state, Origin origin) {
    const auto [place, is_new] = found_in_.emplace(std::move(state), origin);
    if (is_new) found_.push_back(place);
  }

  // Making and comparing states costs more than walking does.
  static size_t cost_of(const State& state) {
    size_t cost = 10;
    for (const auto& progress : state.progress) cost += progress.at.size();
    return cost;
  }

  bool is_hopeless(const State& state) const {
    for (size_t i = 0; i < state.progress.size(); ++i) {
      const Progress& progress = state.progress[i];
      if (i < matching_ ? !progress.matched && progress.at.empty() : progress.matched) return true;
    }
    return false;
  }

  bool is_wanted(const State& state) {
    for (size_t i = 0; i < walkers_.size(); ++i) {
      if (walkers_[i].matches_at_end(state.progress[i], state.before) != (i < matching_)) return false;
    }
    return true;
  }

  std::string text_of(size_t number) const {
    std::string text;
    while (number != 0) {
      const Origin& origin = found_[number]->second;
      text.insert(0, utf8::encode(origin.letter));
      number = origin.parent;
    }
    return text;
  }

  std::vector<Walker> walkers_;
  size_t matching_;
  size_t& effort_;
  std::vector<unsigned> letters_;
  States found_in_;
  std::vector<States::const_iterator> found_;  // in the order of discovery
};

}  // namespace

TextSearch find_text(std::span<const PatternLanguage* const> matching,
                     std::span<const PatternLanguage* const> failing, size_t& effort) {
  return Search(matching, failing, effort).run();
}

}  // namespace cloche
