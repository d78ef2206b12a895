#include "doors/cli/secret_flags.hpp"

#include <fcntl.h>

#include <algorithm>
#include <set>

#include "base/sys/sys.hpp"
#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr size_t most_file_bytes = 1U << 20;
constexpr std::string_view blanks = " \t";

bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

// Cloche looks at these itself, and every front end shows them.
bool is_public(std::string_view name) { return name == "PATH" || name == "HOME" || name == "TMPDIR"; }

// Empty: none.
std::string_view fault_of_name(std::string_view name) {
  if (!ascii::is_variable_name(name)) return "what stands before = is not the name of a variable";
  if (is_public(name)) return "PATH, HOME and TMPDIR cannot be secrets: give them with -e";
  return "";
}

// Empty: the value is what it looks like to every reader.
std::string_view fault_of_plain(std::string_view value) {
  if (value.empty()) return "";
  if (is_blank(value.front()) || is_blank(value.back()))
    return "a blank is beside = or at the end; put the value in quotes, or take it away";
  if (value.find(" #") != std::string_view::npos || value.find("\t#") != std::string_view::npos)
    return "a # behind a blank may be a comment; put the value in quotes, or the comment on its own line";
  return "";
}

std::string_view fault_of_quoted(std::string_view value) {
  const char quote = value.front();
  if (value.size() < 2 || value.find(quote, 1) != value.size() - 1)
    return "the quote at the beginning has to come again at the end, and nowhere else";
  if (quote == '"' && value.find('\\') != std::string_view::npos)
    return R"(a backslash is between "..."; write '...', where it means itself)";
  return "";
}

std::string_view fault_of_bytes(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) return "a NUL byte is there";
  if (line.ends_with('\r')) return "the line ends with a carriage return; write the file with plain newlines";
  return "";
}

// Adds the line's variable, where it has one. Else what is wrong with it.
std::string_view take_line(std::string_view line, std::vector<Secret>& variables) {
  if (const auto fault = fault_of_bytes(line); !fault.empty()) return fault;
  const size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos || line[begin] == '#') return "";
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return "the line is not NAME=VALUE";
  const std::string_view name = line.substr(0, equals);
  if (const auto fault = fault_of_name(name); !fault.empty()) return fault;
  if (std::ranges::any_of(variables, [&](const Secret& known) { return known.name == name; }))
    return "the name is there twice";
  std::string_view value = line.substr(equals + 1);
  const bool quoted = value.starts_with('"') || value.starts_with('\'');
  if (const auto fault = quoted ? fault_of_quoted(value) : fault_of_plain(value); !fault.empty())
    return fault;
  if (quoted) value = value.substr(1, value.size() - 2);
  variables.push_back({std::string(name), std::string(value)});
  return "";
}

// A shell's <(...), or an open descriptor: it has no place among the files, and no link of a call's is on the
// way to it.
bool is_descriptor(std::string_view path) {
  if (path == "/dev/stdin") return true;
  for (std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(directory)) continue;
    const std::string_view number = path.substr(directory.size());
    return !number.empty() && ascii::all(number, ascii::is_digit);
  }
  return false;
}

// Opens what the links lead to now, and says which they were: the session judges them.
Result<OwnedFd> open_named(const std::string& path, FileFact& found) {
  constexpr int flags = O_RDONLY | O_NOCTTY;
  found.path = path;
  if (is_descriptor(path)) return sys::open(path, flags);
  sys::Walked walked = TRY(sys::walk(path));
  found.path = std::move(walked.path);
  found.turns = std::move(walked.turns);
  return sys::open("/proc/self/fd/" + std::to_string(walked.fd.get()), flags);
}

// Waits at a pipe, which the operator may have named.
Result<std::string> read_named(const std::string& flag, const std::string& path,
                               std::vector<NamedFile>& files) {
  FileFact found;
  const auto file = open_named(path, found);
  auto text =
      file.ok() ? sys::read_all(file.value().get(), most_file_bytes) : Result<std::string>(file.error());
  if (!text.ok()) return system_error("read " + path, text.error().number);
  files.push_back({flag + path, std::move(found)});
  return text;
}

void put(std::vector<Secret>& secrets, Secret secret) {
  std::erase_if(secrets, [&](const Secret& known) { return known.name == secret.name; });
  secrets.push_back(std::move(secret));
}

Result<std::string> value_of(const SecretFlag& flag, const Environment& environment,
                             std::vector<NamedFile>& files) {
  if (flag.file)
    return read_secret_file(TRY(read_named("--secret " + flag.name + "=@", *flag.file, files)), *flag.file);
  auto value = environment.find(flag.name);
  if (!value)
    return refusal("--secret " + flag.name + ": there is no such variable in the caller's environment",
                   "export it, or write --secret " + flag.name + "=@FILE");
  return *std::move(value);
}

}  // namespace

Result<SecretFlag> parse_secret_flag(std::string_view value) {
  const size_t equals = value.find('=');
  SecretFlag flag{std::string(value.substr(0, equals))};
  if (const auto fault = fault_of_name(flag.name); !fault.empty())
    return usage_error("--secret: " + std::string(fault), "write --secret NAME or --secret NAME=@FILE");
  if (equals == std::string_view::npos) return flag;
  const std::string_view file = value.substr(equals + 1);
  if (!file.starts_with('@') || file.size() == 1)
    return usage_error(
        "--secret " + flag.name +
            ": what stands behind = is not @FILE, and a value would be in the list of processes",
        "write --secret NAME for the caller's variable, or --secret NAME=@FILE");
  flag.file = std::string(file.substr(1));
  return flag;
}

Result<std::vector<Secret>> read_env_file(std::string_view text, const std::string& path) {
  std::vector<Secret> variables;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const auto fault = take_line(text.substr(0, end), variables); !fault.empty())
      return refusal(path + ":" + std::to_string(number) + ": " + std::string(fault));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return variables;
}

Result<std::string> read_secret_file(std::string text, const std::string& path) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.find('\0') != std::string::npos)
    return refusal(path + " has a NUL byte, which no variable can hold", "write it as text, as base64 does");
  return text;
}

Result<std::vector<NamedFile>> read_secrets(const SecretFlags& flags, const Environment& environment,
                                            RunRequest& request) {
  std::vector<NamedFile> files;
  for (const auto& path : flags.env_files) {
    const std::string text = TRY(read_named("--env-file ", path, files));
    for (auto& variable : TRY(read_env_file(text, path))) put(request.secrets, std::move(variable));
  }
  std::erase_if(request.secrets, [&](const Secret& secret) {
    return std::ranges::any_of(request.environment,
                               [&](const Pass& pass) { return pass.value && pass.name == secret.name; });
  });
  std::set<std::string> given;
  for (const auto& flag : flags.secrets) {
    if (!given.insert(flag.name).second) return usage_error("--secret " + flag.name + " is given twice");
    std::string value = TRY(value_of(flag, environment, files));
    put(request.secrets, {flag.name, std::move(value)});
  }
  return files;
}

}  // namespace cloche
