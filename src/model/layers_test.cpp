#include "model/layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cloche {
namespace {

TEST(Layers, EachIsListedOnceAndHasANameOfItsOwn) {
  std::set<LayerId> ids;
  std::set<std::string_view> names;
  for (LayerId layer : all_layers) {
    ids.insert(layer);
    names.insert(name_of(layer));
    EXPECT_EQ(name_of(layer).find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos)
        << name_of(layer);
  }
  EXPECT_EQ(ids.size(), std::size(all_layers));
  EXPECT_EQ(names.size(), std::size(all_layers));
  EXPECT_FALSE(names.contains("unknown"));
  // The ids count up from 0, so the last one says how many there are.
  EXPECT_EQ(static_cast<size_t>(*std::max_element(ids.begin(), ids.end())) + 1, std::size(all_layers));
}

TEST(Rungs, HaveTheNamesOfTheCommandLine) {
  EXPECT_EQ(name_of(IsolationLevel::permissive), "permissive");
  EXPECT_EQ(name_of(IsolationLevel::subprocess), "subprocess");
  EXPECT_EQ(name_of(IsolationLevel::namespaces), "namespace");
  EXPECT_EQ(name_of(IsolationLevel::container), "container");
  EXPECT_EQ(name_of(IsolationLevel::gvisor), "gvisor");
  EXPECT_EQ(name_of(IsolationLevel::microvm), "microvm");
}

std::set<LayerId> set_of(IsolationLevel level) {
  const auto list = required_by(level);
  const std::set<LayerId> required(list.begin(), list.end());
  EXPECT_EQ(required.size(), list.size()) << "a layer is required once";
  return required;
}

// What a level does by other means than the one below it: without namespaces the scope of Landlock keeps
// signals inside; gVisor's kernel is the wall that Landlock is elsewhere, and has neither keyrings nor
// cgroups of the host's to show.
TEST(Rungs, AHigherOneRequiresNothingLessButWhatItDoesByOtherMeans) {
  const std::set<LayerId> by_other_means = {LayerId::landlock_scope, LayerId::landlock,
                                            LayerId::session_keyring, LayerId::cgroup_namespace};
  std::set<LayerId> before;
  for (IsolationLevel level :
       {IsolationLevel::permissive, IsolationLevel::subprocess, IsolationLevel::namespaces,
        IsolationLevel::container, IsolationLevel::gvisor, IsolationLevel::microvm}) {
    const auto required = set_of(level);
    for (LayerId layer : before) {
      EXPECT_TRUE(required.contains(layer) || by_other_means.contains(layer))
          << name_of(level) << " " << name_of(layer);
    }
    before = required;
  }
}

TEST(Rungs, TheDefaultOneRequiresEveryLayerButTheScope) {
  const auto required = set_of(IsolationLevel::namespaces);
  for (LayerId layer : all_layers) {
    EXPECT_EQ(required.contains(layer), layer != LayerId::landlock_scope && layer != LayerId::change_set)
        << name_of(layer);
  }
  EXPECT_TRUE(required_by(IsolationLevel::permissive).empty());
}

}  // namespace
}  // namespace cloche
