//! The process: started, waited for, and ended by its own id.
//!
//! Azurite chooses free ports itself and says which, so no other program can take one in between. Its standard
//! input is a pipe of ours: should this program be killed, the pipe closes, and Azurite ends too.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::install::Installed;
use crate::run::Outcome;

/// How long it may take until all services answer; 3 to 6 seconds are usual.
const START_WITHIN: Duration = Duration::from_secs(60);

/// How often it is asked whether it is there.
const POLL: Duration = Duration::from_millis(50);

/// How long one answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The services by the names that Azurite prints, in the order of [`Process::ports`].
const SERVICES: [&str; 3] = ["Blob", "Queue", "Table"];

/// A running Azurite. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    ports: [u16; 3],
    log: PathBuf,
}

impl Process {
    /// Starts it and waits until it answers.
    pub(super) fn start(installed: &Installed) -> Outcome<Self> {
        let log = installed.folder.join(format!("azurite-{}.log", std::process::id()));
        let child = spawn(installed, &log).map_err(|error| format!("Azurite did not start: {error}"))?;
        let mut process = Self { child, ports: [0; 3], log };
        process.wait_until_it_answers()?;
        Ok(process)
    }

    /// The ports of blobs, queues and tables.
    pub(super) fn ports(&self) -> [u16; 3] {
        self.ports
    }

    /// Waits until it ends by itself, or is interrupted.
    pub(super) fn wait(&mut self) -> Outcome {
        // `Child::wait` would close the pipe that keeps it running.
        loop {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(POLL),
                Ok(Some(status)) => return Err(format!("Azurite ended with {status}{}", self.said())),
                Err(error) => return Err(format!("Azurite cannot be waited for: {error}")),
            }
        }
    }

    fn wait_until_it_answers(&mut self) -> Outcome {
        let deadline = Instant::now() + START_WITHIN;
        loop {
            if let Some(ports) = ports(&self.log())
                && ports.iter().zip(SERVICES).all(|(port, service)| answers(*port, service))
            {
                self.ports = ports;
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("Azurite ended with {status}{}", self.said()));
            }
            if Instant::now() > deadline {
                return Err(format!("Azurite did not answer within {START_WITHIN:?}{}", self.said()));
            }
            thread::sleep(POLL);
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// What it printed, as the end of a sentence.
    fn said(&self) -> String {
        match self.log().trim() {
            "" => String::new(),
            text => format!(", after printing:\n{text}"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.log);
    }
}

fn spawn(installed: &Installed, log: &Path) -> std::io::Result<Child> {
    let out = File::create(log)?;
    let errors = out.try_clone()?;
    Command::new(&installed.node)
        .current_dir(&installed.folder)
        .args(["start.js", "--silent", "--disableTelemetry", "--inMemoryPersistence"])
        .args(["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"])
        .stdin(Stdio::piped())
        .stdout(out)
        .stderr(errors)
        .spawn()
}

/// The ports, once Azurite has named all three.
fn ports(log: &str) -> Option<[u16; 3]> {
    let port = |service: &str| {
        let announced = format!("Azurite {service} service is successfully listening at http://127.0.0.1:");
        log.lines().find_map(|line| line.strip_prefix(&announced)?.trim_end().parse().ok())
    };
    let [blob, queue, table] = SERVICES.map(port);
    Some([blob?, queue?, table?])
}

/// Whether a service of Azurite answers at a port, and not something else.
fn answers(port: u16, service: &str) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.take(64 * 1024).read_to_end(&mut answer)?;
        std::io::Result::Ok(String::from_utf8_lossy(&answer).contains(&format!("Server: Azurite-{service}")))
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn ports_are_known_once_all_three_are_announced() {
        let listening = |service| {
            format!(
                "Azurite {service} service is starting at http://127.0.0.1:0\n\
                 Azurite {service} service is successfully listening at http://127.0.0.1:7001\n"
            )
        };
        let [blob, queue, table] = SERVICES.map(listening);
        assert_eq!(ports(""), None);
        assert_eq!(ports(&format!("{blob}{table}")), None);
        assert_eq!(ports(&format!("{blob}{queue}{table}")), Some([7001; 3]));
    }

    #[test]
    fn another_program_at_the_port_is_not_taken_for_azurite() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nServer: other\r\n\r\n").unwrap();
        });
        assert!(!answers(port, "Table"));
        server.join().unwrap();
    }

    #[test]
    fn a_program_that_ends_at_once_is_reported_with_what_it_said() {
        let folder = std::env::temp_dir().join(format!("xtask-azurite-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // Any program that refuses these arguments will do, and cargo is always there.
        let installed = Installed { folder: folder.clone(), node: std::env::var_os("CARGO").unwrap().into() };
        let failure = Process::start(&installed).unwrap_err();
        assert!(failure.contains("Azurite ended with") && failure.contains("start.js"), "{failure}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
