// Every way to tamper with a record is found, and what is no tampering is not.
#include "store/record/verify_run.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/json/json_text.hpp"
#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

class Tampering : public RecordTest {
 protected:
  // Two tasks with three calls each, in turns.
  void SetUp() override {
    where_ = place();
    const auto run = open(where_);
    for (int i = 0; i < 3; ++i) {
      for (const char* task : {"A", "B"}) write_call(*run, task, "result " + std::to_string(i));
    }
    files_ = {audit(), transcript("A"), transcript("B")};
    for (const auto& file : files_) whole_.push_back(text_in(file));
    ASSERT_EQ(verdict(where_), "ok");
  }

  // The answer to the record with that text in one of its files, which is whole again afterwards.
  std::string verdict_with(size_t file, const std::string& text) {
    put_text(files_[file], text);
    std::string answer = verdict(where_);
    put_text(files_[file], whole_[file]);
    return answer;
  }

  // Without the state directory nothing but the run itself can tell.
  void forget_state() { fs::remove_all(state()); }

  RunPlace where_;
  std::vector<std::string> files_;
  std::vector<std::string> whole_;
};

TEST_F(Tampering, AChangedByteIsFoundInItsLine) {
  forget_state();
  for (size_t file = 0; file < files_.size(); ++file) {
    const auto lines = lines_in(files_[file]);
    for (size_t line = 0; line < lines.size(); ++line) {
      for (size_t part = 0; part <= 16; ++part) {
        auto changed = lines;
        char& byte = changed[line][(lines[line].size() - 1) * part / 16];
        byte = byte == '5' ? '6' : '5';
        const std::string answer = verdict_with(file, joined(changed));
        const std::string expected =
            fs::path(files_[file]).filename().string() + ":" + std::to_string(line + 1) + ": ";
        EXPECT_NE(answer.find(expected), std::string::npos) << answer;
      }
    }
  }
}

TEST_F(Tampering, RemovedDoubledAndSwappedLinesAreFound) {
  forget_state();
  for (size_t file = 0; file < files_.size(); ++file) {
    const auto lines = lines_in(files_[file]);
    for (size_t i = 0; i < lines.size(); ++i) {
      auto removed = lines;
      removed.erase(removed.begin() + static_cast<long>(i));
      EXPECT_NE(verdict_with(file, joined(removed)), "ok") << "without line " << i + 1;
      for (size_t to = 0; to <= lines.size(); ++to) {
        auto doubled = lines;
        doubled.insert(doubled.begin() + static_cast<long>(to), lines[i]);
        EXPECT_NE(verdict_with(file, joined(doubled)), "ok") << "line " << i + 1 << " again at " << to;
      }
      for (size_t other = i + 1; other < lines.size(); ++other) {
        auto swapped = lines;
        std::swap(swapped[i], swapped[other]);
        EXPECT_NE(verdict_with(file, joined(swapped)), "ok") << "line " << i + 1 << " for " << other + 1;
      }
    }
  }
}

TEST_F(Tampering, ForeignLinesAreFound) {
  forget_state();
  for (size_t file = 0; file < files_.size(); ++file) {
    const auto lines = lines_in(files_[file]);
    const auto last = find_seal(lines.back());
    ASSERT_TRUE(last);
    for (const std::string& added :
         {std::string(), std::string("{}"), lines_in(files_[(file + 1) % 3]).back(),
          // Sealed as it should be, and yet no line that the other files know of.
          seal(R"({"kind":"head","task_id":"A","call_id":"c-0001","lines":9,"head":"x")", last->end,
               Counts::line)
              .bytes.substr(0)}) {
      auto inserted = lines;
      inserted.push_back(added.ends_with('\n') ? added.substr(0, added.size() - 1) : added);
      EXPECT_NE(verdict_with(file, joined(inserted)), "ok") << added;
    }
  }
}

