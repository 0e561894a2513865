//! The digest of a kernel's source, by which a launch knows the PTX that was made of it.

use std::env;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The digest of an item, the arguments of its attribute, and the package that it is in. Two compilers give
/// the same for the same source: spaces, comments and the groups that macros put around what they are given
/// do not count, nor do the item's other attributes, of which `cfg_attr` gives some to one target alone.
pub(crate) fn of(attribute: &TokenStream, item: &TokenStream) -> u64 {
    let mut hash = Hash(0xCBF2_9CE4_8422_2325);
    for name in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        hash.text(&env::var(name).unwrap_or_default());
    }
    hash.tokens(attribute.clone(), &mut Attributes::Hashed);
    hash.text("#");
    hash.tokens(item.clone(), &mut Attributes::Skipped);
    hash.0
}

/// The treatment of the attributes that come next.
#[derive(Clone, Copy, PartialEq)]
enum Attributes {
    /// They are the item's own.
    Skipped,
    /// They are within it.
    Hashed,
}

/// FNV-1a, which stays what it is: the PTX may be older than this build of the macro.
struct Hash(u64);

impl Hash {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
        // Ends it: no byte of UTF-8.
        self.byte(0xFF);
    }

    fn tokens(&mut self, tokens: TokenStream, attributes: &mut Attributes) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                    self.tokens(group.stream(), attributes);
                    continue;
                }
                TokenTree::Punct(ref punct) if punct.as_char() == '#' => {
                    if tokens.next_if(|it| is_skipped(it, *attributes)).is_some() {
                        continue;
                    }
                    self.text("#");
                }
                TokenTree::Group(group) => {
                    self.text(opening(group.delimiter()));
                    self.tokens(group.stream(), &mut Attributes::Hashed);
                    self.text(")");
                }
                other => self.text(&other.to_string()),
            }
            *attributes = Attributes::Hashed;
        }
    }
}

/// Whether what follows a `#` is an attribute that does not count: documentation, whose text compilers
/// write in ways of their own, never does.
fn is_skipped(token: &TokenTree, attributes: Attributes) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let first = group.stream().into_iter().next();
    let is_doc = matches!(first, Some(TokenTree::Ident(name)) if name == "doc");
    group.delimiter() == Delimiter::Bracket && (is_doc || attributes == Attributes::Skipped)
}

fn opening(delimiter: Delimiter) -> &'static str {
    match delimiter {
        Delimiter::Parenthesis => "(",
        Delimiter::Brace => "{",
        Delimiter::Bracket => "[",
        Delimiter::None => "",
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Group, TokenStream};
    use quote::quote;

    use super::*;

    fn digest(item: &TokenStream) -> u64 {
        of(&quote! {}, item)
    }

    #[test]
    fn the_same_source_has_one_digest_however_it_comes() {
        let plain = digest(&quote! { fn scale(x: &[f32], a: f32) { y(a * 2.0) } });
        let ty = TokenTree::Group(Group::new(Delimiter::None, quote! { f32 }));
        let through_a_macro = quote! {
            #[doc = " Scales."]
            #[inline]
            fn scale(x: &[#ty], a: #ty) { #[doc = "Twice"] y(a * 2.0) }
        };
        assert_eq!(digest(&through_a_macro), plain);
    }

    #[test]
    fn other_source_has_another() {
        let all = [
            quote! { fn scale(x: &[f32], a: f32) { y(a * 2.0) } },
            quote! { fn scale(x: &[u32], a: f32) { y(a * 2.0) } },
            quote! { fn scale(x: &[f32], a: f32) { y(a * 2.5) } },
            quote! { fn scale(x: &[f32], a: f32) { y(a) * 2.0 } },
            quote! { fn scale(x: &[f32], a: f32) { y(a * 2.0); } },
            quote! { fn scale(x: &[f32], a: f32) { #[cfg(test)] y(a * 2.0) } },
            quote! { unsafe fn scale(x: &[f32], a: f32) { y(a * 2.0) } },
        ];
        let mut digests: Vec<u64> = all.iter().map(digest).collect();
        digests.push(of(&quote! { max_threads = 256 }, &all[0]));
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), all.len() + 1);
    }
}
