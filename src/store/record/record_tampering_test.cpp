// Which ends of a record a crash may leave, and that nothing else becomes whole again: every mutation stays
// found, however many calls follow it. The table of docs/record.md is the one of CrashStates.
#include <filesystem>
#include <functional>

#include "store/record/record_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

ChainEnd end_of(const std::string& text) {
  const size_t last = text.size() < 2 ? std::string::npos : text.rfind('\n', text.size() - 2);
  const auto seal = find_seal(text.substr(last + 1, text.size() - last - 2));
  EXPECT_TRUE(seal);
  return seal ? seal->end : ChainEnd{};
}

// A call that may be refused: a record that was tampered with need not take another one.
void try_call(Run& run, const std::string& task) {
  const DecisionRecord decided = a_decision(task);
  const auto id = run.begin(decided);
  if (id.ok()) (void)run.finish(a_call(decided, id.value(), "later"), "later");
}

// One call of a run whose first is complete, as far as it had come when Cloche was killed.
class CrashStates : public RecordTest {
 protected:
  struct State {
    const char* what;
    std::string audit;
    std::string remembered;  // the audit when the state directory heard of it last
    std::string transcript;
    std::optional<std::string> raw;
    const char* at_once;  // what verify says, "" for ok
    size_t notes_later;   // how many notes it has when calls have followed; it is ok then
  };

  void SetUp() override {
    where_ = place();
    const auto run = open(where_);
    write_call(*run, "A", "first");
    begun_audit_ = text_in(audit());
    begun_transcript_ = text_in(transcript("A"));
    const DecisionRecord decided = a_decision("A");
    const std::string id = run->begin(decided).value();
    decided_audit_ = text_in(audit());
    ASSERT_TRUE(run->finish(a_call(decided, id, "second"), "second").ok());
    ended_audit_ = text_in(audit());
    ended_transcript_ = text_in(transcript("A"));
  }

  void put(const State& state) const {
    put_text(audit(), state.audit);
    put_text(transcript("A"), state.transcript);
    const std::string raw = where_.transcripts() + "/A/c-0002.txt";
    fs::remove(raw);
    if (state.raw) put_text(raw, *state.raw);
    for (const auto& name : {"c-0003.txt", "c-0004.txt", "c-0005.txt", "c-0006.txt"})
      fs::remove(where_.transcripts() + "/A/" + name);
    StoredHead::open(where_).store(end_of(state.remembered));
  }

  static std::string half_of_last_line(const std::string& before, const std::string& after) {
    return after.substr(0, before.size() + (after.size() - before.size()) / 2);
  }

  RunPlace where_;
  std::string begun_audit_, decided_audit_, ended_audit_;
  std::string begun_transcript_, ended_transcript_;
};

TEST_F(CrashStates, AreWhatTheDocumentSays) {
  const State states[] = {
      {"half of the decision",
       half_of_last_line(begun_audit_, decided_audit_),
       begun_audit_,
       begun_transcript_,
       {},
       "it has no newline",
       1},
      {"the decision, not yet remembered", decided_audit_, begun_audit_, begun_transcript_, {}, "", 1},
      {"the decision", decided_audit_, decided_audit_, begun_transcript_, {}, "", 1},
      {"half of the raw result", decided_audit_, decided_audit_, begun_transcript_, "sec", "", 2},
      {"half of the call's line", decided_audit_, decided_audit_,
       half_of_last_line(begun_transcript_, ended_transcript_), "second", "it has no newline", 3},
      {"the call's line", decided_audit_, decided_audit_, ended_transcript_, "second", "", 1},
      {"half of the head", half_of_last_line(decided_audit_, ended_audit_), decided_audit_, ended_transcript_,
       "second", "it has no newline", 2},
      {"the head, not yet remembered", ended_audit_, decided_audit_, ended_transcript_, "second", "", 0},
      {"all of it", ended_audit_, ended_audit_, ended_transcript_, "second", "", 0},
  };
  for (const State& state : states) {
    put(state);
    const std::string first = verdict(where_);
    EXPECT_EQ(first == "ok", std::string(state.at_once).empty()) << state.what << ": " << first;
    EXPECT_TRUE(first == "ok" || first.find(state.at_once) != std::string::npos)
        << state.what << ": " << first;
    for (int calls = 1; calls <= 2; ++calls) {
      write_call(*open(where_), "A", "later");
      EXPECT_EQ(verdict(where_), "ok") << state.what << ", " << calls << " calls later";
    }
    EXPECT_EQ(verify_run(where_).value().notes.size(), state.notes_later) << state.what;
  }
}

