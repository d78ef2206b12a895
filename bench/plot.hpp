// A plot as SVG that can be read in light and in dark.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cloche::bench {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points = {};  // by x, which is the same in all series
};

// Linear: from zero.
enum class YScale { linear, logarithmic };

// x has a logarithmic scale with a mark for each point.
struct Plot {
  std::string name;  // of the file: bench-NAME.svg
  std::string title;
  std::string x_label;
  std::string y_label;
  YScale y_scale = YScale::linear;
  std::vector<Series> series = {};
};

std::string to_svg(const Plot& plot);

}  // namespace cloche::bench
