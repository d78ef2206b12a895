#include "store/protected/look_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/protected_names.hpp"
#include "store/protected/tree_name.hpp"

namespace cloche {
namespace {

constexpr size_t most_bytes = size_t{65} << 20;
constexpr std::string_view leads_ending = ".leads";
// Of how many trees. What is quiet in one is found again by whoever looks; which leads were lost is not.
constexpr size_t most_remembered = 64;
constexpr size_t most_with_leads = 1024;

// Counted up when what makes a directory quiet, or how it is written, becomes something else.
constexpr unsigned format = 1;

std::string first_line() {
  return "cloche look " + std::to_string(format) + " " + std::to_string(revision_of_protected_names()) + "\n";
}

// For one more of its kind. The ones that nobody has used for the longest time go first.
void make_room(const std::string& directory, bool for_leads) {
  const size_t most = for_leads ? most_with_leads : most_remembered;
  std::vector<std::pair<int64_t, std::string>> files;
  for (const auto& name : names_in(directory)) {
    struct stat seen {};
    const std::string path = directory + "/" + name;
    if (name.ends_with(leads_ending) == for_leads && ::lstat(path.c_str(), &seen) == 0)
      files.emplace_back(seen.st_mtim.tv_sec, path);
  }
  if (files.size() < most) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - most + 1);
  for (const auto& [time, path] : files) ::unlink(path.c_str());
}

// What is as it was is not written again, but its time says that it was used: now and then will do.
void note_use(const std::string& path) {
  constexpr int64_t now_and_then = 3600;
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) == 0 && ::time(nullptr) - seen.st_mtim.tv_sec >= now_and_then)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
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

std::string LookMemory::leads_file() const { return file_ + std::string(leads_ending); }

std::vector<RememberedLead> LookMemory::leads() const {
  if (file_.empty()) return {};
  const auto text = read_private_file(leads_file(), most_bytes);
  if (!text.ok() || !text.value().starts_with(first_line())) return {};
  return remembered_in(std::string_view(text.value()).substr(first_line().size()));
}

void LookMemory::keep_leads(const std::vector<RememberedLead>& leads) const {
  constexpr size_t most_leads = 16'384;  // the lost ones come first, and the others are found again
  const std::vector<RememberedLead> kept(
      leads.begin(), leads.begin() + static_cast<long>(std::min(leads.size(), most_leads)));
  if (file_.empty()) return;
  if (this->leads() == kept) return note_use(leads_file());
  if (::access(leads_file().c_str(), F_OK) != 0) make_room(directory_, true);
  write_private_file(leads_file(), first_line() + text_of_remembered(kept));
}

std::string_view LookMemory::text() const {
  return read_.empty() ? std::string_view() : std::string_view(read_).substr(first_line().size());
}

void LookMemory::keep(std::string_view memory) const {
  if (file_.empty() || memory.empty()) return;
  if (memory == text()) return note_use(file_);
  if (read_.empty()) make_room(directory_, false);
  write_private_file(file_, first_line() + std::string(memory));
}

}  // namespace cloche
