//! Lines as a Markdown table, for a document that says what they mean.

use std::fmt::Write;
use std::path::Path;

use crate::Result;
use crate::report::Report;

/// What stands before and after the table in a document that holds it.
const BEGIN: &str = "<!-- begin of what `cargo xtask bench --markdown` writes -->";
const END: &str = "<!-- end of what `cargo xtask bench --markdown` writes -->";

/// What a file is to hold: what it held, with the table between the marks; or only the table, where it is new.
pub(crate) fn file(path: &Path, report: &Report) -> Result<String> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(marked(report)) };
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) =
        parts.ok_or_else(|| format!("{} has no marks to write between:\n{BEGIN}\n{END}", path.display()))?;
    Ok(format!("{before}{}{}", marked(report), after.strip_prefix('\n').unwrap_or(after)))
}

fn marked(report: &Report) -> String {
    format!("{BEGIN}\n{}{END}\n", table(report))
}

fn table(report: &Report) -> String {
    let Report { date, machine, rows, lines, left_out } = report;
    let mut text = format!("Measured on {date} with {rows} rows: {}. {}.\n\n", machine.shown(), report.summary());
    text += "| measure | peer | ours | peer's | ratio | budget | verdict |\n";
    text += "| --- | --- | ---: | ---: | ---: | ---: | --- |\n";
    for line in lines {
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            line.name,
            // Else `RwLock<BTreeMap>` would hold a tag.
            line.against.replace('<', "&lt;"),
            line.shown_ours(),
            line.shown_peer(),
            line.shown_ratio(),
            line.shown_budget(),
            line.verdict.shown()
        );
    }
    for what in left_out {
        let _ = writeln!(text, "\nLeft out: {what}.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Measure;
    use crate::line::Line;

    fn report() -> Report {
        let mut report = Report::new(7);
        report.add(Line::new(Measure::time("key/encode", "format!").at_most(1.0), vec![1e-6], vec![2e-6]));
        report
    }

    #[test]
    fn a_table_has_a_row_for_each_line() {
        let mut report = report();
        report.add(Line::new(Measure::time("memory/get", "RwLock<BTreeMap>"), vec![1.0], vec![1.0]));
        let table = table(&report);
        assert!(table.contains("| key/encode | format! | 1.00 us | 2.00 us | 0.50x | <= 1.00x | ok |"), "{table}");
        assert!(table.contains("| RwLock&lt;BTreeMap> |"), "{table}");
    }

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("benchmarks.md");
        assert!(file(&path, &report()).unwrap().starts_with(BEGIN));
        std::fs::write(&path, format!("# Before\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")).unwrap();
        let text = file(&path, &report()).unwrap();
        assert!(text.starts_with("# Before\n\n<!-- begin") && text.ends_with("-->\n\nAfter.\n"), "{text}");
        assert!(!text.contains("old") && text.contains("key/encode"), "{text}");
        std::fs::write(&path, "somebody's notes").unwrap();
        assert!(file(&path, &report()).is_err());
    }
}
