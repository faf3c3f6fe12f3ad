-- The time machine, what faces keep, and what was said as words to look for.

-- Contents of files, each once, deflated. The hash is of the plain content.
CREATE TABLE blobs (
    hash  BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
    bytes BLOB NOT NULL
) STRICT;

-- What a file was before a tool of the family first changed it after a prompt, or before a rewind did.
CREATE TABLE file_states (
    seq     INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    -- The session at the top of the family.
    session BLOB    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- The prompt it was changed after, or the checkpoint of the rewind: entries.seq.
    moment  INTEGER NOT NULL,
    path    TEXT    NOT NULL,
    -- Its size; NULL where there was no file.
    size    INTEGER,
    mode    INTEGER,
    -- NULL where there was no file, or one too large to be kept.
    blob    BLOB    REFERENCES blobs (hash),
    -- Hash of what we left there; NULL where we left no file. What is there now and differs is somebody else's.
    leaves  BLOB,
    at      INTEGER NOT NULL
) STRICT;

CREATE INDEX file_states_by_path   ON file_states (session, path);
CREATE INDEX file_states_by_moment ON file_states (session, moment);
CREATE INDEX file_states_by_blob   ON file_states (blob) WHERE blob IS NOT NULL;

CREATE TRIGGER blobs_go_with_their_last_state AFTER DELETE ON file_states
WHEN OLD.blob IS NOT NULL
BEGIN
    DELETE FROM blobs WHERE hash = OLD.blob
        AND NOT EXISTS (SELECT 1 FROM file_states WHERE blob = OLD.blob);
END;

CREATE TABLE kept (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was typed is looked up by session, newest first.
CREATE INDEX entries_said_by_user ON entries (session) WHERE kind = 'user';
-- What changes after a rewind belongs to no moment before it.
CREATE INDEX entries_rewound ON entries (session) WHERE kind = 'checkpoint';

-- Words of user and assistant, by entries.seq; the texts themselves stay in the entries.
CREATE VIRTUAL TABLE said USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

-- The newest entry whose words are in `said`: a search catches up from there.
CREATE TABLE said_until (seq INTEGER NOT NULL) STRICT;
INSERT INTO said_until VALUES (0);

CREATE TRIGGER words_go_with_their_entry AFTER DELETE ON entries
BEGIN
    DELETE FROM said WHERE rowid = OLD.seq;
END;
