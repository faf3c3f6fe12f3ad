-- What the user allowed beyond a single call, and what the agent has seen of which file.

CREATE TABLE grants (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    -- Exactly one of: a session, a project, or neither for everywhere.
    session BLOB    REFERENCES sessions (id) ON DELETE CASCADE,
    project TEXT,
    rule    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    CHECK (session IS NULL OR project IS NULL)
) STRICT;

CREATE INDEX grants_by_session ON grants (session) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX grants_once
    ON grants (coalesce(session, x''), coalesce(project, ''), rule);

CREATE TABLE reads (
    session BLOB    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    path    TEXT    NOT NULL,
    -- Hash of the content, not the clock: a touched file is still a file we have read.
    hash    BLOB    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
