//! What the pages of the manual say, as chapters for a browser.

use hostwire_shmem_table::{Page, Table};

use crate::Tree;
use crate::man;

/// `README.md`, and a file for each chapter.
pub fn tree(table: &Table) -> Tree {
    let mut tree = Tree::default();
    let mut names: Vec<&str> = Vec::new();
    for page in &table.pages {
        if !names.contains(&page.chapter.as_str()) {
            names.push(&page.chapter);
        }
    }
    let mut index = format!(
        "# Reference of OpenSHMEM\n\nAll {} functions, by chapters of the specification. The same texts are pages of the manual: `man shmem_put`.\n\n",
        table.functions().len()
    );
    for (number, chapter) in names.iter().enumerate() {
        let pages = || table.pages.iter().filter(|page| page.chapter == *chapter);
        let file = format!("{:02}-{}.md", number + 1, slug(chapter));
        let mut text = format!("# {}\n\n", capital(chapter));
        for page in pages() {
            text += &section(table, page);
        }
        let functions = pages().map(|page| format!("[`{0}`]({file}#{0})", page.name));
        let functions: Vec<String> = functions.collect();
        index += &format!("- **{}**: {}\n", capital(chapter), functions.join(", "));
        tree.add(file, text);
    }
    tree.add("README.md", index);
    tree
}

fn section(table: &Table, page: &Page) -> String {
    let mut text = format!(
        "## {}\n\n{}\n\n```c\n",
        page.name,
        man::sentence_of(&page.summary)
    );
    for family in &page.families {
        for prototype in man::prototypes(family) {
            text += &format!("{prototype};\n");
        }
    }
    text += "```\n\n";
    for family in &page.families {
        if let Some(names) = man::type_names(table, family) {
            text += &format!("TYPENAME of `{}`: {names}.\n\n", family.prototype.name);
        }
    }
    let meanings = man::meanings(table, page);
    if !meanings.is_empty() {
        text += "| argument | |\n|---|---|\n";
        for (name, meaning) in meanings {
            text += &format!("| `{name}` | {} |\n", escaped(&man::sentence_of(meaning)));
        }
        text.push('\n');
    }
    for paragraph in &page.text {
        text += &format!("{}\n\n", escaped(paragraph));
    }
    if !page.returns.is_empty() {
        text += &format!(
            "**Returns.** {}\n\n",
            escaped(&man::sentence_of(&page.returns))
        );
    }
    text
}

/// Not read as Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if "*_<>[]|\\".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}
