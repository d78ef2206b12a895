// The seal of a line, where a file ends, and what a crash or a full disk leaves.
#include "store/record/chain.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "store/record/chain_reading.hpp"
#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

std::string three_lines() {
  std::string text;
  ChainEnd end;
  for (const char* word : {"one", "two", "three"}) {
    SealedLine line = seal(std::string("{\"word\":\"") + word + "\"", end, Counts::call);
    text += line.bytes;
    end = line.end;
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

ChainVerifier verified(const std::string& text) {
  ChainVerifier chain;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    chain.take(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  chain.finish(std::string_view(text).substr(begin));
  return chain;
}

TEST(Seal, IsTheDigestOfWhatStandsBeforeIt) {
  const SealedLine line = seal("{\"a\":1", {}, Counts::call);
  const std::string before = "{\"a\":1,\"line\":1,\"calls\":1,\"prev\":\"" + std::string(64, '0') + "\"";
  EXPECT_EQ(line.bytes, before + ",\"hash\":\"" + sha256(before) + "\"}\n");
  EXPECT_EQ(line.end, (ChainEnd{sha256(before), 1, 1}));
  const auto found = find_seal(line.bytes.substr(0, line.bytes.size() - 1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end, line.end);
  EXPECT_EQ(found->prev, std::string(64, '0'));
}

TEST(Seal, IsOnlyFoundInItsOneSpelling) {
  const std::string hash(64, 'a');
  const auto line = [&](const std::string& numbers) {
    return "{\"a\":1" + numbers + ",\"prev\":\"" + hash + "\",\"hash\":\"" + hash + "\"}";
  };
  EXPECT_TRUE(find_seal(line(",\"line\":10,\"calls\":0")));
  for (const std::string numbers :
       {"", ",\"line\":1", ",\"calls\":1", ",\"line\":01,\"calls\":1", ",\"line\":,\"calls\":1",
        ",\"line\":-1,\"calls\":1", ",\"line\":1,\"calls\":99999999999999999999999"})
    EXPECT_FALSE(find_seal(line(numbers))) << numbers;
  EXPECT_FALSE(find_seal(""));
  EXPECT_FALSE(find_seal(line(",\"line\":1,\"calls\":1") + " "));
  std::string upper = line(",\"line\":1,\"calls\":1");
  upper[upper.size() - 5] = 'A';
  EXPECT_FALSE(find_seal(upper));
}

class Chains : public RecordTest {
 protected:
  Chain chain_of(const std::string& text) {
    put_text(file(), text);
    return reopened();
  }
  Chain reopened() const {
    return Chain(sys::open(file(), O_RDWR | O_APPEND | O_CREAT, 0600).value(), file());
  }
  static Result<void> append(Chain& chain, const std::string& word) {
    auto held = TRY(chain.hold());
    return held.append("{\"word\":\"" + word + "\"", Counts::call);
  }
  std::string file() const { return scratch_.path + "/chain.jsonl"; }
};

TEST_F(Chains, GrowLineByLineAndAreContinuedByAnother) {
  Chain first = chain_of("");
  EXPECT_TRUE(append(first, "one").ok());
  Chain second = reopened();
  EXPECT_TRUE(append(second, "two").ok());
  EXPECT_TRUE(append(first, "three").ok());
  EXPECT_EQ(text_in(file()), three_lines());
}

// Whatever a crash has left of the last line, the next writer marks it, and the chain holds again.
TEST_F(Chains, ATornEndIsMarkedWhereverItWasTorn) {
  const std::string whole = three_lines();
  const size_t second_end = whole.find('\n', whole.find('\n') + 1) + 1;
  for (size_t size = second_end + 1; size < whole.size(); ++size) {
    const std::string left = whole.substr(0, size);
    EXPECT_TRUE(verified(left).bad()) << "before it is marked it is a fault, cut at " << size;
    Chain chain = chain_of(left);
    ASSERT_TRUE(append(chain, "four").ok()) << size;
    const std::string text = text_in(file());
    EXPECT_TRUE(text.starts_with(left + "\n{\"kind\":\"recovered\",")) << size;
    const ChainVerifier found = verified(text);
    EXPECT_FALSE(found.bad()) << size << ": " << found.bad()->why;
    EXPECT_EQ(found.recoveries(), 1U);
    EXPECT_EQ(found.end().line, 5U);
    // A line that lacked only its newline is a line; of another it is not known whether it began a call.
    EXPECT_EQ(found.end().calls, 4U);
  }
}

TEST_F(Chains, OtherTornEndsAreMarkedToo) {
  const std::string whole = three_lines();
  const std::string torn = whole.substr(0, whole.size() - 9);
  const std::string mark = recovery_line({find_seal(lines_of(whole)[1])->end}, lines_of(torn)[2]).bytes;
  for (const std::string& left :
       {whole + std::string(500, '\0'), std::string("half a first line"), torn + "\n{\"kind\":\"recov",
        torn + "\n" + mark.substr(0, mark.size() - 1)}) {
    Chain chain = chain_of(left);
    ASSERT_TRUE(append(chain, "next").ok());
    const ChainVerifier found = verified(text_in(file()));
    EXPECT_FALSE(found.bad()) << left << ": " << found.bad()->why;
    EXPECT_GE(found.recoveries(), 1U) << left;
  }
}

// What has its newline was not torn: it was changed, and no later line answers for it.
TEST_F(Chains, AWholeLineThatIsWrongIsNeverMarked) {
  const std::string whole = three_lines();
  std::string changed = whole;
  changed[whole.size() - 90] ^= 1;
  const std::pair<std::string, uint64_t> rows[] = {
      {changed, 3},        {whole + "\n", 4},   {whole + std::string(500, '\0') + "\n", 4},
      {whole + "{}\n", 4}, {"\n", 1},           {whole + whole.substr(0, 40) + "\n\n\n", 4},
      {whole + "x\ny", 4}, {whole + "x\n{}", 4}};
  for (const auto& [left, first_bad] : rows) {
    Chain chain = chain_of(left);
    for (int calls = 0; calls < 3; ++calls) {
      const ChainVerifier found = verified(text_in(file()));
      ASSERT_TRUE(found.bad()) << left;
      EXPECT_EQ(found.bad()->line, first_bad) << left;
      EXPECT_EQ(found.recoveries(), 0U) << left;
      ASSERT_TRUE(append(chain, "next").ok());
    }
  }
}

TEST_F(Chains, TheMarkAnswersForExactlyThoseBytes) {
  const std::string whole = three_lines();
  Chain chain = chain_of(whole + "torn");
  ASSERT_TRUE(append(chain, "next").ok());
  const std::string text = text_in(file());
  ASSERT_FALSE(verified(text).bad());
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == 'x' ? 'y' : 'x';
    EXPECT_TRUE(verified(changed).bad()) << at;
    EXPECT_TRUE(verified(text.substr(0, at) + text.substr(at + 1)).bad()) << at;
  }
}

TEST_F(Chains, AFileThatIsNoChainIsRefused) {
  std::string noise;
  for (int i = 0; i < 2'000'000; ++i) noise += "not a line\n";
  Chain chain = chain_of(noise);
  const auto refused = append(chain, "next");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(describe(refused.error()).find("does not end in a line of its chain"), std::string::npos);
  EXPECT_EQ(text_in(file()).size(), noise.size());
}

TEST_F(Chains, ALineThatIsTooLongIsRefusedAndALongOneIsReadBack) {
  Chain chain = chain_of("");
  EXPECT_FALSE(append(chain, std::string(max_line_bytes, 'x')).ok());
  EXPECT_TRUE(append(chain, std::string(max_line_bytes - 1000, 'x')).ok());
  Chain other = reopened();
  EXPECT_TRUE(append(other, "next").ok());
  EXPECT_FALSE(verified(text_in(file())).bad());
  EXPECT_EQ(verified(text_in(file())).lines(), 2U);
}

// A limit on the size of files fails as a full disk does: after a part of the line.
TEST_F(Chains, AFullDiskLeavesTheFileAsItWas) {
  Chain chain = chain_of("");
  ASSERT_TRUE(append(chain, "one").ok());
  const std::string before = text_in(file());
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  for (const size_t room : {0U, 1U, 60U, 100U}) {
    const rlimit small{before.size() + room, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto refused = append(chain, "two");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_FALSE(refused.ok()) << room;
    EXPECT_EQ(text_in(file()), before) << room;
  }
  ::signal(SIGXFSZ, ignored);
  EXPECT_TRUE(append(chain, "two").ok());
  EXPECT_TRUE(append(chain, "three").ok());
  EXPECT_EQ(text_in(file()), three_lines());
}

TEST_F(Chains, WhatIsTakenBackHasNotBeen) {
  Chain chain = chain_of("");
  ASSERT_TRUE(append(chain, "one").ok());
  {
    auto held = chain.hold();
    ASSERT_TRUE(held.value().append("{\"word\":\"wrong\"", Counts::call).ok());
    held.value().take_back();
  }
  ASSERT_TRUE(append(chain, "two").ok());
  ASSERT_TRUE(append(chain, "three").ok());
  EXPECT_EQ(text_in(file()), three_lines());
}

TEST_F(Chains, ManyWaitForFewSyncs) {
  const OwnedFd fd = sys::open(file(), O_RDWR | O_APPEND | O_CREAT, 0600).value();
  GroupCommit commit;
  std::atomic<uint64_t> written{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        ASSERT_EQ(::write(fd.get(), "x", 1), 1);
        ASSERT_TRUE(commit.reach(fd.get(), ++written).ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GE(commit.syncs(), 1U);
  EXPECT_LE(commit.syncs(), 160U);
  EXPECT_TRUE(commit.reach(fd.get(), 160).ok());
  EXPECT_FALSE(GroupCommit().reach(-1, 1).ok());
}

}  // namespace
}  // namespace cloche