// The mark of a torn line is as easily torn as any other line. Only when nothing of it is there but the
// newline is the torn line like one that was changed.
TEST_F(CrashStates, AMarkThatIsTornItselfIsFinished) {
  const std::string torn = half_of_last_line(begun_audit_, decided_audit_);
  put({"", torn, begun_audit_, begun_transcript_, {}, "", 0});
  ASSERT_TRUE(open_run(where_).ok());
  const std::string marked = text_in(audit());
  for (size_t size = torn.size() + 1; size < marked.size(); ++size) {
    put({"", marked.substr(0, size), begun_audit_, begun_transcript_, {}, "", 0});
    EXPECT_NE(verdict(where_), "ok") << size;
    write_call(*open(where_), "A", "later");
    const bool nothing_of_it = size == torn.size() + 1;
    EXPECT_EQ(verdict(where_) == "ok", !nothing_of_it) << size << ": " << verdict(where_);
    EXPECT_TRUE(text_in(audit()).starts_with(marked) || nothing_of_it) << size;
  }
}

// What a writer makes before its first decision in a task.
TEST_F(CrashStates, ATaskWithoutACallIsANoteAndStrangersAreFaults) {
  fs::create_directory(where_.transcripts() + "/B");
  EXPECT_EQ(verdict(where_), "ok");
  EXPECT_EQ(verify_run(where_).value().notes.size(), 1U);
  put_text(transcript("C"), "");
  EXPECT_EQ(verify_run(where_).value().notes.size(), 2U);
  for (const char* name : {"stray", ".hidden.jsonl", "a b.jsonl"}) {
    put_text(where_.transcripts() + "/" + name, "");
    EXPECT_NE(verdict(where_).find("it is no file of a record"), std::string::npos) << name;
    EXPECT_EQ(verdict(where_, {"", "A"}), "ok") << "of one task nothing else is looked at";
    fs::remove(where_.transcripts() + "/" + name);
  }
}

struct Mutation {
  std::string what;
  std::string file;
  std::optional<std::string> text;  // none: it is removed
  bool at_audits_end = false;       // only an end of the audit is missing, which the run alone cannot know
  bool loses_nothing = false;       // only the last newline is missing
};

class Mutations : public RecordTest {
 protected:
  void SetUp() override {
    where_ = place();
    {
      const auto run = open(where_);
      for (const char* task : {"A", "B", "A", "B"}) write_call(*run, task, std::string("of ") + task);
    }
    for (const auto& entry : fs::recursive_directory_iterator(scratch_.path))
      if (entry.is_regular_file()) whole_[entry.path()] = text_in(entry.path());
    ASSERT_EQ(verdict(where_), "ok");
  }

  void restore() const {
    for (const auto& entry : fs::recursive_directory_iterator(scratch_.path))
      if (entry.is_regular_file() && !whole_.contains(entry.path())) fs::remove(entry.path());
    for (const auto& [file, text] : whole_) {
      put_text(file, text);
      fs::permissions(file, fs::perms(0600));
    }
  }

  void forget_heads() const {
    for (const auto& entry : fs::directory_iterator(state() + "/heads")) fs::remove(entry.path());
  }

  static void apply(const Mutation& mutation) {
    if (mutation.text) {
      put_text(mutation.file, *mutation.text);
    } else {
      fs::remove(mutation.file);
    }
  }

  void add(std::vector<Mutation>& all, const std::string& file, std::string what,
           const std::string& text) const {
    const std::string& whole = whole_.at(file);
    if (text == whole) return;
    Mutation mutation{std::move(what) + " in " + fs::path(file).filename().string(), file, text};
    mutation.at_audits_end = file == audit() && whole.starts_with(text.substr(0, text.rfind('\n') + 1));
    mutation.loses_nothing = text + "\n" == whole;
    all.push_back(std::move(mutation));
  }

