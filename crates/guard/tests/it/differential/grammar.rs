//! Random command lines: sentences of a grammar of the listed programs, and mutations of the tables.

use crate::commands::tables;

/// A program with the words that may follow it.
struct Program {
    name: &'static str,
    options: &'static [&'static str],
    /// Options that take a value, with values.
    values: &'static [&'static str],
    /// Words that make it write, run or connect.
    traps: &'static [&'static str],
    /// Words that must follow the options, before the files.
    first: &'static [&'static str],
}

const fn program(
    name: &'static str,
    options: &'static [&'static str],
    values: &'static [&'static str],
    traps: &'static [&'static str],
    first: &'static [&'static str],
) -> Program {
    Program { name, options, values, traps, first }
}

#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    program("ls", &["-l", "-la", "-1", "-R", "-t", "--color=never"], &["-I x", "--time-style=iso"], &["--no-x"], &[]),
    program("cat", &["-n", "-A", "-s"], &[], &["--no-x"], &[]),
    program("head", &["-q", "-v"], &["-n 3", "-n3", "-c 10", "--lines=2"], &[], &[]),
    program("tail", &["-q"], &["-n 3", "-n +2", "-c 10"], &["--pid=1"], &[]),
    program("wc", &["-l", "-w", "-c", "-lw"], &[], &["--files0-from=f"], &[]),
    program("grep", &["-n", "-r", "-i", "-v", "-c", "-l", "-E", "-q"], &["-A 1", "-m 2", "-e beta"],
        &["-f /etc/passwd"], &["alpha", "'a.*a'", "-e alpha"]),
    program("sort", &["-u", "-r", "-n", "-rn", "-f", "-c"], &["-k 1", "-k1,1", "-t ,", "-t,", "-S 1M", "--key=1"],
        &["-o pwn", "-opwn", "--output=pwn", "--outp pwn", "-uo pwn", "--compress-program=./x", "-T .",
            "--random-source -- -o pwn", "-k -- -opwn"], &[]),
    program("uniq", &["-c", "-d", "-u", "-i"], &["-f 1", "-w 3", "--skip-fields=1"], &["a.txt pwn", "- pwn"], &[]),
    program("cut", &["-s"], &["-d : -f 1", "-d, -f2", "-c 1-3", "--output-delimiter=x"], &[], &[]),
    program("tr", &[], &[], &[], &["a b", "-d a", "-s a"]),
    program("sed", &["-n", "-E", "-s", "-z"], &["-l 5", "-e p"],
        &["-i", "-i.bak", "-ni", "--in-place", "-f f", "-e 'w pwn'", "--expression='w pwn'", "-n 'w pwn'",
            "'s/a/b/w pwn'", "'1e ./x'", "'s/a/b/e'", "-l -- -i"],
        &["p", "'1,2p'", "'s/a/b/'", "'/a/d'", "'$d'", "'/alpha/,/beta/p'", "'1{p;q}'", "'y/ab/cd/'"]),
    program("awk", &[], &["-F ,", "-F:", "-v n=1"],
        &["-f f", "-i inplace", "'BEGIN { system(\"./x\") }'", "'{ print > \"pwn\" }'", "'{ print | \"./x\" }'",
            "'BEGIN { \"./x\" | getline }'"],
        &["'{ print $1 }'", "'NR > 1'", "'NR>=1 && NR<=2'", "'{ n += $1 } END { print n }'", "'/a/ { print NR }'",
            "'$1 > 5 { print }'", "'{ if ($1 > 2) print $1 }'", "'!seen[$0]++'", "'{ printf \"%s\\n\", $1 }'"]),
    program("find", &["-H", "-L"], &[], &[],
        &[". -name '*.rs'", ". -type f", "src -print", ". -maxdepth 1", ". -name a -o -name b", ". -exec cat {} +",
            ". -exec grep -l alpha {} \\;", ". -exec wc -l {} +", ". -delete", ". -fprint pwn", ". -exec ./x \\;",
            ". -exec touch pwn \\;", ". -name a.txt -delete", ". -printf '%p\\n'", ". -ls", ". -exec sort -o pwn {} +",
            ". -newer a.txt -size +1k", ". -exec sh -c './x' \\;", ". -exec env PATH=./bin ls \\;"]),
    program("git", &["--no-pager", "-P"], &["-C .", "-C src"],
        &["-c core.fsmonitor=./x", "-c alias.x=!./x", "-p", "--exec-path=bin", "-c core.pager=./x"],
        &["status", "status -s", "log", "log --oneline -2", "log -p", "diff", "diff HEAD~1", "diff --stat", "show",
            "show HEAD:a.txt", "branch", "branch -a", "tag", "ls-files", "rev-parse HEAD", "grep alpha", "blame a.txt",
            "log --output=pwn", "diff --output=pwn", "branch pwn", "tag pwn", "log -S -- --output=pwn", "grep -O./x a",
            "grep -e -- -O./x a", "config x.y", "config x.y z", "stash list", "symbolic-ref HEAD refs/heads/pwn",
            "symbolic-ref HEAD", "log --format=%h", "log --format=%G?", "diff --no-index a.txt b.txt",
            "diff --no-index -S -- --output=pwn a.txt b.txt", "shortlog -sn HEAD", "describe --always", "reflog",
            "cat-file -p HEAD", "ls-tree HEAD", "for-each-ref", "log --author -- --output=pwn",
            "diff --ext-diff", "diff --textconv HEAD~1"]),
    program("diff", &["-u", "-q", "-r", "-w"], &["-U 1"], &[], &["a.txt"]),
    program("cmp", &["-s", "-l"], &[], &[], &["a.txt"]),
    program("comm", &["-1", "-12"], &[], &[], &["a.txt"]),
    program("paste", &["-s"], &["-d ,"], &[], &[]),
    program("join", &[], &["-t ,"], &[], &["a.txt"]),
    program("nl", &["-ba"], &["-w 3"], &[], &[]),
    program("tac", &[], &["-s x"], &[], &[]),
    program("rev", &[], &[], &[], &[]),
    program("fold", &["-s"], &["-w 10"], &[], &[]),
    program("od", &["-c", "-An"], &["-N 4", "-t x1"], &[], &[]),
    program("xxd", &["-p"], &["-l 8", "-c 4"], &["-r", "a.txt pwn", "-s -- a.txt pwn"], &[]),
    program("hexdump", &["-C"], &["-n 8"], &[], &[]),
    program("base64", &["-d"], &["-w 0"], &[], &[]),
    program("md5sum", &["-b"], &[], &["-c f"], &[]),
    program("stat", &["-L"], &["-c %s", "--format=%n"], &[], &[]),
    program("du", &["-s", "-a", "-h"], &["-d 1"], &[], &[]),
    program("file", &["-b"], &["-F :"], &["-C -m f", "-m f -C", "--compile"], &[]),
    program("date", &["-u"], &["-d yesterday", "-r a.txt"], &["-s 12:00", "--set=x", "-d -- -s x"], &["+%s"]),
    program("jq", &["-r", "-c"], &["--arg n 1"], &["--run-tests f"], &[".", ".a", "'.a | keys'"]),
    program("tree", &["-a", "-d"], &["-L 1", "-I x"], &["-o pwn", "-R -H . -L 1", "-P -- -o pwn"], &[]),
    program("rg", &["-n", "-i", "-l"], &["-g '*.rs'", "-m 1"], &["--pre ./x", "--pre=./x", "-e -- --pre=./x"], &["alpha"]),
    program("echo", &["-n", "-e"], &[], &[], &["hi", "\"a b\""]),
    program("printf", &[], &[], &["-v x", "-v 'a[$(./x)]'"], &["'%s\\n'", "%d"]),
    program("seq", &["-w"], &["-s ,"], &[], &["1 3"]),
    program("shuf", &["-e"], &["-n 1"], &["-o pwn", "--output=pwn", "-n -- -o pwn"], &[]),
    program("column", &["-t"], &["-s ,"], &[], &[]),
    program("basename", &[], &[], &[], &["a/b"]),
    program("dirname", &[], &[], &[], &["a/b"]),
    program("realpath", &[], &[], &[], &["."]),
    program("test", &[], &[], &["-v 'a[$(./x)]'"], &["-f", "-d", "-n", "x ="]),
    program("tar", &["-v"], &[], &["-I ./x", "--to-command=./x", "--checkpoint=1 --checkpoint-action=exec=./x", "-x",
        "--index-file=pwn -v", "--use-compress-program ./x"], &["-tf a.tar", "-t -f a.tar.gz"]),
    program("zcat", &[], &[], &[], &["a.gz"]),
    program("true", &[], &[], &[], &[]),
    program("pwd", &["-P"], &[], &[], &[]),
    program("env", &[], &["-u A"], &["PATH=./bin ls", "-S './x'", "./x", "-i ./x", "touch pwn"], &["", "ls", "LC_ALL=C ls"]),
];

