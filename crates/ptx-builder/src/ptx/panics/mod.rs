//! Panics that cost a kernel next to nothing.
//!
//! A panic ends in ptx-std's handler, which leaves a record for the host. A call costs a kernel the registers that
//! calls are passed in, so here the handler, and the functions of `core` that lead to it, are put at the end of each
//! function that panics, and the calls become branches. None of those functions ever returns.
//!
//! The record says the place by its address. The host cannot read the device's memory after a panic, so
//! the places of a module are put side by side, and their texts into a table that the host reads when it
//! loads the module.

mod functions;
mod inline;
mod kinds;
mod locations;

use ::ptx::ParseError;

use self::inline::inline;
use self::locations::gather_places;
use super::source::Source;

/// The address of the record, and whether a thread has panicked.
const RECORD: &str = "__ptx_std_panic";
const DECLARE_RECORD: &str = "\n.visible .global .align 8 .b8 __ptx_std_panic[16];";

/// Stands for the number of the kind in ptx-std's handler.
const KIND: &str = "__ptx_std_panic_kind";
const KIND_REGISTER: &str = "%ptxstd_kind";

/// Whether [`rewrite`] defines the symbol, or writes something else in its place.
pub(crate) fn is_defined_later(symbol: &str) -> bool {
    symbol == RECORD || symbol == KIND
}

