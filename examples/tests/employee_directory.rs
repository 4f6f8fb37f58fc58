//! The employee directory, run as its users run it.
#![expect(clippy::expect_used, reason = "helpers of tests")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, and the folder of its file.
struct Tool {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Tool {
    fn new() -> Self {
        let program = support::built().remove("employee_directory").expect("it is an example");
        Self { program, folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("company.redb")
    }

    /// Runs it on the kept file.
    fn run(&self, arguments: &str) -> Output {
        self.run_on(&format!("embedded:{}", self.file().display()), arguments)
    }

    fn run_on(&self, store: &str, arguments: &str) -> Output {
        let mut command = Command::new(&self.program);
        command.args(["--store", store]).args(arguments.split_whitespace()).output().expect("it starts")
    }

    /// What it prints when all goes well.
    fn says(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Its message for input that it cannot take.
    fn refuses(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

fn has_every_path(printed: &str) -> bool {
    let classes = ["Point", "Range", "MultiRange", "PartitionScan", "TableScan", "refused", "write", "mover"];
    let fits = printed.lines().all(|line| line.chars().count() <= 100);
    fits && classes.iter().all(|class| printed.lines().any(|line| line.starts_with(class)))
}

#[test]
fn without_arguments_it_fills_a_temporary_file_and_walks_every_access_path() {
    let tool = Tool::new();
    let output = Command::new(&tool.program).current_dir(tool.folder.path()).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(has_every_path(&printed), "{printed}");
    for found in ["40 employees under Jo Johnson", "65551 bytes, from a blob", "works in Marketing", "1 in the archive"]
    {
        assert!(printed.contains(found), "{found} is missing:\n{printed}");
    }
    let left = std::fs::read_dir(tool.folder.path()).expect("the folder").count();
    assert_eq!(left, 0, "nothing is left where it was started");
}

#[test]
fn the_same_walk_runs_in_memory_and_again_on_a_kept_file() {
    let tool = Tool::new();
    let printed = tool.run_on("memory", "").stdout;
    assert!(has_every_path(&String::from_utf8_lossy(&printed)));
    assert!(has_every_path(&tool.says("")));
    let before = tool.says("stats");
    assert!(has_every_path(&tool.says("")));
    let departments = |stats: &str| stats.lines().take(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(departments(&before), ["Marketing: 20 employees, 60 reviews", "Sales: 40 employees, 120 reviews"]);
    let after = tool.says("stats");
    assert_eq!(departments(&after), departments(&before), "a walk leaves everybody where they were");
    assert!(before.contains("1 in the archive") && after.contains("2 in the archive"), "{after}");
}

#[test]
fn what_was_added_is_found_by_every_way_after_a_restart() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    tool.says("add Legal 8 Al Smith al@contoso.com 30");
    assert!(Path::is_file(&tool.file()));
    let jo = "Sales 000007  Jo Jones, 41, jo@contoso.com\n";
    for way in ["--email jo@contoso.com", "--id 7", "--department Sales --last-name Jones", "--department Sales"] {
        assert_eq!(tool.says(&format!("find {way}")), jo, "{way}");
    }
}

#[test]
fn reviews_and_managers_show_in_the_report() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    assert!(tool.says("reviews 7 --add 2014 5").contains("2014: *****"));
    assert_eq!(tool.says("appoint 7"), "Sales: 1 employee, managed by Jo Jones, jo@contoso.com\n");
    let report = tool.says("report Sales");
    assert!(report.contains("1 employee, managed by Jo Jones") && report.contains("2014: 5"), "{report}");
}

#[test]
fn who_moves_takes_the_reviews_along_and_leaves_no_manager() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    tool.says("add Legal 8 Al Smith al@contoso.com 30");
    tool.says("reviews 7 --add 2014 5");
    tool.says("appoint 7");
    assert_eq!(tool.says("move 7 Legal"), "Legal 000007  Jo Jones, 41, jo@contoso.com\n");
    assert_eq!(tool.says("report Sales"), "Sales: 0 employees, without a manager\n");
    let legal = tool.says("report Legal");
    assert!(legal.starts_with("Legal: 2 employees") && legal.contains("2014: 5"), "{legal}");
    assert!(tool.says("find --department Legal --last-name Jones").contains("000007"));
    assert!(tool.refuses("find --department Sales --last-name Jones").contains("nobody"));
}

#[test]
fn who_leaves_is_in_the_archive_and_number_and_address_are_free() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    tool.says("reviews 7 --add 2014 5");
    assert!(tool.says("archive 7").contains("in the archive"));
    let archive = tool.says("archive");
    assert!(archive.starts_with("Sales 000007  Jo Jones") && archive.ends_with("1 review\n"), "{archive}");
    assert!(tool.refuses("find --id 7").contains("nobody"));
    tool.says("add Sales 7 Joanna Jones jo@contoso.com 22");
    assert_eq!(tool.says("find --email JO@contoso.com"), "Sales 000007  Joanna Jones, 22, jo@contoso.com\n");
    assert!(tool.says("reviews 7").lines().count() == 1, "the reviews left with the other one");
}

#[test]
fn a_photo_comes_out_as_it_went_in() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    let [photo, copy] = ["photo", "copy"].map(|name| tool.folder.path().join(name));
    let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&photo, &bytes).expect("a file");
    tool.says(&format!("photo 7 --keep {}", photo.display()));
    tool.says(&format!("photo 7 --save {}", copy.display()));
    assert_eq!(std::fs::read(copy).expect("a file"), bytes);
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let tool = Tool::new();
    tool.says("add Sales 7 Jo Jones jo@contoso.com 41");
    for (arguments, hint) in [
        ("fnd", "find"),
        ("find", "--email"),
        ("find --last-name Jones", "--department"),
        ("find --id 7 --email jo@contoso.com", "cannot be used with"),
        ("find --email nobody@contoso.com", "nobody was found"),
        ("add Sales", "<EMAIL>"),
        ("add Legal 9 Al Smith jo@contoso.com 30", "employee 7 of Sales"),
        ("add Legal 7 Al Smith al@contoso.com 30", "employee 7 of Sales"),
        ("add Sales 1234567 Al Smith al@contoso.com 30", "1..=999999"),
        ("add Sales seven Al Smith al@contoso.com 30", "seven"),
        ("add Sales 9 Al Smith al 30", "jo@contoso.com"),
        ("add Sales 9 Al Smith al@contoso.com -3", "14..=120"),
        ("move 7 Nowhere", "no department Nowhere"),
        ("move 7 Sales", "already"),
        ("move 99 Sales", "no employee 99"),
        ("move 7", "<DEPARTMENT>"),
        ("archive 99", "no employee 99"),
        ("reviews 7 --add 2014 9", "1 to 5"),
        ("reviews 7 --add 14 5", "four digits"),
        ("reviews 99 --add 2014 5", "no employee 99"),
        ("reviews 99", "no employee 99"),
        ("appoint 99", "no employee 99"),
        ("photo 7", "--keep"),
        ("photo 7 --save photo", "has no photo"),
        ("photo 7 --keep nowhere", "nowhere"),
        ("report Nowhere", "no department Nowhere"),
        ("", "give it a new file"),
    ] {
        let said = tool.refuses(arguments);
        assert!(said.contains(hint), "{arguments} must mention {hint:?}: {said}");
    }
    assert!(tool.refuses("report Legal").contains("no department"), "what is refused leaves no trace");
    assert_eq!(tool.says("report Sales").lines().count(), 2);
}

