// Result<T>: a value or an Error. Errors mean that our own machinery broke; a refused call is a Verdict
// and a command that fails is an Outcome, and neither of them ever travels as an Error.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/message.hpp"

namespace cloche {

enum class Cause {
  usage,          // the caller's words do not parse: exit 2
  configuration,  // the words parse and cannot be granted: a bad root, an unbuilt level
  missing_layer,  // this host cannot keep a promise that the plan requires
  system,         // a system call failed
  interrupted,    // a signal from outside ended a part of ours: the same call may succeed next time
  internal,       // we broke a rule of our own
};

// The steps of a call whose failure is answered by more than a message.
enum class FailedStep {
  other,
  clone_source,  // a tree of the host could not be cloned for the view
  mount_layer,   // a layer for writes could not be mounted over a tree of the host
  place_mount,   // another mount of the view could not be made or placed
  find_backend,  // the program that builds the box is not installed
};

enum class LayerId : int;  // model/layers.hpp

struct Error {
  Cause cause = Cause::internal;
  Message what = {};                  // one sentence: what happened and, where we know, why
  int number = 0;                     // errno, or 0
  Message fix = {};                   // what to do next; may be empty
  std::optional<LayerId> layer = {};  // the promise that is not kept
  FailedStep step = FailedStep::other;
};

// "open /x: No such file or directory" with errno kept.
Error system_error(Message doing, int number = errno);
Error usage_error(Message what, Message fix = {});
Error refusal(Message what, Message fix = {});

// One sentence for a person; the fix, when there is one, follows after "; ".
std::string describe(const Error& error);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T value() && { return std::get<0>(std::move(state_)); }  // not a reference into what is about to end
  const Error& error() const { return std::get<1>(state_); }
  Error&& take_error() { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  void value() const {}
  const Error& error() const { return *error_; }
  Error&& take_error() { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

// TRY(expression) is the value, or returns the error from the enclosing function. A GNU statement
// expression: both of our compilers have it, and it keeps the happy path on one line.
#define TRY(expression)                                              \
  ({                                                                 \
    auto try_result = (expression);                                  \
    if (!try_result.ok()) return std::move(try_result).take_error(); \
    std::move(try_result).value();                                   \
  })

}  // namespace cloche
