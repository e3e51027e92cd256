#include "tb_backend/api/report_page.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/api/encoding.h"
#include "tb_backend/api/report_answers.h"
#include "tb_backend/timeline/digest.h"

namespace traceglass {
namespace {

// Of the room for data: what the tables leave to the timeline, and that to details.
constexpr std::size_t kTimelineShare = 3, kDetailsShare = 3;
constexpr int kSmall = 9;                                 // libdeflate's level
constexpr std::size_t kMostRaw = std::size_t{64} << 20U;  // of one level of tiles, unpacked

// Text of a page, whatever it says.
std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c == '\0' ? ' ' : c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr const char* kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) -> std::uint32_t {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    const std::uint32_t three = byte(0) << 16U | byte(1) << 8U | byte(2);
    out += kLetters[three >> 18U];
    out += kLetters[three >> 12U & 63U];
    out += at + 1 < bytes.size() ? kLetters[three >> 6U & 63U] : '=';
    out += at + 2 < bytes.size() ? kLetters[three & 63U] : '=';
  }
  return out;
}

// Parts of the page, each packed by itself, as many as there is room for.
class Parts {
 public:
  explicit Parts(std::size_t room) : room_(room) {}

  static std::string packed(const char* kind, std::string_view bytes) {
    return std::string("<script type=\"text/plain\" data-report=\"") + kind + "\">" +
           base64(gzip(bytes, kSmall)) + "</script>\n";
  }
  // False: it did not fit above `reserve`.
  bool add(const char* kind, std::string_view bytes, std::size_t reserve = 0) {
    const std::string part = packed(kind, bytes);
    if (part.size() + reserve > room_) return false;
    put(part);
    return true;
  }
  // Whatever room there is.
  void put(const std::string& part) {
    room_ -= std::min(room_, part.size());
    text_ += part;
  }
  [[nodiscard]] std::size_t room() const { return room_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::size_t room_;
  std::string text_;
};

void add_tiles(const LoadedTrace& loaded, Parts& parts) {
  const std::size_t for_details = parts.room() / kDetailsShare;
  Digest digest(*loaded.timeline, shown_step(loaded));
  while (const auto level = digest.next(kMostRaw)) {
    if (!parts.add("tiles", *level, for_details)) return;
  }
}

// Replaces the first `mark`; false if there is none.
bool fill(std::string& page, std::string_view mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  if (at == std::string::npos) return false;
  page.replace(at, mark.size(), text);
  return true;
}

}  // namespace

std::string report_template(const std::filesystem::path& web_dir) {
  std::ifstream in(web_dir / "report.html", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string report_page(const std::string& page, Services& services, const LoadedTrace& loaded,
                        const std::string& text, std::size_t most_bytes) {
  const ReportAnswers answers(services, loaded);
  const std::vector<AnswerSet> sets = answers.views();
  std::vector<std::string> offered;
  for (const AnswerSet& set : sets) offered.push_back(set.view);
  // The names of a trace and the page itself are there in any case.
  const std::size_t fixed = page.size() + Parts::packed("answers", answers.shell(offered)).size();
  Parts parts(most_bytes > fixed ? most_bytes - fixed : 0);

  offered.clear();
  const std::size_t for_tiles = parts.room() / kTimelineShare;
  for (const AnswerSet& set : sets) {
    if (set.view == "overview") {  // what one opens it for
      parts.put(Parts::packed("answers", set.json));
    } else if (!parts.add("answers", set.json, for_tiles)) {
      continue;
    }
    offered.push_back(set.view);
  }
  add_tiles(loaded, parts);
  for (const AnswerSet& set : answers.extras()) {
    if (!set.json.empty()) parts.add("answers", set.json);
  }

  std::string out = page;
  const std::string data = Parts::packed("answers", answers.shell(offered)) + parts.text();
  if (!fill(out, "<!--report:parts-->", data)) return {};
  if (!fill(out, "<!--report:text-->", html_text(text))) return {};
  if (!fill(out, "<!--report:title-->", html_text(loaded.file.file + " · Traceglass"))) return {};
  return out;
}

}  // namespace traceglass
