//! Several PTX modules as one text, as nvlink makes one program of several objects: what one module declares and another
//! defines is the same, and what a module has for itself stays apart.

use std::collections::{BTreeMap, BTreeSet};

use ptx::{Linkage, Module, Span, Spans};

/// Directives that a module begins with.
const VERSION: &str = ".version";
const TARGET: &str = ".target";
const HEADER: [&str; 3] = [VERSION, TARGET, ".address_size"];

/// Texts of debug sections, which each module numbers from 0.
const INFO: &str = "$L__info_string";

/// The module that stands in for libcudadevrt, and how the names of its functions begin.
const DEVICE_RUNTIME: &str = include_str!("device_runtime.ptx");
const OF_DEVICE_RUNTIME: [&str; 2] = ["cudaCG", "cudaGraphSetConditional"];

/// Returns the modules as one, of the newest version and architecture that one of them has, and with what they call of the
/// runtime for devices.
///
/// # Errors
/// One of several is no PTX, or two define the same name: says which.
pub(crate) fn linked(modules: &[String]) -> Result<String, String> {
    let mut texts: Vec<&str> = modules.iter().map(String::as_str).collect();
    let calls_runtime = |text: &&str| OF_DEVICE_RUNTIME.iter().any(|it| text.contains(it));
    if texts.iter().any(calls_runtime) {
        texts.push(DEVICE_RUNTIME);
    }
    if let [module] = texts[..] {
        return Ok(module.to_owned());
    }
    let objects = texts
        .into_iter()
        .enumerate()
        .map(|(index, text)| Object::read(index, text))
        .collect::<Result<Vec<_>, _>>()?;
    let definitions = Definitions::of(&objects)?;
    let mut all = header(&objects);
    let mut files = 0;
    for object in &objects {
        let mut most = 0;
        for line in definitions.text_of(object).lines() {
            if HEADER.iter().any(|it| line.trim_start().starts_with(it)) {
                continue;
            }
            let line = line.replace(INFO, &format!("{INFO}_{}_", object.index));
            all.push_str(&with_files(&line, files, &mut most));
            all.push('\n');
        }
        files = files.saturating_add(most);
    }
    Ok(all)
}

/// A module that is linked with others.
struct Object<'a> {
    index: usize,
    text: &'a str,
    module: Module,
    spans: Spans,
}

impl<'a> Object<'a> {
    fn read(index: usize, text: &'a str) -> Result<Object<'a>, String> {
        let (module, spans) = ptx::parse_with_spans(text)
            .map_err(|error| format!("module {} of those to link: {error}", index + 1))?;
        Ok(Object {
            index,
            text,
            module,
            spans,
        })
    }

    /// Names that it defines, who sees them, and what is replaced by what where another's definition counts: the body of
    /// a function by a semicolon, a variable by nothing.
    fn definitions(&self) -> impl Iterator<Item = Definition<'_>> {
        let functions = self.spans.functions.iter().filter_map(|spans| {
            let function = &self.module.functions[spans.function.0 as usize];
            Some(Definition {
                name: &function.name,
                linkage: function.linkage,
                bytes: 0,
                part: spans.body.clone()?,
                declared: ";",
            })
        });
        let variables = self.spans.declarations.iter().filter_map(|declaration| {
            // nvcc declares each by itself.
            let &[ptx::Symbol::Module(slot)] = &declaration.variables[..] else {
                return None;
            };
            let variable = &self.module.variables[slot as usize];
            let text = &self.text[declaration.span.start as usize..declaration.span.end as usize];
            (variable.linkage != Linkage::External && !text.starts_with(".extern")).then(|| {
                Definition {
                    name: &variable.name,
                    linkage: variable.linkage,
                    bytes: variable.bytes,
                    part: declaration.span.clone(),
                    declared: "",
                }
            })
        });
        functions.chain(variables)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let functions = self.module.functions.iter().map(|it| it.name.as_str());
        functions.chain(self.module.variables.iter().map(|it| it.name.as_str()))
    }
}

struct Definition<'a> {
    name: &'a str,
    linkage: Linkage,
    bytes: u64,
    part: Span,
    declared: &'static str,
}

