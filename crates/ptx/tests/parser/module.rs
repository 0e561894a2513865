//! Declarations: versions, variables, functions.

use ptx::*;

const HEAD: &str = ".version 8.7\n.target sm_90a, texmode_independent\n.address_size 64\n";

fn parse(text: &str) -> Module {
    ptx::parse(&format!("{HEAD}{text}")).unwrap_or_else(|error| panic!("{error}"))
}

fn initial(text: &str) -> Vec<u8> {
    parse(text).variables[0]
        .initial
        .clone()
        .expect("a first value")
        .bytes
}

#[test]
fn target() {
    let module = parse("");
    assert_eq!((module.version, module.address_size), ((8, 7), 64));
    assert_eq!(
        module.target,
        Target {
            arch: 90,
            features: ArchFeatures::Architecture,
            options: vec!["texmode_independent".to_owned()]
        }
    );
}

#[test]
fn first_values() {
    assert_eq!(initial(".global .b8 x[4] = {1, -1};"), [1, 255, 0, 0]);
    assert_eq!(
        initial(".const .u16 x[2][2] = {{1}, {2, 3}};"),
        [1, 0, 0, 0, 2, 0, 3, 0]
    );
    assert_eq!(
        initial(".global .u16 x[2][2] = {1, 2, 3};"),
        [1, 0, 2, 0, 3, 0, 0, 0]
    );
    assert_eq!(
        initial(".global .f32 x[] = {1.0, 0f40000000};"),
        [0, 0, 128, 63, 0, 0, 0, 64]
    );
    assert_eq!(
        initial(".global .v2 .u8 x[2] = {{1, 2}, {3, 4}};"),
        [1, 2, 3, 4]
    );
    assert_eq!(initial(".global .s32 x = (1 << 8) | 3;"), [3, 1, 0, 0]);
    let open = &parse(".global .b16 x[][2] = {{1, 2}, {3}, {4}};").variables[0];
    assert_eq!((&open.dimensions[..], open.bytes), (&[3, 2][..], 12));
}

#[test]
fn addresses_in_first_values() {
    let module = parse(
        ".global .b8 x[8];
         .func f() { ret; }
         .global .u64 a[3] = {x+4, generic(x)-2, f};
         .global .u8 b[2] = {0xFF(x), 0xFF00(generic(x))};",
    );
    let relocations = |index: usize| {
        module.variables[index]
            .initial
            .clone()
            .expect("a first value")
            .relocations
    };
    let relocation = |offset, bytes, symbol, addend, address, shift| Relocation {
        offset,
        bytes,
        symbol,
        addend,
        address,
        shift,
    };
    let (x, f) = (Symbol::Module(0), Symbol::Function(FunctionId(0)));
    assert_eq!(
        relocations(1),
        [
            relocation(0, 8, x, 4, RelocatedAddress::InSpace, 0),
            relocation(8, 8, x, -2, RelocatedAddress::Generic, 0),
            relocation(16, 8, f, 0, RelocatedAddress::InSpace, 0),
        ]
    );
    assert_eq!(
        relocations(2),
        [
            relocation(0, 1, x, 0, RelocatedAddress::InSpace, 0),
            relocation(1, 1, x, 0, RelocatedAddress::Generic, 8)
        ]
    );
}

#[test]
fn variables() {
    let module = parse(
        ".extern .shared .align 16 .b8 dynamic[];
         .visible .global .attribute(.managed) .align 4 .u32 shared_with_host = 5;
         .weak .const .f64 c;
         .global .texref t;",
    );
    let [dynamic, managed, weak, texture] = &module.variables[..] else {
        panic!()
    };
    assert_eq!(
        (
            dynamic.bytes,
            dynamic.alignment,
            dynamic.space,
            dynamic.linkage
        ),
        (0, 16, Space::Shared, Linkage::External)
    );
    assert_eq!(
        (managed.managed, managed.linkage, managed.line),
        (true, Linkage::Visible, 5)
    );
    assert_eq!(
        (weak.bytes, weak.alignment, weak.linkage),
        (8, 8, Linkage::Weak)
    );
    assert_eq!(texture.ty, Type::TexRef);
}

