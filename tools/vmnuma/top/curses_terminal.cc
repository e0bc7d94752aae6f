// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/curses_terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#define NCURSES_NOMACROS  // its macros would otherwise hide std::move and others
#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {

namespace {

// Numbers of colour pairs; 0 is the terminal's default.
constexpr short kGreenPair = 1;
constexpr short kYellow = 2;
constexpr short kRed = 3;

constexpr int kEscape = 27;
constexpr int kDelete = 127;
// A release selects, so that it does not matter what the terminal shows between press and release.
// All buttons are requested, because curses loses events that it drops; no clicks, which curses
// would compose of press and release.
constexpr mmask_t kMouseEvents = [] {
  mmask_t mask = 0;
  for (int button = 1; button <= 5; ++button) {
    mask |= NCURSES_MOUSE_MASK(button, NCURSES_BUTTON_PRESSED | NCURSES_BUTTON_RELEASED);
  }
  return mask;
}();
constexpr int kEscapeDelayMs = 25;  // how long the rest of a key's sequence may take to arrive

std::optional<KeyPress> key_press(int key) {
  switch (key) {
    case KEY_UP:
      return KeyPress{TopKey::kUp};
    case KEY_DOWN:
      return KeyPress{TopKey::kDown};
    case KEY_PPAGE:
      return KeyPress{TopKey::kPageUp};
    case KEY_NPAGE:
      return KeyPress{TopKey::kPageDown};
    case KEY_HOME:
      return KeyPress{TopKey::kFirst};
    case KEY_END:
      return KeyPress{TopKey::kLast};
    case KEY_ENTER:
    case '\r':
    case '\n':
      return KeyPress{TopKey::kEnter};
    case KEY_BACKSPACE:
    case '\b':
    case kDelete:
      return KeyPress{TopKey::kErase};
    case KEY_LEFT:
    case kEscape:
      return KeyPress{TopKey::kBack};
    default:
      return key >= ' ' && key < kDelete
                 ? std::optional(KeyPress{TopKey::kCharacter, static_cast<char>(key)})
                 : std::nullopt;
  }
}

/// Returns the meaning of one mouse event: a click, or the wheel, which moves by a row.
std::optional<TopEvent> meaning_of(const MEVENT& mouse) {
  if ((mouse.bstate & BUTTON4_PRESSED) != 0) {
    return TopEvent{TopEvent::Kind::kKey, {TopKey::kUp}};
  }
  if ((mouse.bstate & BUTTON5_PRESSED) != 0) {
    return TopEvent{TopEvent::Kind::kKey, {TopKey::kDown}};
  }
  if ((mouse.bstate & BUTTON1_RELEASED) != 0 && mouse.y >= 0) {
    return TopEvent{TopEvent::Kind::kClick, {}, static_cast<std::size_t>(mouse.y)};
  }
  return std::nullopt;
}

/// Returns the mouse events since the last call, newest first, as returned by curses: it reports
/// KEY_MOUSE once for everything that arrived together (ncurses 6.4, lib_getch.c).
std::vector<TopEvent> mouse_events() {
  std::vector<TopEvent> events;
  MEVENT mouse{};
  while (getmouse(&mouse) == OK) {
    if (const auto event = meaning_of(mouse)) {
      events.push_back(*event);
    }
  }
  return events;
}

/// Returns whether there is input; not all of it gives a key, because curses drops mouse events
/// that were not requested.
bool has_input() {
  int bytes = 0;
  return ::ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

/// Delivers signals that end the program as events, so that the terminal can be restored first.
class EndingSignals {
 public:
  EndingSignals() {
    sigset_t signals{};
    (void)sigemptyset(&signals);  // these fail only on numbers that are no signals
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      (void)sigaddset(&signals, signal);
    }
    (void)sigprocmask(SIG_BLOCK, &signals, &before_);
    fd_ = files::FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC));
  }
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;
  ~EndingSignals() {
    // Read the signal, so that it is not delivered once it is no longer blocked.
    pollfd pending{fd_.get(), POLLIN, 0};
    signalfd_siginfo ignored{};
    while (::poll(&pending, 1, 0) > 0 && ::read(fd_.get(), &ignored, sizeof(ignored)) > 0) {
    }
    (void)sigprocmask(SIG_SETMASK, &before_, nullptr);  // `before_` came from the same call
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  sigset_t before_{};
  files::FileDescriptor fd_{-1};
};

class Ticks {
 public:
  [[nodiscard]] int fd() const { return fd_.get(); }

  void set_period(std::chrono::milliseconds period) {
    if (period == period_) {
      return;
    }
    period_ = period;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
    itimerspec every{};
    every.it_interval.tv_sec = seconds.count();
    every.it_interval.tv_nsec = std::chrono::nanoseconds(period - seconds).count();
    every.it_value = every.it_interval;
    (void)::timerfd_settime(fd_.get(), 0, &every, nullptr);  // a valid descriptor and time
  }
  /// Returns whether at least one tick has passed.
  [[nodiscard]] bool take() const {
    std::uint64_t ticks = 0;
    return ::read(fd_.get(), &ticks, sizeof(ticks)) == static_cast<ssize_t>(sizeof(ticks));
  }

