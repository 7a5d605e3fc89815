//! A page in a real browser, where one is installed.

use crate::{left_out, need};

use std::path::Path;
use std::process::Command;

/// Width of the screen of a telephone.
pub const TELEPHONE: u32 = 390;
/// Width of a screen on a desk.
pub const DESK: u32 = 1280;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// The text that the page sends after its scripts and `probe` have run, in a frame of `width`.
/// `None`, and a line that says so, where there is no browser. (A window has a least width that is
/// more than a telephone's; a frame has none.)
pub fn dom(folder: &Path, html: &str, width: u32, probe: &str) -> Option<String> {
    let inner = html.replacen("</body>", &format!("<script>{probe}</script></body>"), 1);
    assert_ne!(inner, html);
    std::fs::write(folder.join("inner.html"), inner).unwrap();
    // The text of the page inside becomes the title of the page outside.
    let outer = format!(
        "<!DOCTYPE html><html><head><title>nothing</title></head><body>\
         <script>window.addEventListener('message', said => {{ document.title = said.data; }});</script>\
         <iframe src=\"inner.html\" width=\"{width}\" height=\"900\" style=\"border:0\"></iframe>\
         </body></html>"
    );
    let outside = folder.join("outer.html");
    std::fs::write(&outside, outer).unwrap();
    let profile = folder.join("profile");
    for name in NAMES {
        let output = Command::new(name)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--window-size=1400,1000"])
            .args(["--virtual-time-budget=10000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}", outside.display()))
            .output();
        if let Ok(output) = output {
            return Some(String::from_utf8_lossy(&output.stdout).into_owned());
        }
    }
    left_out(&need::CHROMIUM, "nothing here opens the page of this test");
    None
}

/// Sends `text`, an expression of the page, to the reader of [`dom`].
pub fn tell(text: &str) -> String {
    format!("parent.postMessage(String({text}), '*');")
}

/// What the page has told the reader of [`dom`].
pub fn title(dom: &str) -> &str {
    let title = dom.split("<title>").nth(1).unwrap_or(dom);
    title.split("</title>").next().unwrap_or(title)
}

/// The page is not wider than its screen, nothing stands out of it at the side, and no text is
/// too small to be read.
pub fn fits(html: &str, width: u32) {
    let folder = tempfile::tempdir().unwrap();
    let measure = "\
        const wide = [...document.body.querySelectorAll('*')].filter(part => \
            part.getBoundingClientRect().right > innerWidth + 1 && !part.closest('pre, svg')) \
            .map(part => part.tagName + '.' + part.className + ': ' + part.textContent.slice(0, 40)); \
        const small = [...document.querySelectorAll('svg')].filter(svg => { \
            const text = svg.querySelector('text'); \
            if (!text || !svg.viewBox.baseVal.width) return false; \
            const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; \
            return parseFloat(getComputedStyle(text).fontSize) * scale < 8; \
        }).length; \
        const root = document.documentElement;";
    let said = tell(
        "'seen ' + innerWidth + ' over ' + Math.max(0, root.scrollWidth - innerWidth) + ' small ' + small + ' [' + wide.slice(0, 3).join('; ') + ']'",
    );
    let Some(dom) = dom(folder.path(), html, width, &format!("{measure}{said}")) else {
        return;
    };
    assert_eq!(title(&dom), format!("seen {width} over 0 small 0 []"));
}