#[test]
fn functions() {
    let module = parse(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v) .noreturn;
         .func (.param .align 8 .b8 r[12]) f(.param .u32 a, .param .align 4 .b8 b[]);
         .visible .entry k(.param .u64 .ptr .global .align 16 p, .param .align 64 .b8 map[128])
         .maxntid 128, 2
         .reqnctapercluster 2
         .minnctapersm 3
         .maxnreg 64
         .explicitcluster
         .pragma \"nounroll\";
         { ret; }
         .func (.reg .b32 r) old(.reg .v2 .f32 a) { mov.b32 r, a.y; ret; }
         .alias f, old;",
    );
    let [vprintf, f, k, old] = &module.functions[..] else {
        panic!()
    };
    assert!(
        vprintf.directives.noreturn
            && vprintf.body.is_none()
            && vprintf.linkage == Linkage::External
    );
    assert_eq!(
        (
            f.returns[0].bytes,
            f.returns[0].alignment,
            f.parameters.len(),
            f.variadic
        ),
        (12, 8, 1, true)
    );
    assert_eq!(
        k.parameters[0].pointer,
        Some(Pointer {
            space: Space::Global,
            alignment: 16
        })
    );
    assert_eq!(
        (
            k.parameters[1].bytes,
            k.parameters[1].alignment,
            k.parameters[1].elements
        ),
        (128, 64, Some(128))
    );
    assert_eq!(
        (k.directives.maxntid, k.directives.reqnctapercluster),
        (Some([128, 2, 1]), Some([2, 1, 1]))
    );
    assert_eq!(
        (
            k.directives.minnctapersm,
            k.directives.maxnreg,
            k.directives.explicitcluster
        ),
        (Some(3), Some(64), true)
    );
    assert_eq!(
        (&k.directives.pragmas[..], k.line, k.kind),
        (&["nounroll".to_owned()][..], 6, FunctionKind::Entry)
    );
    assert_eq!(
        old.returns[0].storage,
        ParameterStorage::Register(Some(Reg(0)))
    );
    assert_eq!(
        old.body.as_ref().expect("a body").instructions[0].uses(),
        [Reg(2)]
    );
    assert_eq!(module.aliases, [(FunctionId(1), FunctionId(3))]);
    assert_eq!(module.function("old"), Some(old));
}

#[test]
fn a_definition_takes_the_place_of_its_declaration() {
    let module = parse(
        ".func f(.param .u32 a);
         .extern .global .u32 x;
         .entry k() { call f, (1); ret; }
         .func f(.param .u32 a) { ret; }
         .visible .global .u32 x = 7;",
    );
    assert_eq!(module.functions.len(), 2);
    assert!(module.functions[0].body.is_some());
    assert_eq!(
        (module.variables.len(), module.variables[0].linkage),
        (1, Linkage::Visible)
    );
}

/// As `ptxas` takes them: for the module's whole life, by a name that the braces keep to themselves.
#[test]
fn global_and_constant_variables_of_a_body() {
    let text = ".version 8.0
.target sm_80
.address_size 64
.global .b32 x;
.func g();
.entry k() { .reg .b32 %r; .global .align 16 .b32 x[2] = {1, 2}; { .const .b32 x = 7; ld.const.b32 %r, [x]; } ld.global.b32 %r, [x+4]; ret; }
.func g() { .const .b32 x = 9; ret; }
";
    let module = ptx::parse(text).expect("PTX");
    let names: Vec<(&str, ptx::Space, u64)> = module
        .variables
        .iter()
        .map(|it| (it.name.as_str(), it.space, it.bytes))
        .collect();
    assert_eq!(
        names,
        [
            ("x", ptx::Space::Global, 4),
            ("k.x", ptx::Space::Global, 8),
            ("k.x", ptx::Space::Const, 4),
            ("g.x", ptx::Space::Const, 4)
        ]
    );
    let kernel = module.function("k").expect("it is there");
    let body = kernel.body.as_ref().expect("a body");
    assert_eq!(body.variables, []);
    let mut symbols = Vec::new();
    body.instructions
        .iter()
        .for_each(|it| it.visit_symbols(|symbol| symbols.push(symbol)));
    assert_eq!(symbols, [ptx::Symbol::Module(2), ptx::Symbol::Module(1)]);
    let of_body = text.replace(
        "{ .const .b32 x = 7;",
        "{ .shared .b32 s; .const .b64 x = s;",
    );
    let error = ptx::parse(&of_body).expect_err("an address of a block's");
    assert!(
        error
            .message
            .contains("the first value of `x` is an address that the kernel alone has"),
        "{error}"
    );
}

