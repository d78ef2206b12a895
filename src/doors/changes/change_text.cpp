#include "doors/changes/change_text.hpp"

#include "base/text/amounts.hpp"
#include "doors/changes/visible_bytes.hpp"

namespace cloche {
namespace {

constexpr size_t most_name = 4096;
constexpr size_t most_link = 200;

enum class Part {
  whole,       // a patch
  name,        // one line: ignored, and yet of a group that is never summarised
  summarised,  // counted with other ignored paths, or with what is too much
};

bool comes_first(const ShownPlace& place) { return place.group != ShownGroup::other; }

// How a path is shown, by its group alone: .gitignore is written by the project, and a call can change it.
Part part_of(const ShownChange& file, const ShownPlace& place, size_t others, const DiffOptions& options) {
  if (place.group == ShownGroup::withheld) return Part::whole;
  if (file.ignored) return comes_first(place) ? Part::name : Part::summarised;
  return comes_first(place) || others < options.most_files ? Part::whole : Part::summarised;
}

// "ignored: node_modules/.bin/tsc (link to ../typescript/bin/tsc)"
std::string ignored_line(const ShownChange& file, ShownGroup group) {
  const bool is_link = group == ShownGroup::link;
  return "ignored: " + short_name(file.path, most_name) + " (" + std::string(name_of(file.change.kind)) +
         ", " + std::string(name_of(group)) +
         (is_link ? " to " + short_name(file.change.after->link, most_link) : "") + ")\n";
}

class DiffWriter {
 public:
  DiffWriter(const std::vector<ShownChange>& files, const DiffOptions& options)
      : files_(files), options_(options), work_(options.work) {}

  std::string run() {
    for (const ShownPlace& place : display_order(files_)) write(place);
    if (ignored_ > 0) out_ += count_text(ignored_, "ignored path") + ": --stat lists them\n";
    if (left_out_ > 0) out_ += "… and " + count_text(left_out_, "more file") + ": --stat lists them\n";
    return std::move(out_);
  }

 private:
  void write(const ShownPlace& place) {
    const ShownChange& file = files_[place.index];
    switch (part_of(file, place, others_, options_)) {
      case Part::name:
        out_ += ignored_line(file, place.group);
        others_begin_ = out_.size();
        return;
      case Part::summarised: file.ignored ? ++ignored_ : ++left_out_; return;
      case Part::whole: break;
    }
    if (comes_first(place)) {
      const PatchDepth depth =
          out_.size() < options_.most_first_bytes ? PatchDepth::whole : PatchDepth::header;
      out_ += file_patch(file, depth, options_.colour, work_);
      others_begin_ = out_.size();
    } else if (out_.size() - others_begin_ < options_.most_bytes) {
      out_ += file_patch(file, PatchDepth::whole, options_.colour, work_);
      ++others_;
    } else {
      ++left_out_;
    }
  }

  const std::vector<ShownChange>& files_;
  const DiffOptions& options_;
  uint64_t work_;
  std::string out_ = {};
  size_t others_begin_ = 0;
  size_t others_ = 0;
  uint64_t ignored_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace

std::string diff_text(const std::vector<ShownChange>& files, const DiffOptions& options) {
  return options.stat ? stat_text(files, options) : DiffWriter(files, options).run();
}

std::vector<size_t> files_shown_whole(const std::vector<ShownChange>& files, const DiffOptions& options) {
  std::vector<size_t> whole;
  size_t others = 0;
  for (const ShownPlace& place : display_order(files)) {
    if (part_of(files[place.index], place, others, options) != Part::whole) continue;
    whole.push_back(place.index);
    if (!comes_first(place)) ++others;
  }
  return whole;
}

}  // namespace cloche
