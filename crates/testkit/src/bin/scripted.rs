//! `scripted SCRIPT.json [--port N] [--log FILE]`: serves a script and prints the base URL.
//!
//! The log gets one JSON line a request: method, path, body and the rules it breaks.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use settings::provider::Wire;
use testkit::{Recorded, Script, Server};

struct Options {
    script: PathBuf,
    port: u16,
    log: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => return complain(&problem),
    };
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => complain(&problem.to_string()),
    }
}

fn complain(problem: &str) -> ExitCode {
    let usage = "usage: scripted SCRIPT.json [--port N] [--log FILE]";
    // With standard error closed there is nobody to tell.
    drop(writeln!(io::stderr(), "scripted: {problem}\n{usage}"));
    ExitCode::FAILURE
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut script = None;
    let mut options = Options { script: PathBuf::new(), port: 0, log: None };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--port" => {
                let port = value()?;
                options.port = port.parse().map_err(|_| format!("`{port}` is no port"))?;
            }
            "--log" => options.log = Some(PathBuf::from(value()?)),
            flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
            path => script = Some(PathBuf::from(path)),
        }
    }
    options.script = script.ok_or("no script given")?;
    Ok(options)
}

async fn run(options: &Options) -> io::Result<()> {
    let text = fs::read_to_string(&options.script)?;
    let script: Script = serde_json::from_str(&text).map_err(|error| {
        let place = options.script.display();
        io::Error::new(io::ErrorKind::InvalidData, format!("{place}: {error}"))
    })?;
    let server = Server::start_at(options.port, script).await?;
    let mut out = io::stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    let mut log = options.log.as_ref().map(File::create).transpose()?;
    for number in 0.. {
        server.wait_for_requests(number + 1).await;
        if let (Some(log), Some(request)) = (&mut log, server.requests().get(number)) {
            writeln!(log, "{}", line(request))?;
        }
    }
    Ok(())
}

fn line(request: &Recorded) -> String {
    let violations: Vec<String> = request.violations.iter().map(ToString::to_string).collect();
    json!({
        "method": request.method,
        "path": request.path,
        "wire": request.wire.map(Wire::as_str),
        "body": request.body,
        "violations": violations,
    })
    .to_string()
}
