#include "doors/wrap_command.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/json.hpp"
#include "base/words.hpp"
#include "confine/bwrap.hpp"
#include "confine/kernel_rules.hpp"
#include "confine/mount_points.hpp"
#include "confine/oci.hpp"
#include "confine/seatbelt.hpp"
#include "doors/help.hpp"
#include "doors/print.hpp"
#include "gateway/box_plan.hpp"
#include "store/box_files.hpp"

namespace cloche {
namespace {

using Kind = WrapArguments::Backend;
using Runtime = WrapArguments::Runtime;

struct Wrapped {
  std::vector<std::string> argv = {};  // empty: `text` is what there is to print
  std::string text = {};
  std::vector<MissingLayer> missing = {};
};

Result<Kind> kind_named(const std::string& name) {
  if (name == "bwrap") return Kind::bwrap;
  if (name == "oci") return Kind::oci;
  if (name == "seatbelt") return Kind::seatbelt;
  return usage_error("--backend " + name + ": no such backend", "known are bwrap, oci and seatbelt");
}

Result<Runtime> runtime_named(const std::string& name) {
  if (name == "runc") return Runtime::runc;
  if (name == "crun") return Runtime::crun;
  if (name == "runsc") return Runtime::runsc;
  return usage_error("--runtime " + name + ": no such runtime", "known are crun, runc and runsc");
}

// Those that wrap has besides the flags of `cloche run`.
struct OwnFlags {
  std::optional<std::string> backend = {};
  std::optional<std::string> executor = {};
  std::optional<std::string> bundle = {};
  std::optional<std::string> runtime = {};

  std::optional<std::string>* named(std::string_view name) {
    if (name == "--runtime") return &runtime;
    if (name == "--backend") return &backend;
    if (name == "--executor") return &executor;
    return name == "--bundle" ? &bundle : nullptr;
  }
};

// Takes them out; what is left goes to parse_run. The command stands after --, so nothing of it is mistaken.
Result<std::vector<char*>> take_own(std::span<char* const> words, OwnFlags& own) {
  std::vector<char*> rest;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "--") {
      rest.insert(rest.end(), words.begin() + static_cast<long>(at), words.end());
      break;
    }
    const size_t equals = word.find('=');
    auto* flag = own.named(word.substr(0, equals));
    if (flag == nullptr) {
      rest.push_back(words[at]);
      continue;
    }
    const bool apart = equals == std::string_view::npos;
    if (apart && at + 1 == words.size())
      return usage_error(std::string(word) + " needs a value", "see cloche wrap --help");
    *flag = apart ? words[++at] : std::string(word.substr(equals + 1));
    if ((*flag)->empty()) return usage_error("a flag has an empty value");
  }
  return rest;
}

// The box that is printed, in the words of `cloche run`: so it stands on its rung, and every other word on
// the rung has to agree. There is none on which the seatbelt is.
std::string box_flag(Kind backend, const std::optional<std::string>& runtime) {
  if (backend == Kind::seatbelt) return {};
  return "--backend=" + (backend == Kind::bwrap ? "bwrap" : runtime.value_or("runc"));
}

bool has_word(std::span<char* const> words, std::string_view wanted) {
  for (const std::string_view word : words) {
    if (word == "--") return wanted == "--";
    if (word == wanted || (word.starts_with(wanted) && word.substr(wanted.size()).starts_with('=')))
      return true;
  }
  return false;
}

// What only means something for a command that we start.
Result<void> refuse_flags_of_a_run(const RunArguments& run) {
  if (run.run || run.task || run.dry_run || run.raw || run.status_fd >= 0)
    return usage_error("--run, --task, --dry-run, --raw and --status-fd are for commands that run",
                       "leave them out: wrap runs nothing");
  return {};
}

