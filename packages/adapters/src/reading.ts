/** What is needed to read what programs print, and to list them: no driver is loaded before it is used. */
export { dialects, liveDialects } from './dialects.ts'
export { harnesses } from './harnesses.ts'
export { doctor, type DoctorRow } from './launch/doctor.ts'
export type { Harness } from './launch/harness.ts'
export { Normalizer } from './launch/normalize.ts'
export type { RecordOptions } from './launch/recording.ts'
export type { PermissionLevel } from './launch/permissions.ts'
export type { NoteEvent } from './kit/activity.ts'
