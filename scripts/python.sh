#!/bin/bash
# Builds the Python package, installs it where nothing else is, and runs its tests.
#
#     scripts/python.sh            built as for debugging: what `make test` does, hostwire.warehouse with DuckDB alone included
#     scripts/python.sh built      the same, of what cargo has built for the other tests
#     scripts/python.sh release    optimised, by the linker of this machine and for it
#     scripts/python.sh portable   as users get it: optimised, for glibc 2.28 and newer, by Zig's linker (a download of 100 MB)
#     scripts/python.sh portable wheel    builds it only, into target/python/wheels; `cargo xtask package wheel` does this.
#                                  TARGET may name another processor, such as aarch64-unknown-linux-gnu
#     scripts/python.sh [release] warehouse    tests hostwire.warehouse instead, with all engines; installs them, 1 GB
#     scripts/python.sh [release] torch    tests the backend of torch.distributed instead; installs PyTorch, 6 GB
#
# PYTHON names the interpreter (3.11 or newer); python3 if it is not set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}
python=${PYTHON:-python3}
target=$PWD/${CARGO_TARGET_DIR:-target}
[[ ${CARGO_TARGET_DIR:-} == /* ]] && target=$CARGO_TARGET_DIR
# The oldest GNU C library for which the portable wheel is: that of Enterprise Linux 8 and Debian 10.
glibc=2.28
# Where pyproject.toml looks for what goes into the wheel.
work=$PWD/target/python

profile=dev
portable=
is_built=
only_wheel=
tests=test
for word in "$@"; do
    case $word in
        release) profile=release ;;
        portable) profile=release portable=1 ;;
        built) is_built=1 ;;
        wheel) only_wheel=1 ;;
        torch | warehouse) tests=$word ;;
        *)
            echo "python.sh: there is no '$word'; see its first lines" >&2
            exit 2
            ;;
    esac
done
folder=${profile/dev/debug}

# As the tests of qa/testing do: left out for want of a tool, and a failure where that is demanded.
if ! "$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "python.sh: the Python package is left out: it needs Python 3.11 or newer, with venv" >&2
    [[ -z ${HOSTWIRE_TESTS_DEMAND:-} && -z $only_wheel ]]
    exit
fi

# A virtual environment with what a file of fronts/python/requirements names, made anew when the file or the
# interpreter changes.
environment() {
    local name=$1 requirements=fronts/python/requirements/$1.txt
    local state
    state="$("$python" --version) $(sha256sum <"$requirements")"
    if [[ ! -x $work/$name/bin/python || $(cat "$work/$name/state" 2>/dev/null) != "$state" ]]; then
        rm -rf "${work:?}/$name"
        "$python" -m venv "$work/$name"
        "$work/$name/bin/pip" install --quiet --disable-pip-version-check \
            --require-hashes --only-binary :all: --requirement "$requirements"
        echo "$state" >"$work/$name/state"
    fi
}

mkdir -p "$work"
environment build

# What users build has all that goes into the wheel: the native part, the launcher, the laboratory and the clock of virtual
# time.
build=(products)
[[ -z $is_built ]] || build=(build --workspace --all-features --bins --lib --tests)
build+=(--locked --profile "$profile")
machine=()
if [[ -n $portable ]]; then
    environment zig
    TARGET=${TARGET:-$(uname -m)-unknown-linux-gnu}
    machine=(--target "$TARGET")
    folder=$TARGET/release
    build=(zigbuild --locked --release --target "$TARGET.$glibc" --package=hostwire-{cli,clock,lab,python})
    PATH=$work/zig/bin:$PATH
    export CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=debuginfo
fi
"$cargo" "${build[@]}" --quiet
# maturin asks cargo for the native part alone, which has fewer features: cargo would compile all below it again.
printf '#!/bin/bash\n[[ $1 == rustc ]] || exec %q "$@"\ncd %q\nexec %q %s\n' "$cargo" "$PWD" "$cargo" \
    "${build[*]} --message-format json-render-diagnostics" >"$work/cargo"
chmod +x "$work/cargo"
export CARGO=$work/cargo
# `hostwire` looks for libraries in ../lib, seen from itself: that is where `data/lib` of a wheel comes to lie.
rm -rf "$work/data"
mkdir -p "$work/data/scripts" "$work/data/data/lib"
install -m 755 "$target/$folder/hostwire" "$target/$folder/hostwire-lab" "$work/data/scripts/"
install -m 644 "$target/$folder/libhostwire_clock.so" "$work/data/data/lib/"
# The portable ones are stripped by their linker, which knows their processor.
[[ -n $portable ]] || strip --strip-debug "$work/data/scripts/"* 2>/dev/null || true

# maturin looks at the native part alone, so it leaves "linux" in the name.
rm -rf "$work/wheels"
"$work/build/bin/maturin" build --quiet --locked --compatibility linux \
    --profile "$profile" "${machine[@]}" --manifest-path fronts/python/Cargo.toml \
    --interpreter "$work/build/bin/python" --target-dir "$target" --out "$work/wheels"
if [[ -n $portable ]]; then
    # It fails where anything, the command and the library beside it too, needs more than the name promises. auditwheel takes
    # names for the processor of this machine only, so it is told another one.
    audit="import platform, auditwheel.main; platform.machine = lambda: '${TARGET%%-*}'; raise SystemExit(auditwheel.main.main())"
    built=$(ls "$work"/wheels/hostwire-*.whl)
    PATH=$work/build/bin:$PATH "$work/build/bin/python" -c "$audit" repair --only-plat \
        --plat "manylinux_${glibc/./_}_${TARGET%%-*}" --wheel-dir "$work/wheels" "$built"
    rm "$built"
fi
wheel=$(ls "$work"/wheels/hostwire-*.whl)
echo "$wheel"
[[ -z $only_wheel ]] || exit 0

# A clean one: the wheel has to bring all that it needs.
environment "$tests"
"$work/$tests/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index \
    --force-reinstall "$wheel"
# Away from the sources, so that no test imports them instead.
sources=$PWD
cd "$work"
export PYTHONDONTWRITEBYTECODE=1
pytest() {
    "$work/$tests/bin/python" -m pytest -p no:cacheprovider --rootdir "$sources/fronts/python" \
        -c "$sources/fronts/python/pyproject.toml" --durations 10 --durations-min 1 "$@" |
        tee >(sed -nE 's/^ *([0-9.]+)s (call|setup) +(.*)$/\1\t\3/p' >>"${HOSTWIRE_TEST_TIMES:-/dev/null}")
}

# As its readers do.
guide() { (cd "$sources" && PATH=$work/$tests/bin:$PATH "$cargo" xtask guide --home "$work/guides" "docs/guides/$1.md"); }

# Those that need more lie below the others.
others=$sources/fronts/python/tests
case $tests in
    torch)
        pytest "$others/backend"
        guide pytorch
        ;;
    warehouse)
        pytest "$others/warehouse"
        guide tables
        ;;
    test)
        # Two at a time: most of them wait for jobs to start.
        pytest "$others/warehouse" --ignore "$others/warehouse/test_polars.py" \
            --ignore "$others/warehouse/test_examples.py" >"$work/warehouse.txt" 2>&1 &
        warehouse=$!
        trap 'kill "$warehouse" 2>/dev/null || true' EXIT
        failed=
        pytest "$others" --ignore "$others/backend" --ignore "$others/warehouse" || failed=1
        wait "$warehouse" || failed=1
        trap - EXIT
        cat "$work/warehouse.txt"
        [[ -z $failed ]]
        ;;
esac