// Who changes a line and gives it a right hash again has not changed the next one, or the other file.
TEST_F(Tampering, ALineSealedAnewIsFound) {
  forget_state();
  for (size_t file = 0; file < files_.size(); ++file) {
    const auto lines = lines_in(files_[file]);
    for (size_t i = 0; i < lines.size(); ++i) {
      const auto before = i == 0 ? ChainEnd{} : find_seal(lines[i - 1])->end;
      const auto own = find_seal(lines[i])->end;
      const std::string object = lines[i].substr(0, lines[i].rfind(",\"line\":")) + ",\"x\":1";
      auto forged = lines;
      forged[i] = seal(object, before, own.calls > before.calls ? Counts::call : Counts::line).bytes;
      forged[i].pop_back();
      const std::string answer = verdict_with(file, joined(forged));
      const bool last_of_audit = file == 0 && i + 1 == lines.size();
      EXPECT_EQ(answer == "ok", last_of_audit) << answer << ": only a kept head tells of the very last line";
      const std::string next = ":" + std::to_string(i + 2) + ": it does not follow";
      EXPECT_TRUE(i + 1 == lines.size() || answer.find(next) != std::string::npos) << answer;
    }
  }
}

TEST_F(Tampering, ACutOffEndIsFound) {
  forget_state();
  for (size_t file = 0; file < files_.size(); ++file) {
    for (size_t kept = 0; kept < whole_[file].size(); kept += 53)
      EXPECT_NE(verdict_with(file, whole_[file].substr(0, kept)), "ok") << kept;
    const auto lines = lines_in(files_[file]);
    for (size_t kept = 0; kept < lines.size(); ++kept) {
      const std::vector<std::string> cut(lines.begin(), lines.begin() + static_cast<long>(kept));
      EXPECT_NE(verdict_with(file, joined(cut)), "ok") << kept << " lines";
    }
  }
  EXPECT_EQ(verdict(where_), "ok");
}

TEST_F(Tampering, AnAbsentFileIsFound) {
  forget_state();
  const std::string results = where_.transcripts() + "/A";
  for (const std::string& gone :
       {audit(), transcript("A"), transcript("B"), results + "/c-0001.txt", results, where_.transcripts()}) {
    fs::rename(gone, scratch_.path + "/gone");
    EXPECT_NE(verdict(where_), "ok") << gone;
    fs::rename(scratch_.path + "/gone", gone);
  }
  EXPECT_EQ(verdict(where_), "ok");
}

TEST_F(Tampering, RawResultsAreHeldToTheirLines) {
  const std::string results = where_.transcripts() + "/A";
  const std::string before = text_in(results + "/c-0001.txt");
  for (const std::string& changed : {before + "x", std::string(), std::string("Result 0")}) {
    put_text(results + "/c-0001.txt", changed);
    EXPECT_EQ(verdict(where_),
              "artifacts/tool_calls/A/c-0001.txt:0: its bytes were changed; it belongs to line 1 of "
              "artifacts/tool_calls/A.jsonl");
  }
  put_text(results + "/c-0001.txt", before);
  put_text(results + "/c-0002.txt", "planted");
  EXPECT_NE(verdict(where_).find("A/c-0002.txt:0: no line of the transcript is about it"), std::string::npos);
  fs::remove(results + "/c-0002.txt");
  fs::remove(results + "/c-0001.txt");
  ASSERT_EQ(::mkfifo((results + "/c-0001.txt").c_str(), 0600), 0);
  EXPECT_NE(verdict(where_).find("is not a regular file"), std::string::npos)
      << "and verify does not wait for it";
}

// Cut back alike, the files agree with each other: only who remembers more can tell.
TEST_F(Tampering, ARunCutBackAsAWholeIsFoundByTheState) {
  const auto audit_lines = lines_in(audit());
  const auto b_lines = lines_in(transcript("B"));
  put_text(audit(), joined({audit_lines.begin(), audit_lines.end() - 2}));
  put_text(transcript("B"), joined({b_lines.begin(), b_lines.end() - 1}));
  fs::remove(where_.transcripts() + "/B/c-0006.txt");
  EXPECT_EQ(verdict(where_), "audit.jsonl:11: its end was cut off: the state directory remembers 12 lines");
  const std::string newest = find_seal(audit_lines.back())->end.hash;
  EXPECT_NE(
      verdict({where_.directory, where_.layout, ""}, {newest, ""}).find("head that was given is not in it"),
      std::string::npos);
  EXPECT_EQ(verdict({where_.directory, where_.layout, ""}), "ok") << "without either it cannot be known";
}

