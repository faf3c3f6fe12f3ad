-- Prompts that were said while a turn was running, until they become entries of the transcript.

CREATE TABLE queue (
    session BLOB    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- The id its entry will have.
    entry   BLOB    NOT NULL,
    at      INTEGER NOT NULL,
    -- `steer` or `queue`.
    mode    TEXT    NOT NULL,
    parts   TEXT    NOT NULL,
    PRIMARY KEY (session, entry)
) STRICT, WITHOUT ROWID;
