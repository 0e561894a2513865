//! `macro_rules!` and `paste!`, as far as crates declare items with them: public items that a macro makes are public
//! items like others.

use std::collections::BTreeMap;
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use syn::parse::Parser;

/// A macro of a crate: its rules, in order.
pub(crate) struct Macro {
    rules: Vec<(Vec<Node>, Vec<Node>)>,
}

/// A part of a pattern, or of what it becomes.
enum Node {
    Token(TokenTree),
    Group(Delimiter, Vec<Node>),
    /// `$name`, in patterns with its fragment.
    Variable(String, Option<String>),
    Repeat {
        body: Vec<Node>,
        separator: Option<TokenTree>,
        most: usize,
    },
}

/// The binding of a variable: tokens, or one for each repetition.
#[derive(Clone)]
enum Binding {
    Tokens(Vec<TokenTree>),
    Each(Vec<Binding>),
}

type Bindings = BTreeMap<String, Binding>;

impl Macro {
    /// The rules of a `macro_rules!`.
    pub(crate) fn parse(tokens: TokenStream) -> Macro {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let rules = trees.split(|tree| is_punct(tree, ';'));
        let rules = rules
            .filter(|rule| !rule.is_empty())
            .map(|rule| match rule {
                [TokenTree::Group(pattern), _, _, TokenTree::Group(body)] => {
                    (nodes(pattern.stream()), nodes(body.stream()))
                }
                other => panic!("no rule of a macro: {other:?}"),
            });
        Macro {
            rules: rules.collect(),
        }
    }

    /// Expands a call by the first rule that fits; `None` where none does.
    pub(crate) fn expand(&self, call: TokenStream) -> Option<TokenStream> {
        let call: Vec<TokenTree> = call.into_iter().collect();
        self.rules.iter().find_map(|(pattern, body)| {
            let mut bindings = Bindings::new();
            let used = matched(pattern, &call, &mut bindings)?;
            (used == call.len()).then(|| transcribed(body, &bindings).into_iter().collect())
        })
    }
}

fn is_punct(tree: &TokenTree, mark: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == mark)
}

fn nodes(tokens: TokenStream) -> Vec<Node> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut rest = &trees[..];
    while let Some((first, others)) = rest.split_first() {
        let (node, others) = match (first, others) {
            (dollar, [TokenTree::Group(body), others @ ..]) if is_punct(dollar, '$') => {
                repeat(body, others)
            }
            (
                dollar,
                [
                    TokenTree::Ident(name),
                    colon,
                    TokenTree::Ident(fragment),
                    others @ ..,
                ],
            ) if is_punct(dollar, '$') && is_punct(colon, ':') && is_fragment(fragment) => {
                let fragment = Some(fragment.to_string());
                (Node::Variable(name.to_string(), fragment), others)
            }
            (dollar, [TokenTree::Ident(name), others @ ..]) if is_punct(dollar, '$') => {
                (Node::Variable(name.to_string(), None), others)
            }
            (TokenTree::Group(group), others) => (
                Node::Group(group.delimiter(), nodes(group.stream())),
                others,
            ),
            (other, others) => (Node::Token(other.clone()), others),
        };
        found.push(node);
        rest = others;
    }
    found
}

/// `$( .. )`, its separator and how often it comes.
fn repeat<'t>(body: &Group, rest: &'t [TokenTree]) -> (Node, &'t [TokenTree]) {
    let most = |tree: &TokenTree| match tree {
        TokenTree::Punct(punct) => match punct.as_char() {
            '*' | '+' => Some(usize::MAX),
            '?' => Some(1),
            _ => None,
        },
        _ => None,
    };
    let (separator, most, rest) = match rest {
        [often, rest @ ..] if most(often).is_some() => (None, most(often), rest),
        [separator, often, rest @ ..] => (Some(separator.clone()), most(often), rest),
        _ => (None, None, rest),
    };
    let repeat = Node::Repeat {
        body: nodes(body.stream()),
        separator,
        most: most.expect("how often a part of a macro comes"),
    };
    (repeat, rest)
}

