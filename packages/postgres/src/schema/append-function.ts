/** What the function raises, as SQLSTATE codes of our own. The detail says more, as JSON. */
export const REFUSAL = {
  noStream: 'IN001',
  fenced: 'IN002',
  notContiguous: 'IN003',
  noBlob: 'IN004',
  noCommand: 'IN005',
  commandSettled: 'IN006',
  parentGone: 'IN007',
  beyondHead: 'IN008',
  quota: 'IN009',
} as const

/**
 * The whole append in one call, so in one round trip and one transaction. Its name has a version: releases with
 * different parameters run side by side.
 */
export const APPEND_SQL: string = `
CREATE FUNCTION harness.append_1(
  p_stream text, p_owner text, p_epoch bigint, p_expected bigint, p_head bigint, p_bytes bigint,
  r_seq bigint[], r_first bigint[], r_type text[], r_v integer[], r_at float8[], r_extra text[], r_part text[],
  r_body text[], r_replaces text[], r_named text[],
  n_stream text[], n_from bigint[], n_to bigint[],
  m_seq bigint[], m_id text[], m_json text[],
  w_id text[], w_state text[], w_opened bigint[], w_due float8[], w_wait text[], w_settled text[],
  b_hash text[], b_seq bigint[], b_mime text[], b_bytes bytea[],
  c_principal text[], c_client text[], c_command text[], c_outcome text[],
  h_version integer, h_json text,
  t_title text, t_updated float8, t_metadata text, t_hidden boolean, t_resource text
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  s harness.streams;
  source harness.streams;
BEGIN
  -- The fence: one conditional update, which also locks the stream until the end.
  UPDATE harness.streams SET head_seq = coalesce(p_head, head_seq), resource_id = coalesce(t_resource, resource_id),
      bytes = bytes + p_bytes
    WHERE id = p_stream AND deleted = 0 AND owner = p_owner AND epoch = p_epoch
      AND (p_expected IS NULL OR head_seq = p_expected)
    RETURNING * INTO s;
  IF NOT FOUND THEN
    SELECT * INTO s FROM harness.streams WHERE id = p_stream AND deleted = 0;
    IF NOT FOUND THEN RAISE EXCEPTION 'no stream' USING ERRCODE = '${REFUSAL.noStream}'; END IF;
    IF s.owner IS DISTINCT FROM p_owner OR s.epoch <> p_epoch THEN
      RAISE EXCEPTION 'fenced' USING ERRCODE = '${REFUSAL.fenced}',
        DETAIL = json_build_object('owner', s.owner, 'epoch', s.epoch);
    END IF;
    RAISE EXCEPTION 'gap' USING ERRCODE = '${REFUSAL.notContiguous}', DETAIL = json_build_object('head', s.head_seq);
  END IF;

  IF cardinality(r_seq) > 0 THEN
    INSERT INTO harness.records (stream_no, seq, first, type, v, at, extra, part, body)
      SELECT s.no, r.* FROM unnest(r_seq, r_first, r_type, r_v, r_at, r_extra, r_part, r_body) AS r;
    FOR i IN 1 .. cardinality(r_seq) LOOP
      IF r_replaces[i] IS NOT NULL THEN
        DELETE FROM harness.records
          WHERE stream_no = s.no AND seq BETWEEN r_first[i] AND r_seq[i] AND part = r_replaces[i];
      END IF;
      IF r_named[i] IS NOT NULL THEN
        INSERT INTO harness.named_runs (stream_no, run_id, seq) VALUES (s.no, r_named[i], r_seq[i]);
      END IF;
    END LOOP;
  END IF;

  FOR i IN 1 .. cardinality(n_stream) LOOP
    -- Locked, so that the part cannot be deleted before the need for it is committed.
    SELECT * INTO source FROM harness.streams WHERE id = n_stream[i] FOR SHARE;
    IF NOT FOUND OR (source.deleted <> 0 AND NOT coalesce(
      int8range(n_from[i], n_to[i], '[]') <@ (SELECT range_agg(int8range(from_seq, to_seq, '[]'))
        FROM harness.needs WHERE stream_no = source.no), false)) THEN
      RAISE EXCEPTION 'gone' USING ERRCODE = '${REFUSAL.parentGone}',
        DETAIL = json_build_object('stream', n_stream[i], 'from', n_from[i], 'to', n_to[i]);
    END IF;
    IF n_to[i] > source.head_seq THEN
      RAISE EXCEPTION 'beyond' USING ERRCODE = '${REFUSAL.beyondHead}',
        DETAIL = json_build_object('stream', n_stream[i], 'head', source.head_seq, 'to', n_to[i]);
    END IF;
    INSERT INTO harness.needs AS n (by_no, stream_no, from_seq, to_seq) VALUES (s.no, source.no, n_from[i], n_to[i])
      ON CONFLICT (by_no, stream_no, from_seq) DO UPDATE SET to_seq = greatest(n.to_seq, excluded.to_seq);
  END LOOP;

  FOR i IN 1 .. cardinality(m_seq) LOOP
    INSERT INTO harness.messages (stream_no, seq, id, json) VALUES (s.no, m_seq[i], m_id[i], m_json[i])
      ON CONFLICT (stream_no, seq) DO UPDATE SET id = excluded.id, json = excluded.json;
  END LOOP;

  FOR i IN 1 .. cardinality(w_id) LOOP
    INSERT INTO harness.waits (stream_no, id, state, opened_at, due, wait, settled)
      VALUES (s.no, w_id[i], w_state[i], w_opened[i], w_due[i], w_wait[i], w_settled[i])
      ON CONFLICT (stream_no, id) DO UPDATE SET state = excluded.state, opened_at = excluded.opened_at,
        due = excluded.due, wait = excluded.wait, settled = excluded.settled;
  END LOOP;

  FOR i IN 1 .. cardinality(b_hash) LOOP
    IF NOT harness.keep_blob(s.no, b_seq[i], b_hash[i], b_mime[i], b_bytes[i]) THEN
      RAISE EXCEPTION 'no blob' USING ERRCODE = '${REFUSAL.noBlob}', DETAIL = json_build_object('hash', b_hash[i]);
    END IF;
  END LOOP;

  FOR i IN 1 .. cardinality(c_command) LOOP
    UPDATE harness.commands SET state = 'done', outcome = c_outcome[i], seq = s.head_seq, body = 'null'
      WHERE principal = c_principal[i] AND client_id = c_client[i] AND command_id = c_command[i]
        AND state = 'accepted';
    IF NOT FOUND THEN
      PERFORM 1 FROM harness.commands
        WHERE principal = c_principal[i] AND client_id = c_client[i] AND command_id = c_command[i];
      IF FOUND THEN
        RAISE EXCEPTION 'settled' USING ERRCODE = '${REFUSAL.commandSettled}',
          DETAIL = json_build_object('command', c_command[i]);
      END IF;
      RAISE EXCEPTION 'no command' USING ERRCODE = '${REFUSAL.noCommand}',
        DETAIL = json_build_object('command', c_command[i]);
    END IF;
  END LOOP;

  IF h_version IS NOT NULL THEN
    INSERT INTO harness.heads (stream_no, version, json) VALUES (s.no, h_version, h_json)
      ON CONFLICT (stream_no, version) DO UPDATE SET json = excluded.json;
  END IF;

  IF coalesce(t_title, t_metadata, t_resource) IS NOT NULL OR t_updated IS NOT NULL OR t_hidden IS NOT NULL THEN
    UPDATE harness.threads SET title = coalesce(t_title, title), updated_at = greatest(updated_at, t_updated),
      metadata = coalesce(t_metadata, metadata), hidden = coalesce(t_hidden, hidden),
      resource_id = coalesce(t_resource, resource_id)
      WHERE stream_no = s.no;
  END IF;
  RETURN s.head_seq;
END $$;
`
