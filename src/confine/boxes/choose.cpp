#include "confine/boxes/choose.hpp"

#include <algorithm>

namespace cloche {
namespace {

std::optional<IsolationLevel> next_below(IsolationLevel level, IsolationLevel lowest) {
  if (level <= lowest) return std::nullopt;
  switch (level) {
    case IsolationLevel::gvisor: return IsolationLevel::container;
    case IsolationLevel::container: return IsolationLevel::namespaces;
    case IsolationLevel::namespaces: return IsolationLevel::subprocess;
    default: return std::nullopt;  // below subprocess nothing is left that holds
  }
}

Result<void> judge(const Wish& wish) {
  const std::string level(name_of(wish.level));
  if (wish.level == IsolationLevel::permissive) {
    return refusal(
        "the isolation level permissive is for functions of the embedding program, and never runs a program",
        "use --isolation subprocess or higher");
  }
  if (backends_of(wish.level).empty())
    return refusal("the isolation level " + level + " is not part of this build",
                   "use --isolation gvisor or lower");
  if (!wish.backend) return {};
  if (*wish.backend == Backend::none)
    return refusal("none is no backend to ask for",
                   "CLOCHE_SANDBOX=off is how an operator opts out, knowingly");
  if (level_of(*wish.backend) != wish.level) {
    return usage_error("the backend " + std::string(name_of(*wish.backend)) + " is at the isolation level " +
                       std::string(name_of(level_of(*wish.backend))) + ", not " + level);
  }
  return {};
}

struct Refused {
  Backend backend;
  Offer offer;
};

struct Found {
  std::optional<Backend> backend = {};
  std::vector<Refused> refused = {};  // all that were tried before it
};

Found first_that_works(std::span<const Backend> candidates, const Offers& offers) {
  Found found;
  for (Backend backend : candidates) {
    Offer offer = offers(backend);
    if (offer.works || !offer.tried) {
      found.backend = backend;
      return found;
    }
    found.refused.push_back({backend, std::move(offer)});
  }
  return found;
}

std::string reasons_of(const std::vector<Refused>& all) {
  if (all.size() == 1) return all.front().offer.why;
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : "; ") + named_reason(one.backend, one.offer);
  return text;
}

bool may_have_less(const Wish& wish) { return wish.missing == Missing::degrade && !wish.required; }

// Best first. An operator who names a backend gets that one or a refusal, unless he has said that there may
// be less: then another one of its level is less of a step than the next level down.
std::vector<Backend> candidates_of(const Wish& wish) {
  const auto own = backends_of(wish.level);
  std::vector<Backend> candidates(own.begin(), own.end());
  if (!wish.backend) return candidates;
  if (!may_have_less(wish)) return {*wish.backend};
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](Backend one) { return one == *wish.backend; });
  return candidates;
}

// Which of a level it is, is worth a word to an operator who has named another.
void note_other_backend(Choice& choice, const Wish& wish, const Found& found) {
  if (wish.backend && level_of(choice.backend) == wish.level && !found.refused.empty())
    choice.notes.push_back(named_reason(found.refused.front().backend, found.refused.front().offer) + "; " +
                           std::string(name_of(choice.backend)) + ", at the same isolation level, instead");
}

}  // namespace

std::string named_reason(Backend backend, const Offer& offer) {
  return offer.installed ? std::string(name_of(backend)) + ": " + offer.why : offer.why;
}

bool may_be_off(const Wish& wish) {
  return wish.off && !wish.required && (wish.front_end == FrontEnd::command_line || wish.off_allowed);
}

std::vector<std::string> switch_notes(const Wish& wish) {
  if (may_be_off(wish)) return {"isolation is off by the operator's own switch: nothing holds"};
  if (wish.overruled) return {"CLOCHE_SANDBOX=off is not honoured: the managed file says enabled"};
  if (wish.off && !wish.required)
    return {"CLOCHE_SANDBOX=off is not honoured for an agent: no managed or user file permits it"};
  return {};
}

Result<Choice> choose(const Wish& wish, const Offers& offers) {
  if (may_be_off(wish)) return Choice{.backend = Backend::none, .notes = switch_notes(wish)};
  TRY(judge(wish));
  Choice choice;
  choice.notes = switch_notes(wish);
  // The one candidate of a wish is not tried out: the call itself does that, and refuses.
  const std::vector<Backend> candidates = candidates_of(wish);
  const bool degrades = may_have_less(wish) && next_below(wish.level, wish.lowest).has_value();
  if (!degrades && (candidates.size() == 1 || wish.untried)) {
    choice.backend = candidates.front();
    choice.untried = candidates.size() > 1;
    return choice;
  }
  std::optional<Error> wanted;
  for (std::optional<IsolationLevel> level = wish.level; level; level = next_below(*level, wish.lowest)) {
    const Found found = first_that_works(
        *level == wish.level ? std::span<const Backend>(candidates) : backends_of(*level), offers);
    if (found.backend) {
      choice.backend = *found.backend;
      note_other_backend(choice, wish, found);
      return choice;
    }
    const std::string why = reasons_of(found.refused);
    if (!wanted) {  // the fix of the first, which is the one that was meant
      const Offer& first = found.refused.front().offer;
      wanted = Error{Cause::missing_layer, why, 0, first.fix, first.layer};
    }
    if (!degrades) {
      // What fails now may be mended: the call itself says why the first does, or works.
      choice.backend = candidates.front();
      for (size_t at = 1; at < found.refused.size(); ++at)
        choice.notes.push_back("not by another backend either: " +
                               named_reason(found.refused[at].backend, found.refused[at].offer));
      return choice;
    }
    if (const auto below = next_below(*level, wish.lowest)) {
      choice.notes.push_back("the isolation level " + std::string(name_of(*level)) +
                             " is missing here, stepped down to " + std::string(name_of(*below)) + ": " +
                             why);
    }
  }
  return *std::move(wanted);
}

}  // namespace cloche
