#include "layering/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

namespace sotto::layering {

namespace {

/// Blanks [begin, end), except line breaks.
void blank(std::string& text, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, text.size()); ++i)
        if (text[i] != '\n') text[i] = ' ';
}

/// One past the closing quote of a literal that begins at `at`.
std::size_t end_of_literal(const std::string& text, std::size_t at) {
    const char quote = text[at];
    std::size_t i = at + 1;
    while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
    return i + 1;
}

std::size_t end_of_raw_string(const std::string& text, std::size_t at) {
    const std::size_t open = text.find('(', at);
    const std::string close = ")" + text.substr(at + 2, open - at - 2) + "\"";
    return text.find(close, open) + close.size();
}

/// A quote between digits or letters separates digits.
bool begins_character(const std::string& text, std::size_t at) {
    return text[at] == '\'' &&
           (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0);
}

bool ends_with_word(std::string_view head, std::string_view word) {
    return head.ends_with(word) &&
           (head.size() == word.size() ||
            std::isalnum(static_cast<unsigned char>(head[head.size() - word.size() - 1])) == 0);
}

std::string trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\n\r");
    if (begin == std::string_view::npos) return {};
    const std::size_t end = text.find_last_not_of(" \t\n\r");
    return std::string(text.substr(begin, end - begin + 1));
}

bool holds_word(const std::string& head, const std::string& word) {
    for (std::size_t at = head.find(word); at != std::string::npos; at = head.find(word, at + 1)) {
        const auto letter = [&](std::size_t i) {
            return i < head.size() &&
                   (std::isalnum(static_cast<unsigned char>(head[i])) != 0 || head[i] == '_');
        };
        if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
    }
    return false;
}

/// What stands before its template's or its own parameters.
std::string without_template(std::string head) {
    while (head.starts_with("template")) {
        int depth = 0;
        std::size_t i = head.find('<');
        for (; i < head.size(); ++i) {
            depth += head[i] == '<' ? 1 : head[i] == '>' ? -1 : 0;
            if (depth == 0) break;
        }
        head = trimmed(std::string_view(head).substr(std::min(i + 1, head.size())));
    }
    return head;
}

enum class Block { scope, function, other };

Block block_of(const std::string& whole_head) {
    const std::string head = without_template(whole_head);
    if (head.starts_with("namespace") || head.starts_with("extern")) return Block::scope;
    const std::string before_parameters = head.substr(0, head.find('('));
    for (const char* word : {"class", "struct", "union", "enum"})
        if (holds_word(before_parameters, word) && head.find('(') == std::string::npos)
            return Block::scope;
    if (head.find('(') == std::string::npos || head.ends_with('=')) return Block::other;
    return Block::function;
}

std::string name_in(const std::string& whole_head) {
    const std::string head = without_template(whole_head);
    const std::string before = trimmed(std::string_view(head).substr(0, head.find('(')));
    const std::size_t space = before.find_last_of(" \n*&");
    return space == std::string::npos ? before : before.substr(space + 1);
}

/// Walks through the braces of a text.
class BraceReader {
  public:
    explicit BraceReader(const std::string& text) : text_(without_words(text)) {}

    std::vector<FunctionLength> read() {
        for (at_ = 0; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '{') open();
            if (c == '}') close();
            if (c == ';' && !inside(Block::function) && !inside(Block::other)) head_ = at_ + 1;
            if (c == ':' && ends_access()) head_ = at_ + 1;
        }
        return std::move(found_);
    }

  private:
    struct Open {
        Block block;
        std::size_t head;
        std::string words;
    };

    [[nodiscard]] bool inside(Block block) const {
        return std::ranges::any_of(open_, [&](const Open& one) { return one.block == block; });
    }
    [[nodiscard]] bool ends_access() const {
        if (inside(Block::function)) return false;
        const std::string head = trimmed(std::string_view(text_).substr(head_, at_ - head_));
        return ends_with_word(head, "public") || ends_with_word(head, "private") ||
               ends_with_word(head, "protected");
    }
    [[nodiscard]] int line(std::size_t at) const {
        return static_cast<int>(
                   std::count(text_.begin(), text_.begin() + static_cast<long>(at), '\n')) +
               1;
    }

    void open() {
        if (inside(Block::function)) {
            open_.push_back({Block::other, at_, {}});
            return;
        }
        const std::size_t begin = std::min(text_.find_first_not_of(" \t\n\r", head_), at_);
        std::string words = trimmed(std::string_view(text_).substr(begin, at_ - begin));
        const Block block = block_of(words);
        open_.push_back({block, begin, std::move(words)});
        if (block == Block::scope) head_ = at_ + 1;
    }

    void close() {
        if (open_.empty()) return;
        const Open last = std::move(open_.back());
        open_.pop_back();
        if (last.block == Block::scope) head_ = at_ + 1;
        if (last.block != Block::function) return;
        // Braces of a member's initialiser, or of a function-try-block: the function goes on.
        const std::size_t next =
            std::min(text_.find_first_not_of(" \t\n\r", at_ + 1), text_.size());
        if (next < text_.size() &&
            (text_[next] == ',' || text_[next] == '{' || text_.compare(next, 5, "catch") == 0))
            return;
        const int first = line(last.head);
        found_.push_back({name_in(last.words), first, line(at_) - first + 1});
        head_ = at_ + 1;
    }

    std::string text_;
    std::size_t at_ = 0, head_ = 0;
    std::vector<Open> open_;
    std::vector<FunctionLength> found_;
};

}  // namespace

std::string without_words(std::string text) {
    bool line_begins = true;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        if (text.compare(i, 2, "//") == 0) {
            end = std::min(text.find('\n', i), text.size());
            blank(text, i, end);
        } else if (text.compare(i, 2, "/*") == 0) {
            end = text.find("*/", i) + 2;
            blank(text, i, end);
        } else if (text.compare(i, 2, "R\"") == 0) {
            end = end_of_raw_string(text, i);
            blank(text, i, end);
        } else if (text[i] == '"' || begins_character(text, i)) {
            end = end_of_literal(text, i);
            blank(text, i, end);
        } else if (text[i] == '#' && line_begins) {
            end = std::min(text.find('\n', i), text.size());
            while (end < text.size() && text[end - 1] == '\\')
                end = std::min(text.find('\n', end + 1), text.size());
            blank(text, i, end);
        }
        for (std::size_t k = i; k < std::min(end, text.size()); ++k)
            line_begins = text[k] == '\n' || (line_begins && text[k] == ' ');
        i = end;
    }
    return text;
}

std::vector<FunctionLength> functions_of(const std::string& text) {
    return BraceReader(text).read();
}

std::vector<std::filesystem::path> sources_below(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string ending = entry.path().extension().string();
        if (entry.is_regular_file() && (ending == ".hpp" || ending == ".cpp"))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::vector<std::filesystem::path> documentation_pages() {
    std::vector<std::filesystem::path> pages{root / "README.md", root / "bench" / "README.md"};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    return pages;
}

}  // namespace sotto::layering
