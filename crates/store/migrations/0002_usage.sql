-- The ledger: a row for every model call, failed and side calls too. It outlives the sessions it
-- names, because the provider's bill does.

CREATE TABLE usage (
    seq         INTEGER NOT NULL PRIMARY KEY,
    session     BLOB    CHECK (session IS NULL OR length(session) = 16),
    at          INTEGER NOT NULL,
    provider    TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    -- What the call was for: main, title, summary, …
    kind        TEXT    NOT NULL,
    -- The class of failure; NULL for a call that worked.
    failure     TEXT,
    input       INTEGER NOT NULL CHECK (input >= 0),
    cache_read  INTEGER NOT NULL CHECK (cache_read >= 0),
    cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
    output      INTEGER NOT NULL CHECK (output >= 0),
    reasoning   INTEGER NOT NULL CHECK (reasoning >= 0),
    -- NULL where the price is unknown.
    cost_pico   INTEGER,
    duration_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX usage_by_session ON usage (session) WHERE session IS NOT NULL;
CREATE INDEX usage_by_time    ON usage (at);

CREATE TRIGGER usage_is_never_changed BEFORE UPDATE ON usage
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER usage_is_never_deleted BEFORE DELETE ON usage
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
