//! A headless Chromium, driven by its DevTools protocol.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use data_encoding::BASE64;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// A page in a browser of its own.
pub(crate) struct Page {
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    commands: u64,
    process: Child,
    _profile: tempfile::TempDir,
}

impl Page {
    /// Opens an address in a window of this width and height, and waits until it is loaded.
    pub(crate) fn open(address: &str, [width, height]: [u32; 2]) -> Page {
        let profile = tempfile::tempdir().expect("a folder");
        let mut process = Command::new(program())
            // The sandbox refuses to run as root, as CI does.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
            ])
            // Nothing is found on a network but this machine.
            .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let devtools = devtools(&mut process);
        let host = devtools
            .trim_start_matches("ws://")
            .split('/')
            .next()
            .unwrap_or_default();
        let stream = TcpStream::connect(host).expect("the browser answers");
        let (socket, _) = tungstenite::client(devtools.as_str(), stream).expect("a connection");
        let mut page = Page {
            socket,
            session: None,
            commands: 0,
            process,
            _profile: profile,
        };
        let target = page.command("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = page.command("Target.attachToTarget", target);
        page.session = attached["sessionId"].as_str().map(str::to_owned);
        // A window is at least 500 pixels wide; what the page sees need not be.
        let view =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        page.command("Emulation.setDeviceMetricsOverride", view);
        page.command("Page.navigate", json!({"url": address}));
        let loaded = "new Promise(done => document.readyState === 'complete' && \
            location.href !== 'about:blank' ? done() : addEventListener('load', () => done()))";
        page.evaluate(loaded);
        page
    }

    /// Returns the value of the script, a promise's result included.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let parameters = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.command("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        answer["result"]["value"].take()
    }

    /// Returns the value of the script, as text.
    pub(crate) fn text(&mut self, script: &str) -> String {
        self.evaluate(script).as_str().expect("text").to_owned()
    }

    /// Moves the mouse over the first element of this selector, and clicks it if asked to.
    pub(crate) fn point_at(&mut self, selector: &str, events: &[&str]) {
        let centre = format!(
            "(() => {{ const box = document.querySelector('{selector}').getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let centre = self.evaluate(&centre);
        for event in events {
            let at = json!({"type": event, "x": centre[0], "y": centre[1], "button": "left",
                "clickCount": 1});
            self.command("Input.dispatchMouseEvent", at);
        }
    }

    /// A PNG of the page.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let taken = self.command("Page.captureScreenshot", json!({"format": "png"}));
        let text = taken["data"].as_str().expect("a picture");
        BASE64.decode(text.as_bytes()).expect("base64")
    }

    fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.commands += 1;
        let id = self.commands;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.socket
            .send(Message::text(command.to_string()))
            .expect("sent");
        loop {
            let message = self.socket.read().expect("an answer");
            let text = message.into_text().expect("text");
            let mut answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == json!(id) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // A browser that has ended already needs no end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places = std::env::split_paths(&path).flat_map(|it| names.map(|name| it.join(name)));
    places
        .find(|it| it.is_file())
        .expect("a browser: ./setup.sh --tests installs Chromium")
}

/// Where the browser listens, which is the first thing that it says.
fn devtools(process: &mut Child) -> String {
    let stderr = process.stderr.take().expect("piped");
    let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("DevTools listening on "));
    let line = line.expect("the browser listens");
    // It goes on talking, and would wait for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    line.rsplit(' ').next().unwrap_or_default().to_owned()
}
