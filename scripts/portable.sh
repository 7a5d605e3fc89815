#!/bin/bash
# Checks, by the standard library of macOS alone, that what needs nothing of Linux builds there,
# and that what needs it says so in one line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

target=x86_64-apple-darwin
if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
    echo "portable: not checked here; for that: rustup target add $target"
    exit 0
fi

# A crate that is used compiles C. Nothing is linked here, so an empty object does. What kind of
# compiler it is, cargo learns from the real one.
stand_in=$(mktemp -d)
trap 'rm -rf "$stand_in"' EXIT
cat > "$stand_in/cc" <<'END'
#!/bin/sh
case $1 in
    -E | '-?') exec cc "$@" ;;
esac
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then : > "$2"; fi
    shift
done
END
chmod +x "$stand_in/cc"
export CC_x86_64_apple_darwin=$stand_in/cc SDKROOT=$stand_in

export RUSTFLAGS='-D warnings'
"$cargo" check --quiet --locked --target "$target" \
    -p hostwire-packet -p hostwire-link -p hostwire-plan -p hostwire-sim -p hostwire-cli -p hostwire-lab

# Who uses one of the others there learns why, and reads nothing else.
for crate in hostwire hostwire-transport hostwire-pmix hostwire-shmem; do
    if said=$("$cargo" check --quiet --locked --message-format short --target "$target" -p "$crate" 2>&1); then
        echo "portable: $crate builds for $target, without a wire"
        exit 1
    fi
    if [[ $(grep -c ': error' <<< "$said") != 1 || $said != *'on Linux only'* ]]; then
        echo "portable: $crate does not say that it is for Linux only:"
        echo "$said"
        exit 1
    fi
done
