import { COMMON_TYPES } from '../shared/common-types.ts'

/** Marks our files: "HRNS". */
export const APPLICATION_ID = 0x48524e53

export interface Migration {
  readonly version: number
  readonly sql: string
}

/** SQLite uses a partial index only for a query that states its condition in the same words. */
export const IS_RARE_SQL: string = COMMON_TYPES.map((type) => `type <> '${type}'`).join(' AND ')

/**
 * One entry per released layout, never changed afterwards. Records themselves are not migrated: they are lifted when
 * they are read.
 *
 * `key` is a stream's number in the upper and a seq in the lower 32 bits. That keeps the rows of a stream together, in
 * order, without a second index: half the pages to write per commit.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- A row for each process that has the file open; one that stays behind was not closed properly.
CREATE TABLE opens (
  id TEXT PRIMARY KEY, boot_id TEXT NOT NULL, pid INTEGER NOT NULL, start_time TEXT NOT NULL,
  durability TEXT NOT NULL
) WITHOUT ROWID;

-- deleted: 0 alive · 1 being purged · 2 only what living forks need is left
CREATE TABLE streams (
  no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, head_seq INTEGER NOT NULL,
  owner TEXT, epoch INTEGER NOT NULL, deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX streams_by_owner ON streams (owner) WHERE owner IS NOT NULL;
CREATE INDEX streams_to_purge ON streams (no) WHERE deleted = 1;

-- title, links and metadata are JSON: a title may end in half an emoji, which plain text would not keep.
CREATE TABLE threads (
  no INTEGER PRIMARY KEY REFERENCES streams (no) ON DELETE CASCADE, id TEXT NOT NULL, resource_id TEXT NOT NULL,
  hidden INTEGER NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL, root TEXT, links TEXT,
  title TEXT NOT NULL, metadata TEXT NOT NULL
);
-- Every message moves its thread to the end of these indices, where there is always room; at the beginning pages would be
-- filled up, split and balanced.
CREATE INDEX threads_by_resource ON threads (resource_id, hidden, updated_at, id DESC);
CREATE INDEX threads_by_update ON threads (hidden, updated_at, id DESC);
CREATE INDEX threads_by_root ON threads (root, updated_at, id DESC) WHERE root IS NOT NULL;

-- What a living thread needs of other streams, as its fork and rewind records say.
CREATE TABLE needs (
  by_no INTEGER NOT NULL REFERENCES streams (no) ON DELETE CASCADE,
  stream_no INTEGER NOT NULL REFERENCES streams (no),
  from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL,
  PRIMARY KEY (by_no, stream_no, from_seq)
) WITHOUT ROWID;
CREATE INDEX needs_by_stream ON needs (stream_no);

-- part is set on batches only, which no lookup by type ever wants. Types that every turn writes are found by going back a
-- little: an index entry for each would be one more page to write. (NOT IN would fill a table in every write.)
CREATE TABLE records (
  key INTEGER PRIMARY KEY, first INTEGER, type TEXT NOT NULL, v INTEGER NOT NULL, at REAL NOT NULL, extra TEXT,
  part TEXT, body TEXT NOT NULL
);
CREATE INDEX records_of_rare_types ON records (type) WHERE part IS NULL AND ${IS_RARE_SQL};

CREATE TABLE messages (key INTEGER PRIMARY KEY, id TEXT NOT NULL, json TEXT NOT NULL);
CREATE INDEX messages_by_id ON messages (id);

CREATE TABLE heads (
  no INTEGER PRIMARY KEY REFERENCES streams (no) ON DELETE CASCADE, version INTEGER NOT NULL, json TEXT NOT NULL
);

CREATE TABLE waits (
  no INTEGER PRIMARY KEY, stream_no INTEGER NOT NULL REFERENCES streams (no) ON DELETE CASCADE, id TEXT NOT NULL,
  state TEXT NOT NULL, opened_at INTEGER NOT NULL, due REAL, wait TEXT NOT NULL, settled TEXT,
  UNIQUE (stream_no, id)
);
CREATE INDEX waits_by_stream ON waits (stream_no);
CREATE INDEX waits_by_state ON waits (state);
CREATE INDEX waits_by_stream_state ON waits (stream_no, state);
CREATE INDEX waits_by_due ON waits (due) WHERE state = 'pending' AND due IS NOT NULL;

CREATE TABLE commands (
  no INTEGER PRIMARY KEY, principal TEXT NOT NULL, client_id TEXT NOT NULL, command_id TEXT NOT NULL,
  body_hash TEXT NOT NULL, target TEXT NOT NULL, state TEXT NOT NULL, seq INTEGER, at REAL NOT NULL,
  body TEXT NOT NULL, outcome TEXT, failures INTEGER NOT NULL DEFAULT 0,
  UNIQUE (principal, client_id, command_id)
);
-- What is to be done is looked for all the time, what was done hardly ever.
CREATE INDEX commands_to_do ON commands (target) WHERE state = 'accepted';
CREATE INDEX commands_accepted ON commands (no) WHERE state = 'accepted';

CREATE TABLE blobs (no INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, mime TEXT NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE blob_refs (
  key INTEGER NOT NULL, blob_no INTEGER NOT NULL REFERENCES blobs (no), PRIMARY KEY (key, blob_no)
) WITHOUT ROWID;
CREATE INDEX blob_refs_by_blob ON blob_refs (blob_no);

CREATE TABLE owners (
  id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, start_time TEXT NOT NULL, boot_id TEXT NOT NULL,
  until REAL NOT NULL, url TEXT
) WITHOUT ROWID;

-- A caller who chooses the id of a run may use it twice by mistake. Runs whose id we made ourselves have no row here: that
-- would be one more page to write per run.
CREATE TABLE named_runs (
  stream_no INTEGER NOT NULL REFERENCES streams (no) ON DELETE CASCADE, run_id TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (stream_no, run_id, seq)
) WITHOUT ROWID;
`,
  },
]

export const SCHEMA_VERSION: number = Math.max(...MIGRATIONS.map((migration) => migration.version))

/** The tables of an undamaged file. */
export const TABLES: readonly string[] = MIGRATIONS.flatMap(({ sql }) =>
  [...sql.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name as string),
)
