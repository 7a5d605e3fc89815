//! Headers for C as pages: what stands in comments above declarations is the text.

/// A page of a header: its first comment, then a section for the declarations of each comment.
pub fn page(title: &str, header: &str) -> String {
    let mut out = format!("# {title}\n\n");
    let (mut comment, mut code) = (String::new(), String::new());
    let mut lines = header.lines();
    while let Some(line) = lines.next() {
        if let Some(begin) = line.strip_prefix("/*") {
            section(&mut out, &mut comment, &mut code);
            comment = text(begin, &mut lines);
        } else if line.is_empty() {
            section(&mut out, &mut comment, &mut code);
        } else if is_declaration(line) {
            code += &format!("{line}\n");
        }
    }
    section(&mut out, &mut comment, &mut code);
    out
}

/// The rest of a comment, without its marks.
fn text<'h>(begin: &'h str, lines: &mut impl Iterator<Item = &'h str>) -> String {
    let mut parts = vec![begin];
    while !parts.last().is_some_and(|line| line.ends_with("*/")) {
        match lines.next() {
            Some(line) => parts.push(line),
            None => break,
        }
    }
    let parts = parts
        .iter()
        .map(|line| line.trim_start_matches(" *").trim_end_matches("*/").trim());
    parts.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Not what the preprocessor needs for itself, nor the linkage of C++.
fn is_declaration(line: &str) -> bool {
    let is_value = line.starts_with("#define ") && line.ends_with(')');
    is_value || !(line.starts_with('#') || line == "extern \"C\" {" || line == "}")
}

/// Ends a section.
fn section(out: &mut String, comment: &mut String, code: &mut String) {
    if !code.is_empty() {
        let names = names(code);
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        *out += &format!("## {}\n\n", names.join(", "));
    }
    if !comment.is_empty() {
        *out += &format!("{comment}\n\n");
    }
    if !code.is_empty() {
        *out += &format!("```c\n{code}```\n\n");
    }
    comment.clear();
    code.clear();
}

/// What the code declares.
fn names(code: &str) -> Vec<&str> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut names = Vec::new();
    for line in code.lines().filter(|line| !line.starts_with([' ', '/'])) {
        let declared = match line.strip_prefix("#define ") {
            Some(rest) => rest.split(' ').next().unwrap_or_default(),
            None if line.ends_with('{') => continue,
            None => line
                .split('(')
                .next()
                .unwrap_or_default()
                .trim_end_matches(';'),
        };
        names.extend(declared.rsplit(|letter| !is_of_name(letter)).next());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_stand_below_their_comments() {
        let header = "/* For C.\n *\n * Link it. */\n#ifndef X_H\n#define X_H\nextern \"C\" {\n\n/* Two. */\nint one(void);\n\
                      void *two(int a,\n          int b);\n/* A kind. */\ntypedef enum kind {\n    a = 1, /* first */\n} kind;\n\n\
                      #define TOP (-1)\n}\n#endif\n";
        let expected = "# C\n\nFor C.\n\nLink it.\n\n## `one`, `two`\n\nTwo.\n\n```c\nint one(void);\nvoid *two(int a,\n          \
                        int b);\n```\n\n## `kind`\n\nA kind.\n\n```c\ntypedef enum kind {\n    a = 1, /* first */\n} kind;\n```\n\n\
                        ## `TOP`\n\n```c\n#define TOP (-1)\n```\n\n";
        assert_eq!(page("C", header), expected);
    }
}