/// Takes the panics into the functions that panic, and declares what they use. A module without ptx-std's
/// record stays as it is.
///
/// # Errors
/// As [`Source::parse`].
pub(crate) fn rewrite(text: &str) -> Result<String, ParseError> {
    if !text.contains(RECORD) {
        return Ok(text.to_owned());
    }
    let text = gather_places(&Source::parse(text)?);
    Ok(inline(&Source::parse(&text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "_RNvNtCs_4core9panicking18panic_bounds_check";

    /// A kernel with two checks, as LLVM writes it, and the functions that its panics go through. `call` is
    /// at the end of the kernel, and `more` after all.
    fn module(call: &str, more: &str) -> String {
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n\
.func {INDEX}(.param .b64 i_0, .param .b64 i_1, .param .b64 i_2);
.func handler(.param .b64 h_0);
.global .align 1 .b8 FILE[11] = {{115, 114, 99, 47, 108, 105, 98, 46, 114, 115}};
.global .align 8 .u64 HERE[3] = {{generic(FILE), 10, 51539607559}};
.global .align 8 .u64 THERE[3] = {{generic(FILE), 10, 21474836490}};
.global .align 8 .u64 OTHER[3] = {{generic(FILE), 11, 0}};
.entry k() {{
.local .align 8 .b8 \t__local_depot0[16];
.reg .b64 %rd<13>, %SPL; .reg .pred %p<2>;
mov.b64 %SPL, __local_depot0;
add.u64 %rd8, %SPL, 8;
st.local.b64 [%rd8], %rd2;
@%p1 bra $A;
{call} ret;
$A: {{ // callseq 0, 0
.param .b64 param0; .param .b64 param1; .param .b64 param2;
st.param.b64 [param1], %rd8;
st.param.b64 [param0], %rd4;
mov.b64 %rd11, HERE;
cvta.global.u64 %rd12, %rd11;
st.param.b64 [param2], %rd12;
call.uni {INDEX}, (param0, param1, param2);
}} // callseq 0
trap; exit;
}}
.func {INDEX}(.param .b64 i_0, .param .b64 i_1, .param .b64 i_2) {{
.reg .b64 %rd<2>;
{{ .param .b64 param0; ld.param.b64 %rd1, [i_2]; st.param.b64 [param0], %rd1;
call.uni handler, (param0); }}
trap; exit;
}}
.func handler(.param .b64 h_0) {{
.reg .b64 %rd<3>; .reg .b32 %r<2>;
ld.volatile.global.b64 %rd1, [__ptx_std_panic];
ld.param.b64 %rd2, [h_0];
mov.b32 %r1, __ptx_std_panic_kind;
trap; exit;
}}
{more}"
        )
    }

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_panic_is_taken_into_the_kernel_and_its_functions_and_frame_go() {
        let text = words(&rewrite(&module("", "")).expect("PTX"));
        for part in [
            "mov.b64 %SPL, 0; add.u64 %rd8, %SPL, 8; @%p1 bra $A;",
            "mov.b64 %rd11, __ptx_std_panic_places+0; cvta.global.u64 %rd12, %rd11; \
             mov.b64 %ptxstd_panic_3_2, %rd12; mov.b32 %ptxstd_kind, 1; bra.uni $ptxstd_panic_3;",
            "$ptxstd_panic_3: { .reg .b64 %rd<2>; { .param .b64 param0; mov.b64 %rd1, %ptxstd_panic_3_2; \
             mov.b64 %ptxstd_panic_4_0, %rd1; bra.uni $ptxstd_panic_4; }",
            "mov.b64 %rd2, %ptxstd_panic_4_0; mov.b32 %r1, %ptxstd_kind; trap;",
            ".reg .b32 %ptxstd_kind;",
            ".reg .b64 %ptxstd_panic_3_2;",
            DECLARE_RECORD.trim(),
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        for part in [
            ".func",
            "call.uni",
            "depot",
            "%rd4",
            "_panic_3_0",
            "st.local",
        ] {
            assert!(!text.contains(part), "{part:?} is in:\n{text}");
        }
    }

    /// Without optimisation a panic writes a message, from a function that may stand behind the kernel.
    #[test]
    fn a_panic_with_a_frame_of_its_own_keeps_its_kind_and_what_it_names_is_declared() {
        let shows = "ld.param.b64 %rd1, [i_2]; st.param.b64 [param0], %rd1;";
        let frame = ".local .align 8 .b8 \t__local_depot1[8]; .reg .b64 %SPL, %rd3; mov.b64 %SPL, __local_depot1; \
             mov.b64 %rd3, shows; st.local.b64 [%SPL], %rd3;";
        let behind_kernel = "trap; exit;\n}\n.func";
        let module = module("", "")
            .replacen(
                behind_kernel,
                "trap; exit;\n}\n.func shows() { ret; }\n.func",
                1,
            )
            .replace(shows, &format!("{frame} {shows}"));
        let text = words(&rewrite(&module).expect("PTX"));
        for part in [
            ".func shows();",
            "mov.b32 %ptxstd_kind, 1; bra.uni $ptxstd_panic_4;",
            "mov.b64 %SPL, __local_depot1;",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        let place = |part: &str| text.find(part).expect("it is there");
        assert!(place(".func shows();") < place(".entry k()"), "{text}");
        assert!(!text.contains("call.uni"), "{text}");
    }

    #[test]
    fn places_lie_side_by_side_and_have_their_texts() {
        let text = rewrite(&module("mov.b64 %rd1, THERE;", "")).expect("PTX");
        for part in [
            "__ptx_std_panic_places[6] = {generic(FILE), 10, 51539607559, generic(FILE), 10, 21474836490};",
            "mov.b64 %rd1, __ptx_std_panic_places+24;",
            ".u64 OTHER[3] = ",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
        assert!(!text.contains("HERE"), "{text}");
        let (_, table) = text.split_once("__ptx_std_panic_texts[").expect("a table");
        let (_, bytes) = table.split_once("= {").expect("its bytes");
        let (bytes, _) = bytes.split_once('}').expect("their end");
        let bytes: Vec<u8> = bytes.split(',').flat_map(str::parse).collect();
        let table = String::from_utf8(bytes).expect("text");
        let lines: Vec<&str> = table.lines().collect();
        let expected = [
            "2",
            "src/lib.rs:7:12",
            "src/lib.rs:10:5",
            "index out of bounds",
        ];
        assert_eq!(lines[..4], expected);
    }

    #[test]
    fn what_is_used_otherwise_stays() {
        // A frame that something else reads, a place that a table names, a function whose address is
        // taken, and one that calls what returns.
        let call = "ld.local.b64 %rd3, [%rd8]; mov.b64 %rd5, handler; call.uni says, ();
call.uni ends, ();";
        let more = ".global .align 8 .u64 TABLE[1] = {generic(HERE)};
.func traps() { trap; exit; }
.func ends() { .reg .pred %p<2>; @%p1 bra $E; call.uni handler, (param0); $E: call.uni traps, (); trap; exit; }
.func returns() { ret; }
.func says() { call.uni returns, (); call.uni handler, (param0); trap; exit; }";
        let text = words(&rewrite(&module(call, more)).expect("PTX"));
        for part in [
            "__local_depot0[16]",
            "st.local.b64 [%rd8], %rd2;",
            "mov.b64 %rd11, HERE;",
            ".func handler(.param .b64 h_0) {",
            "mov.b32 %r1, 0; trap;",
            "call.uni says, ();",
            ".func says()",
            "bra.uni $ptxstd_panic_6;",
            "$E: call.uni traps, (); trap;",
            ".func traps()",
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn where_an_instruction_is_unknown_calls_stay_calls() {
        let text = words(&rewrite(&module("conjure.b64 %rd1;", "")).expect("PTX"));
        let call = format!("call.uni {INDEX}, (param0, param1, param2);");
        for part in [
            "conjure.b64 %rd1;",
            &call,
            "mov.b32 %r1, 0; trap;",
            DECLARE_RECORD.trim(),
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn a_call_under_a_guard_stays_one() {
        let guarded = format!("@%p1 call.uni {INDEX}, (param0, param1, param2);");
        let text = words(&rewrite(&module(&guarded, "")).expect("PTX"));
        for part in [
            guarded.as_str(),
            "bra.uni $ptxstd_panic_3;",
            &format!(".func {INDEX}"),
        ] {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }

    #[test]
    fn a_module_without_a_record_stays_as_it_is() {
        let text = module("", "").replace("__ptx_std_panic", "SOMETHING");
        assert_eq!(rewrite(&text).expect("PTX"), text);
    }
}
