-- What a session runs as, and what it is to the session that started it.

-- The agent it runs as; NULL for ours.
ALTER TABLE sessions ADD COLUMN agent TEXT;
-- The call of the parent's that it works for.
ALTER TABLE sessions ADD COLUMN call TEXT;
-- Whether the parent must still be told of its end.
ALTER TABLE sessions ADD COLUMN owes_report INTEGER NOT NULL DEFAULT 0;

-- What a session cost includes what its sub-agents cost: they are looked up by their parent.
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
