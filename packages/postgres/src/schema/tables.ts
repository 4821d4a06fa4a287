import { COMMON_TYPES } from '@inspan/stores/shared'

/** Postgres uses a partial index only for a query that implies its condition. */
export const IS_RARE_SQL: string = `type NOT IN (${COMMON_TYPES.map((type) => `'${type}'`).join(', ')})`

/**
 * Ids compare by their bytes (`COLLATE "C"`), as in the other stores. Bodies are text, because `jsonb` reorders keys and
 * refuses NUL. Long ones are compressed and moved out of the row by Postgres itself.
 */
export const TABLES_SQL: string = `
-- deleted: 0 alive · 1 being purged · 2 only what living forks need is left
-- resource_id: the tenant. labels: what a machine has to have to work on it. bytes: of everything ever appended.
-- server_start: of the server on which it was last claimed. One that was restarted or promoted since has another.
CREATE TABLE harness.streams (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, kind text NOT NULL,
  head_seq bigint NOT NULL, owner text COLLATE "C", epoch bigint NOT NULL, format integer NOT NULL,
  deleted smallint NOT NULL DEFAULT 0, resource_id text COLLATE "C" NOT NULL, labels text[] NOT NULL DEFAULT '{}',
  bytes bigint NOT NULL DEFAULT 0, server_start timestamptz NOT NULL DEFAULT pg_postmaster_start_time()
) WITH (fillfactor = 50);
CREATE INDEX streams_by_resource ON harness.streams (resource_id, no);
CREATE INDEX streams_by_owner ON harness.streams (owner, no) WHERE owner IS NOT NULL;
CREATE INDEX streams_to_purge ON harness.streams (no) WHERE deleted = 1;

-- title, links and metadata are JSON: a title may end in half an emoji, which plain text would not keep.
CREATE TABLE harness.threads (
  stream_no bigint PRIMARY KEY REFERENCES harness.streams ON DELETE CASCADE, id text COLLATE "C" NOT NULL,
  resource_id text COLLATE "C" NOT NULL, hidden boolean NOT NULL, created_at float8 NOT NULL,
  updated_at float8 NOT NULL, root text COLLATE "C", links text, title text NOT NULL, metadata text NOT NULL
);
CREATE INDEX threads_by_resource ON harness.threads (resource_id, hidden, updated_at DESC, id);
CREATE INDEX threads_by_update ON harness.threads (hidden, updated_at DESC, id);
CREATE INDEX threads_by_root ON harness.threads (root, updated_at DESC, id) WHERE root IS NOT NULL;

-- What a living thread needs of other streams, as its fork and rewind records say.
CREATE TABLE harness.needs (
  by_no bigint NOT NULL REFERENCES harness.streams ON DELETE CASCADE,
  stream_no bigint NOT NULL REFERENCES harness.streams,
  from_seq bigint NOT NULL, to_seq bigint NOT NULL, PRIMARY KEY (by_no, stream_no, from_seq)
);
CREATE INDEX needs_by_stream ON harness.needs (stream_no);

-- Without a foreign key: the append has locked the stream already, and a purge deletes the records first.
CREATE TABLE harness.records (
  stream_no bigint NOT NULL, seq bigint NOT NULL, first bigint, type text COLLATE "C" NOT NULL, v integer NOT NULL,
  at float8 NOT NULL, extra text, part text COLLATE "C", body text NOT NULL, PRIMARY KEY (stream_no, seq)
);
CREATE INDEX records_of_rare_types ON harness.records (stream_no, type, seq) WHERE part IS NULL AND ${IS_RARE_SQL};

CREATE TABLE harness.messages (
  stream_no bigint NOT NULL, seq bigint NOT NULL, id text COLLATE "C" NOT NULL, json text NOT NULL,
  PRIMARY KEY (stream_no, seq)
);
CREATE INDEX messages_by_id ON harness.messages (stream_no, id);

-- A head per reducer version: releases that run side by side do not overwrite each other's.
CREATE TABLE harness.heads (
  stream_no bigint NOT NULL REFERENCES harness.streams ON DELETE CASCADE, version integer NOT NULL,
  json text NOT NULL, PRIMARY KEY (stream_no, version)
);

CREATE TABLE harness.waits (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream_no bigint NOT NULL REFERENCES harness.streams ON DELETE CASCADE, id text COLLATE "C" NOT NULL,
  state text NOT NULL, opened_at bigint NOT NULL, due float8, wait text NOT NULL, settled text,
  UNIQUE (stream_no, id)
);
CREATE INDEX waits_by_stream ON harness.waits (stream_no, no);
CREATE INDEX waits_by_state ON harness.waits (state, no);
CREATE INDEX waits_by_due ON harness.waits (due, no) WHERE state = 'pending' AND due IS NOT NULL;

CREATE TABLE harness.commands (
  no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, principal text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL, command_id text COLLATE "C" NOT NULL, body_hash text NOT NULL,
  target text COLLATE "C" NOT NULL, state text NOT NULL, seq bigint, at float8 NOT NULL, body text NOT NULL,
  outcome text, failures integer NOT NULL DEFAULT 0, role name NOT NULL DEFAULT session_user,
  UNIQUE (principal, client_id, command_id)
);
CREATE INDEX commands_to_do ON harness.commands (target, no) WHERE state = 'accepted';
CREATE INDEX commands_accepted ON harness.commands (no) WHERE state = 'accepted';

CREATE TABLE harness.blobs (hash text COLLATE "C" PRIMARY KEY, mime text NOT NULL, bytes bytea NOT NULL);
CREATE TABLE harness.blob_refs (
  stream_no bigint NOT NULL, seq bigint NOT NULL, hash text COLLATE "C" NOT NULL REFERENCES harness.blobs,
  PRIMARY KEY (stream_no, seq, hash)
);
CREATE INDEX blob_refs_by_blob ON harness.blob_refs (hash, stream_no, seq);

-- until is in the time of the database. beat is raised by a living owner every 300 ms.
CREATE TABLE harness.owners (
  id text COLLATE "C" PRIMARY KEY, host text NOT NULL, pid bigint NOT NULL, start_time text NOT NULL,
  boot_id text NOT NULL, until float8 NOT NULL, url text, beat bigint NOT NULL DEFAULT 0,
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  role name NOT NULL DEFAULT session_user
) WITH (fillfactor = 30);

-- Up to where the records of a thread were looked at for what other systems want to hear.
CREATE TABLE harness.outbox_cursors (
  stream_no bigint PRIMARY KEY REFERENCES harness.streams ON DELETE CASCADE, seq bigint NOT NULL
);

CREATE TABLE harness.named_runs (
  stream_no bigint NOT NULL REFERENCES harness.streams ON DELETE CASCADE, run_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL, PRIMARY KEY (stream_no, run_id, seq)
);
`
