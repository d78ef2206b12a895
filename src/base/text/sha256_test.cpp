// Published vectors of FIPS 180-4 and its validation suite; then the lengths around a block, in pieces and
// whole.
#include "base/text/sha256.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace cloche {
namespace {

struct Vector {
  std::string message;
  const char* digest;
};

TEST(Sha256, PublishedVectors) {
  const Vector rows[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",  // 448 bits: the length no longer fits the
                                                                    // block
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopq"
       "rst"
       "nopqrstu",  // 896 bits
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {"\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
      {"\xc9\x8c\x8e\x55", "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"},
      {std::string(55, '\0'), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
      {std::string(56, '\0'), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
      {std::string(57, '\0'), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"},
      {std::string(64, '\0'), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
      {std::string(1000, '\0'), "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"},
      {std::string(1000, 'A'), "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4"},
      {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [message, digest] : rows) EXPECT_EQ(sha256(message), digest) << message.size() << " bytes";
}

TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
  std::mt19937 random(1);
  std::string message;
  for (size_t length = 0; length < 300; ++length) {
    const std::string whole = sha256(message);
    Sha256 by_byte;
    for (char byte : message) by_byte.add({&byte, 1});
    EXPECT_EQ(by_byte.finish(), whole) << length;
    Sha256 in_pieces;
    for (size_t at = 0; at < length;) {
      const size_t taken = std::min<size_t>(random() % 100, length - at);
      in_pieces.add(std::string_view(message).substr(at, taken));
      at += taken;
    }
    EXPECT_EQ(in_pieces.finish(), whole) << length;
    message += static_cast<char>(random());
  }
}

TEST(Sha256, EveryLengthHasItsOwnDigest) {
  std::set<std::string> digests;
  for (size_t length = 0; length < 200; ++length) digests.insert(sha256(std::string(length, '\0')));
  EXPECT_EQ(digests.size(), 200U);
}

// RFC 4231, test cases 1 to 4 and 6.
TEST(Hmac, PublishedVectors) {
  struct Row {
    std::string key;
    std::string message;
    const char* mac;
  };
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  const Row rows[] = {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {counting, std::string(50, '\xcd'), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
  };
  for (const auto& row : rows) EXPECT_EQ(hmac_sha256(row.key, row.message), row.mac);
}

TEST(Hmac, EqualIsEqual) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace cloche
