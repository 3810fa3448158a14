#!/usr/bin/env bash
# Prints the path of a Chromium that can run headless. With --install, Debian's package is installed
# where none is found and root may do so. Without one it says how to get it, and ends with 1.
set -euo pipefail

find_browser() {
  local name path
  for name in ${CHROMIUM:-} chromium chromium-browser google-chrome google-chrome-stable; do
    path=$(command -v "$name") || continue
    # Ubuntu's chromium-browser without the snap only tells to install the snap.
    if "$path" --version >/dev/null 2>&1; then echo "$path"; return 0; fi
  done
  return 1
}

distribution() { (. /etc/os-release 2>/dev/null && echo "${ID:-unknown}") || echo unknown; }

fail() { printf 'browser: %s\n' "$*" >&2; exit 1; }

how_to() {
  case $(distribution) in
    debian) fail "no Chromium found; as root: apt-get install chromium" ;;
    ubuntu) fail "no Chromium found. Ubuntu's own package is a snap (snap install chromium), which cannot run in containers; elsewhere install Google's google-chrome-stable package or set CHROMIUM=/path/to/chrome" ;;
    *) fail "no Chromium found; install chromium or google-chrome, or set CHROMIUM=/path/to/chrome" ;;
  esac
}

install_browser() {
  [ "$(distribution)" = debian ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  printf '· installing chromium for the browser tests\n' >&2
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 \
    || fail "apt-get could not install chromium; as root: apt-get install chromium"
}

find_browser && exit 0
[ "${1:-}" = --install ] && install_browser
find_browser || how_to
