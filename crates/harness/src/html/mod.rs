//! Pages that open from disk and ask for nothing from a network: their style, and text in them.

const TEMPLATE: &str = include_str!("page.html");

/// A page with this title, a line below it, and this body in HTML.
pub(crate) fn page(title: &str, subtitle: &str, body: &str) -> String {
    TEMPLATE
        .replace("@TITLE@", &escaped(title))
        .replace("@SUBTITLE@", &escaped(subtitle))
        .replacen("@BODY@", body, 1)
}

/// Text that is no markup.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A text as a part of an anchor.
pub(crate) fn anchor(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '-' };
    text.chars().map(plain).collect()
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
        assert_eq!(anchor("src/a.rs"), "src-a-rs");
    }
}