/// As nvopencc wrote them.
#[test]
fn a_prototype_ends_where_the_next_declaration_begins() {
    let text = ".version 2.1
.target sm_20
.visible .func (.param .s32 res) twice (.param .s32 a)
.visible .entry k() { ret; }
.extern .func last ()
.visible .func (.param .s32 res) twice (.param .s32 a) { ret; }
.func end ()
";
    let module = ptx::parse(text).expect("PTX");
    let names: Vec<(&str, bool)> = module
        .functions
        .iter()
        .map(|it| (it.name.as_str(), it.body.is_some()))
        .collect();
    assert_eq!(
        names,
        [
            ("twice", true),
            ("k", true),
            ("last", false),
            ("end", false)
        ]
    );
    let error = ptx::parse(&text.replace("last ()", "last () 5")).expect_err("no end");
    assert!(
        error
            .message
            .contains("expected `;` or the body of `last`, found `5`"),
        "{error}"
    );
}

/// Numbered registers of vectors, of which a part or all is named.
#[test]
fn numbered_vectors_of_registers() {
    let text = ".version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 p) { .reg .v2 .b16 h<2>; .reg .b64 %d; mov.b32 h0, 0x00050006; st.global.b16 [%d], h0.y; mov.b32 h1, 1; ret; }
";
    let module = ptx::parse(text).expect("PTX");
    let body = module.functions[0].body.as_ref().expect("a body");
    let names: Vec<&str> = body.registers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["%d", "h0.x", "h0.y", "h1.x", "h1.y"]);
    assert!(
        matches!(&body.instructions[0].operation, ptx::Operation::Unpack(it) if it.d.len() == 2)
    );
    let error = ptx::parse(&text.replace("h0.y", "h2.y")).expect_err("there are two");
    assert!(error.message.contains("`h2` is not declared"), "{error}");
}

#[test]
fn sections_have_bytes_labels_and_addresses() {
    let module = parse(
        ".entry k() { $L__begin: ret; $L__end: }
         .section .debug_info {
             .b8 1, -1, 255
             .b16 -2
             .b32 .debug_abbrev
             .b64 $L__begin+4
             .b32 $L__end-$L__begin
         }
         .section .debug_abbrev { $L__abbrev: .b8 7 $L__last: }
         .section .debug_info { .b64 -1 }",
    );
    let info = module.section(".debug_info").expect("it is there");
    let mut bytes = vec![1, 255, 255, 254, 255];
    bytes.extend([0; 16]);
    bytes.extend([255; 8]);
    assert_eq!(info.bytes, bytes);
    let address = |offset, bytes, symbol: &str| SectionAddress {
        offset,
        bytes,
        symbol: symbol.to_owned(),
        addend: 0,
        minus: None,
    };
    let expected = [
        address(5, 4, ".debug_abbrev"),
        SectionAddress {
            addend: 4,
            ..address(9, 8, "$L__begin")
        },
        SectionAddress {
            minus: Some("$L__begin".to_owned()),
            ..address(17, 4, "$L__end")
        },
    ];
    assert_eq!(info.addresses, expected);
    let abbreviations = module.section(".debug_abbrev").expect("it is there");
    let labels = [("$L__abbrev".to_owned(), 0), ("$L__last".to_owned(), 1)];
    assert_eq!(abbreviations.labels, labels);
    assert_eq!(module.sections.len(), 2);
}

#[test]
fn what_is_no_section_is_refused() {
    for (text, message) in [
        (".section .x { .b8 256 }", "256 does not fit into 8 bits"),
        (".section .x { .b8 -129 }", "-129 does not fit into 8 bits"),
        (
            ".section .x { .b16 label }",
            "the address of `label` has 32 or 64 bits, and not 16",
        ),
        (".section .x { .b8 1.5 }", "expected an integer or a label"),
        (
            ".section .x { .f32 1 }",
            "expected a label, `.b8`, `.b16`, `.b32` or `.b64`, found `.f32`",
        ),
        (
            ".section .x { .b32 a-4 }",
            "expected a label to subtract, found `4`",
        ),
        (
            ".section .x { .b8 1",
            "expected a label, `.b8`, `.b16`, `.b32` or `.b64`, found the end of the text",
        ),
    ] {
        let error = ptx::parse(&format!("{HEAD}{text}")).expect_err(text);
        assert_eq!(error.message, message, "{text}");
    }
}
