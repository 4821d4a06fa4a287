/** The tables whose rows belong to a stream, and the columns that name it. */
const ROWS_OF_STREAMS: Readonly<Record<string, readonly string[]>> = {
  // Whoever needs a part of a thread keeps it from being deleted, so both threads have to be the tenant's.
  needs: ['by_no', 'stream_no'],
  records: ['stream_no'],
  messages: ['stream_no'],
  heads: ['stream_no'],
  waits: ['stream_no'],
  blob_refs: ['stream_no'],
  named_runs: ['stream_no'],
}

/** Tables in which a tenant writes rows. `blob_refs` are written by `keep_blob` only: a reference lets one read the bytes. */
const WRITTEN_TABLES = ['streams', 'threads', 'needs', 'records', 'messages', 'heads', 'waits', 'named_runs'] as const

/** All columns but `role`, which says who sent the command or who the process is: Postgres fills it in. */
const WRITTEN_COLUMNS: Readonly<Record<string, string>> = {
  commands: 'principal, client_id, command_id, body_hash, target, state, seq, at, body, outcome, failures',
  owners: 'id, host, pid, start_time, boot_id, until, url, beat, beat_at',
}

/** The functions that a tenant calls, be it as part of a policy. */
const FUNCTIONS = ['tenant', 'is_own', 'keep_blob', 'drop_blobs', 'drop_strange_commands', 'append_1'] as const

/**
 * For functions that run with the rights of their owner. A schema that is not named comes first if it is the temporary
 * one, where everybody may define a type such as `text`: that would be code of the caller.
 */
const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp'

/**
 * Row-level security: a login role that belongs to a tenant sees and writes only rows of that tenant's resource id,
 * whatever it asks for. The role that owns the tables sees all, and pays nothing for it.
 */
