# To be sourced, in the root of the repository: sets PROVIDER, the folder of the libfabric provider. Without it that is
# target/provider, with what is built here.
if [[ -z ${PROVIDER-} ]]; then
    "${CARGO:-cargo}" build --locked -q --release || exit
    PROVIDER=$(realpath -m "${CARGO_TARGET_DIR:-target}")/provider
    mkdir -p "$PROVIDER"
    cp "${CARGO_TARGET_DIR:-target}/release/libhostwire_fi.so" "$PROVIDER/libhostwire-fi.so"
fi
