/** The entry point for reading the output of CLIs and listing them. Loads no driver before one is used. */
export { dialects, liveDialects } from './dialects.ts'
export { clis } from './clis.ts'
export { doctor, type DoctorRow } from './launch/doctor.ts'
export type { Cli } from './launch/cli.ts'
export { Normalizer } from './launch/normalize.ts'
export type { RecordOptions } from './launch/recording.ts'
export type { PermissionLevel } from './launch/permissions.ts'
export type { NoteEvent } from './kit/activity.ts'
