//! Where the parts of a module lie in its text, and statements that are kept as text.

use ptx::*;

const HEAD: &str = ".version 8.7\n.target sm_90a\n.address_size 64";
const REGISTERS: &str = ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;";

fn slice<'t>(text: &'t str, span: &Span) -> &'t str {
    &text[span.start as usize..span.end as usize]
}

/// The operands of the first instruction of a kernel, with a `!` behind those that are written.
fn operands(instruction: &str) -> Vec<String> {
    let text = format!("{HEAD}\n.entry k() {{ {REGISTERS} {instruction} ret; }}");
    let (module, spans) = parse_with_spans(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(spans.unknown, [], "{instruction}");
    let body = module.functions[0].body.as_ref().expect("a body");
    let mentions = spans.functions[0].mentions(&body.instructions[0]);
    let written = |it: &Mention| if it.access == Access::Define { "!" } else { "" };
    mentions
        .iter()
        .map(|it| format!("{}{}", slice(&text, &it.span), written(it)))
        .collect()
}

#[test]
fn operands_have_their_places() {
    for (instruction, expected) in [
        ("@%p1 add.s64 %rd1, %rd1, 8;", &["%rd1!", "%rd1", "8"][..]),
        ("@!%p1 ld.v2.b32 {%r1, _}, [%rd1+8];", &["%r1!", "%rd1"]),
        ("st.global.b32 [%rd1+-4], %r2;", &["%rd1", "%r2"]),
        ("mov.b64 %rd1, TILE+4;", &["%rd1!", "TILE+4"]),
        ("mov.u32 %r1, %tid.x;", &["%r1!", "%tid.x"]),
        (
            "setp.lt.and.s32 %p1|%p2, %r1, -1, !%p1;",
            &["%p1!", "%p2!", "%r1", "-1", "%p1"],
        ),
        ("atom.add.u32 %r1, [%rd1], 0x10;", &["%r1!", "%rd1", "0x10"]),
        ("bar.red.popc.u32 %r1, 0, %p1;", &["%r1!", "0", "%p1"]),
        ("mov.b64 {%r1, %r2}, %rd1;", &["%r1!", "%r2!", "%rd1"]),
        ("call (%r1), %rd1, (%r2, 4);", &["%r1!", "%rd1", "%r2", "4"]),
        ("trap;", &[]),
    ] {
        assert_eq!(operands(instruction), expected, "{instruction}");
    }
}

#[test]
fn every_register_that_an_instruction_names_by_itself_has_a_place() {
    for (file, text) in crate::common::corpus() {
        let parsed = parse_with_spans(&text);
        let (module, spans) = parsed.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(spans.unknown, [], "{file}");
        for of in spans.functions.iter().filter(|it| it.body.is_some()) {
            let body = module.functions[of.function.0 as usize]
                .body
                .as_ref()
                .expect("a body");
            for instruction in &body.instructions {
                let mentions = of.mentions(instruction);
                let named = |register: Reg| {
                    let mut mentions = mentions.iter();
                    mentions.any(|it| it.operand == Operand::Register(register))
                };
                let guard = instruction.guard.map(|guard| guard.register);
                instruction.visit(|_, register| {
                    let name = &body.registers[register.0 as usize].name;
                    let whole_vector = name.contains('.');
                    assert!(
                        named(register) || guard == Some(register) || whole_vector,
                        "{name} of {}",
                        instruction.text(&text)
                    );
                });
            }
        }
    }
}

#[test]
fn declarations_and_functions_have_their_places() {
    let text = format!(
        "{HEAD} // 64\n.func f(.param .b32 a);\n.visible .global .align 4 .b8 x[4] = {{1}} ;\n\
         .func f(.param .b32 a)\n.noreturn {{ .shared .b32 s; trap; }}\n.visible .entry k() {{ ret; }}\n"
    );
    let (module, spans) = parse_with_spans(&text).unwrap_or_else(|error| panic!("{error}"));
    assert!(text[..spans.head_end as usize].ends_with(".address_size 64"));
    let [x] = &spans.declarations[..] else {
        panic!("one: {:?}", spans.declarations);
    };
    assert_eq!(
        slice(&text, &x.span),
        ".visible .global .align 4 .b8 x[4] = {1} ;"
    );
    assert_eq!(slice(&text, &x.space), ".global");
    assert_eq!(x.variables, [Symbol::Module(0)]);
    let functions: Vec<_> = spans
        .functions
        .iter()
        .map(|it| slice(&text, &it.span))
        .collect();
    assert_eq!(functions[0], ".func f(.param .b32 a);");
    assert_eq!(functions[2], ".visible .entry k() { ret; }");
    let f = &spans.functions[1];
    assert_eq!(module.functions[f.function.0 as usize].name, "f");
    assert!(text[f.directives as usize..].starts_with("\n.noreturn"));
    let body = f.body.clone().expect("a body");
    assert_eq!(slice(&text, &body), "{ .shared .b32 s; trap; }");
    assert_eq!(slice(&text, &f.declarations[0].span), ".shared .b32 s;");
    assert_eq!(f.declarations[0].variables, [Symbol::Body(0)]);
}

#[test]
fn a_statement_that_is_not_known_is_kept_with_all_that_it_names() {
    let statements = [
        "conjure.b32 %r1;",
        "@!%p1 conjure.b32 {%r1, %r2}, [%rd1+4], TILE;",
        "add.frobnicated.s32 %r1, %r2, 3;",
        "mov.b32 %r1, %nothing;",
        ".conjure %r1;",
        "$HERE: .conjure %r1;",
    ];
    for statement in statements {
        let text =
            format!("{HEAD}\n.entry k() {{ {REGISTERS} {statement} add.s32 %r3, %r3, 1; ret; }}");
        let (module, spans) = parse_with_spans(&text).unwrap_or_else(|error| panic!("{error}"));
        assert!(parse_undeclared(&text).is_err(), "{statement}");
        assert_eq!(spans.unknown.len(), 1, "{statement}");
        assert_eq!(spans.unknown[0].function, FunctionId(0));
        let body = module.functions[0].body.as_ref().expect("a body");
        assert_eq!(body.instructions.len(), 3, "{statement}");
        let kept = &body.instructions[0];
        assert_eq!(kept.text(&text), statement.trim_start_matches("$HERE: "));
        let (written, read) = (kept.definitions(), kept.uses());
        assert_eq!(written, read, "{statement}");
        let names = written
            .iter()
            .map(|it| body.registers[it.0 as usize].name.as_str());
        for name in names.clone() {
            assert!(statement.contains(name), "{name} of {statement}");
        }
        let registers = ["%p1", "%r1", "%r2", "%rd1"].iter();
        let expected = registers.filter(|name| statement.contains(**name)).count();
        assert_eq!(names.count(), expected, "{statement}");
        assert_eq!(
            module.variable("TILE").is_some(),
            statement.contains("TILE")
        );
    }
}

#[test]
fn what_is_no_statement_is_an_error_still() {
    for text in ["conjure.b32 %r1", "bra NOWHERE; ret; }", "conjure { ; }"] {
        let text = format!("{HEAD}\n.entry k() {{ {REGISTERS} {text}");
        assert!(parse_with_spans(&text).is_err(), "{text}");
    }
    assert!(parse_with_spans(&format!("{HEAD} .conjure x;")).is_err());
}
