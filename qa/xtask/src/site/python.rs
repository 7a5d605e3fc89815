//! The Python package as pages: signatures of the stubs, with the texts that `help` shows.

use std::collections::BTreeMap;

/// What each class, and each method of a class, says of itself, by `Class` and `Class.method`.
#[derive(Default)]
pub struct Texts(BTreeMap<String, String>);

impl Texts {
    /// Adds those of classes of the native part.
    pub fn add_rust(&mut self, source: &str) {
        let (mut doc, mut class, mut is_class, mut are_methods) = (Vec::new(), None, false, false);
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let code = line.trim_start();
            if let Some(text) = code.strip_prefix("///") {
                doc.push(text.strip_prefix(' ').unwrap_or(text));
                continue;
            }
            if code.starts_with("#[") {
                is_class |= code.starts_with("#[pyclass");
                are_methods |= code == "#[pymethods]";
                let mut end = code;
                while !end.ends_with(']') {
                    let Some(line) = lines.next() else { break };
                    end = line;
                }
                continue;
            }
            let name = |prefix| Some(name(code.strip_prefix(prefix)?));
            if let Some(name) = name("pub struct ").filter(|_| is_class) {
                self.add(name.to_owned(), &doc);
            } else if let Some(name) = name("impl ") {
                class = are_methods.then_some(name);
            } else if let (Some(class), Some(name)) =
                (class, name("fn ").or_else(|| name("pub fn ")))
            {
                self.add(format!("{class}.{name}"), &doc);
            } else if line == "}" {
                class = None;
            }
            doc.clear();
            (is_class, are_methods) = (false, false);
        }
    }

    /// Adds those of classes that are written in Python.
    pub fn add_python(&mut self, source: &str) {
        let (mut class, mut place) = ("", String::new());
        let mut lines = source.lines();
        while let Some(line) = lines.next() {
            let code = line.trim_start();
            if let Some(rest) = line.strip_prefix("class ") {
                class = name(rest);
                place = class.to_owned();
            } else if let Some(rest) = code.trim_start_matches("async ").strip_prefix("def ") {
                place = format!("{class}.{}", name(rest));
            } else if let Some(begin) = code.strip_prefix("\"\"\"") {
                let mut text = vec![begin];
                while !text.last().is_some_and(|line| line.ends_with("\"\"\"")) {
                    let Some(line) = lines.next() else { break };
                    text.push(line.trim());
                }
                let text: Vec<&str> = text
                    .iter()
                    .map(|line| line.trim_end_matches("\"\"\""))
                    .collect();
                self.add(std::mem::take(&mut place), &text);
            }
        }
    }

    fn add(&mut self, place: String, lines: &[&str]) {
        // Links of Rust lead to what Python does not have.
        let text = lines.join("\n").replace("[`", "`").replace("`]", "`");
        let text = text.trim().to_owned();
        if !place.is_empty() && !text.is_empty() {
            self.0.entry(place).or_insert(text);
        }
    }
}

/// The identifier at the beginning.
fn name(text: &str) -> &str {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter| !is_of_name(letter))
        .next()
        .unwrap_or_default()
}

/// A page of a module by its stub.
pub fn page(title: &str, stub: &str, texts: &Texts) -> String {
    let mut out = format!("# {title}\n\n");
    let mut class = "";
    let mut lines = stub.lines();
    let mut is_property = false;
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if let Some(rest) = line.strip_prefix("class ") {
            class = name(rest);
            out += &format!("## {class}\n\n{}", text(texts, class));
        } else if code == "@property" {
            is_property = true;
        } else if code.starts_with("def ") || code.starts_with("async def ") {
            let mut signature = vec![code.to_owned()];
            while !signature.last().is_some_and(|line| line.ends_with("...")) {
                let Some(line) = lines.next() else { break };
                signature.push(line.strip_prefix("    ").unwrap_or(line).to_owned());
            }
            let method = name(code.trim_start_matches("async ").trim_start_matches("def "));
            let signature = signature.join("\n");
            let signature = signature
                .trim_end_matches("...")
                .trim_end()
                .trim_end_matches(':');
            let place = format!("{class}.{method}");
            // What the language calls, such as `__len__`, says nothing that its own documents do not.
            if !method.starts_with('_') {
                let kind = if is_property { "# a property\n" } else { "" };
                out += &format!(
                    "### {place}\n\n```py\n{kind}{signature}\n```\n\n{}",
                    text(texts, &place)
                );
            }
            is_property = false;
        }
    }
    out
}

fn text(texts: &Texts, place: &str) -> String {
    texts
        .0
        .get(place)
        .map(|text| format!("{text}\n\n"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_have_the_texts_of_the_sources() {
        let mut texts = Texts::default();
        texts.add_rust(
            "/// A job.\n#[pyclass(frozen)]\npub struct Job {\n    /// Not this.\n    a: u32,\n}\n\n#[pymethods]\nimpl Job {\n    \
             /// Its number,\n    /// counted.\n    #[getter(\n        a\n    )]\n    fn pe(&self) -> u32 {\n    }\n}\n\nimpl Job {\n    /// Not this.\n    \
             fn put(&self) {}\n}\n",
        );
        texts.add_python("class Job(N):\n    def put(self, pe):\n        \"\"\"Puts.\n\n        Far.\n        \"\"\"\n");
        let stub = "class Job:\n    @property\n    def pe(self) -> int: ...\n    def put(\n        self, pe: int\n    ) -> None: ...\n    \
                    def __len__(self) -> int: ...\n";
        let expected = "# M\n\n## Job\n\nA job.\n\n### Job.pe\n\n```py\n# a property\ndef pe(self) -> int\n```\n\nIts number,\ncounted.\n\n\
                        ### Job.put\n\n```py\ndef put(\n    self, pe: int\n) -> None\n```\n\nPuts.\n\nFar.\n\n";
        assert_eq!(page("M", stub, &texts), expected);
    }
}
