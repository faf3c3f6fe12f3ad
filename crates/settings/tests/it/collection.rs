//! Agents of public collections, as their authors wrote them. They are kept outside of the repository:
//! `CAIMAN_SHARED` names the folder that has `agent-files` in it, `CAIMAN_AGENT_FILES` any other collection.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base::Env;
use settings::definition::{Agent, Home, Places, Problem, Shelf, Source, Standing, Weight, agent};

use crate::world::World;

struct Read {
    file: PathBuf,
    text: String,
    agent: Option<Agent>,
    problems: Vec<Problem>,
}

fn collection() -> (PathBuf, Vec<Read>) {
    let env = Env::of_process();
    let shared = env.get("CAIMAN_SHARED").map(|folder| Path::new(folder).join("agent-files"));
    let named = env.get("CAIMAN_AGENT_FILES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/agent-files");
    let folder = named.or(shared).unwrap_or(beside);
    let mut files = Vec::new();
    markdown(&folder, &mut files);
    files.sort();
    if files.is_empty() {
        testkit::parts::skipped(&format!("no agent files in {}", folder.display()));
    }
    let read = files.into_iter().map(|file| {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        let home =
            Home { source: Source::User, file: Some(file.clone()), standing: Standing::Trusted };
        let (agent, problems) = agent::read(&text, home);
        Read { file, text, agent, problems }
    });
    (folder.clone(), read.collect())
}

fn markdown(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            markdown(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
}

/// The header's lines, without the fences.
fn header(text: &str) -> Vec<&str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let Some(rest) = text.strip_prefix("---") else { return Vec::new() };
    rest.lines().skip(1).take_while(|line| line.trim() != "---").collect()
}

#[test]
fn every_file_with_a_name_and_a_description_is_an_agent_and_no_other() {
    let (_, files) = collection();
    let mut wrong = Vec::new();
    for Read { file, text, agent, problems } in &files {
        let has = |key: &str| {
            let field =
                header(text).into_iter().find_map(|line| line.trim_start().strip_prefix(key));
            field.is_some_and(|value| !value.trim().is_empty())
        };
        let is_agent = has("name:") && has("description:");
        if agent.is_some() != is_agent {
            wrong.push(format!("{}: {problems:?}", file.display()));
        }
        let broken = problems.iter().any(|it| it.weight == Weight::Broken);
        assert_eq!(broken, agent.is_none() && has("name:"), "{}", file.display());
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), files.len());
}

#[test]
fn no_field_swallows_the_next_one() {
    let (_, files) = collection();
    for Read { file, text, agent, .. } in files {
        let Some(agent) = agent else { continue };
        assert!(agent.name.len() < 100 && !agent.name.contains('\n'), "{}", file.display());
        for line in header(&text) {
            let Some((key, value)) = line.split_once(": ") else { continue };
            let value = value.trim().trim_matches(['"', '\'']);
            match key {
                "name" => assert_eq!(agent.name, value, "{}", file.display()),
                "model" => assert_eq!(agent.model.as_deref(), Some(value), "{}", file.display()),
                "tools" => {
                    let tools = agent.tools.clone().unwrap_or_default();
                    assert!(!tools.is_empty(), "{}", file.display());
                    for tool in tools {
                        assert!(!tool.contains([' ', ',', '"']) || tool.contains('('), "{tool}");
                    }
                }
                "color" => assert!(agent.color.is_some(), "{}: {value}", file.display()),
                _ => {}
            }
        }
        assert!(!agent.description.contains("\ntools:") && !agent.description.contains("\nmodel:"));
        assert!(!agent.prompt.starts_with("---"), "{}", file.display());
    }
}

/// How many of the collection we know are agents, and how many of them have something odd about them.
#[test]
fn the_known_collection_has_the_known_oddities() {
    let (folder, files) = collection();
    if files.len() != 522 {
        testkit::parts::skipped(&format!("{} is not the known collection", folder.display()));
        return;
    }
    let agents: Vec<_> = files.iter().filter(|it| it.agent.is_some()).collect();
    let noted: Vec<_> = agents.iter().filter(|it| !it.problems.is_empty()).collect();
    let not_yaml = noted.iter().filter(|it| it.problems[0].text.contains("not strict YAML"));
    let shown = noted.iter().flat_map(|it| it.problems.iter().map(ToString::to_string));
    let shown: Vec<_> = shown.collect();
    assert_eq!((agents.len(), not_yaml.count(), noted.len()), (521, 9, 9), "{shown:#?}");
}

/// What people do to such files: other line ends, a byte order mark, lost lines, stray quotes.
#[test]
fn name_and_description_survive_what_editors_and_people_do() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change); 6] = [
        ("carriage returns", |text| text.replace('\n', "\r\n")),
        ("a byte order mark", |text| format!("\u{feff}{text}")),
        ("empty lines above", |text| format!("\n\n{text}")),
        ("spaces after the fences", |text| text.replace("---\n", "---  \n")),
        ("no body", |text| {
            let end = text.match_indices("\n---").nth(usize::from(text.starts_with('\n')));
            end.map_or(text, |(end, fence)| &text[..end + fence.len()]).to_owned()
        }),
        ("a stray field that is not YAML", |text| {
            text.replacen("\nname:", "\ncolor: \"blue\nname:", 1)
        }),
    ];
    let (_, files) = collection();
    for Read { file, text, agent, .. } in files {
        let Some(agent) = agent else { continue };
        for (what, change) in changes {
            let home = agent.home.clone();
            let (read, problems) = agent::read(&change(&text.replace('\r', "")), home);
            let Some(read) = read else {
                panic!("{} with {what}: {problems:?}", file.display());
            };
            assert_eq!(read.name, agent.name, "{} with {what}", file.display());
            assert_eq!(read.description, agent.description, "{} with {what}", file.display());
        }
    }
}

/// A look at hundreds of unchanged files is a matter of file dates: 19 ms in an unoptimised build on a busy
/// machine, where reading all of them takes 390.
#[cfg(unix)]
#[test]
fn a_look_at_hundreds_of_agents_is_quick() {
    let (folder, files) = collection();
    let world = World::new();
    fs::create_dir_all(world.at("home/.claude")).unwrap();
    std::os::unix::fs::symlink(folder, world.at("home/.claude/agents")).unwrap();
    let shelf = Shelf::new(Places::new(world.paths(), world.env()));
    let timed = || {
        let begin = Instant::now();
        let found = shelf.look(&world.at("project"));
        (found.agents.len(), begin.elapsed())
    };
    let (first, reading) = timed();
    let (second, looking) = timed();
    eprintln!("{first} agents read in {reading:?}, looked at again in {looking:?}");
    assert_eq!(first, second);
    assert!(first <= files.len());
    assert!(looking < Duration::from_millis(250), "{looking:?}");
}