fn is_fragment(name: &Ident) -> bool {
    const FRAGMENTS: [&str; 10] = [
        "block", "expr", "ident", "lifetime", "literal", "meta", "path", "tt", "ty", "vis",
    ];
    FRAGMENTS.iter().any(|fragment| name == fragment)
}

/// How many of the tokens the pattern takes.
fn matched(pattern: &[Node], tokens: &[TokenTree], bindings: &mut Bindings) -> Option<usize> {
    let mut at = 0;
    for node in pattern {
        let rest = &tokens[at..];
        at += match node {
            Node::Token(token) => (rest.first()?.to_string() == token.to_string()).then_some(1)?,
            Node::Group(delimiter, body) => match rest.first()? {
                TokenTree::Group(group) if group.delimiter() == *delimiter => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    (matched(body, &inner, bindings)? == inner.len()).then_some(1)?
                }
                _ => return None,
            },
            Node::Variable(name, fragment) => {
                let used = fragment_length(fragment.as_deref()?, rest)?;
                bindings.insert(name.clone(), Binding::Tokens(rest[..used].to_vec()));
                used
            }
            Node::Repeat {
                body,
                separator,
                most,
            } => repeated(body, separator.as_ref(), *most, rest, bindings),
        };
    }
    Some(at)
}

fn repeated(
    body: &[Node],
    separator: Option<&TokenTree>,
    most: usize,
    tokens: &[TokenTree],
    bindings: &mut Bindings,
) -> usize {
    let mut each: Vec<Bindings> = Vec::new();
    let mut at = 0;
    while each.len() < most {
        let mut start = at;
        if let Some(separator) = separator.filter(|_| !each.is_empty()) {
            match tokens.get(at) {
                Some(token) if token.to_string() == separator.to_string() => start += 1,
                _ => break,
            }
        }
        let mut inner = Bindings::new();
        match matched(body, &tokens[start..], &mut inner) {
            Some(used) if used > 0 => at = start + used,
            _ => break,
        }
        each.push(inner);
    }
    for name in variables(body) {
        let all = each.iter().filter_map(|inner| inner.get(name).cloned());
        bindings.insert(name.to_owned(), Binding::Each(all.collect()));
    }
    at
}

/// How many tokens a fragment takes.
fn fragment_length(fragment: &str, tokens: &[TokenTree]) -> Option<usize> {
    fn parsed<T: syn::parse::Parse>(tokens: &[TokenTree]) -> Option<usize> {
        let rest = |input: syn::parse::ParseStream<'_>| {
            input.parse::<T>()?;
            input.parse::<TokenStream>()
        };
        let rest = rest.parse2(tokens.iter().cloned().collect()).ok()?;
        Some(tokens.len() - rest.into_iter().count())
    }
    let first = tokens.first();
    match fragment {
        "tt" => first.map(|_| 1),
        "ident" => matches!(first?, TokenTree::Ident(_)).then_some(1),
        "lifetime" => is_punct(first?, '\'').then_some(2),
        "literal" => parsed::<syn::Lit>(tokens),
        "ty" => parsed::<syn::Type>(tokens),
        "path" => parsed::<syn::Path>(tokens),
        "meta" => parsed::<syn::Meta>(tokens),
        "block" => parsed::<syn::Block>(tokens),
        "vis" => parsed::<syn::Visibility>(tokens),
        _ => parsed::<syn::Expr>(tokens),
    }
}

fn variables(nodes: &[Node]) -> Vec<&str> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Token(_) => {}
            Node::Variable(name, _) => found.push(&name[..]),
            Node::Group(_, body) | Node::Repeat { body, .. } => found.extend(variables(body)),
        }
    }
    found
}

fn transcribed(body: &[Node], bindings: &Bindings) -> Vec<TokenTree> {
    let mut tokens = Vec::new();
    for node in body {
        match node {
            Node::Token(token) => tokens.push(token.clone()),
            Node::Group(delimiter, inner) => {
                let inner = transcribed(inner, bindings).into_iter().collect();
                tokens.push(Group::new(*delimiter, inner).into());
            }
            Node::Variable(name, _) => match bindings.get(name) {
                Some(Binding::Tokens(bound)) => tokens.extend(bound.iter().cloned()),
                Some(Binding::Each(_)) => panic!("${name} repeats, and is not repeated"),
                None => tokens.push(Ident::new(name, Span::call_site()).into()),
            },
            Node::Repeat {
                body, separator, ..
            } => tokens.extend(repetitions(body, separator.as_ref(), bindings)),
        }
    }
    tokens
}

