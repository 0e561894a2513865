//! Pages of source: one HTML file, which opens from disk and asks for nothing from a network.

const TEMPLATE: &str = include_str!("page.html");

/// The page with this body.
pub(crate) fn page(title: &str, subtitle: &str, body: &str) -> String {
    TEMPLATE
        .replace("@TITLE@", &escaped(title))
        .replace("@SUBTITLE@", &escaped(subtitle))
        .replacen("@BODY@", body, 1)
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The file and line as an anchor that links lead to, of the section of this number.
pub(crate) fn anchor(section: usize, file: &str, line: u32) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    let file: String = file.chars().map(plain).collect();
    format!("p{section}-{file}-{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(
            escaped("a<b && c>\"d\""),
            "a&lt;b &amp;&amp; c&gt;&quot;d&quot;"
        );
        assert_eq!(anchor(1, "src/a.rs", 7), "p1-src-a-rs-7");
    }
}
