// A terminal in front of `cloche run`: the command gets a terminal of its own, and the caller's comes back as
// it was.
#include <signal.h>

#include <sstream>
#include <thread>

#include "everyday/conversation.hpp"
#include "everyday/support.hpp"

namespace cloche::test {
namespace {

class OnATerminal : public Everyday {
 protected:
  Conversation talk(const std::vector<std::string>& argv, TerminalSize size = {}) {
    return Conversation(command(argv), Over::terminal, size);
  }
  // The end of a conversation on a terminal: by itself, with this code, and the terminal as before.
  ::testing::AssertionResult over_with(Conversation& with, int code) {
    Ran ran = with.finish();
    if (bare() && ran.signal != 0) ran.exit_code = 128 + std::exchange(ran.signal, 0);
    if (!exited(ran, code)) return exited(ran, code);
    if (!with.settings_restored())
      return ::testing::AssertionFailure() << "the terminal's settings were not restored";
    return ::testing::AssertionSuccess();
  }
};
FOR_EVERYONE(OnATerminal);

TEST_P(OnATerminal, VimWritesAFile) {
  NEEDS("vim");
  auto vim = talk({"vim", "note.txt"});
  ASSERT_TRUE(vim.hear("note.txt")) << vim.heard();
  vim.send("i");
  vim.send("written with vim\rsecond line");
  ASSERT_TRUE(vim.hear("second")) << vim.heard();
  vim.send("\x1b");
  vim.send(":wq\r");
  EXPECT_TRUE(over_with(vim, 0));
  EXPECT_EQ(read_file(workspace() / "note.txt"), "written with vim\nsecond line\n");
}

TEST_P(OnATerminal, LessPages) {
  NEEDS("less");
  std::string text;
  for (int i = 1; i <= 200; ++i) text += "line-" + std::to_string(i) + "\n";
  file("long.txt", text);
  auto less = talk({"less", "long.txt"});
  ASSERT_TRUE(less.hear("line-20")) << less.heard();
  EXPECT_FALSE(contains(less.heard(), "line-30"));
  less.send(" ");
  EXPECT_TRUE(less.hear("line-40")) << less.heard();
  less.send("q");
  EXPECT_TRUE(over_with(less, 0));
}

TEST_P(OnATerminal, TopShowsAndQuits) {
  NEEDS("top");
  auto top = talk({"top"}, {30, 100});
  ASSERT_TRUE(top.hear("Tasks")) << top.heard();
  EXPECT_TRUE(top.hear("top")) << top.heard();
  top.send("q");
  EXPECT_TRUE(over_with(top, 0));
}

TEST_P(OnATerminal, HasTheCallersSize) {
  auto stty = talk({"stty", "size"}, {37, 123});
  ASSERT_TRUE(stty.hear("37 123\r\n")) << stty.heard();
  EXPECT_TRUE(over_with(stty, 0));
}

TEST_P(OnATerminal, FollowsAResize) {
  auto shell = talk({"/usr/bin/python3", file("size.py", R"(
import os, signal, time
times = []
signal.signal(signal.SIGWINCH, lambda *a: times.append(os.write(1, b'%d %d\n' % os.get_terminal_size())))
print('ready', flush=True)
while len(times) < 2: time.sleep(0.05)
print('bye')
)")});
  ASSERT_TRUE(shell.hear("ready")) << shell.heard();
  shell.resize({50, 132});
  ASSERT_TRUE(shell.hear("132 50")) << shell.heard();
  shell.resize({10, 40});
  ASSERT_TRUE(shell.hear("40 10")) << shell.heard();
  ASSERT_TRUE(shell.hear("bye")) << shell.heard();
  EXPECT_TRUE(over_with(shell, 0));
}

TEST_P(OnATerminal, HasANameOfItsOwn) {
  auto tty = talk(
      {"bash", "-c",
       "tty; test -t 0 && test -t 1 && test -t 2 && echo all-three; echo $TERM; echo by-name > /dev/tty"});
  ASSERT_TRUE(tty.hear("/dev/pts/")) << tty.heard();
  ASSERT_TRUE(tty.hear("all-three")) << tty.heard();
  ASSERT_TRUE(tty.hear("xterm")) << tty.heard();
  ASSERT_TRUE(tty.hear("by-name")) << tty.heard();
  EXPECT_TRUE(over_with(tty, 0));
}

TEST_P(OnATerminal, ControlCEndsASleep) {
  auto sleep = talk({"bash", "-c", "echo sleeping; exec sleep 100"});
  ASSERT_TRUE(sleep.hear("sleeping")) << sleep.heard();
  sleep.send("\x03");
  EXPECT_TRUE(over_with(sleep, 130));
}

// In a shell with job control, as a person has it. Nothing that the command does goes on while it is stopped.
TEST_P(OnATerminal, ControlZStopsItAndFgContinuesIt) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  // One process: the kernel stops no shell that waits for a program to begin. The line comes last: an
  // interrupt while Python closes a file by itself is lost.
  const std::string program = file("ticks.py", R"(
import itertools, time
for n in itertools.count(1):
    with open("beats", "a") as beats:
        beats.write("x")
    print("tick-%d" % n, flush=True)
    time.sleep(0.1)
)");
  const std::string ticks = "'" + cloche() + "' run --live -- /usr/bin/python3 " + program;
  for (const std::string& typed : {ticks, ticks + " | cat"}) {
    SCOPED_TRACE(typed);
    Command how = command({});
    how.argv = {"bash", "--norc", "--noprofile", "-i"};
    Conversation shell(how, Over::terminal);
    shell.send(typed + "\r");
    ASSERT_TRUE(shell.hear("tick-3")) << shell.heard();
    shell.send("\x1a");
    ASSERT_TRUE(shell.hear("Stopped")) << shell.heard();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // what was on its way
    shell.send("echo mark-$((1+1))\r");
    ASSERT_TRUE(shell.hear("mark-2\r\n")) << shell.heard();
    const std::string beats = read_file(workspace() / "beats");
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_EQ(read_file(workspace() / "beats"), beats);
    shell.send("fg\r");
    ASSERT_TRUE(shell.hear("tick-")) << shell.heard();
    ASSERT_TRUE(shell.hear("tick-")) << shell.heard();
    EXPECT_GT(read_file(workspace() / "beats").size(), beats.size());
    shell.send("\x1a");
    ASSERT_TRUE(shell.hear("Stopped")) << "a second time: " << shell.heard();
    shell.send("fg\r");
    ASSERT_TRUE(shell.hear("tick-")) << shell.heard();
    shell.send("\x03");
    ASSERT_TRUE(shell.hear("KeyboardInterrupt")) << shell.heard();
    ASSERT_TRUE(shell.hear("bash-")) << "the prompt: " << shell.heard();
    shell.send("echo code-$((1+2))-over\r");
    ASSERT_TRUE(shell.hear("code-3-over\r\n")) << shell.heard();
    shell.send("exit\r");
    EXPECT_TRUE(exited(shell.finish(), 0));
  }
}

// A timer continues a process that nothing else would: it is not to run on without its limits.
TEST_P(OnATerminal, WhatUndoesItsStopMeetsItsLimitsAllTheSame) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  const std::string program = file("undo.py", R"(
import ctypes, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_long), ("number", ctypes.c_int), ("how", ctypes.c_int), ("pad", ctypes.c_byte * 48)]
class Times(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("every_s", "every_ns", "first_s", "first_ns")]
signal.signal(signal.SIGCONT, lambda *a: None)
if os.fork() == 0:
    timer = ctypes.c_void_p()
    event = Event(0, signal.SIGCONT, 0)
    assert libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)) == 0
    times = Times(0, 20000000, 0, 20000000)
    libc.timer_settime(timer, 0, ctypes.byref(times), None)
    print("begun", flush=True)
    while True:
        time.sleep(0.05)
        with open("beats", "a") as beats: beats.write("x")
