/**
 * Combines a stream's number and a seq into one key; with `|` and not `+`, which would make it a floating point number.
 */
export function keySql(no: string, seq: string): string {
  return `((${no} << 32) | ${seq})`
}

/** The seq in a key. */
export const SEQ_SQL = '(key & 4294967295)'

/** The rows of stream ?1 with seqs from ?2 to ?3. */
export const IN_RANGE_SQL: string = `key BETWEEN ${keySql('?1', '?2')} AND ${keySql('?1', '?3')}`

/**
 * With a bare parameter, SQLite would plan the statement anew each time it is bound, which takes longer than reading a
 * short page.
 */
export function limitSql(parameter: string): string {
  return `LIMIT ${parameter} + 0`
}
