#include "policy/view_entries.hpp"

#include <utility>

namespace cloche::view {

using Kind = FileFact::Kind;

ViewEntry tree(const FileFact& fact, std::string target, Access access, std::string why) {
  ViewEntry entry{
      .kind = EntryKind::tree, .access = access, .target = std::move(target), .source = fact.path};
  entry.file = fact.kind != Kind::directory;
  entry.device = fact.device;
  entry.inode = fact.inode;
  entry.owner_uid = fact.uid;
  entry.owner_gid = fact.gid;
  entry.why = std::move(why);
  return entry;
}

ViewEntry owned_tree(const FileFact& fact, std::string target, Access access, std::string why) {
  ViewEntry entry = tree(fact, std::move(target), access, std::move(why));
  entry.owned = true;
  return entry;
}

ViewEntry link(std::string target, std::string says, std::string why) {
  return {
      .kind = EntryKind::link, .target = std::move(target), .source = std::move(says), .why = std::move(why)};
}

ViewEntry text(std::string target, std::string content, std::string why) {
  ViewEntry entry{.kind = EntryKind::text, .target = std::move(target), .content = std::move(content)};
  entry.mode = 0644;
  entry.why = std::move(why);
  return entry;
}

ViewEntry mask(std::string target, std::string why) {
  ViewEntry entry{.kind = EntryKind::tmpfs, .access = Access::none, .target = std::move(target)};
  entry.mode = 0111;
  entry.size_bytes = 4096;
  entry.why = std::move(why);
  return entry;
}

ViewEntry empty_file(std::string target, std::string why) {
  return {.kind = EntryKind::tree,
          .access = Access::none,
          .target = std::move(target),
          .source = "/dev/null",
          .file = true,
          .why = std::move(why)};
}

ViewEntry as_on_host(const FileFact& fact, Access access, std::string_view why) {
  if (fact.kind == Kind::link) return link(fact.path, fact.link, std::string(why));
  ViewEntry entry = tree(fact, fact.path, access, std::string(why));
  entry.recursive = fact.kind == Kind::directory;
  return entry;
}

ViewEntry memory(std::string target, uint64_t size_bytes, Access access, std::string why) {
  ViewEntry entry{.kind = EntryKind::tmpfs, .access = access, .target = std::move(target)};
  entry.size_bytes = size_bytes;
  entry.why = std::move(why);
  return entry;
}

}  // namespace cloche::view
