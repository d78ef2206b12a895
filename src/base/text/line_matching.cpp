// Myers' O(ND) search from both ends at once, which needs memory in proportion to the lines alone. Two
// changes to it: lines that occur in one sequence only are put aside first, because nothing can match them;
// and a part with very many differences is cut where the search from its front has come furthest.
#include "base/text/line_matching.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace cloche {
namespace {

using Index = std::ptrdiff_t;

struct Part {
  Index a_first, a_last, b_first, b_last;  // the last ones are not in it

  bool is_open() const { return a_first < a_last && b_first < b_last; }
};

struct Point {
  Index a, b;
};

// How far the search has come on every diagonal (a - b) between two bounds that grow by one each round.
class Front {
 public:
  // Every diagonal that a part can have, and one more on each side.
  Front(size_t a, size_t b) : offset_(static_cast<Index>(b) + 1), reach_(a + b + 3) {}

  Index& at(Index diagonal) { return reach_[static_cast<size_t>(diagonal + offset_)]; }
  void start(Index diagonal, Index reach) {
    low = high = diagonal;
    at(diagonal) = reach;
  }
  // One more diagonal on either side, or one less where the part ends. `nowhere` loses every comparison.
  void widen(Index least, Index most, Index nowhere) {
    if (low > least) {
      at(--low - 1) = nowhere;
    } else {
      ++low;
    }
    if (high < most) {
      at(++high + 1) = nowhere;
    } else {
      --high;
    }
  }
  bool covers(Index diagonal) const { return low <= diagonal && diagonal <= high; }

  Index low = 0;
  Index high = 0;

 private:
  Index offset_;
  std::vector<Index> reach_;
};

class Search {
 public:
  Search(const std::vector<size_t>& a, const std::vector<size_t>& b, uint64_t most_work,
         size_t most_differences)
      : a_(a),
        b_(b),
        forward_(a.size(), b.size()),
        backward_(a.size(), b.size()),
        most_work_(most_work),
        most_rounds_(static_cast<Index>(std::max<size_t>(most_differences / 2, 2))) {
    found.removed.assign(a.size(), false);
    found.added.assign(b.size(), false);
  }

  // A list of parts instead of recursion: a hostile text must not choose the depth of our stack.
  void run() {
    std::vector<Part> parts = {{0, size(a_), 0, size(b_)}};
    while (!parts.empty()) {
      const Part part = without_equal_ends(parts.back());
      parts.pop_back();
      const auto middle = part.is_open() ? split(part) : std::nullopt;
      if (!middle) {
        mark_different(part);
        continue;
      }
      parts.push_back({middle->a, part.a_last, middle->b, part.b_last});
      parts.push_back({part.a_first, middle->a, part.b_first, middle->b});
    }
  }

  LineMatching found;

 private:
  static Index size(const std::vector<size_t>& list) { return static_cast<Index>(list.size()); }
  bool same(Index a, Index b) const { return a_[static_cast<size_t>(a)] == b_[static_cast<size_t>(b)]; }

  Part without_equal_ends(Part part) {
    while (part.is_open() && same(part.a_first, part.b_first)) ++part.a_first, ++part.b_first;
    while (part.is_open() && same(part.a_last - 1, part.b_last - 1)) --part.a_last, --part.b_last;
    return part;
  }

  void mark_different(const Part& part) {
    std::fill(found.removed.begin() + part.a_first, found.removed.begin() + part.a_last, true);
    std::fill(found.added.begin() + part.b_first, found.added.begin() + part.b_last, true);
  }

  // A point on a shortest way through the part, whose ends differ; none where the work is used up.
  std::optional<Point> split(const Part& part) {
    const Index first = part.a_first - part.b_first;
    const Index last = part.a_last - part.b_last;
    const bool meets_going_forward = ((first - last) & 1) != 0;
    forward_.start(first, part.a_first);
    backward_.start(last, part.a_last);
    for (Index round = 1;; ++round) {
      if (const auto met = advance(part, meets_going_forward)) return met;
      if (const auto met = retreat(part, !meets_going_forward)) return met;
      if (found.work > most_work_) {
        found.is_minimal = false;
        return std::nullopt;
      }
      if (round >= most_rounds_) return cut(part);
    }
  }