  void mutate_lines(std::vector<Mutation>& all, const std::string& file) const {
    const auto lines = lines_in(file);
    const auto at = [](size_t i) { return static_cast<long>(i); };
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string here = " line " + std::to_string(i + 1);
      auto removed = lines;
      removed.erase(removed.begin() + at(i));
      add(all, file, "removed" + here, joined(removed));
      for (const size_t to : {i, lines.size()}) {
        for (const std::string& text : {std::string("{}"), lines[i]}) {
          auto inserted = lines;
          inserted.insert(inserted.begin() + at(to), text);
          add(all, file, "inserted before" + here, joined(inserted));
        }
      }
      for (const size_t other : {i + 1, lines.size() - 1}) {
        if (other <= i || other >= lines.size()) continue;
        auto swapped = lines;
        std::swap(swapped[i], swapped[other]);
        add(all, file, "swapped" + here + " and " + std::to_string(other + 1), joined(swapped));
      }
    }
  }

  void mutate_bytes(std::vector<Mutation>& all, const std::string& file) const {
    const std::string& whole = whole_.at(file);
    const size_t last_line = whole.rfind('\n', whole.size() - 2) + 1;
    for (size_t i = 0; i < whole.size(); i += i < last_line ? 411 : 53) {
      add(all, file, "cut off at byte " + std::to_string(i), whole.substr(0, i));
      std::string changed = whole;
      changed[i] = changed[i] == '5' ? '6' : '5';
      add(all, file, "changed byte " + std::to_string(i), changed);
      add(all, file, "removed byte " + std::to_string(i), whole.substr(0, i) + whole.substr(i + 1));
    }
    for (const size_t i : {last_line - 1, whole.size() - 2, whole.size() - 1}) {
      add(all, file, "cut off at byte " + std::to_string(i), whole.substr(0, i));
      add(all, file, "ended by another byte", whole.substr(0, i) + "x" + whole.substr(i + 1));
    }
  }

  std::vector<Mutation> all() const {
    std::vector<Mutation> all;
    for (const auto& file : {audit(), transcript("A"), transcript("B")}) {
      mutate_lines(all, file);
      mutate_bytes(all, file);
    }
    all.push_back({"no transcript", transcript("A"), std::nullopt});
    all.push_back({"no audit", audit(), std::nullopt});
    for (const auto& entry : fs::directory_iterator(where_.transcripts() + "/A")) {
      const std::string& file = entry.path();
      all.push_back({"no raw result", file, std::nullopt});
      all.push_back({"a changed raw result", file, text_in(file) + "x"});
      all.push_back({"an emptied raw result", file, ""});
    }
    return all;
  }

  enum class Writer { opens_it_again, has_it_open };
  std::string verdict_after(const Mutation& mutation, int calls, Writer writer) const {
    restore();
    auto run = writer == Writer::has_it_open ? open(where_) : nullptr;
    apply(mutation);
    for (int i = 0; i < calls; ++i) {
      if (writer == Writer::opens_it_again) {
        auto opened = open_run(where_);
        if (!opened.ok()) break;
        run = std::move(opened).value();
      }
      try_call(*run, i == 0 ? "A" : "B");
    }
    run.reset();
    return verdict(where_);
  }

  RunPlace where_;
  std::map<std::string, std::string> whole_;
};

TEST_F(Mutations, StayFoundHoweverManyCallsFollow) {
  for (const Mutation& mutation : all()) {
    EXPECT_NE(verdict_after(mutation, 0, Writer::opens_it_again), "ok") << mutation.what;
    if (mutation.loses_nothing) continue;
    for (int calls = 1; calls <= 2; ++calls) {
      EXPECT_NE(verdict_after(mutation, calls, Writer::opens_it_again), "ok")
          << mutation.what << ", " << calls << " calls later";
      if (mutation.text && calls == 2) {
        EXPECT_NE(verdict_after(mutation, calls, Writer::has_it_open), "ok")
            << mutation.what << ", " << calls << " calls of the same writer later";
      }
    }
  }
}

// The run alone shows all but a missing end of the audit, which looks as after a crash.
TEST_F(Mutations, AreFoundWithoutTheStateUnlessTheyCutOffTheAudit) {
  for (const Mutation& mutation : all()) {
    if (mutation.at_audits_end || mutation.loses_nothing) continue;
    for (int calls = 1; calls <= 2; ++calls) {
      restore();
      apply(mutation);
      forget_heads();
      for (int i = 0; i < calls; ++i)
        if (auto run = open_run(where_); run.ok()) try_call(*run.value(), i == 0 ? "A" : "B");
      forget_heads();
      EXPECT_NE(verdict(where_), "ok") << mutation.what << ", " << calls << " calls later";
    }
  }
}

TEST_F(Mutations, ARemovedRecordIsFoundAsLongAsItIsRemembered) {
  fs::remove(audit());
  fs::remove_all(where_.transcripts());
  EXPECT_EQ(verdict(where_), "audit.jsonl:0: it is missing: the state directory remembers 8 lines of it");
  fs::remove_all(where_.directory);
  EXPECT_EQ(verdict(where_), ":0: the run is gone: the state directory remembers 8 lines of it");
  ASSERT_TRUE(find_lost_run(where_.directory, state()));
  EXPECT_EQ(find_lost_run(where_.directory + "/", state())->directory, where_.directory);
  EXPECT_EQ(find_lost_run("last", state())->directory, where_.directory);
  EXPECT_FALSE(find_lost_run(where_.directory + "x", state()));
  EXPECT_FALSE(find_lost_run("/", state()));
}

// A directory that was emptied is where another run may begin.
TEST_F(Mutations, AnotherRunMayBeginWhereOneWas) {
  fs::remove_all(where_.directory);
  const RunPlace again = place();
  write_call(*open(again), "A", "x");
  EXPECT_EQ(verdict(again), "ok");
}

}  // namespace
}  // namespace cloche