Result<Wrapped> wrap_for_bwrap(const ConfinementPlan& plan, const Installation& installation) {
  BoxParts parts{.jail = installation.jail, .privileged = ::geteuid() == 0};
  parts.texts = TRY(keep_texts(plan, texts_in(plan), installation.state));
  Wrapped wrapped{.argv = bwrap_arguments(plan, parts)};
  TRY(check_bwrap_words(wrapped.argv));
  wrapped.argv.insert(wrapped.argv.begin(), "bwrap");
  wrapped.missing = bwrap_missing(plan, parts, Counted::by_nobody);
  return wrapped;
}

// A runtime may not give more than whoever starts it has.
std::map<uint32_t, uint64_t> own_hard_limits(const ConfinementPlan& plan) {
  std::map<uint32_t, uint64_t> highest;
  for (const auto& limit : limits_for(plan.limits)) {
    struct rlimit own {};
    if (::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &own) == 0)
      highest[limit.resource] = own.rlim_max;
  }
  return highest;
}

// Whoever starts a runtime by hand has one id to map, his own; and runtimes need root to be mapped. With
// runsc it is so without a word: it has a user namespace of its own making.
OciOptions oci_options(const ConfinementPlan& plan, const WrapArguments& arguments) {
  OciOptions options;
  options.inside_uid = options.inside_gid = 0;
  options.highest_limits = own_hard_limits(plan);
  options.mounts = look_at_source_mounts(plan);
  if (arguments.runtime == Runtime::runsc) {
    options.kernel = BoxKernel::gvisor;
    options.parts.inner.landlock_abi = 0;
  } else {
    options.uids = {{.outside = ::geteuid()}};
    options.gids = {{.outside = ::getegid()}};
  }
  return options;
}

Result<Wrapped> wrap_for_oci(const ConfinementPlan& plan, const WrapArguments& arguments,
                             const Installation& installation) {
  OciOptions options = oci_options(plan, arguments);
  options.parts.jail = installation.jail;
  options.parts.texts = TRY(keep_texts(plan, texts_beside_rootfs(plan), installation.state));
  Wrapped wrapped{.text = TRY(oci_config(plan, options))};
  wrapped.missing = oci_missing(plan, options);
  if (arguments.bundle)
    TRY(make_bundle(*arguments.bundle, rootfs_entries(plan, options.kernel), wrapped.text));
  return wrapped;
}

Result<Wrapped> wrap(const WrapArguments& arguments, const ConfinementPlan& plan,
                     const Installation& installation) {
  if (arguments.backend == Kind::seatbelt)
    return Wrapped{.argv = seatbelt_arguments(plan), .missing = seatbelt_missing(plan)};
  TRY(check_mount_points(plan));
  if (arguments.backend == Kind::oci) return wrap_for_oci(plan, arguments, installation);
  return wrap_for_bwrap(plan, installation);
}

std::string as_json(const Wrapped& wrapped, const std::vector<std::string>& notes) {
  JsonWriter out;
  out.begin_object().key("argv").begin_array();
  for (const auto& word : wrapped.argv) out.value(word);
  out.end_array().key("missing").begin_array();
  for (const auto& [id, why, fix] : wrapped.missing)
    out.begin_object().member("layer", name_of(id)).member("why", why).member("fix", fix).end_object();
  out.end_array().key("notes").begin_array();
  for (const auto& note : notes) out.value(note);
  return out.end_array().end_object().text() + "\n";
}

// Whoever reads the words from JSON would run others.
Result<void> check_sayable_in_json(const Wrapped& wrapped) {
  if (std::all_of(wrapped.argv.begin(), wrapped.argv.end(), is_utf8)) return {};
  return refusal("a word of the command line is not UTF-8, and JSON cannot carry it",
                 "leave --json out: the line that is printed then has every byte");
}

// What Cloche does before and after a command, and nobody does around one that is started by hand.
void add_what_is_not_done(const ConfinementPlan& plan, std::vector<std::string>& notes) {
  const bool writes = std::any_of(plan.view.begin(), plan.view.end(), [](const ViewEntry& entry) {
    return entry.kind == EntryKind::tree &&
           (entry.access == Access::write || entry.access == Access::write_run);
  });
  if (writes)
    notes.emplace_back(
        "run by hand, nothing is looked at afterwards: what the command makes of the protected set is not "
        "quarantined, and nothing is put back; cloche run does both");
}

