#include "confine/warm/early_imports.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

// /usr/bin/python3 is /usr/bin/python3.11, whose library has the same name.
std::string library_of(const std::string& program) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(program.c_str(), nullptr), &std::free);
  return real ? "/usr/lib/" + std::string(name_in(real.get())) : "";
}

std::string import_file_of(const std::vector<std::string>& programs) {
  for (const auto& program : programs) {
    const std::string library = library_of(program);
    if (library.empty()) continue;
    const auto link = sys::read_link(library + "/sitecustomize.py");
    return link.ok() ? import_file(link.value()) : "";
  }
  return {};
}

// The copy that the view has of the directory of that file.
bool is_copy_around(const ViewEntry& entry, const std::string& file) {
  return entry.copied && entry.source == entry.target && entry.target == parent_of(file);
}

// With others beside it the directory cannot be replaced by one file.
bool is_alone(const std::string& file) {
  std::error_code error;
  size_t names = 0;
  for (std::filesystem::directory_iterator at(parent_of(file), error), end; !error && at != end;
       at.increment(error))
    ++names;
  return !error && names == 1;
}

}  // namespace

std::string import_file(std::string_view link) {
  if (!link.starts_with("/etc/") || !is_plain_absolute(link)) return {};
  const auto names = components_of(link);
  const bool is_pythons =
      names.size() == 3 && names[1].starts_with("python3") && names[2] == "sitecustomize.py";
  return is_pythons ? std::string(link) : "";
}

// What cannot be imported says so when the script wants it. To search all of it for garbage once more is most
// of what the end of an interpreter with large modules takes.
std::string import_text(const std::vector<std::string>& modules, const std::string& of_host) {
  std::string text = "for name in (";
  for (const auto& module : modules) text += "'" + module + "', ";
  return text +
         "):\n"
         "    try:\n"
         "        __import__(name)\n"
         "    except BaseException:\n"
         "        pass\n"
         "del name\n"
         "import gc\n"
         "gc.freeze()\n"
         "del gc\n" +
         of_host;
}

EarlyImports early_imports(const ConfinementPlan& plan, const std::vector<std::string>& modules) {
  if (modules.empty()) return {};
  std::string file = import_file_of(program_candidates(plan));
  const bool is_shown = std::any_of(plan.view.begin(), plan.view.end(),
                                    [&](const auto& entry) { return is_copy_around(entry, file); });
  if (file.empty() || !is_shown || !is_alone(file)) return {};
  const auto of_host = sys::read_file(file);
  if (!of_host.ok()) return {};
  return {std::move(file), import_text(modules, of_host.value())};
}

ConfinementPlan with_imports(ConfinementPlan plan, const EarlyImports& imports) {
  if (imports.file.empty()) return plan;
  for (ViewEntry& entry : plan.view.edit()) {
    if (!is_copy_around(entry, imports.file)) continue;
    entry = {.kind = EntryKind::text,
             .target = imports.file,
             .content = imports.text,
             .mode = 0644,
             .why = "modules that the operator wants imported before there is a script"};
  }
  return plan;
}

}  // namespace cloche
