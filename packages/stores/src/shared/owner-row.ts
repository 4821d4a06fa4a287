import type { Owner } from '@inspan/protocol/store'

/** An owner as it is stored in SQL. */
export interface OwnerRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly start_time: string
  readonly boot_id: string
  readonly until: number
  readonly url: string | null
}

export function ownerFromRow(row: OwnerRow): Owner {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    startTime: row.start_time,
    bootId: row.boot_id,
    until: row.until,
    ...(row.url === null ? {} : { url: row.url }),
  }
}
