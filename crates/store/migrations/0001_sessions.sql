-- Sessions, their trees of entries, and the answers being streamed.

CREATE TABLE sessions (
    id       BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    title    TEXT,
    folder   TEXT    NOT NULL,
    project  TEXT    NOT NULL,
    -- The session that started this one as a sub-agent.
    parent   BLOB    CHECK (parent IS NULL OR length(parent) = 16),
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    -- Newest entry of the current branch: entries.seq.
    head_seq INTEGER,
    entries  INTEGER NOT NULL DEFAULT 0,
    -- The model that answered last.
    provider TEXT,
    model    TEXT
) STRICT;

CREATE INDEX sessions_by_time    ON sessions (updated);
CREATE INDEX sessions_by_project ON sessions (project, updated);
CREATE INDEX sessions_by_folder  ON sessions (folder, updated);

-- The small columns come first: walking a branch reads them without touching a body's overflow pages.
CREATE TABLE entries (
    seq        INTEGER NOT NULL PRIMARY KEY,
    -- Always smaller than seq, so a walk to the root ends even in a damaged file.
    parent_seq INTEGER CHECK (parent_seq < seq),
    session    BLOB    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    at         INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    body       TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX entries_by_id ON entries (session, id);

CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
BEGIN
    SELECT RAISE(ABORT, 'entries are append-only');
END;

-- When a whole session is deleted, its row is already gone as the cascade arrives here.
CREATE TRIGGER entries_are_deleted_only_with_their_session BEFORE DELETE ON entries
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
BEGIN
    SELECT RAISE(ABORT, 'entries are append-only');
END;

-- The answer being streamed, rewritten several times a second; at most one a session.
CREATE TABLE journal (
    session  BLOB    NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    -- The process that writes it; names its lock file.
    owner    TEXT    NOT NULL,
    entry    BLOB    NOT NULL CHECK (length(entry) = 16),
    parent   BLOB    CHECK (parent IS NULL OR length(parent) = 16),
    at       INTEGER NOT NULL,
    provider TEXT    NOT NULL,
    model    TEXT    NOT NULL,
    parts    TEXT    NOT NULL
) STRICT;
