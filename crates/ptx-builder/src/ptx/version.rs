//! The version of PTX that a module names.

use super::source::Source;

/// The text, with the version that its instructions need where LLVM wrote an older one: it goes by the architecture, and
/// inline assembly may be newer.
pub(super) fn raised(text: String) -> String {
    let Ok(Source { module, .. }) = Source::parse(&text) else {
        return text;
    };
    let (major, minor) = module.needed_version(&text);
    if module.version >= (major, minor) {
        return text;
    }
    let (was_major, was_minor) = module.version;
    let was = format!(".version {was_major}.{was_minor}");
    text.replacen(&was, &format!(".version {major}.{minor}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version_of(body: &str) -> String {
        let text = format!(
            "// made by a compiler\n.version 7.8\n.target sm_90\n.address_size 64\n.entry k() {{ .reg .b32 %r<3>; .reg .b64 %d<3>; {body} ret; }}"
        );
        let raised = raised(text);
        raised.lines().nth(1).expect("a line").to_owned()
    }

    #[test]
    fn the_newest_instruction_decides() {
        assert_eq!(version_of("mov.u32 %r1, 1;"), ".version 7.8");
        assert_eq!(
            version_of("fence.mbarrier_init.release.cluster;"),
            ".version 8.0"
        );
        let both =
            "fence.mbarrier_init.release.cluster; ld.relaxed.sys.mmio.global.u32 %r1, [%d1];";
        assert_eq!(version_of(both), ".version 8.2");
        assert_eq!(
            version_of("mbarrier.init.shared::cta.b64 [%r1], 3;"),
            ".version 7.8"
        );
    }
}
