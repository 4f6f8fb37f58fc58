//! Links in the docs lead somewhere: to a file of the repository, and to a heading in it.
//!
//! Addresses on the web are left alone, so that the check needs no network.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::Complaint;
use super::tree::{Tree, has_extension};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.with_extension("md")
        .flat_map(|(path, text)| {
            links(text).into_iter().filter_map(move |link| {
                let message = broken(tree, path, &link.target)?;
                Some(Complaint::line(path, link.line, message))
            })
        })
        .collect()
}

struct Link {
    target: String,
    line: usize,
}

/// The targets of all links and images.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    // A reference without a definition is text to the parser, and a mistake to us.
    let mut undefined = |broken: pulldown_cmark::BrokenLink<'_>| {
        // Checkboxes and ranges such as [0, 1] stand in brackets too; only `[text][name]` is surely a link.
        let full = broken.link_type == pulldown_cmark::LinkType::Reference;
        full.then(|| (format!("undefined:{}", broken.reference).into(), "".into()))
    };
    let parser = Parser::new_with_broken_link_callback(text, Options::all(), Some(&mut undefined));
    for (event, range) in parser.into_offset_iter() {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            let line = text.get(..range.start).map_or(0, |before| before.matches('\n').count()) + 1;
            links.push(Link { target: dest_url.into_string(), line });
        }
    }
    links
}

/// Says why a link leads nowhere, if it does.
fn broken(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if let Some(name) = target.strip_prefix("undefined:") {
        return Some(format!("the link reference `{name}` is not defined"));
    }
    if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { Some(from.to_owned()) } else { resolve(from, file) };
    let Some(path) = path else {
        return Some(format!("the link `{target}` leaves the repository"));
    };
    if !tree.exists(&path) {
        return Some(format!("the link `{target}` leads to no file"));
    }
    let anchor = anchor.filter(|_| has_extension(&path, "md"))?;
    let known = tree.text(&path).is_some_and(|text| anchors(text).iter().any(|each| each == anchor));
    (!known).then(|| format!("the link `{target}` leads to no heading of {path}"))
}

/// The path from the root that a relative link in a file means; none above the root.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            // A link from the root of a host means another place on every host.
            "" => return None,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The anchors of all headings, as hosts of repositories name them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let slug = slug(&heading.take().unwrap_or_default());
                let before = seen.entry(slug.clone()).and_modify(|count| *count += 1).or_insert(0);
                anchors.push(if *before == 0 { slug } else { format!("{slug}-{before}") });
            }
            _ => {}
        }
    }
    anchors
}

/// Lower case, spaces as hyphens, and nothing but letters, digits, hyphens and underscores.
fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|each| match each {
            ' ' => Some('-'),
            '-' | '_' => Some(each),
            _ if each.is_alphanumeric() => Some(each),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let tree = Tree::from([
            ("docs/page.md", text),
            ("docs/other.md", "# The `keys` module\n## Same\n## Same\n"),
            ("README.md", "# Read me\n"),
            ("src/lib.rs", ""),
        ]);
        check(&tree)
            .into_iter()
            .map(|complaint| format!("{}: {}", complaint.line.unwrap(), complaint.message))
            .collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let found = complaints(
            "# Here\n[a](other.md) [b](other.md#the-keys-module) [c](#here) [d](../README.md#read-me) [e](../src/)\n\
             [f](https://example.com/x#y) [g][ref] [h](./other.md#same-1) [0, 1] [ ]\n\n[ref]: ../src/lib.rs#L10\n",
        );
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn links_that_lead_nowhere_are_seen_on_their_line() {
        for (link, reason) in [
            ("[a](missing.md)", "no file"),
            ("![a](missing.png)", "no file"),
            ("[a](other.md#keys)", "no heading"),
            ("[a](#there)", "no heading"),
            ("[a](other.md#same-2)", "no heading"),
            ("[a](../../elsewhere.md)", "leaves the repository"),
            ("[a](/README.md)", "leaves the repository"),
            ("[a][missing]", "not defined"),
        ] {
            let found = complaints(&format!("# Here\n\n{link}\n"));
            assert_eq!(found.len(), 1, "{link}: {found:?}");
            assert!(found[0].starts_with("3: ") && found[0].contains(reason), "{link}: {found:?}");
        }
    }

    #[test]
    fn code_is_not_searched_for_links() {
        assert!(complaints("`[a](missing.md)`\n\n```\n[a](missing.md)\n```\n").is_empty());
    }
}
