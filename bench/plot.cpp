#include "plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cloche::bench {
namespace {

constexpr double width = 720;
constexpr double height = 380;
constexpr double left = 70;
constexpr double right = 130;  // room for the names of the series
constexpr double top = 40;
constexpr double bottom = 55;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string plain = text;
  if (plain.ends_with(".0")) plain.resize(plain.size() - 2);
  return plain;
}

// 12000 is 12,000.
std::string with_commas(double value) {
  std::string text = number(value);
  for (size_t at = text.find('.') == std::string::npos ? text.size() : text.find('.'); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const std::string& more = "") {
  return "  <text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\"" + more +
         ">" + text + "</text>\n";
}

std::string line_between(double x1, double y1, double x2, double y2, const char* kind) {
  return "  <line class=\"" + std::string(kind) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) +
         "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

// The first of 1, 2, 5, 10, 20, ... that is at least so much.
double round_up(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double mark : {power, 2 * power, 5 * power}) {
    if (mark >= least) return mark;
  }
  return 10 * power;
}

// Lines across, from the lowest on.
std::vector<double> marks_of(YScale scale, double least, double most) {
  std::vector<double> marks;
  if (scale == YScale::linear) {
    const double step = round_up(most / 5);
    while (marks.empty() || marks.back() < most) marks.push_back(static_cast<double>(marks.size()) * step);
  } else {
    marks.push_back(std::pow(10, std::floor(std::log10(least))));
    while (marks.back() < most) marks.push_back(round_up(marks.back() * 1.5));
    while (marks.size() > 2 && marks[1] <= least) marks.erase(marks.begin());
  }
  return marks;
}

class Scale {
 public:
  explicit Scale(const Plot& plot) : kind_(plot.y_scale) {
    double least = plot.series.front().points.front().second;
    double most = least;
    for (const auto& series : plot.series) {
      for (const auto& [x, y] : series.points) {
        x_.push_back(x);
        least = std::min(least, y);
        most = std::max(most, y);
      }
    }
    std::sort(x_.begin(), x_.end());
    x_.erase(std::unique(x_.begin(), x_.end()), x_.end());
    y_ = marks_of(kind_, least, most);
  }
  double x(double value) const { return left + share_of_log(value, x_) * (width - left - right); }
  double y(double value) const {
    const double share = kind_ == YScale::linear ? value / y_.back() : share_of_log(value, y_);
    return height - bottom - share * (height - top - bottom);
  }
  const std::vector<double>& x_marks() const { return x_; }
  const std::vector<double>& y_marks() const { return y_; }

 private:
  static double share_of_log(double value, const std::vector<double>& marks) {
    return std::log(value / marks.front()) / std::log(marks.back() / marks.front());
  }

  YScale kind_;
  std::vector<double> x_ = {};
  std::vector<double> y_ = {};
};

std::string axes_of(const Plot& plot, const Scale& scale) {
  std::string text;
  for (const double value : scale.y_marks()) {
    text += line_between(left, scale.y(value), width - right, scale.y(value), "grid");
    text += text_at(left - 8, scale.y(value) + 4, "end", with_commas(value));
  }
  for (const double value : scale.x_marks())
    text += text_at(scale.x(value), height - bottom + 18, "middle", with_commas(value));
  text += text_at((left + width - right) / 2, height - 12, "middle", plot.x_label);
  text += text_at(18, (top + height - bottom) / 2, "middle", plot.y_label,
                  " transform=\"rotate(-90 18 " + number((top + height - bottom) / 2) + ")\"");
  return text;
}

// Names beside the last points, moved apart where these are close.
std::string names_of(const Plot& plot, const Scale& scale) {
  std::vector<std::pair<double, size_t>> places;
  for (size_t i = 0; i < plot.series.size(); ++i)
    places.emplace_back(scale.y(plot.series[i].points.back().second), i);
  std::sort(places.begin(), places.end());
  std::string text;
  double above = -100;
  for (const auto& [wanted, index] : places) {
    above = std::max(wanted, above + 16);
    text += text_at(width - right + 10, above + 4, "start", plot.series[index].name,
                    " class=\"of" + std::to_string(index) + "\"");
  }
  return text;
}

}  // namespace

std::string to_svg(const Plot& plot) {
  const Scale scale(plot);
  std::string text =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 380\" role=\"img\">\n"
      "  <title>" +
      plot.title +
      "</title>\n"
      "  <style>\n"
      "    text { font: 13px sans-serif; fill: #24292f; }\n"
      "    .title { font-weight: bold; font-size: 15px; }\n"
      "    .grid { stroke: #d0d7de; stroke-width: 1; }\n"
      "    polyline { fill: none; stroke-width: 2; }\n"
      "    polyline.of0 { stroke: #0969da; } circle.of0, text.of0 { fill: #0969da; }\n"
      "    polyline.of1 { stroke: #bc4c00; } circle.of1, text.of1 { fill: #bc4c00; }\n"
      "    polyline.of2 { stroke: #57606a; } circle.of2, text.of2 { fill: #57606a; }\n"
      "    @media (prefers-color-scheme: dark) {\n"
      "      text { fill: #e6edf3; } .grid { stroke: #30363d; }\n"
      "      polyline.of0 { stroke: #58a6ff; } circle.of0, text.of0 { fill: #58a6ff; }\n"
      "      polyline.of1 { stroke: #f0883e; } circle.of1, text.of1 { fill: #f0883e; }\n"
      "      polyline.of2 { stroke: #9ea7b3; } circle.of2, text.of2 { fill: #9ea7b3; }\n"
      "    }\n"
      "  </style>\n";
  text += text_at(left, 22, "start", plot.title, " class=\"title\"");
  text += axes_of(plot, scale);
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const std::string kind = "of" + std::to_string(i);
    std::string corners;
    std::string dots;
    for (const auto& [x, y] : plot.series[i].points) {
      const std::string at_x = number(scale.x(x));
      const std::string at_y = number(scale.y(y));
      corners += (corners.empty() ? "" : " ") + at_x + "," + at_y;
      dots += "  <circle class=\"" + kind + "\" cx=\"" + at_x + "\" cy=\"" + at_y + "\" r=\"3\"/>\n";
    }
    text += "  <polyline class=\"" + kind + "\" points=\"" + corners + "\"/>\n" + dots;
  }
  return text + names_of(plot, scale) + "</svg>\n";
}

}  // namespace cloche::bench