time.sleep(300)
)");
  Command how = command({});
  how.argv = {"bash", "--norc", "--noprofile", "-i"};
  Conversation shell(how, Over::terminal);
  shell.send("'" + cloche() + "' run --live --timeout 3s -- /usr/bin/python3 " + program + "\r");
  ASSERT_TRUE(shell.hear("begun")) << shell.heard();
  shell.send("\x1a");
  ASSERT_TRUE(shell.hear("Stopped")) << shell.heard();
  const auto beats = [&] { return read_file(workspace() / "beats").size(); };
  const size_t when_stopped = beats();
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  EXPECT_GT(beats(), when_stopped) << "control: it undoes its stop";
  std::this_thread::sleep_for(std::chrono::milliseconds(2800));
  const size_t at_limit = beats();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(beats(), at_limit) << "its time was over while Cloche was stopped";
  shell.send("fg; echo code-$((100+$?))\r");
  ASSERT_TRUE(shell.hear("timeout limit of 3s was reached")) << shell.heard();
  ASSERT_TRUE(shell.hear("code-224")) << shell.heard();
  shell.send("exit\r");
  EXPECT_TRUE(exited(shell.finish(), 0));
}

// A script or a program that waits for Cloche would wait for ever.
TEST_P(OnATerminal, ACommandThatStopsItselfDoesNotStopCloche) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  const std::string stopping =
      "'" + cloche() + "' run --timeout 3s -- sh -c 'echo begun; kill -STOP $$; echo went-on'\n";
  file("script", stopping + "echo code-$?\n");
  Command how = command({});
  how.argv = {"bash", "--norc", "--noprofile", "-i"};
  Conversation shell(how, Over::terminal);
  shell.send("bash script\r");
  ASSERT_TRUE(shell.hear("the command has stopped itself")) << shell.heard();
  ASSERT_TRUE(shell.hear("code-124")) << shell.heard();
  // The user suspends what is stopped, with the script around it.
  shell.send("bash script\r");
  ASSERT_TRUE(shell.hear("the command has stopped itself")) << shell.heard();
  shell.send("\x1a");
  ASSERT_TRUE(shell.hear("Stopped")) << shell.heard();
  shell.send("fg\r");
  ASSERT_TRUE(shell.hear("went-on")) << shell.heard();
  ASSERT_TRUE(shell.hear("code-0")) << shell.heard();
  shell.send("exit\r");
  EXPECT_TRUE(exited(shell.finish(), 0));
}

