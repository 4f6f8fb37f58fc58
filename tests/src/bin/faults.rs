//! Explores crashes and says what they left: `faults [KILLS] [SEED]`.

use std::process::ExitCode;

use table_tests::crash;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the report is what the program is for")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let kills = arguments.next().map_or(Ok(200), |kills| kills.parse())?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let child = std::env::current_exe()?.with_file_name(format!("crash_child{}", std::env::consts::EXE_SUFFIX));
    let report = crash::kill_repeatedly(&child, kills, seed).await?;
    println!("{report}");
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