  std::optional<Point> advance(const Part& part, bool may_meet) {
    forward_.widen(part.a_first - part.b_last, part.a_last - part.b_first, -1);
    for (Index diagonal = forward_.high; diagonal >= forward_.low; diagonal -= 2) {
      const Index start = std::max(forward_.at(diagonal - 1) + 1, forward_.at(diagonal + 1));
      Index a = start;
      while (a < part.a_last && a - diagonal < part.b_last && same(a, a - diagonal)) ++a;
      found.work += static_cast<uint64_t>(a - start) + 1;
      forward_.at(diagonal) = a;
      if (may_meet && backward_.covers(diagonal) && backward_.at(diagonal) <= a)
        return Point{a, a - diagonal};
    }
    return std::nullopt;
  }

  std::optional<Point> retreat(const Part& part, bool may_meet) {
    backward_.widen(part.a_first - part.b_last, part.a_last - part.b_first, size(a_) + 1);
    for (Index diagonal = backward_.high; diagonal >= backward_.low; diagonal -= 2) {
      const Index start = std::min(backward_.at(diagonal - 1), backward_.at(diagonal + 1) - 1);
      Index a = start;
      while (a > part.a_first && a - diagonal > part.b_first && same(a - 1, a - diagonal - 1)) --a;
      found.work += static_cast<uint64_t>(start - a) + 1;
      backward_.at(diagonal) = a;
      if (may_meet && forward_.covers(diagonal) && a <= forward_.at(diagonal)) return Point{a, a - diagonal};
    }
    return std::nullopt;
  }

  // Too many differences: go on from the point that the search from the front got furthest to.
  std::optional<Point> cut(const Part& part) {
    found.is_minimal = false;
    Point best{part.a_first, part.b_first};
    for (Index diagonal = forward_.high; diagonal >= forward_.low; diagonal -= 2) {
      const Index a = std::min({forward_.at(diagonal), part.a_last, part.b_last + diagonal});
      if (a + a - diagonal > best.a + best.b) best = {a, a - diagonal};
    }
    const bool is_corner = (best.a == part.a_first && best.b == part.b_first) ||
                           (best.a == part.a_last && best.b == part.b_last);
    return is_corner ? std::nullopt : std::optional(best);
  }

  const std::vector<size_t>& a_;
  const std::vector<size_t>& b_;
  Front forward_;
  Front backward_;
  uint64_t most_work_;
  Index most_rounds_;
};

std::vector<bool> occurring(const std::vector<size_t>& list, size_t values) {
  std::vector<bool> occurs(values, false);
  for (const size_t value : list) occurs[value] = true;
  return occurs;
}

// The elements that the other sequence has as well, and where they stood.
struct Shared {
  std::vector<size_t> values = {};
  std::vector<size_t> places = {};
};

Shared shared_with(const std::vector<bool>& other, const std::vector<size_t>& list) {
  Shared shared;
  for (size_t i = 0; i < list.size(); ++i) {
    if (!other[list[i]]) continue;
    shared.values.push_back(list[i]);
    shared.places.push_back(i);
  }
  return shared;
}

std::vector<bool> without_counterpart(const Shared& shared, const std::vector<bool>& found, size_t size) {
  std::vector<bool> alone(size, true);
  for (size_t i = 0; i < shared.places.size(); ++i) alone[shared.places[i]] = found[i];
  return alone;
}

size_t values_in(const std::vector<size_t>& list) {
  return list.empty() ? 0 : *std::ranges::max_element(list) + 1;
}

}  // namespace

LineMatching match_lines(const std::vector<size_t>& before, const std::vector<size_t>& after,
                         uint64_t most_work, size_t most_differences) {
  const size_t values = std::max(values_in(before), values_in(after));
  const Shared a = shared_with(occurring(after, values), before);
  const Shared b = shared_with(occurring(before, values), after);
  Search search(a.values, b.values, most_work, most_differences);
  search.run();
  return {.removed = without_counterpart(a, search.found.removed, before.size()),
          .added = without_counterpart(b, search.found.added, after.size()),
          .work = search.found.work,
          .is_minimal = search.found.is_minimal};
}

}  // namespace cloche
