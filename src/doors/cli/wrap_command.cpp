#include "doors/cli/wrap_command.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "confine/boxes/bwrap.hpp"
#include "confine/boxes/host_mounts.hpp"
#include "confine/boxes/oci.hpp"
#include "confine/boxes/seatbelt.hpp"
#include "confine/kernel_rules.hpp"
#include "confine/native/probe.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/checks/box_plan.hpp"
#include "gateway/gateway.hpp"
#include "store/host/box_files.hpp"

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

Result<Wrapped> wrap_for_bwrap(const ConfinementPlan& plan, const Installation& installation) {
  BoxParts parts{.jail = installation.jail, .privileged = ::geteuid() == 0};
  parts.inner.landlock_abi = landlock_support(plan.level, offered_landlock_abi()).abi;
  parts.texts = TRY(store_texts(plan, texts_in(plan), installation.state));
  Wrapped wrapped{.argv = bwrap_arguments(plan, parts)};
  TRY(check_bwrap_words(wrapped.argv));
  wrapped.argv.insert(wrapped.argv.begin(), "bwrap");
  wrapped.missing = bwrap_missing(plan, parts, Counted::by_none);
  return wrapped;
}

// A runtime cannot give a command higher limits than the caller has.
std::map<uint32_t, uint64_t> own_hard_limits(const ConfinementPlan& plan) {
  std::map<uint32_t, uint64_t> highest;
  for (const auto& limit : limits_for(plan.limits)) {
    struct rlimit own {};
    if (::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &own) == 0)
      highest[limit.resource] = own.rlim_max;
  }
  return highest;
}

// A caller who starts a runtime by hand has one id to map, his own, and runtimes need root to be mapped.
// runsc does that by itself: it makes its own user namespace.
OciOptions oci_options(const ConfinementPlan& plan, const WrapArguments& arguments) {
  OciOptions options;
  options.parts.inner.landlock_abi = landlock_support(plan.level, offered_landlock_abi()).abi;
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
  options.parts.texts = TRY(store_texts(plan, texts_beside_rootfs(plan), installation.state));
  Wrapped wrapped{.text = TRY(oci_config(plan, options))};
  wrapped.missing = oci_missing(plan, options);
  if (arguments.run.bundle)
    TRY(make_bundle(*arguments.run.bundle, rootfs_entries(plan, options.kernel), wrapped.text));
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
  out.begin_object().member("argv", wrapped.argv).key("missing").begin_array();
  for (const auto& [id, why, fix] : wrapped.missing)
    out.begin_object().member("layer", name_of(id)).member("why", why).member("fix", fix).end_object();
  return out.end_array().member("notes", notes).end_object().text() + "\n";
}

// A caller who takes the words from JSON would run other words.
Result<void> check_sayable_in_json(const Wrapped& wrapped) {
  if (std::ranges::all_of(wrapped.argv, is_utf8)) return {};
  return refusal("a word of the command line is not UTF-8, and JSON cannot carry it",
                 "leave --json out: the command line is then printed byte for byte");
}

// What `cloche run` does after a command, and a caller who runs the printed line does not.
void note_missing_scan(const ConfinementPlan& plan, std::vector<std::string>& notes) {
  const bool writes = std::ranges::any_of(plan.view, [](const ViewEntry& entry) {
    return entry.kind == EntryKind::tree &&
           (entry.access == Access::write || entry.access == Access::write_run);
  });
  if (writes)
    notes.emplace_back(
        "when you run this yourself, changes to the protected set are neither quarantined nor undone "
        "afterwards; cloche run does both");
}

void show(const Wrapped& wrapped, const std::vector<std::string>& notes, bool json) {
  for (const auto& note : notes) complain("note: " + on_one_line(note));
  for (const auto& [id, why, fix] : wrapped.missing)
    complain("not enforced: " + std::string(name_of(id)) + ": " + on_one_line(why + "; " + fix));
  if (wrapped.argv.empty()) return print(wrapped.text);
  print(json ? as_json(wrapped, notes) : quote_words(wrapped.argv) + "\n");
}

std::string as_json(const std::string& reason) {
  JsonWriter out;
  return out.begin_object().key("argv").null().member("reason", reason).end_object().text() + "\n";
}

int fail(const Error& error, bool json) {
  if (json) print(as_json(describe(error)));
  return report(error);
}

}  // namespace

Result<WrapArguments> parse_wrap(std::span<char* const> words) {
  WrapArguments arguments{.run = TRY(read_run_words(words, RunCommand::wrap))};
  RunArguments& run = arguments.run;
  if (run.help) return arguments;
  if (!run.box) return usage_error("--backend is missing", "name the sandbox: bwrap, oci or seatbelt");
  arguments.backend = TRY(kind_named(*run.box));
  if ((run.bundle || run.runtime) && arguments.backend != Kind::oci)
    return usage_error("--bundle and --runtime are for --backend oci alone");
  if (run.runtime) arguments.runtime = TRY(runtime_named(*run.runtime));
  // --isolation has to agree with the level of the printed sandbox. A seatbelt has no level.
  if (arguments.backend != Kind::seatbelt) {
    const std::string box = arguments.backend == Kind::bwrap ? "bwrap" : run.runtime.value_or("runc");
    run.request.backend = TRY(backend_of_word(box));
  }
  TRY(settle_isolation_level(run));
  run.request.asked_writes =
      Writes::live;  // what is printed is run without Cloche, and nothing settles a layer
  if (run.request.argv.empty())
    return usage_error("no command is given", "cloche wrap --backend B [flags] -- CMD ARG...");
  return arguments;
}

int wrap_command(std::span<char* const> words, const Environment& environment) {
  const auto parsed = parse_wrap(words);
  if (!parsed.ok()) return fail(parsed.error(), ask_for_json(words));
  if (parsed.value().run.help) return print_all(text_of(wrap_help()), 0);
  const WrapArguments& arguments = parsed.value();
  const bool json = arguments.run.json;
  const auto installation = find_installation(environment);
  if (!installation.ok()) return fail(installation.error(), json);
  const BoxRequest asked{
      .request = arguments.run.request, .skill = arguments.run.skill, .executor = arguments.run.executor};
  const auto planned = plan_box(asked, environment);
  if (!planned.ok()) return fail(planned.error(), json);
  const BoxPlan& box = planned.value();
  if (!box.plan) {
    const Verdict& no = decisive(box.judged.judgement);
    const std::string reason =
        "refused by " + std::string(name_of(no.gate)) + ": " + on_one_line(no.reason.text());
    if (json) print(as_json(reason));
    complain(reason);
    return 126;
  }
  for (const auto& left_out : left_out_of(asked.request)) complain(left_out.what.text());
  const auto wrapped = wrap(arguments, *box.plan, installation.value());
  if (!wrapped.ok()) return fail(wrapped.error(), json);
  if (const auto sayable = check_sayable_in_json(wrapped.value()); json && !sayable.ok())
    return fail(sayable.error(), json);
  std::vector<std::string> notes = box.notes;
  note_missing_scan(*box.plan, notes);
  show(wrapped.value(), notes, json);
  return 0;
}

}  // namespace cloche
