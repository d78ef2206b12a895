#include "doors/cli/manual_page.hpp"

#include "base/text/pieces.hpp"

namespace cloche {
namespace {

// Text of ours as roff prints it letter by letter: a line that begins with a dot or an apostrophe would be a
// request, and a plain hyphen, quote or tilde would be printed as a typographic one that no shell knows.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += c;
    }
  }
  return out;
}

std::string section(std::string_view title) { return ".SH " + std::string(title) + "\n"; }

std::string paragraphs(std::string_view text) {
  std::string out;
  bool first = true;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    out += (first ? "" : ".PP\n") + roff(line) + "\n";
    first = false;
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }

std::string row_text(const HelpRow& row) {
  if (row.left.empty()) return ".SS " + roff(row.help) + "\n";
  const HelpNames found = names_of(row);
  std::string out = ".TP\n";
  for (size_t at = 0; at < found.names.size(); ++at) out += (at > 0 ? ", " : "") + bold(found.names[at]);
  if (!found.value.empty()) out += " \\fI" + roff(found.value) + "\\fR";
  return out + "\n" + roff(row.help) + "\n";
}

// Lines as they are.
std::string verbatim(std::string_view lines) {
  std::string out = ".nf\n";
  while (!lines.empty()) out += roff(take_line(lines)) + "\n";
  return out + ".fi\n";
}

std::string upper(std::string_view name) {
  std::string out;
  for (const char c : name) out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

}  // namespace

std::string manual_page(std::string_view name, std::string_view summary, const HelpPage& page,
                        std::string_view version) {
  if (summary.ends_with('.')) summary.remove_suffix(1);
  std::string out = ".TH " + upper(name) + " 1 \"\" \"cloche " + std::string(version) + "\" \"Cloche\"\n";
  // No hyphenation, and lines as long as their words are.
  out += ".nh\n.ad l\n";
  out += section("NAME") + roff(name) + " \\- " + roff(summary) + "\n";
  out += section("SYNOPSIS") + verbatim(page.usage);
  out += section("DESCRIPTION") + paragraphs(page.about);
  if (!page.rows.empty()) out += section(name == "cloche" ? "COMMANDS" : "OPTIONS");
  for (const auto& row : page.rows) out += row_text(row);
  if (!page.notes.empty()) out += section("NOTES") + paragraphs(page.notes);
  out += section("EXAMPLES") + ".RS 4\n";
  std::string examples;
  for (const auto& example : page.examples) examples += std::string(example) + "\n";
  out += verbatim(examples) + ".RE\n" + section("SEE ALSO");
  std::string others = name == "cloche" ? "" : ".BR cloche (1)";
  for (const auto& command : command_helps()) {
    if (name == "cloche")
      others += (others.empty() ? "" : ",\n") + (".BR cloche\\-" + std::string(command.name) + " (1)");
  }
  return out + others + "\n";
}

std::string main_manual_page(std::string_view version) {
  return manual_page("cloche", "execution layer for the tool calls of LLM agents", main_help(), version);
}

}  // namespace cloche