 private:
  files::FileDescriptor fd_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  std::chrono::milliseconds period_{};
};

class CursesTerminal : public TopTerminal {
 public:
  CursesTerminal(SCREEN* screen, bool colours) : screen_(screen) {
    // These fail only on terminals that lack the feature, which is then not used.
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(kEscapeDelayMs);
    (void)curs_set(0);
    (void)mousemask(kMouseEvents, nullptr);
    (void)mouseinterval(0);  // presses and releases, not clicks that are waited for
    colours_ = colours && has_colors() && start_color() == OK && use_default_colors() == OK;
    if (colours_) {
      (void)init_pair(kGreenPair, COLOR_GREEN, -1);
      (void)init_pair(kYellow, COLOR_YELLOW, -1);
      (void)init_pair(kRed, COLOR_RED, -1);
    }
  }
  ~CursesTerminal() override {
    (void)endwin();  // there is no other way to restore the terminal
    delscreen(screen_);
  }

  [[nodiscard]] bool is_ready() const { return signals_.fd() >= 0 && ticks_.fd() >= 0; }

  [[nodiscard]] ScreenSize size() const override {
    return {static_cast<std::size_t>(std::max(getmaxy(stdscr), 1)),
            static_cast<std::size_t>(std::max(getmaxx(stdscr), 1)),
            std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0};
  }

  void show(const std::vector<Line>& lines) override {
    (void)erase();
    for (std::size_t row = 0; row < lines.size(); ++row) {
      (void)move(static_cast<int>(row), 0);
      for (const Span& span : lines[row]) {
        (void)attrset(static_cast<int>(attributes_of(span.style)));
        (void)addstr(
            span.text.c_str());  // returns ERR in the last corner, but the character is shown
      }
    }
    (void)attrset(A_NORMAL);
    (void)refresh();
  }

  [[nodiscard]] TopEvent wait(std::chrono::milliseconds period) override {
    ticks_.set_period(period);
    while (true) {
      if (!mouse_.empty()) {
        const TopEvent event = mouse_.back();
        mouse_.pop_back();
        return event;
      }
      const int key = getch();  // also redraws, and reports a changed size
      if (key == KEY_RESIZE) {
        return {TopEvent::Kind::kResized, {}};
      }
      if (key == KEY_MOUSE) {
        mouse_ = mouse_events();
        continue;
      }
      if (key != ERR) {
        if (const auto press = key_press(key)) {
          return {TopEvent::Kind::kKey, *press};
        }
        continue;
      }
      std::array<pollfd, 3> fds{
          {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {ticks_.fd(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) < 0) {
        if (errno == EINTR) {
          continue;  // SIGWINCH, which getch() then reports
        }
        return {TopEvent::Kind::kStopped, {}};
      }
      if (fds[1].revents != 0) {
        return {TopEvent::Kind::kStopped, {}};
      }
      if (fds[2].revents != 0 && ticks_.take()) {
        return {TopEvent::Kind::kTick, {}};
      }
      if (fds[0].revents != 0 && !has_input()) {
        return {TopEvent::Kind::kStopped,
                {}};  // readable, but nothing to read: the terminal is gone
      }
    }
  }

 private:
  [[nodiscard]] chtype attributes_of(Style style) const {
    const auto in_colour = [this](short pair, chtype otherwise) {
      return colours_ ? static_cast<chtype>(COLOR_PAIR(pair)) : otherwise;
    };
    switch (style) {
      case Style::kPlain:
        return A_NORMAL;
      case Style::kTitle:
        return A_BOLD;
      case Style::kHeader:
        return A_BOLD | A_UNDERLINE;
      case Style::kSelected:
        return A_REVERSE;
      case Style::kDim:
        return A_DIM;
      case Style::kGood:
        return in_colour(kGreenPair, A_NORMAL);
      case Style::kWarning:
        return in_colour(kYellow, A_BOLD);
      case Style::kBad:
        return in_colour(kRed, A_BOLD);
    }
    return A_NORMAL;
  }

  SCREEN* screen_;
  bool colours_ = false;
  EndingSignals signals_;
  Ticks ticks_;
  std::vector<TopEvent> mouse_;  ///< not reported yet, the oldest last
};

}  // namespace

Result<std::unique_ptr<TopTerminal>> open_terminal(bool colours) {
  // Names of VMs are shown as UTF-8 if the user's locale is UTF-8.
  (void)std::setlocale(LC_CTYPE, "");  // without it, non-ASCII characters are shown as bytes
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    return failure(ErrorCode::kUnsupported,
                   "the terminal in $TERM is not known; 'vmnuma top --once' needs none");
  }
  auto terminal = std::make_unique<CursesTerminal>(screen, colours);
  if (!terminal->is_ready()) {
    return failure(ErrorCode::kIo, "cannot watch for signals and time", errno);
  }
  return terminal;
}

}  // namespace vmnuma::tools
