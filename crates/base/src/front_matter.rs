//! Definition files: YAML between two `---` lines, and the body below.