void show(const Wrapped& wrapped, const std::vector<std::string>& notes, bool json) {
  for (const auto& note : notes) complain("note: " + on_one_line(note));
  for (const auto& [id, why, fix] : wrapped.missing)
    complain("not kept: " + std::string(name_of(id)) + ": " + on_one_line(why + "; " + fix));
  if (wrapped.argv.empty()) return print(wrapped.text);
  print(json ? as_json(wrapped, notes) : quote_words(wrapped.argv) + "\n");
}

std::string as_json(const std::string& reason) {
  JsonWriter out;
  return out.begin_object().key("argv").null().member("reason", reason).end_object().text() + "\n";
}

int fail(const Error& error, bool json) {
  if (json) print(as_json(describe(error)));
  complain(describe(error));
  return error.cause == Cause::usage ? 2 : 125;
}

}  // namespace

Result<WrapArguments> parse_wrap(std::span<char* const> words) {
  if (!has_word(words, "--"))
    return usage_error("no command", "put it after --: cloche wrap --backend bwrap -- CMD ARG...");
  OwnFlags own;
  std::vector<char*> rest = TRY(take_own(words, own));
  if (!own.backend) return usage_error("for which sandbox?", "say --backend bwrap, oci or seatbelt");
  const Kind backend = TRY(kind_named(*own.backend));
  if ((own.bundle || own.runtime) && backend != Kind::oci)
    return usage_error("--bundle and --runtime are for --backend oci: nothing else has them");
  const Runtime runtime = own.runtime ? TRY(runtime_named(*own.runtime)) : Runtime::runc;
  std::string box = box_flag(backend, own.runtime);
  if (!box.empty()) rest.insert(rest.begin(), box.data());
  RunArguments run = TRY(parse_run(rest, "cloche wrap"));
  TRY(refuse_flags_of_a_run(run));
  return WrapArguments{.backend = backend,
                       .runtime = runtime,
                       .run = std::move(run),
                       .executor = std::move(own.executor),
                       .bundle = std::move(own.bundle)};
}

int wrap_door(std::span<char* const> words, const Environment& environment) {
  if (has_word(words, "--help") || has_word(words, "-h")) {
    print(wrap_help());
    return 0;
  }
  const auto parsed = parse_wrap(words);
  if (!parsed.ok()) return fail(parsed.error(), has_word(words, "--json"));
  const WrapArguments& arguments = parsed.value();
  const bool json = arguments.run.json;
  const auto installation = find_installation(environment);
  if (!installation.ok()) return fail(installation.error(), json);
  const BoxRequest asked{
      .request = arguments.run.request, .skill = arguments.run.skill, .executor = arguments.executor};
  const auto explained = explain_box(asked, environment, installation.value());
  if (!explained.ok()) return fail(explained.error(), json);
  const Explanation& explanation = explained.value();
  if (explanation.judgement.decision == Decision::deny) {
    const Verdict& no = decisive(explanation.judgement);
    const std::string reason = "refused by " + std::string(name_of(no.gate)) + ": " + on_one_line(no.reason);
    if (json) print(as_json(reason));
    complain(reason);
    return 126;
  }
  for (const auto& left_out : left_out_of(asked.request)) complain(left_out.what.text());
  const auto wrapped = wrap(arguments, *explanation.plan, installation.value());
  if (!wrapped.ok()) return fail(wrapped.error(), json);
  if (const auto sayable = check_sayable_in_json(wrapped.value()); json && !sayable.ok())
    return fail(sayable.error(), json);
  std::vector<std::string> notes = explanation.notes;
  add_what_is_not_done(*explanation.plan, notes);
  show(wrapped.value(), notes, json);
  return 0;
}

}  // namespace cloche
