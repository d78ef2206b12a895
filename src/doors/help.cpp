#include "doors/help.hpp"

#include "model/limits.hpp"

namespace cloche {

std::string main_help() {
  return "cloche - runs a command where it can do no harm\n"
         "\n"
         "  cloche run [flags] -- CMD ARG...   run a command under kernel isolation\n"
         "  cloche explain run -- CMD...       every gate's answer and the plan; nothing runs\n"
         "  cloche explain call TOOL JSON      the same for a tool call of a model\n"
         "  cloche call TOOL JSON              make that call: judged, run under isolation, recorded\n"
         "  cloche tools [--format F]          the tools, as a table or as an API expects them\n"
         "  cloche test [FILE...]              check the examples of command shapes and rules\n"
         "  cloche new KIND NAME               write a skill, an executor or a rule that works, with its "
         "test\n"
         "  cloche log show|verify|tail RUN    the record of a run's calls\n"
         "  cloche profiles list|show|check    the sandbox profiles, and their examples run\n"
         "  cloche config [--json]             what the configuration comes to here, and who said so\n"
         "  cloche wrap --backend B -- CMD     the same plan for bubblewrap, an OCI runtime or macOS, "
         "printed\n"
         "  cloche doctor [--json]             what this host can enforce, proven by running it\n"
         "  cloche --version\n"
         "\n"
         "Examples:\n"
         "  cloche run -- python3 build.py               only the working directory is writable; no network, "
         "no secrets\n"
         "  cloche run --profile readonly -- git log     nothing is writable\n"
         "  cloche run --json -- make test               outcome, usage and the layers that held, as JSON\n"
         "\n"
         "'cloche run --help' lists every flag with its default.\n";
}

std::string run_help() {
  std::string text =
      "cloche run [flags] -- CMD ARG...\n"
      "\n"
      "Runs CMD in fresh namespaces with a read-only system, a private /tmp and home, no network but "
      "loopback, an\n"
      "environment of its own, a default-deny system call filter and Landlock. Without --workspace the "
      "working directory\n"
      "is the workspace: the only place of the host that CMD can write to.\n"
      "\n"
      "What it sees:\n"
      "  --workspace DIR       the directory it works in (default: the working directory)\n"
      "  --profile P           readonly, workspace-write-no-network (default), workspace-write, or one of "
      "yours: cloche profiles\n"
      "  --ro SRC[:DST]        show a file or directory of the host, read-only; may be repeated; \\: is a "
      "colon in a path\n"
      "  --rw SRC[:DST]        the same, writable\n"
      "  --view V              curated (default), or host: the whole host read-only, secrets masked\n"
      "  --toolchains T        auto (default), none, or names: pyenv,nvm,cargo,go,uv,conda\n"
      "  -C DIR                start in DIR (relative to the workspace)\n"
      "  -e NAME[=VALUE]       set a variable, or pass the caller's (secrets only with a value); also --env\n"
      "  --allow-protected P   of the protected set (git hooks, .envrc, .vscode, ...), what it may change; "
      "may "
      "be repeated\n"
      "  --grant debug         let it trace its own processes (gdb, strace)\n"
      "  --skill FILE          also what this SKILL.md declares: its grants and variables\n"
      "  --task ID             share $HOME and /tmp with the other calls of the task, and record\n"
      "  --run DIR             record in DIR, with the workspace in DIR/artifacts\n"
      "\n"
      "Limits, none of which can be switched off:\n";
  const Limits defaults;
  for (const auto& row : limit_table) {
    std::string line = "  " + std::string(row.flag);
    line +=
        row.unit == LimitInfo::Unit::bytes ? " SIZE" : (row.unit == LimitInfo::Unit::count ? " N" : " TIME");
    line.resize(24, ' ');
    text += line + std::string(row.what) + " (default " + show_limit(defaults, row) + ")\n";
  }
  text +=
      "\n"
      "How it answers:\n"
      "  --json                one JSON object on stdout: outcome, exit code, captured output, usage, "
      "layers, denials\n"
      "  --dry-run             print the plan and its digest; run nothing\n"
      "  --status-fd N         write the outcome as JSON to descriptor N\n"
      "  --raw                 pass every escape sequence to the terminal (OSC, DCS and APC are removed "
      "otherwise)\n"
      "  --isolation RUNG      namespace (default); a rung that is not here is refused by name\n"
      "  --backend B           native (default)\n"
      "\n"
      "Exit codes: the command's own; 124 wall clock; 137 another limit; 125 Cloche itself failed; 126 not "
      "executable;\n"
      "127 not found; 128+n ended by signal n; 2 bad usage.\n"
      "\n"
      "Examples:\n"
      "  cloche run --workspace ./proj -- python3 build.py\n"
      "  cloche run --ro ~/data --rw ./out --timeout 30s --memory 512M --pids 64 -- ./job\n"
      "  cloche run --dry-run --json -- make test\n";
  return text;
}

std::string doctor_help() {
  return "cloche doctor [--json]\n"
         "\n"
         "Runs the self-proof on this host and shows each layer: what keeps it, what proved it, and what "
         "would provide it\n"
         "where it is missing. Exit code 0 when every layer that the default needs holds, 1 otherwise.\n"
         "\n"
         "Examples:\n"
         "  cloche doctor\n"
         "  cloche doctor --json | python3 -m json.tool\n";
}

std::string explain_help() {
  return "cloche explain run [flags of run] -- CMD ARG...\n"
         "cloche explain call TOOL ARGS-JSON|- [flags]\n"
         "\n"
         "Shows every gate's answer, the verdict, and what would run with its plan. Nothing runs. With - the "
         "arguments are\n"
         "read from stdin. Exit code 0 when the call would run or be asked about, 126 when it is denied.\n"
         "\n"
         "  --commands C          passive, full or any: the most that the call may have (without it: full "
         "when "
         "it asks, else passive)\n"
         "  --workspace DIR       the directory it works in (default: the working directory)\n"
         "  --run DIR             a run, whose workspace is DIR/artifacts\n"
         "  --skill FILE          a SKILL.md that says what the task may use\n"
         "  --executors DIR       your own tools: DIR/NAME/manifest.json\n"
         "  --profile P           readonly, workspace-write-no-network (default), workspace-write, or one of "
         "yours\n"
         "  --ro PATH             a file or directory that it may read as well; may be repeated\n"
         "  --pass-env NAME       a variable of the caller's that it may have; may be repeated\n"
         "  --timeout TIME        the longest that it may take\n"
         "  --autonomy A          readonly, supervised (default) or full\n"
         "  --json                decision, gates, plan and plan_digest as JSON\n"
         "\n"
         "Examples:\n"
         "  cloche explain call run_shell '{\"cmd\":\"cat ../../etc/passwd\"}'\n"
         "  cloche explain call run_shell '{\"argv\":[\"python3\",\"a.py\"],\"profile\":\"full\"}' --json\n"
         "  cloche explain run --profile readonly -- make test\n";
}

std::string test_help() {
  return "cloche test [--executors DIR] [FILE...]\n"
         "cloche test --replay RUN --policy FILE [--json]\n"
         "\n"
         "Checks every example in every file of command shapes: those that come with Cloche, those in\n"
         "$XDG_CONFIG_HOME/cloche/commands, or the files that are named. Prints file:line of each that "
         "fails.\n"
         "Of permission rules it also finds those that can never decide. It knows the shipped tools, and "
         "the\n"
         "executors in DIR, else those in the configured executors_dir.\n"
         "With --replay the calls of a run (its id, 'last', its directory or a transcript) are judged again\n"
         "under the permission rules of FILE: it prints each verdict that would change.\n"
         "Exit code 0 when all hold and nothing would change, 1 otherwise.\n"
         "\n"
         "Examples:\n"
         "  cloche test\n"
         "  cloche test my-commands.json\n"
         "  cloche test --replay run1 --policy new.json\n";
}

std::string new_help() {
  return "cloche new skill|executor|rule NAME [--dir DIR]\n"
         "\n"
         "Writes one that works, with its own test, into DIR (default: the working directory). Nothing is "
         "ever\n"
         "overwritten: when something of that name is there, the exit code is 125.\n"
         "\n"
         "  skill     NAME/SKILL.md: what a task may use, and how to go about it; NAME/test.sh\n"
         "  executor  NAME/manifest.json and NAME/tool.py: a tool of your own; NAME/test.sh calls it\n"
         "  rule      NAME.json: permission rules with their examples, for .cloche/config.json\n"
         "\n"
         "Examples:\n"
         "  cloche new skill code-review --dir skills\n"
         "  cloche new executor word-count && sh word-count/test.sh\n"
         "  cloche new rule ask-before-install && cloche test ask-before-install.json\n";
}

std::string log_help() {
  return "cloche log show   RUN [--task T] [--json]             a table of its calls, and the gates that "
         "objected\n"
         "cloche log verify RUN [--task T] [--head H] [--json]  whether the record is what was written\n"
         "cloche log tail   RUN [--task T] [--json]             its last calls, and each new one as it ends\n"
         "cloche log prune  [RUN | --older-than TIME]           remove what finished runs have left\n"
         "\n"
         "RUN is a run's id, 'last', or its directory; show and verify also take one transcript file.\n"
         "\n"
         "  --task T              only the calls of this task\n"
         "  --head H              a head of the audit that was kept elsewhere: it must still be in the "
         "chain\n"
         "  --json                show and tail: the lines as they are; verify: ok, lines, head, first_bad, "
         "notes\n"
         "  --older-than TIME     remove every run that nobody has written to for so long (1h, 90m)\n"
         "\n"
         "verify names the first line that was changed, removed, inserted or moved, and an end that was cut "
         "off. "
         "Exit\n"
         "code 0 when the record is whole, 1 when not, 125 when there is no such run.\n"
         "prune without an age or a run removes only the homes of tasks. The artifacts of a --run DIR are "
         "never\n"
         "removed, and a run that is in use is left alone.\n"
         "\n"
         "Examples:\n"
         "  cloche log show last\n"
         "  cloche log verify run1 --json\n"
         "  cloche log tail run1 --task T-001\n"
         "  cloche log prune --older-than 168h\n";
}

std::string profiles_help() {
  return "cloche profiles [list] [--json]\n"
         "cloche profiles show NAME|FILE [--json]\n"
         "cloche profiles check [NAME|FILE]... [--json]\n"
         "\n"
         "A sandbox profile says where a command may write and whether it has network. Three come with "
         "Cloche; yours\n"
         "are files NAME.json in profiles_dir of the configuration. `check` runs the examples of each, or of "
         "all, under\n"
         "the profile in a throwaway workspace, and prints file:line of those that did something else. Exit "
         "code 0 when\n"
         "all hold, 1 when one does not, 125 when a profile cannot be read, 2 bad usage.\n"
         "\n"
         "Examples:\n"
         "  cloche profiles list\n"
         "  cloche profiles show readonly\n"
         "  cloche profiles check readonly ./mine.json\n"
         "  cloche run --profile readonly -- git log\n";
}

std::string config_help() {
  return "cloche config [--workspace DIR] [flags of call] [--json]\n"
         "cloche config check FILE [--as managed|user|project]\n"
         "\n"
         "Prints every key of the configuration as calls in this workspace have it, with who said so "
         "(file:line, a flag,\n"
         "a variable, default), and below it each word that was overruled. With flags of `call` it shows "
         "what "
         "they come\n"
         "to. A configuration that cannot be taken is refused with file:line (exit code 125). `check` reads "
         "one file as\n"
         "it would be read in its place, as the user's unless --as says otherwise: exit code 0 or 1.\n"
         "\n"
         "Examples:\n"
         "  cloche config\n"
         "  cloche config --autonomy full --json\n"
         "  cloche config check .cloche/config.json --as project\n";
}

std::string wrap_help() {
  return "cloche wrap --backend B [flags] -- CMD ARG...\n"
         "\n"
         "Prints what another sandbox would be told to keep the plan of CMD, and runs nothing. What the box "
         "cannot do\n"
         "itself (the system call filter, Landlock, limits) is done in it by cloche-jail --inner; what "
         "neither "
         "keeps is\n"
         "named on stderr.\n"
         "\n"
         "  --backend B           bwrap: one command line, for pasting; oci: config.json, for crun, runc and "
         "runsc;\n"
         "                        seatbelt: the command line of macOS's sandbox-exec\n"
         "  --executor FILE       the manifest of a tool of your own: its directory read-only, and of files "
         "and network\n"
         "                        what it declares and nothing else\n"
         "  --skill FILE          also what this SKILL.md declares\n"
         "  --bundle DIR          with oci: make DIR with config.json and the root directory that belongs to "
         "it\n"
         "  --runtime R           with oci: runc (default), crun or runsc, which has a kernel of its own\n"
         "  --json                of bwrap and seatbelt the words, the missing layers and the notes as JSON\n"
         "\n"
         "The flags of 'cloche run' that say what CMD sees, and its limits, are taken as well: --workspace, "
         "--profile,\n"
         "--ro, --rw, --view, --toolchains, -C, -e, --memory, ... A wall clock and limits on output and on "
         "the growth of\n"
         "the workspace need somebody who watches: only 'cloche run' has these.\n"
         "\n"
         "bwrap shows files such as /etc/passwd that are not the host's own. wrap keeps them, by their "
         "SHA-256 and for\n"
         "your eyes only, in texts/ of Cloche's state directory ($XDG_STATE_HOME/cloche, or "
         "~/.local/state/cloche).\n"
         "\n"
         "Exit codes: 0 printed; 126 refused by a gate; 125 Cloche itself failed; 2 bad usage.\n"
         "\n"
         "Examples:\n"
         "  cloche wrap --backend bwrap -- make test\n"
         "  cloche wrap --backend bwrap --executor tools/notes/manifest.json -- python3 tool.py\n"
         "  cloche wrap --backend oci --bundle ./box -- make test && runc run -b ./box box1\n"
         "  cloche wrap --backend seatbelt --profile readonly -- make -n\n";
}

}  // namespace cloche
