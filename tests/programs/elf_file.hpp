// A program as the kernel and the linker see it: segments, the dynamic section, and functions with their
// code. x86-64 alone.
#pragma once

#include <elf.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cloche::test {

struct Function {
  std::string name;
  uint64_t address = 0;
  std::string_view code;  // empty: it is elsewhere
};

class ElfFile {
 public:
  explicit ElfFile(std::string bytes);

  bool is_readable() const { return readable_; }
  uint16_t type() const { return head_.e_type; }
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const Elf64_Phdr* segment(uint32_t type) const;
  // The value of a tag of the dynamic section; 0 when there is none.
  uint64_t dynamic(int64_t tag) const;
  // Of the symbol table, which a stripped program does not have; and those that come from a library.
  const std::vector<Function>& functions() const { return functions_; }
  std::vector<Function> functions_of_ours() const;
  const std::vector<std::string>& imports() const { return imports_; }
  bool defines(const std::string& symbol) const { return defined_.contains(symbol); }

 private:
  template <typename Row>
  std::vector<Row> rows(uint64_t offset, uint64_t count) const;
  void read_symbols(const std::vector<Elf64_Shdr>& sections);
  std::string_view code_at(uint64_t address, uint64_t size) const;

  std::string bytes_;
  bool readable_ = false;
  Elf64_Ehdr head_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> dynamic_;
  std::vector<Function> functions_;
  std::vector<std::string> imports_;
  std::set<std::string> defined_;
};

}  // namespace cloche::test