export const TENANCY_SQL: string = `

-- A quota or a time that is null does not apply.
CREATE TABLE harness.tenants (
  resource_id text COLLATE "C" PRIMARY KEY, role name UNIQUE, max_threads bigint, max_commands bigint,
  max_bytes bigint, keep_ms float8
);

-- The session's login, which SET ROLE does not change, and not current_user, which these functions do.
CREATE FUNCTION harness.tenant() RETURNS text LANGUAGE sql STABLE ${AS_OWNER} AS
  $$ SELECT resource_id FROM harness.tenants WHERE role = session_user $$;

-- Null if there is no such thread. Whose it is otherwise is nobody's business.
CREATE FUNCTION harness.is_own(p_stream text) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS
  $$ SELECT coalesce(resource_id = harness.tenant(), false) FROM harness.streams WHERE id = p_stream $$;

ALTER TABLE harness.streams ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON harness.streams USING (resource_id = (SELECT harness.tenant()));
ALTER TABLE harness.threads ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON harness.threads USING (resource_id = (SELECT harness.tenant()));
${Object.entries(ROWS_OF_STREAMS)
  .map(
    ([table, columns]) => `ALTER TABLE harness.${table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON harness.${table} USING (${columns
      .map(
        (column) => `EXISTS (SELECT FROM harness.streams
  WHERE streams.no = ${table}.${column} AND streams.resource_id = (SELECT harness.tenant()))`,
      )
      .join(' AND ')});`,
  )
  .join('\n')}

-- Commands for a thread that does not exist yet belong to whoever sent them.
ALTER TABLE harness.commands ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON harness.commands USING (coalesce(harness.is_own(target), role = session_user));

-- Everybody has to see who is alive; only hosts and process ids are in there.
ALTER TABLE harness.owners ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON harness.owners FOR SELECT USING (true);
CREATE POLICY added ON harness.owners FOR INSERT WITH CHECK (role = session_user);
CREATE POLICY changed ON harness.owners FOR UPDATE USING (role = session_user);
CREATE POLICY removed ON harness.owners FOR DELETE USING (role = session_user);

-- Bytes are stored once for all tenants, so a hash alone must not be enough to get at them.
ALTER TABLE harness.blobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON harness.blobs FOR SELECT
  USING (EXISTS (SELECT FROM harness.blob_refs WHERE blob_refs.hash = blobs.hash));

-- Keeps a blob and a reference to it. False if there are no bytes, or they are not the caller's.
CREATE FUNCTION harness.keep_blob(p_stream_no bigint, p_seq bigint, p_hash text, p_mime text, p_bytes bytea)
  RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  t text := harness.tenant();
  is_proven boolean := t IS NULL OR encode(sha256(p_bytes), 'hex') = p_hash;
BEGIN
  IF t IS NOT NULL AND NOT EXISTS (SELECT FROM harness.streams WHERE no = p_stream_no AND resource_id = t) THEN
    RAISE EXCEPTION 'new row violates row-level security policy for table "blob_refs"' USING ERRCODE = '42501';
  END IF;
  -- Locked, so that the last other reference cannot take the bytes along.
  PERFORM 1 FROM harness.blobs WHERE hash = p_hash FOR KEY SHARE;
  IF FOUND THEN
    IF NOT (coalesce(is_proven, false) OR EXISTS (SELECT FROM harness.blob_refs
        JOIN harness.streams ON streams.no = blob_refs.stream_no
        WHERE blob_refs.hash = p_hash AND streams.resource_id = t)) THEN RETURN false; END IF;
  ELSE
    IF p_bytes IS NULL OR NOT is_proven THEN RETURN false; END IF;
    -- Updates a row that another append has just written, only to lock it.
    INSERT INTO harness.blobs AS b (hash, mime, bytes) VALUES (p_hash, p_mime, p_bytes)
      ON CONFLICT (hash) DO UPDATE SET mime = b.mime;
  END IF;
  INSERT INTO harness.blob_refs (stream_no, seq, hash) VALUES (p_stream_no, p_seq, p_hash) ON CONFLICT DO NOTHING;
  RETURN true;
END $$;

-- Deletes those of the blobs that nothing refers to any more, and returns how many.
CREATE FUNCTION harness.drop_blobs(p_hashes text[]) RETURNS bigint LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  dropped bigint;
BEGIN
  -- Locked first: the next statement then sees the references of every append that was holding one of them.
  PERFORM 1 FROM harness.blobs WHERE hash = ANY(p_hashes) ORDER BY hash FOR UPDATE;
  DELETE FROM harness.blobs WHERE hash = ANY(p_hashes)
    AND NOT EXISTS (SELECT FROM harness.blob_refs WHERE blob_refs.hash = blobs.hash);
  GET DIAGNOSTICS dropped = ROW_COUNT;
  RETURN dropped;
END $$;

-- Deletes commands that other tenants had sent to this id before there was a thread. Waits for those being sent.
CREATE FUNCTION harness.drop_strange_commands(p_stream text) RETURNS void LANGUAGE sql ${AS_OWNER} AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(p_stream, 1));
  DELETE FROM harness.commands WHERE target = p_stream AND state = 'accepted' AND role IN (SELECT role FROM harness.tenants
    WHERE resource_id <> (SELECT resource_id FROM harness.streams WHERE id = p_stream)) $$;

-- Refuses new threads and new commands of a tenant that has used up what it may. What runs goes on.
CREATE FUNCTION harness.check_new() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  sender text := harness.tenant();
  resource text;
  t harness.tenants;
  used bigint;
BEGIN
  IF TG_TABLE_NAME = 'streams' THEN resource := NEW.resource_id;
  ELSE
    -- Another tenant may be making the thread at this moment: the policy would not see it yet.
    IF sender IS NOT NULL THEN PERFORM pg_advisory_xact_lock(hashtextextended(NEW.target, 1)); END IF;
    SELECT resource_id INTO resource FROM harness.streams WHERE id = NEW.target;
    IF sender <> resource THEN
      RAISE EXCEPTION 'new row violates row-level security policy for table "commands"' USING ERRCODE = '42501';
    END IF;
  END IF;
  -- Locked, so that two requests at once do not both get the last place.
  SELECT * INTO t FROM harness.tenants WHERE resource_id = resource
    AND coalesce(max_threads, max_commands, max_bytes) IS NOT NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NEW; END IF;
  IF t.max_bytes IS NOT NULL THEN
    SELECT coalesce(sum(bytes), 0) INTO used FROM harness.streams WHERE resource_id = resource AND deleted = 0;
    IF used >= t.max_bytes THEN PERFORM harness.refuse_quota(resource, 'bytes', t.max_bytes, used); END IF;
  END IF;
  IF TG_TABLE_NAME = 'streams' THEN
    IF t.max_threads IS NULL OR NEW.kind <> 'thread' THEN RETURN NEW; END IF;
    SELECT count(*) INTO used FROM harness.streams WHERE resource_id = resource AND deleted = 0 AND kind = 'thread';
    IF used >= t.max_threads THEN PERFORM harness.refuse_quota(resource, 'threads', t.max_threads, used); END IF;
  END IF;
  IF TG_TABLE_NAME = 'commands' AND t.max_commands IS NOT NULL THEN
    SELECT count(*) INTO used FROM harness.commands JOIN harness.streams ON streams.id = commands.target
      WHERE state = 'accepted' AND streams.resource_id = resource;
    IF used >= t.max_commands THEN PERFORM harness.refuse_quota(resource, 'commands', t.max_commands, used); END IF;
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION harness.refuse_quota(p_resource text, p_quota text, p_limit bigint, p_used bigint) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'quota' USING ERRCODE = 'IN009', DETAIL = json_build_object('resourceId', p_resource,
    'quota', p_quota, 'limit', p_limit, 'used', p_used)::text;
END $$;

CREATE TRIGGER check_new BEFORE INSERT ON harness.streams FOR EACH ROW EXECUTE FUNCTION harness.check_new();
CREATE TRIGGER check_new BEFORE INSERT ON harness.commands FOR EACH ROW EXECUTE FUNCTION harness.check_new();
`

/** Functions are everybody's otherwise. For the end of a migration. */
export const PRIVATE_FUNCTIONS_SQL = 'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA harness FROM PUBLIC;'

/** What the login role of a tenant may use. Row-level security decides about the rows. `role` is a quoted name. */
export function grantSql(role: string): string {
  const tables = (names: readonly string[]): string => names.map((name) => `harness.${name}`).join(', ')
  const columns = Object.entries(WRITTEN_COLUMNS).map(
    ([table, names]) => `GRANT SELECT, DELETE, INSERT (${names}), UPDATE (${names}) ON harness.${table} TO ${role};`,
  )
  return `GRANT USAGE ON SCHEMA harness TO ${role};
    GRANT SELECT ON harness.meta, harness.blobs TO ${role};
    GRANT SELECT, DELETE ON harness.blob_refs TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables(WRITTEN_TABLES)} TO ${role};
    ${columns.join('\n')}
    GRANT EXECUTE ON FUNCTION ${tables(FUNCTIONS)} TO ${role};`
}

export function revokeSql(role: string): string {
  return `REVOKE ALL ON ALL TABLES IN SCHEMA harness FROM ${role};
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA harness FROM ${role}; REVOKE USAGE ON SCHEMA harness FROM ${role};`
}
