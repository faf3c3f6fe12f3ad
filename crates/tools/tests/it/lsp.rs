//! Tools that ask language servers, against real ones.

use serde_json::{Value, json};

use crate::room::Room;
use crate::servers::{has, room};

/// Two files of Python, one of which has had an error all along.
fn python(room: &Room) {
    room.write("pyproject.toml", "[project]\nname = \"x\"\nversion = \"0\"\n");
    room.write("shape.py", "class Shape:\n    def area(self) -> int:\n        return 1\n");
    room.write(
        "main.py",
        "from shape import Shape\n\nold: int = \"wrong all along\"\n\n\ndef total(shapes: list[Shape]) -> int:\n    \
         return sum(shape.area() for shape in shapes)\n",
    );
}

async fn an_edit_tells_the_errors_it_brought_and_no_others(server: &str, program: &str) {
    if !has(program) {
        return;
    }
    let room = room(json!({ server: {} })).await;
    python(&room);
    room.warm("main.py").await;
    let said = room.edits("main.py", "shape.area()", "shape.volume()").await;
    assert!(said.contains("New errors since this change:\nmain.py:7:"), "{server}: {said}");
    assert!(said.contains("volume"), "{server}: {said}");
    assert!(!said.contains("main.py:3:"), "{server}: {said}");
    let said = room.edits("main.py", "shape.volume()", "shape.area()").await;
    assert!(!said.contains("errors"), "{server}: {said}");
    let all = room.says("diagnostics", json!({ "file_path": "main.py" })).await;
    assert!(all.starts_with("1 errors") && all.contains("error main.py:3:"), "{server}: {all}");
    room.lsp().close().await;
}

#[tokio::test]
async fn errors_an_edit_brings_come_from_a_server_that_pushes() {
    an_edit_tells_the_errors_it_brought_and_no_others("pyright", "pyright-langserver").await;
}

#[tokio::test]
async fn errors_an_edit_brings_come_from_a_server_that_must_be_asked() {
    an_edit_tells_the_errors_it_brought_and_no_others("ty", "ty").await;
}

