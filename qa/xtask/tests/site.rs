//! The site, as a reader sees it: on a telephone, on a desk, and in its search.

use std::fs;
use std::path::Path;
use std::process::Command;

use hostwire_testing::browser::{self, DESK, TELEPHONE, tell};
use xtask::root;

/// All files, without the pages of rustdoc.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            if !path.ends_with("rust") {
                copy(&path, &target);
            }
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// What a page of the site says of itself in a frame of this width.
fn said(site: &Path, page: &str, width: u32, probe: &str) -> Option<String> {
    let page = site.join(page);
    let html = fs::read_to_string(&page).unwrap();
    let dom = browser::dom(page.parent().unwrap(), &html, width, probe)?;
    Some(browser::title(&dom).to_owned())
}

#[test]
#[ignore = "builds mdBook and the site; see make test-long"]
fn the_site_is_built_and_can_be_read() {
    let script = Command::new(root().join("scripts/site.sh"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&script.stderr);
    assert!(script.status.success(), "{errors}");

    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    copy(&root().join("target/site/html"), &site);
    for page in ["index.html", "plan.html", "guides/openshmem.html"] {
        for width in [TELEPHONE, DESK] {
            let measure = tell(
                "'over ' + Math.max(0, document.documentElement.scrollWidth - innerWidth) \
                 + ' heading ' + (document.querySelector('main h1').getBoundingClientRect().width > 100)",
            );
            let Some(title) = said(&site, page, width, &measure) else {
                return;
            };
            assert_eq!(title, "over 0 heading true", "{page}, {width}");
        }
    }
    let search = format!(
        "document.getElementById('mdbook-search-toggle').click(); \
         const bar = document.getElementById('mdbook-searchbar'); \
         setTimeout(() => {{ bar.value = 'alltoall'; bar.dispatchEvent(new Event('input')); \
         bar.dispatchEvent(new KeyboardEvent('keyup')); }}, 1000); \
         setTimeout(() => {{ {} }}, 5000);",
        tell(
            "document.querySelectorAll('#mdbook-searchresults li').length > 0 ? 'found' : 'nothing'"
        )
    );
    assert_eq!(said(&site, "index.html", DESK, &search).unwrap(), "found");
}
