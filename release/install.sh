#!/bin/sh
# Installs fairlead from a release, after a check of its SHA-256 checksum.
#
#   FAIRLEAD_VERSION      the version, such as v0.1.0 (default the latest)
#   FAIRLEAD_INSTALL_DIR  where to install (default /usr/local/bin if it can be written, else ~/.local/bin)
#   FAIRLEAD_RELEASES     URL of the releases
set -eu

releases=${FAIRLEAD_RELEASES:-@RELEASES@}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

fetch() { # URL FILE
  if command -v curl >/dev/null; then
    curl -fsSL -o "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || fail "cannot download $1"
  else
    fail "needs curl or wget"
  fi
}

sha256() { # FILE
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d' ' -f1
  elif command -v shasum >/dev/null; then
    shasum -a 256 "$1" | cut -d' ' -f1
  else
    fail "needs sha256sum or shasum"
  fi
}

# Everything is in a function, so that a script that was cut off in its download does nothing.
main() {
  case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "no script for $(uname -s): download an archive from $releases" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "no release for $(uname -m): build it with go install" ;;
  esac

  dir=${FAIRLEAD_INSTALL_DIR:-}
  if [ -z "$dir" ]; then
    dir=/usr/local/bin
    [ -w "$dir" ] || dir=$HOME/.local/bin
  fi

  if [ -n "${FAIRLEAD_VERSION:-}" ]; then
    from=$releases/download/v${FAIRLEAD_VERSION#v}
  else
    from=$releases/latest/download
  fi

  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  fetch "$from/checksums.txt" "$tmp/checksums.txt"
  line=$(grep "_${os}_$arch.tar.gz\$" "$tmp/checksums.txt") || fail "$from has no archive for $os/$arch"
  want=${line%% *} archive=${line##* }
  fetch "$from/$archive" "$tmp/$archive"
  got=$(sha256 "$tmp/$archive")
  [ "$got" = "$want" ] || fail "the checksum of $archive is $got, not $want: nothing was installed"

  tar -xzf "$tmp/$archive" -C "$tmp" fairlead
  mkdir -p "$dir"
  # A running fairlead keeps its file: the new one takes its place.
  cp "$tmp/fairlead" "$dir/.fairlead-new"
  chmod 755 "$dir/.fairlead-new"
  mv "$dir/.fairlead-new" "$dir/fairlead"
  echo "Installed $("$dir/fairlead" --version) in $dir" >&2
  case ":$PATH:" in
  *":$dir:"*) ;;
  *) echo "Add $dir to PATH, or run $dir/fairlead" >&2 ;;
  esac
}

main