/// Operands, harmless and not.
#[rustfmt::skip]
const OPERANDS: &[&str] = &[
    "a.txt", "b.txt", "src/main.rs", "'a b'", "\"a.txt\"", "./a.txt", "src", ".", "README.md", "data.csv", "x.json",
    "a.txt", "b.txt", "log.txt", "f", "g", "src/*.rs", "*.txt", "-- a.txt", "{a,b}.txt", "a\\ b", "$'a.txt'",
];
#[rustfmt::skip]
const EXPANSIONS: &[&str] = &[
    "$x", "\"$x\"", "$y", "$X", "\"$Y\"", "$Y", "${x:-a}", "\"${x:-${y@P}}\"", "${y@P}", "$((x))", "$((1 + 2))",
    "${z:x}", "${z:1}", "${q[x]}", "$(cat f)", "\"$(cat a.txt)\"", "`cat f`", "$(touch pwn)", "*", "-*", "$HOME",
    "\"$PWD\"", "${#x}", "${x%a}", "$(ls)", "<(cat a.txt)", "<(./x)", "$[x]", "${!y}", "$1", "\"$@\"", "{a,-opwn}",
    "$'\\x2dopwn'", "\"${z/a/$y}\"", "${x:=a}", "~", "$?", "$(echo $((x)))", "${x:-$((x))}", "${x:-`./x`}",
];
#[rustfmt::skip]
const REDIRECTS: &[&str] = &[
    "< a.txt", "2>&1", "2> /dev/null", "> /dev/null", "<<< hi", "<<< \"$x\"", "> pwn", ">> a.txt", "2> pwn", "&> pwn",
    "<> pwn", ">| pwn", "3> pwn", "{v}> pwn", ">& pwn", "< /dev/tcp/127.0.0.1/9", "<<< $((x))", "< $(ls a.txt)",
];
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "timeout 1", "timeout -k 1 1", "nice", "nice -n 5", "env", "env LC_ALL=C", "command", "time", "stdbuf -oL", "!",
    "LC_ALL=C", "builtin", "exec", "env PATH=./bin", "PATH=./bin", "exec -ca ls", "xargs", "xargs -n 1",
    "xargs -I{}", "xargs -rE cat", "IFS=x", "A=1", "env -S", "timeout 1 ./x", "nohup", "export A=b;",
    "export 'PATH=./bin';", "x='a[$(./x)]';", "command -p", "env -i", "BASH_ENV=./x",
];
/// Pieces that mutations put into lines of the tables.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "-o", "-opwn", "pwn", "--", "-", "--output=pwn", "-i", "-e", "-exec", "-delete", "./x", "touch", ";", "&&", "|",
    "&", "\n", "'", "\"", "\\", "$x", "$y", "${y@P}", "$((x))", "$(", ")", "`", "{", "}", ",", ">", "<", "<<EOF",
    "EOF", "[[", "]]", "-eq", "-v", "=", "x", "PATH=./bin", "export", "eval", "sh", "-c", "xargs", "env", "*", "#",
    "!", "if", "then", "fi", "do", "done", "esac", "in", "+", "\\;", "{}", "read", "IFS=", "@", "~", "\\\n", "${", "$'",
];

