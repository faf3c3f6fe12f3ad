#!/usr/bin/env python3
"""Checks every dependency's licence against the allowed ones, offline, from `cargo metadata`.

An SPDX expression passes when one alternative of every OR is allowed in all its AND parts.
Advisories need a database from outside; run `cargo deny check advisories` where there is one.
"""
import json
import re
import subprocess
import sys

ALLOWED = {
    "MIT", "MIT-0", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
    "ISC", "Zlib", "Unicode-3.0", "Unlicense", "0BSD", "CC0-1.0", "CDLA-Permissive-2.0", "MPL-2.0",
    "BSL-1.0", "OpenSSL",
}


def allowed(expression):
    tokens = re.findall(r"\(|\)|[^()\s]+", expression.replace("/", " OR "))
    place = 0

    def alternatives():
        nonlocal place
        fine = conjunction()
        while place < len(tokens) and tokens[place] == "OR":
            place += 1
            fine = conjunction() or fine
        return fine

    def conjunction():
        nonlocal place
        fine = one()
        while place < len(tokens) and tokens[place] == "AND":
            place += 1
            fine = one() and fine
        return fine

    def one():
        nonlocal place
        if tokens[place] == "(":
            place += 1
            fine = alternatives()
            place += 1
            return fine
        name = tokens[place]
        place += 1
        if place + 1 < len(tokens) and tokens[place] == "WITH":
            name = f"{name} WITH {tokens[place + 1]}"
            place += 2
        return name in ALLOWED

    return alternatives()


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
    bad = [(p["name"], p["version"], p.get("license")) for p in packages
           if not p.get("license") or not allowed(p["license"])]
    for name, version, licence in bad:
        print(f"{name} {version}: licence {licence or 'unknown'} is not allowed", file=sys.stderr)
    print(f"{len(packages)} packages, {len(bad)} with a licence that is not allowed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