#[test]
fn a_name_that_fits_no_key_is_refused_and_its_number_stays_free() {
    let tool = Tool::new();
    let long = "x".repeat(2_000);
    assert!(tool.refuses(&format!("add {long} 7 Jo Jones jo@contoso.com 41")).contains("key"));
    assert!(tool.refuses(&format!("add Sales 7 Jo {long} jo@contoso.com 41")).contains("key"));
    tool.says("add R&D/EU 7 Jo Jones jo@contoso.com 41");
    assert_eq!(tool.says("find --department R&D/EU").lines().count(), 1);
    assert_eq!(tool.says("archive"), "nobody is in the archive\n");
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_its_name() {
    let tool = Tool::new();
    let refuses = |path: &Path| {
        let output = tool.run_on(&format!("embedded:{}", path.display()), "stats");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&path.display().to_string()), "{said}");
        said
    };
    let other = tool.folder.path().join("letter.txt");
    std::fs::write(&other, "Dear Jo").expect("a file");
    assert!(refuses(&other).contains("not one of this store's"));
    assert_eq!(std::fs::read(&other).expect("the file"), b"Dear Jo", "it is left as it was");
    assert!(refuses(&tool.folder.path().join("nowhere").join("company.redb")).contains("create it first"));
    assert!(refuses(tool.folder.path()).contains("folder"));
    let _holder = table_embedded::EmbeddedStore::open(tool.file()).expect("a store");
    assert!(refuses(&tool.file()).contains("another process"));
}

#[test]
fn an_unknown_store_is_refused_with_the_choices() {
    let output = Tool::new().run_on("cloud", "stats");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("memory, embedded"), "{output:?}");
}

#[test]
fn a_command_needs_a_store_that_is_kept() {
    let tool = Tool::new();
    for store in ["memory", "embedded"] {
        let output = tool.run_on(store, "stats");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("embedded:company.redb"), "{output:?}");
    }
}