#[tokio::test]
async fn a_linter_complains_beside_it() {
    if !has("ruff") {
        return;
    }
    let room = room(json!({ "ruff": {} })).await;
    python(&room);
    room.warm("shape.py").await;
    let said = room.edits("shape.py", "return 1\n", "return 1 +\n").await;
    assert!(said.contains("New errors since this change:\nshape.py:3:"), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn python_is_walked_and_renamed_across_files() {
    if !has("pyright-langserver") {
        return;
    }
    let room = room(json!({ "pyright": {} })).await;
    python(&room);
    let at = json!({ "file_path": "main.py", "line": 7, "symbol": "shape.area" });
    assert_eq!(room.says("definition", at.clone()).await, "shape.py:2 def area(self) -> int:");
    let uses = json!({ "file_path": "shape.py", "symbol": "area" });
    assert_eq!(
        room.says("references", uses).await,
        "main.py:7 return sum(shape.area() for shape in shapes)\nshape.py:2 def area(self) -> int:"
    );
    let said = room.says("hover", at).await;
    assert!(said.contains("def area() -> int"), "{said}");
    let outline = room.says("symbols", json!({ "file_path": "shape.py" })).await;
    assert_eq!(outline, "1 class Shape\n  2 method area");
    let found = room.says("symbols", json!({ "query": "Shape" })).await;
    assert!(found.contains("shape.py:1 class Shape"), "{found}");
    let calls = json!({ "file_path": "shape.py", "symbol": "area", "direction": "incoming" });
    let calls = room.says("call_hierarchy", calls).await;
    assert_eq!(calls, "main.py:6 function total, calls at line 7");
    let to = json!({ "file_path": "shape.py", "line": 2, "symbol": "area", "new_name": "surface" });
    let renamed = room.call("rename", to).await.unwrap();
    assert!(renamed.text.contains("main.py") && renamed.text.contains("shape.py"), "{renamed:?}");
    let Some(base::Block::Diff { path, unified }) = renamed.body else { panic!("a diff") };
    let files = base::block::files_of(&path, &unified);
    assert_eq!(files.iter().map(|(path, _)| *path).collect::<Vec<_>>(), ["main.py", "shape.py"]);
    assert!(files[1].1.starts_with("@@ -1,3 +1,3 @@\n class Shape:\n-    def area"), "{files:?}");
    assert!(room.read("main.py").contains("shape.surface()"));
    assert!(room.read("shape.py").contains("def surface(self)"));
    room.lsp().close().await;
}

#[tokio::test]
async fn of_files_that_a_rule_keeps_from_being_read_no_line_is_shown() {
    if !has("pyright-langserver") {
        return;
    }
    let mut room = room(json!({ "pyright": {} })).await;
    python(&room);
    room.warm("main.py").await;
    room.deny("Read(main.py)");
    let uses = json!({ "file_path": "shape.py", "symbol": "area" });
    let said = room.says("references", uses).await;
    assert_eq!(said, "main.py:7\nshape.py:2 def area(self) -> int:");
    room.lsp().close().await;
}

#[tokio::test]
async fn a_rename_names_every_file_it_changes_before_it_is_allowed() {
    if !has("pyright-langserver") {
        return;
    }
    let room = room(json!({ "pyright": {} })).await;
    python(&room);
    room.warm("main.py").await;
    let input = json!({ "file_path": "shape.py", "symbol": "area", "new_name": "surface" });
    let Value::Object(input) = input else { unreachable!() };
    let call = room.registry.get("rename").unwrap().clone().prepare(input).unwrap();
    call.foresee(&room.workspace).await.unwrap();
    let actions = format!("{:?}", call.actions(&room.workspace).unwrap());
    assert_eq!(actions.matches("Edit(").count(), 2, "{actions}");
    assert!(room.read("shape.py").contains("def area"), "nothing changes before it is allowed");
    // Somebody else changes a file in between: nothing is written at all.
    room.write("main.py", "from shape import Shape\nShape().area()\n");
    let error = call.run(&room.ctx()).await.unwrap_err().to_string();
    assert!(error.contains("main.py has just been changed"), "{error}");
    assert!(room.read("shape.py").contains("def area"));
    room.lsp().close().await;
}

fn typescript(room: &Room) {
    room.write("tsconfig.json", r#"{"compilerOptions": {"strict": true, "module": "commonjs"}}"#);
    room.write(
        "shape.ts",
        "export function area(side: number): number {\n  return side * side;\n}\n",
    );
    room.write(
        "main.ts",
        "import { area } from './shape';\n\nexport const total = area(2) + area(3);\n",
    );
}

#[tokio::test]
async fn typescript_is_checked_and_renamed_across_files() {
    if !has("typescript-language-server") {
        return;
    }
    let room = room(json!({ "typescript": {} })).await;
    typescript(&room);
    room.warm("main.ts").await;
    let said = room.edits("main.ts", "area(3)", "area('3')").await;
    assert!(said.contains("New errors since this change:\nmain.ts:3:"), "{said}");
    let said = room.edits("main.ts", "area('3')", "area(3)").await;
    assert!(!said.contains("errors"), "{said}");
    let uses = room.says("references", json!({ "file_path": "shape.ts", "symbol": "area" })).await;
    assert_eq!(uses.lines().count(), 3, "{uses}");
    let to = json!({ "file_path": "shape.ts", "symbol": "area", "new_name": "square" });
    room.says("rename", to).await;
    assert_eq!(
        room.read("main.ts"),
        "import { square } from './shape';\n\nexport const total = square(2) + square(3);\n"
    );
    room.lsp().close().await;
}

/// TypeScript 7 must be asked for its complaints, and says only later that it can be.
#[tokio::test]
async fn typescript_7_is_checked_and_renamed_across_files() {
    let program = testkit::parts::folder().join("node_modules/typescript7/bin/tsc");
    if !has(program.to_str().unwrap()) {
        return;
    }
    let room = room(json!({ "tsc": { "command": program } })).await;
    typescript(&room);
    room.warm("main.ts").await;
    let said = room.edits("main.ts", "area(3)", "area('3')").await;
    assert!(said.contains("New errors since this change:\nmain.ts:3:"), "{said}");
    let said = room.edits("main.ts", "area('3')", "area(3)").await;
    assert!(!said.contains("errors"), "{said}");
    let uses = room.says("references", json!({ "file_path": "shape.ts", "symbol": "area" })).await;
    assert_eq!(uses.lines().count(), 3, "{uses}");
    let to = json!({ "file_path": "shape.ts", "symbol": "area", "new_name": "square" });
    room.says("rename", to).await;
    assert!(room.read("main.ts").contains("square(2) + square(3)"));
    room.lsp().close().await;
}

#[tokio::test]
async fn go_is_checked_and_renamed_across_files() {
    if !has("gopls") {
        return;
    }
    let room = room(json!({ "gopls": {} })).await;
    room.write("go.mod", "module x\n\ngo 1.19\n");
    room.write("shape.go", "package x\n\nfunc Area(side int) int {\n\treturn side * side\n}\n");
    room.write("main.go", "package x\n\nvar Total = Area(2) + Area(3)\n");
    room.warm("main.go").await;
    let said = room.edits("main.go", "Area(3)", "Area(\"3\")").await;
    assert!(said.contains("New errors since this change:\nmain.go:3:"), "{said}");
    let said = room.edits("main.go", "Area(\"3\")", "Area(3)").await;
    assert!(!said.contains("errors"), "{said}");
    let uses = room.says("references", json!({ "file_path": "shape.go", "symbol": "Area" })).await;
    assert_eq!(uses.lines().count(), 2, "{uses}");
    let to = json!({ "file_path": "shape.go", "symbol": "Area", "new_name": "Square" });
    room.says("rename", to).await;
    assert!(room.read("main.go").contains("Square(2) + Square(3)"), "{}", room.read("main.go"));
    room.lsp().close().await;
}

#[tokio::test]
async fn c_is_checked_and_mended() {
    if !has("clangd") {
        return;
    }
    let room = room(json!({ "clangd": {} })).await;
    room.write("compile_flags.txt", "-Wall\n");
    room.write(
        "main.c",
        "int add(int a, int b) { return a + b; }\nint main(void) { return add(1, 2); }\n",
    );
    room.warm("main.c").await;
    let said = room.edits("main.c", "add(1, 2);", "add(1, 2)").await;
    assert!(said.contains("New errors since this change:\nmain.c:2:"), "{said}");
    let offered = room.says("code_action", json!({ "file_path": "main.c", "line": 2 })).await;
    assert!(offered.contains("insert ';'"), "{offered}");
    let fix = json!({ "file_path": "main.c", "line": 2, "title": "insert ';'" });
    let said = room.says("code_action", fix).await;
    assert!(said.starts_with("changed main.c"), "{said}");
    assert!(room.read("main.c").contains("add(1, 2);"));
    let uses = room.says("references", json!({ "file_path": "main.c", "symbol": "add" })).await;
    assert_eq!(uses.lines().count(), 2, "{uses}");
    room.lsp().close().await;
}

#[tokio::test]
async fn c_is_walked_and_renamed_across_files() {
    if !has("clangd") {
        return;
    }
    let room = room(json!({ "clangd": {} })).await;
    room.write("compile_flags.txt", "-Wall\n");
    room.write("shape.h", "int area(int side);\n");
    room.write("shape.c", "#include \"shape.h\"\nint area(int side) { return side * side; }\n");
    room.write("main.c", "#include \"shape.h\"\nint main(void) { return area(2); }\n");
    for file in ["shape.c", "main.c"] {
        room.warm(file).await;
    }
    room.rests().await;
    let uses = room.says("references", json!({ "file_path": "main.c", "symbol": "area" })).await;
    assert!(uses.contains("main.c:2 ") && uses.contains("shape.c:2 "), "{uses}");
    let to = json!({ "file_path": "main.c", "symbol": "area", "new_name": "square" });
    let said = room.says("rename", to).await;
    assert!(said.contains("shape.c") && said.contains("main.c"), "{said}");
    assert!(room.read("main.c").contains("square(2)"));
    room.lsp().close().await;
}

#[tokio::test]
async fn shell_scripts_have_an_outline() {
    if !has("bash-language-server") {
        return;
    }
    let room = room(json!({ "bash": {} })).await;
    room.write("run.sh", "greet() {\n  echo hello\n}\n\ngreet\n");
    let outline = room.says("symbols", json!({ "file_path": "run.sh" })).await;
    assert!(outline.contains("1 function greet"), "{outline}");
    let uses = json!({ "file_path": "run.sh", "line": 5, "symbol": "greet" });
    assert_eq!(room.says("references", uses).await.lines().count(), 2);
    room.lsp().close().await;
}

#[tokio::test]
async fn shell_scripts_are_checked() {
    if !has("bash-language-server") || !has("shellcheck") {
        return;
    }
    let room = room(json!({ "bash": {} })).await;
    room.write("run.sh", "#!/bin/sh\nif true; then\n  echo hello\nfi\n");
    room.warm("run.sh").await;
    let said = room.edits("run.sh", "fi\n", "").await;
    assert!(said.contains("New errors since this change:\nrun.sh:"), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn rust_is_walked() {
    if !has("rust-analyzer") {
        return;
    }
    let room = room(json!({ "rust-analyzer": {} })).await;
    room.write("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    room.write("src/lib.rs", "pub fn area(side: u32) -> u32 {\n    side * side\n}\n\npub fn twice() -> u32 {\n    area(1) + area(2)\n}\n");
    let uses =
        room.says("references", json!({ "file_path": "src/lib.rs", "symbol": "area" })).await;
    assert!(uses.contains("src/lib.rs:6 area(1) + area(2)"), "{uses}");
    room.warm("src/lib.rs").await;
    room.rests().await;
    let said = room.edits("src/lib.rs", "area(1) + area(2)", "area(1) + area(\"2\")").await;
    assert!(said.contains("New errors since this change:\nsrc/lib.rs:6:"), "{said}");
    let said = room.edits("src/lib.rs", "area(\"2\")", "area(2)").await;
    assert!(!said.contains("errors"), "{said}");
    room.write("src/main.rs", "fn main() {\n    x::area(3);\n}\n");
    room.warm("src/main.rs").await;
    let to = json!({ "file_path": "src/lib.rs", "symbol": "area", "new_name": "square" });
    let said = room.says("rename", to).await;
    assert!(said.contains("src/main.rs") && said.contains("src/lib.rs"), "{said}");
    assert!(room.read("src/main.rs").contains("x::square(3)"));
    room.lsp().close().await;
}

#[tokio::test]
async fn a_module_that_a_command_has_made_is_known() {
    if !has("ty") {
        return;
    }
    let room = room(json!({ "ty": {} })).await;
    python(&room);
    room.warm("shape.py").await;
    let said = room.edits("shape.py", "class", "import made\n\nclass").await;
    assert!(said.contains("New errors since this change:\nshape.py:1:"), "{said}");
    room.says("bash", json!({ "command": "echo 'value = 1' > made.py" })).await;
    let all = room.says("diagnostics", json!({ "file_path": "shape.py" })).await;
    assert_eq!(all, "0 errors, 0 warnings");
    room.says("bash", json!({ "command": "rm made.py" })).await;
    let said = room.edits("shape.py", "return 1", "return 2").await;
    assert!(said.contains("New errors since this change:\nshape.py:1:"), "{said}");
    room.lsp().close().await;
}

#[tokio::test]
async fn twenty_files_in_a_row_are_all_checked_by_who_is_asked() {
    twenty_files_in_a_row("ty", "ty").await;
}

#[tokio::test]
async fn twenty_files_in_a_row_are_all_checked_by_who_pushes() {
    twenty_files_in_a_row("pyright", "pyright-langserver").await;
}

async fn twenty_files_in_a_row(server: &str, program: &str) {
    if !has(program) {
        return;
    }
    let room = room(json!({ server: {} })).await;
    python(&room);
    room.warm("main.py").await;
    for number in 0..20 {
        let file = format!("module_{number}.py");
        let content = format!("from shape import Shape\n\nShape().missing_{number}()\n");
        let said = room.says("write", json!({ "file_path": file, "content": content })).await;
        assert!(said.contains(&format!("\n{file}:3:")), "{said}");
    }
    assert_eq!(room.lsp().processes().len(), 1);
    room.lsp().close().await;
}

#[tokio::test]
async fn a_project_of_its_own_has_a_server_of_its_own() {
    if !has("ty") {
        return;
    }
    let room = room(json!({ "ty": {} })).await;
    for project in ["one", "two"] {
        room.write(
            &format!("{project}/pyproject.toml"),
            "[project]\nname = \"x\"\nversion = \"0\"\n",
        );
        room.write(&format!("{project}/a.py"), "value: int = 1\n");
        let file = format!("{project}/a.py");
        room.warm(&file).await;
        let said = room.edits(&file, "= 1", "= 'text'").await;
        assert!(said.contains(&format!("{project}/a.py:1:")), "{said}");
    }
    assert_eq!(room.lsp().processes().len(), 2);
    room.lsp().close().await;
}
