//! The rules that an "always" stores.

use crate::room::Room;

/// The rules offered for a line.
fn offered(line: &str) -> Vec<String> {
    Room::new().run(line).grants.iter().map(ToString::to_string).collect()
}

#[test]
fn a_wide_command_is_stored_exactly() {
    let lines = [
        "git submodule foreach ls",
        "git config core.pager less",
        "git worktree add ../x",
        "git bisect run ./t.sh",
        "git rebase --exec ./t.sh HEAD~2",
        "git rebase main",
        "git filter-branch --tree-filter x",
        "git clone https://example.com/x",
        "git fetch origin",
        "git pull",
        "git remote add x https://example.com/x",
        "git maintenance run",
        "git difftool HEAD",
        "docker exec x ls",
        "docker run alpine ls",
        "docker compose up",
        "docker build .",
        "podman exec x ls",
        "kubectl exec pod ls",
        "kubectl delete pod x",
        "kubectl apply -f x.yaml",
        "terraform apply",
        "terraform destroy",
        "helm install x y",
        "helm upgrade x y",
        "ssh host ls",
        "scp a host:b",
        "gh api repos/x/y",
        "gh pr merge 5",
        "gh workflow run x",
        "npm exec eslint",
        "npx eslint .",
        "npm install left-pad",
        "npm run deploy",
        "npm run x",
        "pnpm dlx x",
        "yarn dlx x",
        "yarn run deploy",
        "yarn deploy",
        "bun x cowsay",
        "uv run python x.py",
        "uv pip install x",
        "poetry run python",
        "bundle exec ruby x.rb",
        "pip install x",
        "cargo install x",
        "cargo xtask x",
        "go get x",
        "go generate ./...",
        "mvn test",
        "gradle test",
        "nix run x",
        "aws s3 ls",
        "gcloud auth list",
        "az vm list",
        "systemctl restart x",
        "brew install x",
        "apt install x",
        "sudo ls",
        "python3 x.py",
        "make test",
    ];
    for line in lines {
        for rule in offered(line) {
            assert!(!rule.contains('*'), "{line}: {rule}");
        }
    }
}

#[test]
fn a_narrow_command_is_stored_with_its_first_words() {
    for (line, rule) in [
        ("git commit -m x", "Bash(git commit:*)"),
        ("git push origin main", "Bash(git push:*)"),
        ("cargo test -p x", "Bash(cargo test:*)"),
        ("npm run test -- --watch", "Bash(npm run test:*)"),
        ("npm run test:unit", "Bash(npm run test:unit:*)"),
        ("pnpm run lint", "Bash(pnpm run lint:*)"),
        ("uv run pytest -q", "Bash(uv run pytest:*)"),
        ("bundle exec rspec", "Bash(bundle exec rspec:*)"),
        ("go run ./cmd/x", "Bash(go run ./cmd/x:*)"),
        ("gh pr view 5", "Bash(gh pr view:*)"),
        ("kubectl get pods", "Bash(kubectl get:*)"),
        ("mkdir -p x", "Bash(mkdir:*)"),
        ("pytest -q", "Bash(pytest:*)"),
    ] {
        assert_eq!(offered(line), [rule], "{line}");
    }
}

#[test]
fn a_stored_rule_allows_the_same_command_again() {
    for line in ["git submodule update", "npm run deploy", "docker exec x ls", "git commit -m x"] {
        let mut room = Room::new();
        room.policy.rules.allow = room.run(line).grants;
        assert_eq!(room.run(line).decision, guard::Decision::Allow, "{line}");
    }
}
