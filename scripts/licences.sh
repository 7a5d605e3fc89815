#!/bin/bash
# Checks the licence, the origin and the versions of every crate this project is built
# of, by what deny.toml says. The same as `cargo deny check licenses bans sources`
# as far as that is used here, without the minutes it takes to build cargo-deny; where
# cargo-deny or cargo-audit is installed, it runs as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
failed=0

# The first strings of the lines of the list $1 in deny.toml.
list_of() {
    awk -v name="$1" '
        $0 ~ "^" name " = \\[" { inside = 1; next }
        inside && /^\]/ { exit }
        inside && match($0, /"[^"]*"/) { print substr($0, RSTART + 1, RLENGTH - 2) }
    ' deny.toml
}

tree() {
    "$cargo" tree --quiet --locked --workspace --all-features --prefix none "$@" |
        sed 's/ (\*)$//; /^$/d' | sort -u
}

# An expression passes if of all its parts joined by AND each has an alternative that is
# allowed: no expression passes that should not.
crates=$(tree --target all --format '{p}|{l}')
refused=$(awk -F '|' -v allowed="$(list_of allow | paste -sd ';')" '
    BEGIN { n = split(allowed, names, ";"); for (i = 1; i <= n; i++) ok[names[i]] = 1 }
    {
        expression = $2
        gsub("/", " OR ", expression)
        gsub(/[()]/, "", expression)
        parts = split(expression, part, " AND ")
        for (i = 1; i <= parts; i++) {
            found = 0
            m = split(part[i], choice, " OR ")
            for (j = 1; j <= m; j++) found = found || (choice[j] in ok)
            if (!found) { print "  " $1 ": " ($2 == "" ? "no licence" : $2); next }
        }
        if (parts == 0) print "  " $1 ": no licence"
    }' <<<"$crates")
if [[ -n $refused ]]; then
    printf 'licences that deny.toml does not allow:\n%s\n' "$refused"
    failed=1
fi

registry='source = "registry+https://github.com/rust-lang/crates.io-index"'
elsewhere=$(grep '^source = ' Cargo.lock | grep -vxF "$registry" | sort -u || true)
if [[ -n $elsewhere ]]; then
    printf 'crates from elsewhere than crates.io:\n%s\n' "$elsewhere"
    failed=1
fi

# name version, one line per version; names that occur twice and may not.
known=$(list_of skip | sed 's/@.*//' | sort -u)
twice=$(tree --target all --format '{p}' | awk '{ print $1 }' | sort | uniq -d)
unknown=$(comm -23 <(printf '%s\n' "$twice") <(printf '%s\n' "$known"))
if [[ -n $unknown ]]; then
    printf 'crates in more than one version that deny.toml does not skip: %s\n' "$unknown"
    failed=1
fi

if "$cargo" deny --version >/dev/null 2>&1; then
    "$cargo" deny --all-features check || failed=1
elif "$cargo" audit --version >/dev/null 2>&1; then
    "$cargo" audit || failed=1
else
    echo "note: neither cargo-deny nor cargo-audit is installed: no look for advisories"
fi

count=$(wc -l <<<"$crates")
if ((failed == 0)); then
    echo "$count crates: licences, origins and versions are as deny.toml has them"
fi
exit "$failed"
