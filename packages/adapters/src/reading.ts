/** The entry point for reading the output of CLIs and listing them. Loads no driver before one is used. */
export { dialects, liveDialects } from './dialects.ts'
export { harnesses } from './harnesses.ts'
export { doctor, type DoctorRow } from './launch/doctor.ts'
export type { Harness } from './launch/harness.ts'
export { Normalizer } from './launch/normalize.ts'
export type { RecordOptions } from './launch/recording.ts'
export type { PermissionLevel } from './launch/permissions.ts'
export type { NoteEvent } from './kit/activity.ts'