TEST_F(Tampering, ARunCutBackAsAWholeStaysFoundWhenItGoesOn) {
  const auto audit_lines = lines_in(audit());
  const auto b_lines = lines_in(transcript("B"));
  put_text(audit(), joined({audit_lines.begin(), audit_lines.end() - 2}));
  put_text(transcript("B"), joined({b_lines.begin(), b_lines.end() - 1}));
  fs::remove(where_.transcripts() + "/B/c-0006.txt");
  write_call(*open(where_), "A", "x");
  EXPECT_EQ(verdict({where_.directory, where_.layout, ""}),
            "audit.jsonl:11: lines before it were cut off: the state directory remembered 12");
}

TEST_F(Tampering, OneTaskIsLookedAtAlone) {
  put_text(transcript("B"), "broken\n");
  EXPECT_EQ(verdict(where_, {"", "A"}), "ok");
  EXPECT_NE(verdict(where_, {"", "B"}), "ok");
  EXPECT_EQ(verdict(where_, {"", "C"}), "error: there is no task 'C' in this run");
}

// Copies have other modes, and root reads what is not its own.
TEST_F(Tampering, ACopyIsReadWhateverItsModes) {
  for (const auto& entry : fs::recursive_directory_iterator(where_.directory))
    fs::permissions(entry.path(), fs::perms(0777));
  EXPECT_EQ(verdict(where_), "ok");
  EXPECT_FALSE(open_run(where_).ok()) << "but it is not written to";
}

TEST_F(Tampering, AHeadKeptElsewhereIsLookedFor) {
  const auto lines = lines_in(audit());
  const auto notes_for = [&](const std::string& head) {
    return verify_run(where_, {head, ""}).value().notes.back();
  };
  EXPECT_EQ(notes_for(find_seal(lines.back())->end.hash), "the head that was given is the newest line");
  EXPECT_EQ(notes_for(find_seal(lines[3])->end.hash),
            "the head that was given is line 4, 8 before the newest");
  EXPECT_NE(verdict(where_, {std::string(64, 'a'), ""}), "ok");
  EXPECT_NE(verdict(where_, {"x", ""}), "ok");
}

TEST_F(Tampering, ACallWithoutAnEndIsANote) {
  const auto run = open(where_);
  ASSERT_TRUE(run->begin(a_decision("A")).ok());
  const auto found = verify_run(where_).value();
  EXPECT_FALSE(found.first_bad);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0], "c-0007 has no result: still running or crashed");
}

TEST_F(Tampering, TheReportIsJson) {
  const auto found = verify_run(where_).value();
  EXPECT_EQ(found.lines, 18U);
  EXPECT_EQ(to_json(found),
            R"({"ok":true,"lines":18,"head":")" + found.head + R"(","first_bad":null,"notes":[]})");
  const Verification bad{2, "h", BadLine{"a\"b", 3, "why"}, {"n"}};
  EXPECT_EQ(
      to_json(bad),
      R"({"ok":false,"lines":2,"head":"h","first_bad":{"file":"a\"b","line":3,"why":"why"},"notes":["n"]})");
}

TEST_F(Tampering, OneTranscriptAloneIsItsChain) {
  const auto found = verify_file(transcript("A")).value();
  EXPECT_FALSE(found.first_bad);
  EXPECT_EQ(found.lines, 3U);
  put_text(transcript("A"), whole_[1].substr(0, whole_[1].size() - 5));
  EXPECT_TRUE(verify_file(transcript("A")).value().first_bad);
  EXPECT_FALSE(verify_file(transcript("C")).ok());
}

TEST_F(Tampering, NoRecordIsAnError) { EXPECT_EQ(verdict(place("empty")).substr(0, 6), "error:"); }

}  // namespace
}  // namespace cloche
