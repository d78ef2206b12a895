#include "store/look_memory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/directory.hpp"
#include "base/private_file.hpp"
#include "base/sys.hpp"
#include "policy/protected_names.hpp"
#include "store/tree_name.hpp"

namespace cloche {
namespace {

constexpr size_t most_bytes = size_t{65} << 20;
constexpr size_t most_trees = 128;  // files, two for each
constexpr const char* leads_ending = ".leads";

// Counted up when what makes a directory quiet, or how it is written, becomes something else.
constexpr unsigned format = 1;

std::string first_line() {
  return "cloche look " + std::to_string(format) + " " + std::to_string(revision_of_protected_names()) + "\n";
}

// The ones that nobody has looked at for the longest time go first.
void make_room(const std::string& directory) {
  std::vector<std::pair<int64_t, std::string>> files;
  for (const auto& name : names_in(directory)) {
    struct stat seen {};
    const std::string path = directory + "/" + name;
    if (::lstat(path.c_str(), &seen) == 0) files.emplace_back(seen.st_mtim.tv_sec, path);
  }
  if (files.size() < most_trees) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - most_trees + 1);
  for (const auto& [time, path] : files) ::unlink(path.c_str());
}

}  // namespace

LookMemory::LookMemory(const std::string& state, int root) {
  const std::string tree = tree_name(root);
  if (state.empty() || tree.empty()) return;
  directory_ = state + "/" + looked_name;
  file_ = directory_ + "/" + tree;
  auto text = read_private_file(file_, most_bytes);
  if (text.ok() && text.value().starts_with(first_line())) read_ = std::move(text).value();
}

std::vector<RememberedLead> LookMemory::leads() const {
  if (file_.empty()) return {};
  const auto text = read_private_file(file_ + leads_ending, most_bytes);
  if (!text.ok() || !text.value().starts_with(first_line())) return {};
  return remembered_in(std::string_view(text.value()).substr(first_line().size()));
}

void LookMemory::keep_leads(const std::vector<RememberedLead>& leads) const {
  constexpr size_t most_leads = 16'384;  // the lost ones come first, and the others are found again
  const std::vector<RememberedLead> kept(
      leads.begin(), leads.begin() + static_cast<long>(std::min(leads.size(), most_leads)));
  if (file_.empty() || this->leads() == kept) return;
  make_room(directory_);
  write_private_file(file_ + leads_ending, first_line() + text_of_remembered(kept));
}

std::string_view LookMemory::text() const {
  return read_.empty() ? std::string_view() : std::string_view(read_).substr(first_line().size());
}

void LookMemory::keep(std::string_view memory) const {
  if (file_.empty() || memory.empty() || memory == text()) return;
  if (read_.empty()) make_room(directory_);
  write_private_file(file_, first_line() + std::string(memory));
}

}  // namespace cloche