// In another program's box nothing can be stopped, so Cloche goes on to watch it.
TEST_P(OnATerminal, ControlZDoesNotLeaveABoxUnwatched) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  Command how = command({});
  how.argv = {"bash", "--norc", "--noprofile", "-i"};
  Conversation shell(how, Over::terminal);
  shell.send("'" + cloche() + "' run --backend subprocess --timeout 2s -- sh -c '" +
             "while :; do echo tick; sleep 0.1; done' > ticks; echo code-$?\r");
  for (int tries = 0; tries < 100 && read_file(workspace() / "ticks").empty(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  shell.send("\x1a");
  ASSERT_TRUE(shell.hear("code-124")) << shell.heard();
  EXPECT_FALSE(contains(shell.heard(), "Stopped")) << shell.heard();
  shell.send("exit\r");
  EXPECT_TRUE(exited(shell.finish(), 0));
}

TEST_P(OnATerminal, OutputInTheBackgroundDoesNotStopCloche) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  Command how = command({});
  how.argv = {"bash", "--norc", "--noprofile", "-i"};
  Conversation shell(how, Over::terminal);
  // Without a terminal of the command's own, and with one, which it has while another job has the caller's.
  for (const char* input : {" < /dev/null", ""}) {
    shell.send("stty tostop; '" + cloche() + "' run -- sh -c 'echo in-back''ground'" + input +
               " & wait $!; echo co''de-$?\r");
    ASSERT_TRUE(shell.hear("in-background")) << shell.heard();
    ASSERT_TRUE(shell.hear("code-0")) << shell.heard();
  }
  // What began there can be brought to the front.
  shell.send("'" + cloche() + "' run -- sh -c 'echo beg''un; read line; echo got-$line' &\r");
  ASSERT_TRUE(shell.hear("begun")) << shell.heard();
  shell.send("fg\r");
  ASSERT_TRUE(shell.hear("echo got-$line'\r\n")) << shell.heard();
  shell.send("typed\r");
  ASSERT_TRUE(shell.hear("got-typed")) << shell.heard();
  ASSERT_TRUE(shell.hear("bash-")) << shell.heard();
  shell.send("exit\r");
  EXPECT_TRUE(exited(shell.finish(), 0));
}