/// A generator of lines; the same seed gives the same lines.
pub(crate) struct Generator {
    state: u64,
    harmless: Vec<String>,
    hostile: Vec<String>,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        // A line that waits costs seconds and shows nothing.
        let quick = |line: &String| !line.contains("sleep") && !line.contains("tail -f");
        let harmless = tables::lines(tables::harmless()).into_iter().filter(quick).collect();
        let hostile = tables::lines(tables::hostile()).into_iter().filter(quick).collect();
        Self { state: seed, harmless, hostile }
    }

    /// The next line.
    pub(crate) fn line(&mut self) -> String {
        match self.below(10) {
            0..=5 => self.compound(2),
            6 | 7 => {
                let line = self.table_line(9);
                self.mutated(&line)
            }
            8 => {
                let line = self.table_line(3);
                self.mutated(&line)
            }
            _ => {
                let (left, right) = (self.table_line(9), self.compound(1));
                let joint = self.pick(&[" | ", " && ", "; ", "\n"]);
                format!("{left}{joint}{right}")
            }
        }
    }

    /// `SplitMix64`: small, and good enough to choose words.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    fn pick<T: Copy>(&mut self, words: &[T]) -> T {
        words[self.below(words.len())]
    }

    /// A line of the tables; of ten, so many are harmless ones.
    fn table_line(&mut self, harmless: usize) -> String {
        if self.below(10) < harmless {
            let index = self.below(self.harmless.len());
            return self.harmless[index].clone();
        }
        let index = self.below(self.hostile.len());
        self.hostile[index].clone()
    }

    fn compound(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple();
        }
        match self.below(28) {
            0..=11 => self.simple(),
            12..=14 => format!("{} | {}", self.compound(depth - 1), self.simple()),
            15 => format!("{} && {}", self.compound(depth - 1), self.compound(depth - 1)),
            16 => format!("{}; {}", self.compound(depth - 1), self.compound(depth - 1)),
            17 => format!("{} || {}", self.simple(), self.simple()),
            18 => format!("for f in {}; do {} \"$f\"; done", self.operand(), self.simple()),
            19 => format!(
                "for x in {} {}; do {} $x; done",
                self.operand(),
                self.operand(),
                self.simple()
            ),
            20 => format!("{} | while read -r x; do {} \"$x\"; done", self.simple(), self.simple()),
            21 => format!("if {}; then {}; fi", self.simple(), self.compound(depth - 1)),
            22 => format!("({})", self.compound(depth - 1)),
            23 => format!("{{ {}; }}", self.compound(depth - 1)),
            24 => format!("echo \"$({})\"", self.simple()),
            25 => format!("[[ {} ]] && {}", self.condition(), self.simple()),
            26 => format!("cat <<{}\n{}\nEOF", self.pick(&["EOF", "'EOF'"]), self.document()),
            _ => {
                let inner = self.simple().replace('\'', "'\\''");
                format!("{} -c '{inner}'", self.pick(&["sh", "bash"]))
            }
        }
    }

    fn condition(&mut self) -> String {
        let operand = if self.one_in(2) { self.pick(EXPANSIONS) } else { self.pick(OPERANDS) };
        let test = self.pick(&[
            "-f @", "-d @", "-n @", "@ == x", "@ -eq 1", "1 -lt @", "-v @", "@ =~ a", "! -e @", "@",
        ]);
        test.replace('@', operand)
    }

    fn document(&mut self) -> String {
        let line = self.pick(&[
            "hi",
            "a b",
            "$x",
            "$(touch pwn)",
            "${y@P}",
            "$((x))",
            "EO\\\nF\n./x",
            "`./x`",
            "$HOME",
        ]);
        line.to_owned()
    }

    fn operand(&mut self) -> String {
        if self.one_in(9) {
            self.pick(EXPANSIONS).to_owned()
        } else {
            self.pick(OPERANDS).to_owned()
        }
    }

    fn simple(&mut self) -> String {
        let index = self.below(PROGRAMS.len());
        let program = &PROGRAMS[index];
        let mut words = Vec::new();
        if self.one_in(8) {
            words.push(self.pick(WRAPPERS).to_owned());
        }
        words.push(self.quoted(program.name));
        for _ in 0..self.below(3) {
            if !program.options.is_empty() && self.one_in(2) {
                let option = self.pick(program.options);
                words.push(self.quoted(option));
            }
            if !program.values.is_empty() && self.one_in(3) {
                words.push(self.pick(program.values).to_owned());
            }
        }
        if !program.traps.is_empty() && self.one_in(10) {
            words.push(self.pick(program.traps).to_owned());
        }
        if !program.first.is_empty() {
            words.push(self.pick(program.first).to_owned());
        }
        let operands = usize::from(
            !["git", "find", "true", "pwd", "env", "tr", "date"].contains(&program.name),
        );
        for _ in 0..operands + self.below(2) * operands {
            words.push(self.operand());
        }
        if self.one_in(7) {
            let harmless = self.below(6);
            words.push(
                if self.one_in(4) { self.pick(REDIRECTS) } else { REDIRECTS[harmless] }.to_owned(),
            );
        }
        words.join(" ")
    }

    /// A word, now and then in another spelling.
    fn quoted(&mut self, word: &str) -> String {
        match self.below(30) {
            0 => format!("'{word}'"),
            1 => format!("\"{word}\""),
            2 => format!("\\{word}"),
            3 => format!("{}''{}", &word[..1], &word[1..]),
            _ => word.to_owned(),
        }
    }

    /// A line with one or two words dropped, doubled, swapped, replaced or put in.
    fn mutated(&mut self, line: &str) -> String {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for _ in 0..=self.below(2) {
            let index = self.below(words.len());
            match self.below(7) {
                0 if words.len() > 1 => drop(words.remove(index)),
                1 => words.insert(index, words[index].clone()),
                2 => {
                    let other = self.below(words.len());
                    words.swap(index, other);
                }
                3 => {
                    let line = self.table_line(5);
                    let others: Vec<&str> = line.split(' ').collect();
                    self.pick(&others).clone_into(&mut words[index]);
                }
                4 => words.insert(index, self.pick(PIECES).to_owned()),
                5 => words[index].push_str(self.pick(PIECES)),
                _ => {
                    let operand = self.operand();
                    words.insert(index + 1, operand);
                }
            }
        }
        words.join(" ")
    }
}
