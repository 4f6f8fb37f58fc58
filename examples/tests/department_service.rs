//! The department service, driven over HTTP on a free port.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

#[path = "support/http.rs"]
mod http;
mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use http::{Answer, send};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A running service, which ends with its handle.
struct Service {
    child: Child,
    address: String,
    output: BufReader<std::process::ChildStdout>,
}

impl Service {
    fn start(folder: &Path) -> Self {
        let program = support::built().remove("department_service").expect("it is an example");
        let store = format!("embedded:{}", folder.join("company.redb").display());
        let mut child = Command::new(program)
            .args(["--listen", "127.0.0.1:0", "--patience", "1", "--store", &store])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();
        Self { child, address, output }
    }

    fn send(&self, request: &str, body: &Value) -> Answer {
        self.send_if(request, &[], body)
    }

    fn send_if(&self, request: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(&self.address, request, headers, &body)
    }

    fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &Value::Null)
    }

    /// The ids in a list.
    fn ids(&self, path: &str) -> Vec<u64> {
        let answer = self.get(path);
        let employees = answer.body["employees"].as_array().expect("a list");
        employees.iter().filter_map(|each| each["id"].as_u64()).collect()
    }

    fn relocate(&self, etag: &str, department: &str) -> Answer {
        self.send_if(&format!("POST {JO}/move"), &[("If-Match", etag)], &json!({ "department": department }))
    }

    fn add(&self, department: &str, employee: &Value) -> Answer {
        self.send(&format!("POST /departments/{department}/employees"), employee)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn started() -> (Service, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    (Service::start(folder.path()), folder)
}

/// An employee as it is answered.
fn in_department(employee: Value, department: &str) -> Value {
    with(employee, "department", department)
}

fn jo() -> Value {
    json!({ "id": 223, "first_name": "Jo", "last_name": "Jones", "email": "jo@contoso.com", "age": 41 })
}

fn with(mut employee: Value, field: &str, value: impl Into<Value>) -> Value {
    employee[field] = value.into();
    employee
}

const JO: &str = "/employees/223";

#[test]
fn an_employee_is_added_read_changed_and_removed() {
    let (service, _folder) = started();
    let added = service.add("Sales", &jo());
    assert_eq!((added.status, added.header("location")), (201, JO));

    let read = service.get(JO);
    assert_eq!((read.status, &read.body), (200, &in_department(jo(), "Sales")));
    assert_eq!(read.header("etag"), added.header("etag"));

    let older = with(jo(), "age", 42);
    let changed = service.send_if(&format!("PUT {JO}"), &[("If-Match", read.header("etag"))], &older);
    assert_eq!((changed.status, &changed.body), (200, &in_department(older, "Sales")));
    assert_ne!(changed.header("etag"), read.header("etag"));

    let removed = service.send_if(&format!("DELETE {JO}"), &[("If-Match", changed.header("etag"))], &Value::Null);
    assert_eq!(removed.status, 204);
    assert_eq!(service.get(JO).status, 404);
}

#[test]
fn a_change_that_is_meant_for_an_older_version_is_refused() {
    let (service, _folder) = started();
    let first = service.add("Sales", &jo());
    let put = |etag: &str, age: i32| {
        service.send_if(&format!("PUT {JO}"), &[("If-Match", etag)], &with(jo(), "age", age)).status
    };
    assert_eq!(put(first.header("etag"), 42), 200);
    assert_eq!(put(first.header("etag"), 43), 412);
    assert_eq!(service.get(JO).body["age"], 42);
    let delete = service.send_if(&format!("DELETE {JO}"), &[("If-Match", first.header("etag"))], &Value::Null);
    assert_eq!(delete.status, 412);
    assert_eq!(put("*", 44), 200, "any version is a condition, too");
}

#[test]
fn a_change_without_a_condition_is_refused() {
    let (service, _folder) = started();
    service.add("Sales", &jo());
    let answer = service.send(&format!("PUT {JO}"), &with(jo(), "age", 42));
    assert_eq!(answer.status, 428);
    assert!(answer.body["message"].as_str().is_some_and(|text| text.contains("If-Match")), "{answer:?}");
    assert_eq!(service.send(&format!("DELETE {JO}"), &Value::Null).status, 428);
}

#[test]
fn an_id_and_an_address_are_given_once() {
    let (service, _folder) = started();
    service.add("Sales", &jo());
    assert_eq!(service.add("Marketing", &with(jo(), "email", "other@contoso.com")).status, 409);
    let same_address = with(with(jo(), "id", 224), "email", "JO@contoso.com");
    let answer = service.add("Marketing", &same_address);
    assert_eq!(answer.status, 409);
    assert!(answer.body["message"].as_str().is_some_and(|text| text.contains("index email")), "{answer:?}");
}

#[test]
fn employees_are_found_by_address_and_by_last_name_as_they_are_now() {
    let (service, _folder) = started();
    let etag = service.add("Sales", &jo());
    service.add("Sales", &with(with(jo(), "id", 7), "email", "ana@contoso.com"));
    let by_email = |email: &str| service.ids(&format!("/employees?email={email}"));
    let by_name = |name: &str| service.ids(&format!("/departments/Sales/employees?last_name={name}"));
    assert_eq!(by_email("Jo%40contoso.com"), [223]);
    assert_eq!(by_name("Jones"), [7, 223]);

    let renamed = with(with(jo(), "last_name", "O'Neil & co/2"), "email", "oneil@contoso.com");
    service.send_if(&format!("PUT {JO}"), &[("If-Match", etag.header("etag"))], &renamed);
    assert_eq!(by_email("jo@contoso.com"), [] as [u64; 0]);
    assert_eq!(by_name("Jones"), [7]);
    assert_eq!(by_name("O%27Neil%20%26%20co%2F2"), [223]);
}

#[test]
fn an_employee_moves_to_another_department_and_is_in_one_list() {
    let (service, _folder) = started();
    let added = service.add("Sales", &jo());
    let etag = added.header("etag");
    let moved = service.relocate(etag, "Marketing");
    assert_eq!((moved.status, &moved.body), (200, &in_department(jo(), "Marketing")));
    assert_eq!(service.get(JO).body, moved.body, "its address stays");
    assert_eq!(service.ids("/departments/Sales/employees"), [] as [u64; 0]);
    assert_eq!(service.ids("/departments/Marketing/employees"), [223]);
    assert_eq!(service.ids("/departments/Marketing/employees?last_name=Jones"), [223]);

    assert_eq!(service.relocate(etag, "Legal").status, 412, "somebody has moved it since");
    let unconditional = service.send(&format!("POST {JO}/move"), &json!({ "department": "Legal" }));
    assert_eq!(unconditional.status, 428);
    assert_eq!(service.relocate(moved.header("etag"), " ").status, 400);
    assert_eq!(service.get(JO).body["department"], "Marketing");
}

#[test]
fn killed_at_any_moment_it_leaves_every_employee_in_one_department() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut service = Service::start(folder.path());
    service.add("Sales", &jo());
    for round in 0..8_u64 {
        let address = service.address.clone();
        let requests = std::thread::spawn(move || {
            // Until the service is gone.
            for department in ["Marketing", "Legal", "Sales"].iter().cycle() {
                let body = json!({ "department": department }).to_string();
                if http::try_send(&address, &format!("POST {JO}/move"), &[("If-Match", "*")], &body).is_none() {
                    return;
                }
            }
        });
        std::thread::sleep(Duration::from_millis(20 + 7 * round));
        drop(service);
        requests.join().expect("it ends");
        service = Service::start(folder.path());
        let department = service.get(JO).body["department"].as_str().expect("a department").to_owned();
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let lists = ["Sales", "Marketing", "Legal"].map(|each| {
                let list = service.ids(&format!("/departments/{each}/employees"));
                let by_name = service.ids(&format!("/departments/{each}/employees?last_name=Jones"));
                list == by_name && list == if each == department { vec![223] } else { vec![] }
            });
            if lists == [true; 3] {
                break;
            }
            assert!(Instant::now() < deadline, "round {round}: the lists do not follow {department}: {lists:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(service.ids("/employees?email=jo@contoso.com"), [223]);
    }
}

#[test]
fn pages_lead_through_a_department_and_each_employee_comes_once() {
    let (service, _folder) = started();
    for id in 1..=25 {
        let employee = with(with(jo(), "id", id), "email", format!("e{id}@contoso.com"));
        assert_eq!(service.add("R%26D", &employee).status, 201);
    }
    for search in ["", "last_name=Jones&"] {
        let (mut ids, mut pages, mut after) = (Vec::new(), 0, String::new());
        loop {
            let page = service.get(&format!("/departments/R%26D/employees?{search}page_size=10{after}"));
            ids.extend(
                page.body["employees"].as_array().expect("a list").iter().filter_map(|each| each["id"].as_u64()),
            );
            pages += 1;
            let Some(next) = page.body["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!((pages, ids), (3, (1..=25).collect::<Vec<u64>>()), "{search}");
    }
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let (service, _folder) = started();
    service.add("Sales", &jo());
    let list = |query: &str| service.get(&format!("/departments/Sales/employees?{query}"));
    let cases = [
        (list("page_size=0"), 400, "1 to 100"),
        (list("after=damaged"), 400, "continuation"),
        (service.get("/employees?emial=jo@contoso.com"), 400, "emial"),
        (list("lastname=Jones"), 400, "lastname"),
        (service.get("/employees/first"), 400, "first"),
        (service.get("/employees/99"), 404, "no employee 99"),
        (service.send("DELETE /employees", &Value::Null), 405, "method"),
        (service.add("Sales", &with(jo(), "last_name", " ")), 400, "last_name"),
        (service.get("/nowhere"), 404, "no such path"),
        (service.add("Sales", &json!({ "id": 1 })), 422, "first_name"),
        (service.add("Sales", &with(jo(), "id", 1_000_000)), 400, "id"),
        (service.add("Sales", &with(jo(), "email", "a\u{7}b")), 400, "control character"),
        (service.send_if(&format!("PUT {JO}"), &[("If-Match", "*")], &with(jo(), "id", 9)), 400, "differ"),
    ];
    for (answer, status, hint) in cases {
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert!(answer.status == status && message.contains(hint), "{status} with {hint:?}: {answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_it_in_order_and_the_data_is_there_after_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut service = Service::start(folder.path());
    service.add("Sales", &jo());
    let killed = Command::new("kill").args(["-TERM", &service.child.id().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    let mut line = String::new();
    service.output.read_line(&mut line).expect("its last word");
    assert_eq!(line.trim(), "stopped");
    assert!(service.child.wait().expect("it ends").success());

    let service = Service::start(folder.path());
    assert_eq!(service.get(JO).body, in_department(jo(), "Sales"));
}

#[test]
fn an_address_or_a_file_in_use_is_named() {
    let (service, folder) = started();
    let program = support::built().remove("department_service").expect("it is an example");
    let says = |listen: &str, store: &str| {
        let output = Command::new(&program).args(["--listen", listen, "--store", store]).output().expect("it starts");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = says(&service.address, "memory");
    assert!(said.contains(&service.address) && said.contains("--listen"), "{said}");
    let file = format!("embedded:{}", folder.path().join("company.redb").display());
    let said = says("127.0.0.1:0", &file);
    assert!(said.contains(&file) && said.contains("another process"), "{said}");
}

#[test]
fn an_unknown_store_is_refused_with_the_choices() {
    let program = support::built().remove("department_service").expect("it is an example");
    let output = Command::new(program).args(["--store", "cloud"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("memory, embedded"), "{output:?}");
}