// Where no shell could continue it, the key has no lasting effect.
TEST_P(OnATerminal, ControlZWithoutAShellGoesOn) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  auto ticks = talk({"sh", "-c", "for n in 1 2 3 4 5 6 7 8; do echo tick-$n; sleep 0.1; done"});
  ASSERT_TRUE(ticks.hear("tick-2")) << ticks.heard();
  ticks.send("\x1a");
  ASSERT_TRUE(ticks.hear("tick-8")) << ticks.heard();
  EXPECT_TRUE(over_with(ticks, 0));
}

// A shell within has its own jobs on the terminal, and they are its own to stop.
TEST_P(OnATerminal, ControlZWithinAShellIsForItsJobs) {
  auto shell = talk({"bash", "--norc", "--noprofile", "-i"});
  ASSERT_TRUE(shell.hear("bash-")) << shell.heard();
  shell.send("sleep 100\r");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  shell.send("\x1a");
  ASSERT_TRUE(shell.hear("Stopped")) << shell.heard();
  shell.send("kill %1; echo still-$((1+1))\r");
  ASSERT_TRUE(shell.hear("still-2\r\n")) << shell.heard();
  // Twice: a shell whose stopped job has not ended yet refuses once.
  shell.send("exit 0\r");
  shell.send("exit 0\r");
  EXPECT_TRUE(over_with(shell, 0));
}

TEST_P(OnATerminal, ControlCIsForTheCommandToHandle) {
  auto shell =
      talk({"bash", "-c", "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.1; done"});
  ASSERT_TRUE(shell.hear("ready")) << shell.heard();
  shell.send("\x03");
  ASSERT_TRUE(shell.hear("caught")) << shell.heard();
  EXPECT_TRUE(over_with(shell, 5));
}

TEST_P(OnATerminal, ControlDEndsTheInput) {
  auto cat = talk({"cat"});
  cat.send("typed\n");
  ASSERT_TRUE(cat.hear("typed\r\ntyped\r\n")) << cat.heard();
  cat.send("\x04");
  EXPECT_TRUE(over_with(cat, 0));
}

TEST_P(OnATerminal, AnInteractiveShellHasJobControl) {
  auto shell = talk({"bash", "--norc", "--noprofile", "-i"});
  shell.send("PS1='> '; echo pr''ompt\n");
  ASSERT_TRUE(shell.hear("prompt")) << shell.heard();
  EXPECT_FALSE(contains(shell.heard(), "no job control")) << shell.heard();
  shell.send("sleep 100\n");
  ASSERT_TRUE(shell.hear("sleep 100")) << shell.heard();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  shell.send("\x1a");
  ASSERT_TRUE(shell.hear("Stopped")) << shell.heard();
  shell.send("fg\n");
  ASSERT_TRUE(shell.hear("sleep 100")) << shell.heard();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  shell.send("\x03");
  shell.send("echo code-$?\n");
  ASSERT_TRUE(shell.hear("code-130")) << shell.heard();
  shell.send("exit 9\n");
  EXPECT_TRUE(over_with(shell, 9));
}

TEST_P(OnATerminal, ACommandThatLeavesItRawDoesNotLeaveOursRaw) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche it does";
  auto stty = talk({"sh", "-c", "stty raw -echo; echo gone"});
  ASSERT_TRUE(stty.hear("gone")) << stty.heard();
  EXPECT_TRUE(over_with(stty, 0));
  auto killed = talk({"sh", "-c", "stty raw -echo; echo gone; kill -9 $$"});
  ASSERT_TRUE(killed.hear("gone")) << killed.heard();
  EXPECT_TRUE(over_with(killed, 137));
}

