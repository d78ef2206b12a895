// A fingerprint says whether a secret is the same, and to no reader without the key which it is.
#include "store/sealed/fingerprints.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/scratch.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

std::string fingerprint(const std::string& state, Secret secret) {
  std::vector<Secret> one = {std::move(secret)};
  const auto added = add_fingerprints(state, one);
  EXPECT_TRUE(added.ok());
  return one[0].fingerprint;
}

TEST(Fingerprints, AreOfNameAndValueWithAKeyOfTheStateDirectory) {
  const Scratch scratch;
  const std::string here = scratch.path + "/here";
  const std::string same = fingerprint(here, {"A", "value"});
  EXPECT_EQ(same.size(), 12U + 64U);
  EXPECT_EQ(fingerprint(here, {"A", "value"}), same);
  EXPECT_NE(fingerprint(here, {"A", "valuf"}), same);
  EXPECT_NE(fingerprint(here, {"B", "value"}), same);
  EXPECT_NE(fingerprint(here, {"A", ""}), same);
  EXPECT_NE(fingerprint(scratch.path + "/elsewhere", {"A", "value"}), same) << "another key";
  EXPECT_EQ(same.find(sha256("A=value")), std::string::npos);
}

TEST(Fingerprints, NeedAStateDirectoryWhereThereAreSecrets) {
  std::vector<Secret> secrets;
  EXPECT_TRUE(add_fingerprints("", secrets).ok());
  const Scratch scratch;
  EXPECT_TRUE(add_fingerprints(scratch.path + "/none", secrets).ok());
  EXPECT_FALSE(std::filesystem::exists(scratch.path + "/none")) << "nothing is made for none";
  secrets = {{"A", "value"}};
  EXPECT_FALSE(add_fingerprints("", secrets).ok());
}

}  // namespace
}  // namespace cloche
