#!/bin/bash
# Builds the site out of the documents: target/site/html/index.html, which needs no network.
#
#     scripts/site.sh
#
# mdBook makes the pages: the one in the path if it has this version, else one that is built once into target/tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
version=0.5.4
out=target/site

mdbook=$(command -v mdbook || true)
if [[ -z $mdbook || $("$mdbook" --version) != "mdbook v$version" ]]; then
    mdbook=target/tools/bin/mdbook
fi
if [[ ! -x $mdbook || $("$mdbook" --version) != "mdbook v$version" ]]; then
    echo "site.sh: building mdBook $version, once" >&2
    "$cargo" install mdbook --quiet --version "$version" --locked --no-default-features --features search --root target/tools
fi

"$cargo" xtask site sources --out "$out"
rm -rf "$out/html"
"$mdbook" build "$out" --dest-dir "$PWD/$out/html"
# The library for Rust, as its sources describe it.
"$cargo" doc --quiet --locked --no-deps --package hostwire --target-dir "$out/rustdoc"
cp -r "$out/rustdoc/doc" "$out/html/rust"
"$cargo" xtask site check "$out/html"
echo "$out/html/index.html"
