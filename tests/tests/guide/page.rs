//! Every line of code in the page is one that is run here.

const PAGE: &str = include_str!("../../../docs/from-the-guide-to-code.md");
const SOURCES: [&str; 3] = [include_str!("main.rs"), include_str!("basics.rs"), include_str!("patterns.rs")];

/// The code in the last column of every table.
fn lines() -> Vec<&'static str> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.filter_map(|row| row.rsplit_once(" | ").map(|(_, last)| last))
        .flat_map(|last| last.split('`').skip(1).step_by(2))
        .collect()
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().concat()
}

#[test]
fn every_line_of_the_page_is_run() {
    let sources = squeezed(&SOURCES.concat());
    let lines = lines();
    assert!(lines.len() > 40, "only {} lines were found; the page has changed its form", lines.len());
    for line in lines {
        // A table writes `|` so.
        let code = squeezed(&line.replace(r"\|", "|"));
        assert!(sources.contains(&code), "no test runs `{line}`");
    }
}
