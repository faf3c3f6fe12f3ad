//! Ways out of the cage that need no more than a shell, each tried by a real child.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use guard::cage::Namespace;
use guard::{Fence, Reach};

use crate::cage_den::{Den, finish, kinds, walled};

/// Ways to write outside the workspace.
const OUTSIDE: &[&str] = &[
    "echo x > $OUTSIDE/file",
    "echo x > $OUTSIDE/new",
    "echo x >> ../outside/file",
    "echo x > src/../../outside/new",
    "ln -s $OUTSIDE/file src/link && echo x > src/link",
    "ln -s $OUTSIDE src/folder && echo x > src/folder/new",
    "ln $OUTSIDE/file src/hard && echo x > src/hard",
    "ln -P $OUTSIDE/file $TMPDIR/hard && echo x > $TMPDIR/hard",
    "mv $OUTSIDE/file src/moved",
    "mv inside $OUTSIDE/new",
    "rm -f $OUTSIDE/file",
    "mkdir $OUTSIDE/new",
    "mkfifo $OUTSIDE/new",
    "ln -s x $OUTSIDE/new",
    "cp inside $OUTSIDE/new",
    "truncate -s 0 $OUTSIDE/file",
    "dd if=/dev/zero of=$OUTSIDE/file count=1",
    "echo x > /proc/self/root$OUTSIDE/file",
    "echo x > /proc/self/cwd/../outside/file",
    "cd -P /proc/self/cwd/.. && echo x > outside/new",
    "echo x > /proc/1/root$OUTSIDE/file",
    "echo x > /proc/$CAIMAN_PID/root$OUTSIDE/file",
    "echo x > /proc/$CAIMAN_PID/root$OUTSIDE/new",
    "echo x > /proc/$PPID/root$OUTSIDE/file",
    "exec 9< $OUTSIDE/file; echo x > /proc/self/fd/9",
    "exec 9< $OUTSIDE; echo x > /proc/self/fd/9/new",
    "(cd ..; mv outside gone)",
    "echo x > ~/.bashrc",
    "echo x > ~/new",
    "rm -f ~/.bashrc",
];

/// Ways to change what is protected in the workspace.
const PROTECTED: &[&str] = &[
    "echo x > .git/config",
    "echo x > .git/hooks/pre-commit",
    "printf x | tee .git/hooks/pre-commit",
    "rm -rf .git",
    "mv .git gone",
    "mv .git/hooks .git/gone",
    "ln -s /tmp .git/hooks/link",
    "chmod +x .git/hooks/sample && test -x .git/hooks/sample",
    "echo x > .caiman/settings",
    "mv .caiman gone && mkdir .caiman && echo x > .caiman/settings",
    "cd .. && mv work gone && mkdir -p work/.git && echo x > work/.git/config",
    "git config --file .git/config core.fsmonitor /tmp/evil",
];

/// Nothing outside changed.
fn assert_untouched(den: &Den, attempt: &str) {
    let kind = den.kind;
    assert_eq!(den.read("outside/file"), "# original", "{kind:?} {attempt}");
    let names: Vec<_> = fs::read_dir(den.path("outside")).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{kind:?} {attempt}: {names:?}");
    for place in ["home/.bashrc", "work/.git/config", "work/.caiman/settings"] {
        assert_eq!(den.read(place), "# original", "{kind:?} {attempt}");
    }
    assert!(!den.path("work/.git/hooks/pre-commit").exists(), "{kind:?} {attempt}");
    assert!(!den.path("home/new").exists(), "{kind:?} {attempt}");
}

#[tokio::test]
async fn nothing_outside_can_be_written() {
    for kind in kinds() {
        let den = Den::of(kind);
        for attempt in OUTSIDE {
            den.run(attempt).await.failed();
            assert_untouched(&den, attempt);
        }
    }
}

#[tokio::test]
async fn nothing_protected_can_be_written() {
    for kind in kinds() {
        let den = Den::of(kind);
        for attempt in PROTECTED {
            if kind == Namespace::None && attempt.starts_with("chmod") {
                // Landlock knows nothing of modes; `caiman doctor` says so.
                continue;
            }
            let ran = den.run(attempt).await;
            assert!(!ran.status.success(), "{kind:?} {attempt}: {ran:?}");
            assert_untouched(&den, attempt);
        }
    }
}

