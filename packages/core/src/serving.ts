/** For `@inspan/server`: a harness as a server uses it. */
export {
  servedHarness,
  type EnterOptions,
  type ForkOptions,
  type ServedAgent,
  type ServedHarness,
  type ServedThread,
} from './harness/threads/served-harness.ts'
export { servedProjects, type OtherProjects } from './harness/threads/served-projects.ts'
export type { ListedSession } from './harness/threads/native-imports.ts'
export type { ServedMemory } from './harness/threads/served-memory.ts'
export { admitCommand } from './engine/commands/ledger.ts'
export type { ThreadCommand } from './engine/commands/thread-command.ts'
export { ThreadFollower } from './engine/threads/thread-follower.ts'
export type { ThreadRuntime } from './engine/thread-runtime.ts'