TEST_P(OnATerminal, IsRestoredWhenClocheIsTerminated) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  auto sleep = talk({"sh", "-c", "stty raw; echo sleeping; sleep 100"});
  ASSERT_TRUE(sleep.hear("sleeping")) << sleep.heard();
  kill(sleep.pid(), SIGTERM);
  EXPECT_TRUE(over_with(sleep, 143));
}

TEST_P(OnATerminal, ColoursPassAndTitlesDoNot) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche everything passes";
  const std::vector<std::string> printing = {
      "printf",
      R"(\033[31mred\033[0m \033]0;title\007 \033]52;c;Y2xpcA==\033\\ \033Pdevice\033\\ \033_app\033\\ end)"};
  auto filtered = talk(printing);
  ASSERT_TRUE(filtered.hear("end")) << filtered.heard();
  EXPECT_TRUE(contains(filtered.heard(), "\x1b[31mred\x1b[0m"));
  for (const char* hidden : {"title", "Y2xpcA", "device", "app"})
    EXPECT_FALSE(contains(filtered.heard(), hidden)) << hidden;
  EXPECT_TRUE(over_with(filtered, 0));

  Command raw = command({});
  raw.argv = under_cloche({"--raw"}, printing);
  Conversation whole(raw, Over::terminal);
  ASSERT_TRUE(whole.hear("\x1b]0;title\x07")) << whole.heard();
  EXPECT_TRUE(over_with(whole, 0));
}

TEST_P(OnATerminal, ModesAreTakenBackAtTheEnd) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche they stay";
  auto left = talk({"printf", R"(\033[?1003h\033[?1049h\033[?25l\033[5i\033[2hleft\033[?1000)"});
  ASSERT_TRUE(left.hear("\x1b[?1003h\x1b[?1049h\x1b[?25lleft")) << left.heard();
  EXPECT_TRUE(over_with(left, 0));
  EXPECT_TRUE(left.heard().ends_with("left\x1b[?25h\x1b[?1003l\x1b[?1049l")) << left.heard();
}

TEST_P(OnATerminal, InTheBackgroundItLeavesWhatIsTypedToOthersAndDoesNotSpin) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  Command how = command({});
  how.argv = {"bash", "--norc", "--noprofile", "-i"};
  Conversation shell(how, Over::terminal);
  shell.send("{ time -p '" + cloche() + "' run -- sh -c 'sleep 2; echo over' > log; } 2> times &\n");
  ASSERT_TRUE(shell.hear("[1]")) << shell.heard();
  shell.send("sleep 1.5\n");
  ASSERT_TRUE(shell.hear("sleep 1.5")) << shell.heard();
  shell.send("echo ty''ped\n");  // while nobody reads
  ASSERT_TRUE(shell.hear("typed")) << shell.heard();
  shell.send("wait; echo wai''ted\n");
  ASSERT_TRUE(shell.hear("waited")) << shell.heard();
  EXPECT_EQ(read_file(workspace() / "log"), "over\n");
  std::istringstream times(read_file(workspace() / "times"));
  std::string word;
  double seconds = 0;
  while (times >> word >> seconds) {
    EXPECT_TRUE(word == "real" || seconds < 0.4) << word << " " << seconds;
  }
  shell.send("exit\n");
  EXPECT_TRUE(over_with(shell, 0));
}

constexpr const char* when_it_ends =
    "cloche: note: what this command writes reaches the project when it ends; with --live at once\r\n";

TEST_P(OnATerminal, ALongCommandIsToldOnceWhenItsWritesArrive) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  auto slow = talk({"sh", "-c", "echo begun; sleep 4; echo over"});
  ASSERT_TRUE(slow.hear("begun\r\n" + std::string(when_it_ends) + "over\r\n")) << slow.heard();
  EXPECT_TRUE(over_with(slow, 0));
  auto within_line = talk({"sh", "-c", "printf begun; sleep 3; echo over"});
  ASSERT_TRUE(within_line.hear("begun\r\n" + std::string(when_it_ends) + "over\r\n")) << within_line.heard();
  EXPECT_TRUE(over_with(within_line, 0));
}