fn repetitions(
    body: &[Node],
    separator: Option<&TokenTree>,
    bindings: &Bindings,
) -> Vec<TokenTree> {
    let names = variables(body);
    let each = |name: &&str| match bindings.get(*name) {
        Some(Binding::Each(all)) => Some(((*name).to_owned(), all.clone())),
        _ => None,
    };
    let repeating: Vec<(String, Vec<Binding>)> = names.iter().filter_map(each).collect();
    let count = repeating.iter().map(|(_, all)| all.len()).max();
    let mut tokens = Vec::new();
    for i in 0..count.expect("a variable that repeats") {
        let mut inner = bindings.clone();
        for (name, all) in &repeating {
            inner.insert(name.clone(), all[i].clone());
        }
        tokens.extend(separator.filter(|_| i > 0).cloned());
        tokens.extend(transcribed(body, &inner));
    }
    tokens
}

/// Expands `paste!`: `[<a b>]` is one name, and words of a doc attribute are one text.
pub(crate) fn pasted(tokens: TokenStream) -> TokenStream {
    let mut made = Vec::new();
    for tree in tokens {
        made.push(match tree {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                match (group.delimiter(), &inner[..]) {
                    (Delimiter::Bracket, [open, words @ .., close])
                        if is_punct(open, '<') && is_punct(close, '>') =>
                    {
                        Ident::new(&words.iter().map(word).collect::<String>(), group.span()).into()
                    }
                    (Delimiter::Bracket, [TokenTree::Ident(doc), is, words @ ..])
                        if doc == "doc" && is_punct(is, '=') && words.len() > 1 =>
                    {
                        let text: String = words.iter().map(word).collect();
                        let called = words.iter().any(|it| is_punct(it, '!'));
                        let text = Literal::string(&text).into();
                        let words = if called { words.to_vec() } else { vec![text] };
                        let all = [doc.clone().into(), is.clone()].into_iter().chain(words);
                        Group::new(Delimiter::Bracket, all.collect()).into()
                    }
                    _ => Group::new(group.delimiter(), pasted(group.stream())).into(),
                }
            }
            other => other,
        });
    }
    made.into_iter().collect()
}

/// A token as a part of a name or a text.
fn word(tree: &TokenTree) -> String {
    match tree {
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            let parsed = syn::parse_str::<syn::LitStr>(&text);
            parsed.map_or(text, |text| text.value())
        }
        other => other.to_string(),
    }
}

#[test]
fn macros_are_expanded_as_the_compiler_does() {
    let tokens = |text: &str| TokenStream::from_str(text).expect("tokens");
    let declared = Macro::parse(tokens(
        "($($(#[$doc:meta])* $name:ident: $ty:ty $(= $width:literal)?;)*) => {$(
             $(#[$doc])* pub fn [<get_ $name $(_ $width)?>]() -> $ty { $name() }
         )*};
         (@ $($word:ident),+) => { [$($word),+] };",
    ));
    let made = declared.expand(tokens("/// First.\n a: &'static [u8]; b: u32 = 32;"));
    let made = pasted(made.expect("the first rule")).to_string();
    let expected = "#[doc = \" First.\"] pub fn get_a() -> &'static [u8] { a() }
                    pub fn get_b_32() -> u32 { b() }";
    assert_eq!(made, tokens(expected).to_string());
    let made = declared.expand(tokens("@ x, y")).expect("the second rule");
    assert_eq!(made.to_string().replace(' ', ""), "[x,y]");
    assert!(declared.expand(tokens("@ 7")).is_none());
    let text = pasted(tokens("#[doc = \"Reads \" block 32 \".\"]")).to_string();
    assert_eq!(text, tokens("#[doc = \"Reads block32.\"]").to_string());
}
