//! Several PTX modules as one text: what one declares and another defines is the same.

use std::collections::BTreeSet;

/// Directives that a module begins with: the first module's count.
const HEADER: [&str; 3] = [".version", ".target", ".address_size"];

/// Texts of debug sections, which each module numbers from 0.
const INFO: &str = "$L__info_string";

/// Variables that every module declares which uses them, and that are one.
const COMMON: &str = ".common";

/// Returns the modules as one. Numbers of source files, which each module has of its own, are made different.
pub(crate) fn merged(modules: &[String]) -> String {
    let mut all = String::new();
    let mut common = BTreeSet::new();
    let mut files = 0;
    for (index, module) in modules.iter().enumerate() {
        let mut most = 0;
        for line in module.lines() {
            let is_header = HEADER.iter().any(|it| line.trim_start().starts_with(it));
            let is_known = line.trim_start().starts_with(COMMON) && !common.insert(line.trim());
            if is_known || (index > 0 && is_header) {
                continue;
            }
            let line = line.replace(INFO, &format!("{INFO}_{index}_"));
            all.push_str(&with_files(&line, files, &mut most));
            all.push('\n');
        }
        files = files.saturating_add(most);
    }
    all
}

/// The line with the numbers of its files moved up; tells the largest that it has.
fn with_files(line: &str, by: u64, most: &mut u64) -> String {
    let mut text = line.to_owned();
    for directive in [".file", ".loc", "inlined_at"] {
        let Some((before, after)) = text.split_once(directive) else {
            continue;
        };
        let number = after.trim_start();
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(file) = number[..digits].parse::<u64>() {
            *most = file.max(*most);
            text = format!(
                "{before}{directive} {}{}",
                file.saturating_add(by),
                &number[digits..]
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_header_counts_and_each_module_keeps_its_files() {
        let module = |name: &str| {
            format!(
                ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"{name}\"\n.visible .func {name}()\n{{\n\
                 .loc 1 7 3, function_name {INFO}0, inlined_at 1 9 1\nret;\n}}\n"
            )
        };
        let all = merged(&[module("a"), module("b")]);
        assert_eq!(all.matches(".version").count(), 1);
        for line in [
            ".file 1 \"a\"",
            ".file 2 \"b\"",
            ".loc 1 7 3, function_name $L__info_string_0_0, inlined_at 1 9 1",
            ".loc 2 7 3, function_name $L__info_string_1_0, inlined_at 2 9 1",
        ] {
            assert!(all.lines().any(|it| it == line), "{line}: {all}");
        }
        let with_common =
            |name| format!("{}  .common .global .align 8 .u64 shared;\n", module(name));
        let all = merged(&[with_common("a"), with_common("b")]);
        assert_eq!(all.matches(".common").count(), 1);
        assert_eq!(merged(&[module("a")]).replace("_0_0", "0"), module("a"));
    }
}
