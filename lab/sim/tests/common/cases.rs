//! A test for each case of a conformance suite.

/// For `transport_cases` and `conformance_cases`: each test calls `run` of its module with the case's name.
macro_rules! cases {
    (; $($case:ident,)*) => {
        $(#[test]
        fn $case() {
            run(stringify!($case));
        })*
    };
}