/// An attempt that fails anyway would show nothing.
#[tokio::test]
async fn without_a_cage_every_attempt_succeeds() {
    for attempt in OUTSIDE.iter().chain(PROTECTED) {
        // Not everybody may look at the first process, cage or none.
        if !attempt.contains("/proc/1/") {
            let ran = Den::new().run_free(attempt).await;
            assert!(ran.status.success(), "{attempt}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn the_way_to_a_protected_place_cannot_be_moved() {
    for kind in walled() {
        let den = Den::of(kind);
        fs::create_dir_all(den.path("work/.config/git")).unwrap();
        fs::write(den.path("work/.config/git/config"), "# original").unwrap();
        let script = "mv .config gone; mkdir -p .config/git; echo x > .config/git/config";
        den.run(script).await.failed();
        assert_eq!(den.read("work/.config/git/config"), "# original");
        assert!(!den.path("work/gone").exists());
        den.run("echo fine > .config/other").await.ok();
    }
}

#[tokio::test]
async fn a_protected_link_stays_and_so_does_what_it_points_to() {
    for kind in walled() {
        let den = Den::of(kind);
        fs::write(den.path("work/real"), "# original").unwrap();
        std::os::unix::fs::symlink("real", den.path("work/.bashrc")).unwrap();
        assert_eq!(den.run("cat .bashrc").await.ok(), "# original", "{kind:?}");
        for attempt in ["rm -f .bashrc", "echo x > .bashrc", "echo x > real", "mv inside .bashrc"] {
            den.run(attempt).await.failed();
            assert_eq!(den.read("work/.bashrc"), "# original", "{kind:?} {attempt}");
            assert!(den.path("work/.bashrc").is_symlink(), "{kind:?} {attempt}");
        }
    }
}

#[tokio::test]
async fn a_link_swapped_while_writing_leads_nowhere() {
    for kind in kinds() {
        let den = Den::of(kind);
        let script = r#"
            mkdir -p src/a
            ( for i in $(seq 300); do
                rm -rf src/a; ln -s "$OUTSIDE" src/a; rm -f src/a; mkdir -p src/a
              done ) &
            for i in $(seq 300); do echo x > src/a/file; echo x > src/a/new; done 2>/dev/null
            wait"#;
        den.run(script).await;
        assert_untouched(&den, "swapped link");
    }
}

#[tokio::test]
async fn modes_owners_and_times_outside_stay() {
    for kind in walled() {
        let den = Den::of(kind);
        let before = fs::metadata(den.path("outside/file")).unwrap();
        for attempt in [
            "chmod 777 $OUTSIDE/file",
            "chmod 4755 $OUTSIDE/file",
            "chown 1:1 $OUTSIDE/file",
            "touch -d 2001-01-01 $OUTSIDE/file",
            "setfattr -n user.x -v y $OUTSIDE/file",
        ] {
            den.run(attempt).await.failed();
            let after = fs::metadata(den.path("outside/file")).unwrap();
            assert_eq!(after.permissions().mode(), before.permissions().mode(), "{attempt}");
            assert_eq!(after.modified().unwrap(), before.modified().unwrap(), "{attempt}");
            assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{attempt}");
        }
    }
}

#[tokio::test]
async fn secrets_cannot_be_read() {
    let attempts = [
        "cat ~/.ssh/id_x",
        "cat $OUTSIDE/../home/.ssh/id_x",
        "ln -s ~/.ssh src/keys; cat src/keys/id_x",
        "cat /proc/self/root$HOME/.ssh/id_x",
        "cat /proc/1/root$HOME/.ssh/id_x",
        "cat /proc/$CAIMAN_PID/root$HOME/.ssh/id_x",
        "cp -r ~/.ssh src/copy; cat src/copy/*",
        "mv ~/.ssh src/moved; cat src/moved/*",
        "ln ~/.ssh/id_x src/hard; cat src/hard",
        "cat ~/.local/share/caiman/credentials.json",
        "grep -r KEY ~",
        "umount ~/.ssh; cat ~/.ssh/id_x",
        "chmod -R 777 ~/.ssh; cat ~/.ssh/id_x",
    ];
    for kind in kinds() {
        for reach in [Reach::ReadOnly, Reach::Workspace, Reach::Network] {
            let den = Den { reach, ..Den::of(kind) };
            for attempt in attempts {
                let ran = den.run(attempt).await;
                assert!(!ran.text.contains("PRIVATE"), "{kind:?} {reach:?} {attempt}: {ran:?}");
            }
        }
        assert_eq!(Den::of(kind).read("home/.ssh/id_x"), "PRIVATE KEY");
    }
}

#[tokio::test]
async fn secrets_behind_a_link_cannot_be_read() {
    for kind in walled() {
        let den = Den::of(kind);
        fs::rename(den.path("home/.ssh"), den.path("home/keys")).unwrap();
        std::os::unix::fs::symlink("keys", den.path("home/.ssh")).unwrap();
        let ran = den.run("cat ~/.ssh/id_x ~/keys/id_x").await;
        assert!(!ran.text.contains("PRIVATE"), "{ran:?}");
    }
}

#[tokio::test]
async fn a_cover_that_was_removed_leaves_nothing_bare() {
    for kind in walled() {
        let den = Den::of(kind);
        let cage = den.cage();
        let again = |script: &str| {
            let mut command = den.command(script);
            command.cage.clone_from(&cage);
            command
        };
        finish(again("true")).await.ok();
        fs::remove_dir_all(den.path("temp/.covers")).unwrap();
        let error = again("cat ~/.ssh/id_x").spawn().unwrap_err().to_string();
        assert!(error.contains("cannot sandbox") && error.contains("mounts"), "{error}");
    }
}

#[tokio::test]
async fn a_home_folder_can_be_worked_in_without_its_secrets() {
    for kind in walled() {
        let mut den = Den::of(kind);
        den.fence = Fence::new(&den.path("home"), &[], &den.path("home")).unwrap();
        den.run("echo x > new && mkdir folder && mv new folder && rm -r folder").await.ok();
        den.run("echo x > .bashrc").await.failed();
        den.run("mv .local gone").await.failed();
        let ran = den.run("cat .ssh/id_x .local/share/caiman/*; mv .ssh gone; cat gone/*").await;
        assert!(!ran.text.contains("PRIVATE"), "{ran:?}");
        assert_untouched(&den, "home");
    }
}

#[tokio::test]
async fn a_read_only_cage_writes_nothing_but_temporary_files() {
    for kind in kinds() {
        let den = Den { reach: Reach::ReadOnly, ..Den::of(kind) };
        for attempt in
            ["echo x > inside", "echo x > new", "rm inside", "echo x > /tmp/caiman-escape"]
        {
            den.run(attempt).await.failed();
        }
        assert_eq!(den.read("work/inside"), "# original");
        den.run("f=$(mktemp) && echo x > $f && cat inside /etc/hostname").await.ok();
        den.run("echo x > /dev/null").await.ok();
    }
}

#[tokio::test]
async fn other_processes_cannot_be_looked_into_or_stopped() {
    for kind in kinds() {
        let den = Den::of(kind);
        let mut victim = den.command("sleep 60");
        victim.cage = None;
        let mut victim = victim.spawn().unwrap();
        for attempt in [
            "cat /proc/PID/environ",
            "cat /proc/PID/maps",
            "head -c 1 /proc/PID/mem",
            "readlink /proc/PID/fd/0",
            "cat /proc/PID/fd/0",
            "ls /proc/PID/root/",
            "ls /proc/PID/cwd/",
            "kill PID",
            "kill -9 PID",
            "kill -9 -PID",
            "echo x > /proc/PID/comm",
            "prlimit --pid PID --nofile=1:1",
        ] {
            for pid in [victim.group(), std::process::id()] {
                let attempt = attempt.replace("PID", &pid.to_string());
                if attempt.starts_with("kill") && pid == std::process::id() {
                    continue;
                }
                let ran = den.run(&attempt).await;
                assert!(!ran.status.success(), "{kind:?} {attempt}: {ran:?}");
            }
        }
        assert!(fs::read_to_string(format!("/proc/{}/comm", victim.group())).is_ok());
        victim.kill();
        victim.wait().await.unwrap();
    }
}

#[tokio::test]
async fn devices_and_the_kernel_stay_shut() {
    for kind in kinds() {
        let den = Den::of(kind);
        for attempt in [
            "mknod src/disk b 254 0",
            "mknod src/null c 1 3",
            "head -c 1 /dev/vda || head -c 1 /dev/sda || head -c 1 /dev/mem || head -c1 /dev/kmsg",
            "echo h > /proc/sysrq-trigger",
            "echo 1 > /proc/sys/vm/drop_caches",
            "mount -t tmpfs none src",
            "mount --bind /tmp src",
            "umount /proc",
            "unshare -r true",
            "unshare -m true",
            "chroot / true",
            "sysctl -w kernel.hostname=x",
            "hostname x",
            "date -s 2001-01-01",
            "dmesg",
        ] {
            let ran = den.run(attempt).await;
            assert!(!ran.status.success(), "{kind:?} {attempt}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn whoever_leaves_the_session_stays_in_the_cage() {
    for kind in kinds() {
        let den = Den::of(kind);
        let script = "setsid bash -c '(echo x > $OUTSIDE/new; echo x > src/done) &' & wait; \
            until test -e src/done; do :; done";
        den.run(script).await.ok();
        assert_untouched(&den, "double fork");
        assert_eq!(den.read("work/src/done"), "x\n");
    }
}
