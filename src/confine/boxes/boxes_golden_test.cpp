// What each box is told of the same plans, compared whole with golden files.
// After a change that is meant: CLOCHE_UPDATE_GOLDEN=1 build/release/tests/unit_test
// --gtest_filter='*Golden*'
#include <gtest/gtest.h>

#include "base/golden.hpp"
#include "base/json/json_text.hpp"
#include "confine/boxes/boxes_fixture.hpp"
#include "confine/boxes/bwrap.hpp"
#include "confine/boxes/seatbelt.hpp"

namespace cloche {
namespace {

using namespace fixture;
using Words = std::vector<std::string>;

// A flag and its values a line.
std::string lines_of(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (word.starts_with("--") && !text.empty() ? "\n" : " ") + word;
  return text.substr(1) + "\n";
}

std::string lines_of(const std::vector<MissingLayer>& missing) {
  std::string text;
  for (const auto& [id, why, fix] : missing) text += std::string(name_of(id)) + ": " + why + "\n";
  return text;
}

// It is JSON, and what is in it is on few lines.
std::string lines_of_json(const std::string& text) {
  const auto value = read_json(text, "config.json");
  EXPECT_TRUE(value.ok()) << value.error().what;
  return value.ok() ? one_element_a_line(to_json(value.value())) : text;
}

std::string lines_of(const std::vector<RootfsEntry>& entries) {
  std::string text;
  for (const auto& [kind, path, content, mode] : entries) {
    text += (kind == RootfsEntry::Kind::directory ? "directory "
             : kind == RootfsEntry::Kind::link    ? "link "
                                                  : "file ");
    text += octal(mode) + " " + path;
    if (kind == RootfsEntry::Kind::link) text += " -> " + content;
    if (kind == RootfsEntry::Kind::file) text += " with " + std::to_string(content.size()) + " bytes";
    text += "\n";
  }
  return text;
}

TEST(GoldenBoxes, Bubblewrap) {
  for (const auto& [name, plan] : cases()) {
    const BoxParts parts = parts_for(plan);
    expect_golden("box-" + std::string(name) + ".bwrap",
                  lines_of(bwrap_arguments(plan, parts)) + "\nmissing:\n" +
                      lines_of(bwrap_missing(plan, parts, Counted::by_us)));
  }
}

TEST(GoldenBoxes, Oci) {
  for (const auto& [name, plan] : cases()) {
    const OciOptions options = options_for(plan);
    expect_golden("box-" + std::string(name) + ".oci",
                  lines_of_json(bundle_text(plan, options)) + "\nrootfs:\n" +
                      lines_of(rootfs_entries(plan, options.kernel)) + "\nmissing:\n" +
                      lines_of(oci_missing(plan, options)));
  }
}

TEST(GoldenBoxes, OciForGvisor) {
  const ConfinementPlan plan = default_plan();
  expect_golden("box-default.gvisor", lines_of_json(bundle_text(plan, options_for_gvisor(plan))));
}

TEST(GoldenBoxes, Seatbelt) {
  for (const auto& [name, plan] : cases()) {
    expect_golden("box-" + std::string(name) + ".sb", seatbelt_profile(plan));
  }
}

}  // namespace
}  // namespace cloche
