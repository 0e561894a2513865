//! Perfetto itself: its own page, from this machine, in a browser.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::browser::Page;

/// Perfetto with a trace.
pub(crate) struct Perfetto {
    page: Page,
    _site: Site,
}

impl Perfetto {
    /// Opens a trace, as JSON or that compressed, and waits until Perfetto has read all of it.
    pub(crate) fn open(trace: &Path) -> Perfetto {
        let site = Site::serve(trace);
        let origin = format!("http://127.0.0.1:{}", site.port);
        // When it is tested, it loads nothing again and counts nobody's visits.
        let address = format!("{origin}/page/?testing=1#!/?hideSidebar=true&url={origin}/trace");
        let mut page = Page::open(&address, [1280, 600]);
        page.evaluate(
            "new Promise((done, fail) => { \
                const end = Date.now() + 60000; \
                const look = () => window.app?.trace ? done() \
                    : Date.now() < end ? setTimeout(look, 50) \
                    : fail(new Error('not read in 60 s: ' + document.body.innerText)); \
                look(); })",
        );
        Perfetto { page, _site: site }
    }

    /// The rows that the trace processor answers, each as a tuple.
    pub(crate) fn query<Row: DeserializeOwned>(&mut self, sql: &str) -> Vec<Row> {
        let rows = self.run(&format!(
            "(async () => {{ \
                const result = await app.trace.engine.query({}); \
                const plain = value => typeof value === 'bigint' ? Number(value) : value; \
                const rows = []; \
                for (const row = result.iter({{}}); row.valid(); row.next()) \
                    rows.push(result.columns().map(column => plain(row.get(column)))); \
                return rows; }})()",
            Value::from(sql)
        ));
        serde_json::from_value(rows).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Returns the value of a script in the page, where Perfetto is `app`.
    pub(crate) fn run(&mut self, script: &str) -> Value {
        self.page.evaluate(script)
    }

    /// A PNG of the page.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        self.page.picture()
    }
}

/// A server for the page and the trace.
struct Site {
    port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl Site {
    fn serve(trace: &Path) -> Site {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv");
        let page = fs::canonicalize(tools.join("perfetto"));
        let page = page.expect("Perfetto in .venv: ./setup.sh --tests brings it");
        let folder = tempfile::tempdir().expect("a folder");
        symlink(page, folder.path().join("page")).expect("writable");
        let trace = fs::canonicalize(trace).expect("a trace");
        symlink(trace, folder.path().join("trace")).expect("writable");
        let mut server = Command::new(tools.join("bin/python"))
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"])
            .arg("--directory")
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python starts");
        let mut line = String::new();
        // "Serving HTTP on 127.0.0.1 port 37551 (http://127.0.0.1:37551/) ..."
        BufReader::new(server.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("the server speaks");
        let port = line.split(' ').skip_while(|word| *word != "port").nth(1);
        Site {
            port: port.and_then(|port| port.parse().ok()).expect("a port"),
            server,
            _folder: folder,
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A server that has ended already needs no end.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
