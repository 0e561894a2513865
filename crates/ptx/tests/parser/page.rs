//! The page of instructions is that of the table.

#[path = "../../examples/instructions.rs"]
#[allow(dead_code, reason = "the test makes the page itself")]
mod instructions;

#[test]
fn the_page_of_instructions_is_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/instructions.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let differ = instructions::page()
        .lines()
        .zip(page.lines())
        .find(|(made, written)| made != written)
        .map(|(made, written)| format!("made: {made}\nwritten: {written}"));
    assert!(
        instructions::page() == page,
        "make docs/instructions.md anew: cargo run -p ridgepoint-ptx --example instructions; {differ:?}"
    );
}
