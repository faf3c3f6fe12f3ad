# Makes $TOP/template, or copies it to $TOP/work: files whose names look like options, programs that must not run.
set -eu
cd "$TOP"
if [ "${1-}" = restore ]; then
    rm -rf work
    cp -a template work
    exit 0
fi
mkdir -p template/src template/sub template/bin template/build home trace.d
cd template
printf 'alpha\nbeta\nalpha\n10\n' > a.txt
printf 'beta\ngamma\n' > b.txt
cp a.txt f; cp b.txt g; cp a.txt x.txt; cp a.txt log.txt; cp a.txt a; cp b.txt b
seq 1 2000 > big.txt
printf 'one,1\ntwo,2\n' > data.csv
printf '{"a": {"b": 1}, "version": "1"}\n' > x.json
cp x.json package.json
printf 'fn main() {\n    println!("hi");\n}\n' > src/main.rs
cp src/main.rs src/lib.rs
cp src/main.rs main.rs
printf '[package]\nname = "x"\nversion = "1"\n' > Cargo.toml
printf '# Title\nfoo TODO\n' > README.md
printf 'a b\n' > 'a b'
printf '#!/bin/sh\n/usr/bin/touch pwn\n' > x
chmod +x x
for name in ls cat git sort touch grep sh bash; do cp x "bin/$name"; cp x "sub/$name"; done
tar cf a.tar a.txt b.txt
tar czf a.tar.gz a.txt b.txt
gzip -c a.txt > a.gz
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME="$TOP/home"
git init -q -b main . > /dev/null
git config user.name x
git config user.email x@x.example
git add -A > /dev/null 2>&1
git commit -qm 'first' > /dev/null
printf 'more\n' >> b.txt
git commit -qam 'second' > /dev/null
printf 'changed\n' >> src/lib.rs
# Names that a glob turns into options.
printf 'o\n' > ./-opwn
printf 'o\n' > ./--output=pwn
printf 'o\n' > ./-delete
printf 'o\n' > ./-i
printf '%s\n' 'a.txt' '-delete' '-opwn' '--output=pwn' 'a[$(touch pwn)]' '$(touch pwn)' '; touch pwn' 'w pwn' \
    './x' 'b.txt' > "$TOP/input"
