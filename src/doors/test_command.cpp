// `cloche test`: the examples that shape files carry, checked one by one, with the line of each that fails.
#include <vector>

#include "base/sys.hpp"
#include "doors/explain_command.hpp"
#include "doors/help.hpp"
#include "doors/print.hpp"
#include "store/command_files.hpp"

namespace cloche {
namespace {

struct Tally {
  size_t files = 0;
  size_t examples = 0;
  size_t failures = 0;
};

void check_file(const CommandFile& file, Tally& tally) {
  ++tally.files;
  const auto broken = [&](const Error& error) {
    ++tally.failures;
    print(visible("FAILED  " + describe(error)) + "\n");
  };
  const auto text = read_command_file(file);
  if (!text.ok()) return broken(text.error());
  const auto shapes = read_shapes(text.value(), file.shown);
  if (!shapes.ok()) return broken(shapes.error());
  const ExampleCount count = check_examples(shapes.value());
  tally.examples += count.checked;
  tally.failures += count.failures.size();
  for (const auto& failure : count.failures) print(visible("FAILED  " + failure) + "\n");
  print(visible(std::string(count.failures.empty() ? "ok      " : "        ") + file.shown + ": " +
                std::to_string(shapes.value().size()) + " shapes, " + std::to_string(count.checked) +
                " examples") +
        "\n");
}

Result<std::vector<CommandFile>> files_to_test(std::span<char* const> words, const Environment& environment) {
  std::vector<CommandFile> files;
  for (const std::string word : words) {
    if (word.size() > 1 && word[0] == '-' && word != "--")
      return usage_error("unknown flag " + word, "see cloche test --help");
    if (word != "--") files.push_back({word, word});
  }
  if (!files.empty()) return files;
  const std::string program = TRY(sys::read_link("/proc/self/exe"));
  return find_command_files(program, environment);
}

}  // namespace

int test_door(std::span<char* const> words, const Environment& environment) {
  const std::string_view first = words.empty() ? "" : words.front();
  if (first == "--help" || first == "-h") {
    print(test_help());
    return 0;
  }
  const auto files = files_to_test(words, environment);
  if (!files.ok()) {
    complain(describe(files.error()));
    return files.error().fault == Fault::usage ? 2 : 125;
  }
  Tally tally;
  for (const auto& file : files.value()) check_file(file, tally);
  print(std::to_string(tally.examples) + " examples in " + std::to_string(tally.files) +
        " files: " + (tally.failures == 0 ? "all hold" : std::to_string(tally.failures) + " failed") + "\n");
  return tally.failures == 0 ? 0 : 1;
}

}  // namespace cloche
