#include "programs/elf_file.hpp"

#include <cstring>
#include <utility>

namespace cloche::test {

template <typename Row>
std::vector<Row> ElfFile::rows(uint64_t offset, uint64_t count) const {
  if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(Row)) return {};
  std::vector<Row> read(count);
  if (count > 0) std::memcpy(read.data(), bytes_.data() + offset, count * sizeof(Row));
  return read;
}

ElfFile::ElfFile(std::string bytes) : bytes_(std::move(bytes)) {
  const auto head = rows<Elf64_Ehdr>(0, 1);
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0 || head[0].e_machine != EM_X86_64)
    return;
  head_ = head[0];
  segments_ = rows<Elf64_Phdr>(head_.e_phoff, head_.e_phnum);
  readable_ = !segments_.empty();
  if (const Elf64_Phdr* part = segment(PT_DYNAMIC))
    dynamic_ = rows<Elf64_Dyn>(part->p_offset, part->p_filesz / sizeof(Elf64_Dyn));
  read_symbols(rows<Elf64_Shdr>(head_.e_shoff, head_.e_shnum));
}

void ElfFile::read_symbols(const std::vector<Elf64_Shdr>& sections) {
  for (const auto& section : sections) {
    if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
        section.sh_link >= sections.size())
      continue;
    const uint64_t names = sections[section.sh_link].sh_offset;
    for (const auto& symbol : rows<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (names + symbol.st_name >= bytes_.size()) continue;
      const std::string name = bytes_.c_str() + names + symbol.st_name;
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (section.sh_type == SHT_DYNSYM && symbol.st_shndx == SHN_UNDEF && !name.empty())
        imports_.push_back(name);
      if (symbol.st_shndx != SHN_UNDEF) defined_.insert(name);
      if (section.sh_type == SHT_SYMTAB && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
          symbol.st_shndx != SHN_UNDEF)
        functions_.push_back({name, symbol.st_value, code_at(symbol.st_value, symbol.st_size)});
    }
  }
}

std::string_view ElfFile::code_at(uint64_t address, uint64_t size) const {
  for (const auto& part : segments_) {
    if (part.p_type != PT_LOAD || address < part.p_vaddr || address - part.p_vaddr >= part.p_filesz) continue;
    const uint64_t at = part.p_offset + (address - part.p_vaddr);
    return at < bytes_.size() ? std::string_view(bytes_).substr(at, size) : "";
  }
  return {};
}

const Elf64_Phdr* ElfFile::segment(uint32_t type) const {
  for (const auto& part : segments_)
    if (part.p_type == type) return &part;
  return nullptr;
}

uint64_t ElfFile::dynamic(int64_t tag) const {
  for (const auto& row : dynamic_)
    if (row.d_tag == tag) return row.d_un.d_val;
  return 0;
}

// In the namespace cloche, or main(): what libraries bring along says nothing about how we were compiled.
std::vector<Function> ElfFile::functions_of_ours() const {
  std::vector<Function> ours;
  for (const auto& function : functions_)
    if (function.name == "main" || function.name.find("N6cloche") != std::string::npos ||
        function.name.starts_with("_ZN12_GLOBAL__N_1"))
      ours.push_back(function);
  return ours;
}

}  // namespace cloche::test
