/** How long the store remembers a command that was carried out. After that it cannot tell whether it was. */
export const COMMAND_RETENTION_MS: number = 7 * 24 * 60 * 60 * 1000

/** How far the sender's clock may be ahead. */
export const COMMAND_SKEW_MS: number = 24 * 60 * 60 * 1000

/** Lower case only: the same id written in two ways would be two commands. */
const UUID_V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Returns when the command was made by the sender's clock, or `undefined` when the id is no UUIDv7. */
export function commandIdTime(id: string): number | undefined {
  const [, high, low] = UUID_V7.exec(id) ?? []
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16)
}