TEST_P(OnATerminal, OneThatDrawsItsOwnScreenIsToldAfterwards) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  auto drawing =
      talk({"sh", "-c", "stty -icanon; echo begun; sleep 3; echo drawn; stty icanon; sleep 3; echo over"});
  ASSERT_TRUE(drawing.hear("begun\r\ndrawn\r\n" + std::string(when_it_ends) + "over\r\n")) << drawing.heard();
  EXPECT_TRUE(over_with(drawing, 0));
}

TEST_P(OnATerminal, NothingIsSaidOfWritesWhereThereIsNoLayerOrNoTerminal) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  const std::vector<std::string> slow = {"sh", "-c", "sleep 3; echo over"};
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--live"}, {"--profile", "readonly"}}) {
    Command live = command({});
    live.argv = under_cloche(flags, slow);
    Conversation told(live, Over::terminal);
    EXPECT_TRUE(over_with(told, 0));
    EXPECT_EQ(told.heard(), "over\r\n") << flags[0];
  }
  for (const char* elsewhere : {"-- sleep 3 2> errors", "--json -- sleep 3 > json"}) {
    Command shell = command({});
    shell.argv = {"sh", "-c", "'" + cloche() + "' run " + elsewhere};
    Conversation told(shell, Over::terminal);
    EXPECT_TRUE(over_with(told, 0));
    EXPECT_EQ(told.heard(), "") << elsewhere;
  }
  EXPECT_EQ(read_file(workspace() / "errors"), "");
}

TEST_P(OnATerminal, ManyLinesArriveInOrder) {
  auto seq = talk({"seq", "20000"});
  ASSERT_TRUE(seq.hear("\r\n20000\r\n")) << last_line(seq.heard());
  std::string expected;
  for (int i = 1; i <= 20000; ++i) expected += std::to_string(i) + "\r\n";
  EXPECT_EQ(seq.heard() == expected, true);
  EXPECT_TRUE(over_with(seq, 0));
}

// A person who tries it reads what it is; it serves all the same.
TEST_P(OnATerminal, AnMcpServerSaysWhatItIsAndServes) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  Command how = command({});
  how.argv = {cloche(), "mcp"};
  Conversation server(how, Over::terminal);
  ASSERT_TRUE(server.hear("this is an MCP server")) << server.heard();
  ASSERT_TRUE(server.hear("claude mcp add cloche -- cloche mcp")) << server.heard();
  server.send("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
  ASSERT_TRUE(server.hear("\"id\":7")) << server.heard();  // as it was typed
  ASSERT_TRUE(server.hear("\"id\":7")) << "its answer: " << server.heard();
  server.send("\x04");
  EXPECT_TRUE(over_with(server, 0));
  how.input = "";
  EXPECT_FALSE(contains(run(how).err, "MCP server")) << "an agent's end is no terminal";
}

// What its calls have started would run on, with no limit watched.
TEST_P(OnATerminal, ControlZDoesNotStopAnMcpServer) {
  if (bare()) GTEST_SKIP() << "skipped: this is about Cloche";
  Command how = command({});
  how.argv = {"bash", "--norc", "--noprofile", "-i"};
  Conversation shell(how, Over::terminal);
  shell.send("'" + cloche() + "' mcp\r");
  ASSERT_TRUE(shell.hear("this is an MCP server")) << shell.heard();
  shell.send("\x1a");
  shell.send("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\r");
  ASSERT_TRUE(shell.hear("\"result\"")) << shell.heard();
  EXPECT_FALSE(contains(shell.heard(), "Stopped")) << shell.heard();
  shell.send("\x04");
  shell.send("exit\r");
  EXPECT_TRUE(exited(shell.finish(), 0));
}

}  // namespace
}  // namespace cloche::test
