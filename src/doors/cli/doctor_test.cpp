// What `cloche doctor` says first: four promises, and what would mend one that does not hold.
#include "doors/cli/doctor.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace cloche {
namespace {

Diagnosis a_sound_host() {
  Diagnosis diagnosis{.active = true, .proof = "sha256:abc", .in_force = Backend::native};
  for (const LayerId layer : all_layers)
    diagnosis.layers.push_back({.id = layer, .enforced = true, .by = "it", .proof = "tried"});
  return diagnosis;
}

TEST(DoctorText, BeginsWithFourLines) {
  EXPECT_EQ(doctor_text(a_sound_host(), DoctorDetail::promises, {.columns = 80}),
            "files    holds    the system is read-only, and a command writes in its workspace\n"
            "                  alone\n"
            "network  holds    a command reaches no host but those that you name\n"
            "secrets  holds    your home, keys, processes and environment are not there for a\n"
            "                  command\n"
            "limits   holds    memory, processes, time, open files and disk are limited for\n"
            "                  all that a call starts\n"
            "Everything that the default needs holds on this host.\n"
            "cloche doctor -v shows each layer, what proved it, and every isolation level.\n");
  const std::string all = doctor_text(a_sound_host(), DoctorDetail::all);
  EXPECT_NE(all.find("  holds    landlock           it\n" + std::string(30, ' ') + "proven by: tried\n"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("(proof sha256:abc).\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("cloche doctor -v"), std::string::npos) << all;
}

TEST(DoctorText, SaysWhatIsMissingAndTheCommandThatMendsIt) {
  const struct {
    LayerId missing;
    const char* line;  // the first that is not "unknown"
  } rows[] = {
      {LayerId::user_ids, "files    missing  a command would have your own user id; sysctl -w it\n"},
      {LayerId::landlock,
       "files    missing  the kernel would not check the files of a command a second time; sysctl -w it\n"},
      {LayerId::net_namespace,
       "network  missing  a command would have the network of the host; sysctl -w it\n"},
      {LayerId::session_keyring,
       "secrets  missing  a command would share the kernel's keyring with you; sysctl -w it\n"},
      {LayerId::memory_limit, "limits   missing  nothing would limit the memory of a call; sysctl -w it\n"},
  };
  for (const auto& row : rows) {
    Diagnosis diagnosis{.problem = "it is not here"};
    for (const LayerId layer : all_layers) {
      const bool tried = layer == row.missing;
      diagnosis.layers.push_back({.id = layer, .tried = tried, .fix = tried ? "sysctl -w it" : ""});
    }
    const std::string text = doctor_text(diagnosis, DoctorDetail::promises);
    EXPECT_NE(text.find(row.line), std::string::npos) << text;
    EXPECT_NE(text.find("unknown  not tried: something else is missing\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("holds"), std::string::npos) << text;
    EXPECT_NE(text.find("The default is refused on this host: it is not here\n"), std::string::npos) << text;
    std::istringstream lines(doctor_text(diagnosis, DoctorDetail::all, {.columns = 40}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 40U) << line;
  }
  // Each layer that the default needs is behind one of the promises.
  for (const LayerId layer : required_by(IsolationLevel::namespaces)) {
    Diagnosis diagnosis;
    diagnosis.layers.push_back({.id = layer, .fix = "mend"});
    EXPECT_NE(doctor_text(diagnosis, DoctorDetail::promises).find("  missing  "), std::string::npos)
        << name_of(layer);
  }
}

TEST(DoctorText, WhatIsSwitchedOffOrWatchedIsSaid) {
  Diagnosis off = a_sound_host();
  off.in_force = Backend::none;
  const std::string text = doctor_text(off, DoctorDetail::promises);
  EXPECT_NE(text.find("secrets  missing  isolation is switched off"), std::string::npos) << text;
  EXPECT_EQ(text.find("holds"), std::string::npos) << text;
  Diagnosis watched = a_sound_host();
  watched.overshoot_bytes = 12 << 20;
  EXPECT_NE(doctor_text(watched, DoctorDetail::promises)
                .find("12 MiB at worst; to limit it exactly, with cgroup version 2: systemd-run"),
            std::string::npos);
  Diagnosis refused = a_sound_host();
  refused.misconfiguration = "config.json:1: no";
  EXPECT_NE(doctor_text(refused, DoctorDetail::promises)
                .find("MISCONFIGURED: every call is refused: config.json:1"),
            std::string::npos);
}

}  // namespace
}  // namespace cloche