impl Definition<'_> {
    /// Of several definitions, one of the largest rank counts. Two of `.visible` are an error.
    fn rank(&self) -> (u8, u64) {
        match self.linkage {
            Linkage::Visible => (2, 0),
            Linkage::Common => (1, self.bytes),
            _ => (0, 0),
        }
    }
}

/// Names that the objects define together.
struct Definitions<'a> {
    /// For each name that all see, the object whose definition counts, and its rank.
    chosen: BTreeMap<&'a str, (usize, (u8, u64))>,
    /// How many objects name it.
    named_by: BTreeMap<&'a str, usize>,
}

impl<'a> Definitions<'a> {
    fn of(objects: &'a [Object<'_>]) -> Result<Definitions<'a>, String> {
        let mut chosen: BTreeMap<&str, (usize, (u8, u64))> = BTreeMap::new();
        let mut named_by = BTreeMap::new();
        for object in objects {
            for name in object.names().collect::<BTreeSet<_>>() {
                *named_by.entry(name).or_default() += 1;
            }
            for definition in object
                .definitions()
                .filter(|it| it.linkage != Linkage::Private)
            {
                let rank = definition.rank();
                match chosen.get(definition.name) {
                    Some(&(first, (2, _))) if rank.0 == 2 => {
                        return Err(format!(
                            "modules {} and {} of those to link both define `{}`",
                            first + 1,
                            object.index + 1,
                            definition.name
                        ));
                    }
                    Some(&(_, known)) if known >= rank => {}
                    _ => drop(chosen.insert(definition.name, (object.index, rank))),
                }
            }
        }
        Ok(Definitions { chosen, named_by })
    }

    /// The text of an object without the definitions that do not count, and with names of its own where another object
    /// has the name, too.
    fn text_of(&self, object: &Object<'_>) -> String {
        let mut dropped: Vec<(Span, &str)> = Vec::new();
        let mut own = BTreeSet::new();
        for definition in object.definitions() {
            if definition.linkage == Linkage::Private {
                if self.named_by[definition.name] > 1 {
                    own.insert(definition.name);
                }
            } else if self.chosen[definition.name].0 != object.index {
                dropped.push((definition.part, definition.declared));
            }
        }
        dropped.sort_by_key(|(part, _)| part.start);
        let mut text = String::with_capacity(object.text.len());
        let mut done = 0;
        for (part, declared) in dropped {
            text.push_str(&object.text[done..part.start as usize]);
            text.push_str(declared);
            done = part.end as usize;
        }
        text.push_str(&object.text[done..]);
        renamed(&text, &own, object.index)
    }
}

/// The text with these names made an object's own.
fn renamed(text: &str, names: &BTreeSet<&str>, index: usize) -> String {
    if names.is_empty() {
        return text.to_owned();
    }
    // A word with a percent sign is a register, and one with a dot is part of a register or a directive.
    let is_of_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '$' | '%' | '.');
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_of_word) {
        let (before, from) = rest.split_at(begin);
        let (word, after) = from.split_at(from.find(|it| !is_of_word(it)).unwrap_or(from.len()));
        all.push_str(before);
        all.push_str(word);
        if names.contains(word) {
            all.push_str(&format!("__of_module_{}", index + 1));
        }
        rest = after;
    }
    all.push_str(rest);
    all
}

