//! The fuzz targets for a bounded time: their seeds, and thousands of mutations that are the same
//! on every run.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;

use fastrand::Rng;
use table_tests::fuzzing;

const MUTATIONS: usize = 20_000;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Folders list their files in any order, and every run should do the same.
    files.sort();
    let seeds: Vec<_> = files.into_iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(seeds.len() >= 10, "the seeds of {target} are missing");
    seeds
}

/// Pieces that mean something to one of the targets.
const PIECES: [&str; 24] = [
    "'",
    "''",
    "(",
    ")",
    " and ",
    " or ",
    "not ",
    " eq ",
    " lt ",
    "PartitionKey",
    "RowKey",
    "Timestamp",
    "datetime'",
    "guid'",
    "X'",
    "L",
    "-",
    "e9",
    "~",
    "}~~",
    "_",
    "\u{e000}",
    "😀",
    "\0",
];

fn mutate(rng: &mut Rng, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seeds[rng.usize(..seeds.len())].clone();
    for _ in 0..rng.usize(1..5) {
        let at = rng.usize(..=input.len());
        match rng.u8(..6) {
            0 => input.truncate(at),
            1 => drop(input.splice(at..at, rng.choice(PIECES).unwrap_or_default().bytes())),
            2 => input.insert(at, rng.u8(..)),
            3 => drop(input.drain(at..(at + rng.usize(..8)).min(input.len()))),
            4 => {
                let other = &seeds[rng.usize(..seeds.len())];
                input.truncate(at);
                input.extend(&other[rng.usize(..=other.len())..]);
            }
            _ => {
                let piece = input[at..(at + 16).min(input.len())].repeat(rng.usize(1..8));
                drop(input.splice(at..at, piece));
            }
        }
    }
    input
}

fn run(target: &str, check: fn(&[u8]) -> bool) {
    let seeds = seeds(target);
    for seed in &seeds {
        assert!(check(seed), "{target} does not take its seed {:?}", String::from_utf8_lossy(seed));
    }
    let mut rng = Rng::with_seed(7);
    let mut taken = 0;
    for _ in 0..MUTATIONS {
        let input = mutate(&mut rng, &seeds);
        let checked = std::panic::catch_unwind(|| check(&input));
        assert!(checked.is_ok(), "{target} fails on {:?}", String::from_utf8_lossy(&input));
        taken += usize::from(checked.is_ok_and(|taken| taken));
    }
    assert!(taken > MUTATIONS / 50, "only {taken} mutations were taken, so little was tried");
}

#[test]
fn the_filter_parser_keeps_its_promises() {
    run("filter_parser", fuzzing::filter_parser);
}

#[test]
fn the_key_decoder_keeps_its_promises() {
    run("key_decoder", fuzzing::key_decoder);
}