/// The newest version, and the newest architecture.
fn header(objects: &[Object<'_>]) -> String {
    let line_of = |directive: &str, object: &Object<'_>| {
        let mut lines = object.text.lines().map(str::trim);
        lines
            .find(|it| it.starts_with(directive))
            .unwrap_or_default()
            .to_owned()
    };
    let version = objects.iter().max_by_key(|it| it.module.version);
    let target = objects.iter().max_by_key(|it| {
        let target = &it.module.target;
        (target.arch, target.features != ptx::ArchFeatures::Common)
    });
    let line = |directive, object: Option<&Object<'_>>| {
        object.map(|it| line_of(directive, it)).unwrap_or_default()
    };
    format!(
        "{}\n{}\n.address_size 64\n",
        line(VERSION, version),
        line(TARGET, target)
    )
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

    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

    fn linked_of(modules: &[&str]) -> Result<String, String> {
        let modules: Vec<String> = modules.iter().map(|it| format!("{HEAD}{it}")).collect();
        linked(&modules)
    }

    #[test]
    fn each_module_keeps_its_files_and_the_newest_header_counts() {
        let module = |name: &str| {
            format!(
                ".file 1 \"{name}\"\n.visible .func {name}()\n{{\n\
                 .loc 1 7 3, function_name {INFO}0, inlined_at 1 9 1\nret;\n}}\n"
            )
        };
        let newer = format!(
            "// made anew\n.version 8.7\n.target sm_90a\n.address_size 64\n{}",
            module("b")
        );
        let first = format!("{HEAD}{}", module("a"));
        let all = linked(&[first.clone(), newer]).expect("both are PTX");
        assert!(
            all.starts_with(".version 8.7\n.target sm_90a\n.address_size 64\n"),
            "{all}"
        );
        assert_eq!(all.matches(".version").count(), 1);
        for line in [
            ".file 1 \"a\"",
            ".file 2 \"b\"",
            ".loc 1 7 3, function_name $L__info_string_0_0, inlined_at 1 9 1",
            ".loc 2 7 3, function_name $L__info_string_1_0, inlined_at 2 9 1",
        ] {
            assert!(all.lines().any(|it| it == line), "{line}: {all}");
        }
        assert_eq!(linked(std::slice::from_ref(&first)), Ok(first));
    }

    #[test]
    fn names_of_one_module_stay_apart_and_weak_definitions_are_one() {
        let module = |name: &str, value: u32| {
            format!(
                ".func helper() {{ ret; }}\n.global .u32 $str = {value};\n.global .u32 $str$1 = 1;\n\
                 .weak .global .u32 once = {value};\n.weak .func both() {{ ret; }}\n\
                 .common .global .u32 shared;\n.extern .shared .align 4 .b8 dynamic[];\n\
                 .visible .entry {name}() {{ .reg .u32 %r<2>; .reg .u64 %helper;\n\
                 ld.global.u32 %r1, [$str]; call helper, (); call both, (); ret; }}\n"
            )
        };
        let all = linked_of(&[&module("a", 5), &module("b", 7)]).expect("both are PTX");
        let parsed = ptx::parse(&all).expect("one module");
        for name in [
            "helper__of_module_1",
            "helper__of_module_2",
            "both",
            "a",
            "b",
        ] {
            assert!(
                parsed.function(name).is_some_and(|it| it.body.is_some()),
                "{name}: {all}"
            );
        }
        let value = |name: &str| {
            parsed
                .variable(name)
                .and_then(|it| Some(it.initial.as_ref()?.bytes[0]))
        };
        assert_eq!(value("$str__of_module_1"), Some(5), "{all}");
        assert_eq!(value("$str__of_module_2"), Some(7));
        assert_eq!(value("once"), Some(5));
        assert!(
            all.contains("ld.global.u32 %r1, [$str__of_module_2]; call helper__of_module_2, ()")
        );
        assert!(all.contains(".reg .u64 %helper;"), "{all}");
    }

    #[test]
    fn a_declaration_is_of_the_definition_wherever_that_is() {
        let user = ".extern .global .u32 count;\n.extern .func (.param .b32 r) next(.param .b32 x);\n\
                    .weak .func maybe() { ret; }\n.visible .entry k() { ret; }\n";
        let definer = ".visible .global .u32 count = 3;\n.visible .func maybe() { ret; }\n\
                       .visible .func (.param .b32 r) next(.param .b32 x) { ret; }\n";
        for modules in [[user, definer], [definer, user]] {
            let all = linked_of(&modules).expect("both are PTX");
            let parsed = ptx::parse(&all).expect("one module");
            assert!(
                parsed.function("next").is_some_and(|it| it.body.is_some()),
                "{all}"
            );
            let maybe = parsed.function("maybe").expect("it is there");
            assert_eq!(
                (maybe.linkage, maybe.body.is_some()),
                (Linkage::Visible, true),
                "{all}"
            );
            let count = parsed.variable("count").expect("it is there");
            assert_eq!(count.linkage, Linkage::Visible);
        }
        let twice = linked_of(&[definer, user, definer]);
        assert_eq!(
            twice,
            Err("modules 1 and 3 of those to link both define `maybe`".to_owned())
        );
        let no_ptx = linked_of(&[user, ".visible .entry"]).expect_err("it breaks off");
        assert!(
            no_ptx.starts_with("module 2 of those to link: "),
            "{no_ptx}"
        );
    }
}
